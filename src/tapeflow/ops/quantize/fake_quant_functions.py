"""The functions of fake quantization that programs call."""

from __future__ import annotations

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import FloatLike, IntLike, TensorLike
from tapeflow.core.public import tensor_function
from tapeflow.ops.quantize.fake_quant import (
    FakeQuantWithMinMaxArgs,
    FakeQuantWithMinMaxArgsGradient,
    FakeQuantWithMinMaxVars,
    FakeQuantWithMinMaxVarsGradient,
    FakeQuantWithMinMaxVarsPerChannel,
    FakeQuantWithMinMaxVarsPerChannelGradient,
)

# Functions


@api("quantization.fake_quant_with_min_max_args", v1="fake_quant_with_min_max_args")
@tensor_function
def fake_quant_with_min_max_args(
    inputs: TensorLike, min: float = -6, max: float = 6, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Clamp numbers to [min, max] and round them to one of 2 ** num_bits numbers, of which zero is one.

    Args:
      inputs: a tensor of floats.
      min: the least number.
      max: the greatest number; both are moved a little, so that zero is exact.
      num_bits: the number of bits, from 2 to 16.
      narrow_range: whether the least number is left out, so that the others lie evenly around the middle.
      name: the name of the operation in a graph.

    Returns:
      A tensor of floats of the shape of the inputs.
    """
    return FakeQuantWithMinMaxArgs(inputs, min, max, num_bits, narrow_range)


@api("quantization.fake_quant_with_min_max_args_gradient", v1="fake_quant_with_min_max_args_gradient")
@tensor_function
def fake_quant_with_min_max_args_gradient(
    gradients: TensorLike, inputs: TensorLike, min: FloatLike = -6, max: FloatLike = 6, num_bits: IntLike = 8,
    narrow_range: bool = False, name: str | None = None,
) -> Tensor:
    """Compute the gradient of `fake_quant_with_min_max_args`: that of a clamp.

    Args:
      gradients: the gradients of its outputs.
      inputs: its inputs.
      min: the least number.
      max: the greatest number.
      num_bits: the number of bits, from 2 to 16.
      narrow_range: whether the least number is left out, so that the others lie evenly around the middle.
      name: the name of the operation in a graph.

    Returns:
      The gradients of the inputs: zero for those out of the range.
    """
    return FakeQuantWithMinMaxArgsGradient(
        gradients, inputs, min, max, num_bits, narrow_range
    )


@api("quantization.fake_quant_with_min_max_vars", v1="fake_quant_with_min_max_vars")
@tensor_function
def fake_quant_with_min_max_vars(
    inputs: TensorLike, min: TensorLike, max: TensorLike, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Clamp and round numbers as `fake_quant_with_min_max_args`, with limits that are tensors, and learn.

    Args:
      inputs: a tensor of floats.
      min: the least number, a scalar.
      max: the greatest number, a scalar.
      num_bits: the number of bits, from 2 to 16.
      narrow_range: whether the least number is left out, so that the others lie evenly around the middle.
      name: the name of the operation in a graph.

    Returns:
      A tensor of floats of the shape of the inputs.
    """
    return FakeQuantWithMinMaxVars(inputs, min, max, num_bits, narrow_range)


@api("quantization.fake_quant_with_min_max_vars_gradient", v1="fake_quant_with_min_max_vars_gradient")
@tensor_function
def fake_quant_with_min_max_vars_gradient(
    gradients: TensorLike, inputs: TensorLike, min: FloatLike, max: FloatLike, num_bits: IntLike = 8,
    narrow_range: bool = False, name: str | None = None,
):
    """Compute the gradients of `fake_quant_with_min_max_vars`.

    Args:
      gradients: the gradients of its outputs.
      inputs: its inputs.
      min: the least number, a scalar.
      max: the greatest number, a scalar.
      num_bits: the number of bits, from 2 to 16.
      narrow_range: whether the least number is left out, so that the others lie evenly around the middle.
      name: the name of the operation in a graph.

    Returns:
      The gradients of the inputs, of `min` and of `max`.
    """
    return FakeQuantWithMinMaxVarsGradient(gradients, inputs, min, max, num_bits, narrow_range)


@api("quantization.fake_quant_with_min_max_vars_per_channel", v1="fake_quant_with_min_max_vars_per_channel")
@tensor_function
def fake_quant_with_min_max_vars_per_channel(
    inputs: TensorLike, min: TensorLike, max: TensorLike, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Clamp and round numbers as `fake_quant_with_min_max_vars`, with limits for each channel, the last dimension.

    Args:
      inputs: a tensor of floats `[..., channels]`.
      min: the least numbers, `[channels]`.
      max: the greatest numbers, `[channels]`.
      num_bits: the number of bits, from 2 to 16.
      narrow_range: whether the least number is left out, so that the others lie evenly around the middle.
      name: the name of the operation in a graph.

    Returns:
      A tensor of floats of the shape of the inputs.
    """
    return FakeQuantWithMinMaxVarsPerChannel(inputs, min, max, num_bits, narrow_range)


@api(
   "quantization.fake_quant_with_min_max_vars_per_channel_gradient",
   v1="fake_quant_with_min_max_vars_per_channel_gradient",
)  # fmt: skip
@tensor_function
def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: TensorLike, inputs: TensorLike, min: FloatLike, max: FloatLike, num_bits: IntLike = 8,
    narrow_range: bool = False, name: str | None = None,
):
    """Compute the gradients of `fake_quant_with_min_max_vars_per_channel`.

    Args:
      gradients: the gradients of its outputs.
      inputs: its inputs.
      min: the least numbers, `[channels]`.
      max: the greatest numbers, `[channels]`.
      num_bits: the number of bits, from 2 to 16.
      narrow_range: whether the least number is left out, so that the others lie evenly around the middle.
      name: the name of the operation in a graph.

    Returns:
      The gradients of the inputs, of `min` and of `max`.
    """
    return FakeQuantWithMinMaxVarsPerChannelGradient(
        gradients, inputs, min, max, num_bits, narrow_range
    )

"""The functions that quantize, dequantize and join quantized tensors."""

from __future__ import annotations

from typing import Any

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import tensor_function
from tapeflow.ops.quantize.rows import Dequantize, QuantizedConcat, QuantizeV2, axis_of


@api("quantization.quantize", v1="quantize")
@tensor_function
def quantize(
    input: TensorLike, min_range, max_range, T: DTypeLike, mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO", name: str | None = None, narrow_range: bool = False,
    axis: AxisLike | None = None, ensure_minimum_range: float = 0.01,
):
    """Compute numbers of a quantized dtype that stand for floats.

    Args:
      input: a tensor of floats.
      min_range: the least float to stand for; with `axis` one for each slice.
      max_range: the greatest float to stand for; with `axis` one for each slice.
      T: the quantized dtype, as `tf.quint8`.
      mode: how numbers stand for floats: "MIN_COMBINED", "MIN_FIRST" or "SCALED".
      round_mode: "HALF_AWAY_FROM_ZERO" or "HALF_TO_EVEN".
      name: the name of the operation in a graph.
      narrow_range: whether the least number is left out.
      axis: the axis whose slices have ranges of their own; None for one range.
      ensure_minimum_range: ranges that are smaller than this, relative to their ends, are made larger.

    Returns:
      The quantized numbers, and the least and the greatest float that these stand for.

    Raises:
      InvalidArgumentError: for a range that ends before it begins, or ranges that do not fit `axis`.

    >>> numbers, low, high = tf.quantization.quantize([0.0, 0.5, 1.0], 0.0, 1.0, tf.quint8)
    >>> print(tf.cast(numbers, tf.int32).numpy(), low.numpy(), high.numpy())
    [  0 128 255] 0.0 1.0
    """
    input = convert_to_tensor(input, dtypes.float32)
    return QuantizeV2(
        input,
        min_range,
        max_range,
        T=T,
        mode=mode,
        round_mode=round_mode,
        narrow_range=narrow_range,
        axis=axis_of(axis, input),
        ensure_minimum_range=float(ensure_minimum_range),
    )


@api(v1="quantize_v2")
@tensor_function
def quantize_v2(
    input: TensorLike, min_range, max_range, T: DTypeLike, mode: str = "MIN_COMBINED", name: str | None = None,
    round_mode: str = "HALF_AWAY_FROM_ZERO", narrow_range: bool = False, axis: AxisLike | None = None,
    ensure_minimum_range: float = 0.01,
):
    """`quantize` with the order of arguments of 1.x's `quantize_v2`."""
    return quantize(
        input, min_range, max_range, T, mode, round_mode, None, narrow_range, axis, ensure_minimum_range
    )


@api("quantization.dequantize", v1="dequantize")
@tensor_function
def dequantize(
    input: TensorLike, min_range: TensorLike, max_range: TensorLike, mode: str = "MIN_COMBINED",
    name: str | None = None, axis: AxisLike | None = None, narrow_range: bool = False,
    dtype: DTypeLike = dtypes.float32,
) -> Tensor:
    """Compute the floating numbers that quantized ones stand for, if these cover `min_range` to `max_range`.

    Args:
      input: a tensor of a quantized dtype.
      min_range: the number that the least quantized one stands for; with `axis` one for each slice.
      max_range: the number that the greatest quantized one stands for; with `axis` one for each slice.
      mode: how numbers stand for floats: "MIN_COMBINED", "MIN_FIRST" or "SCALED".
      name: the name of the operation in a graph.
      axis: the axis whose slices have ranges of their own; None for one range.
      narrow_range: whether the least number is left out.
      dtype: float32 or bfloat16.

    Returns:
      A tensor of floats of the shape of the input.
    """
    return Dequantize(
        input,
        min_range,
        max_range,
        mode=mode,
        narrow_range=narrow_range,
        axis=axis_of(axis, input),
        dtype=dtypes.as_dtype(dtype),
    )


@api("quantization.quantized_concat", v1="quantized_concat")
@tensor_function
def quantized_concat(concat_dim, values: Any, input_mins, input_maxes, name: str | None = None):
    """Join quantized tensors, as numbers of one range.

    Args:
      concat_dim: the axis along which they are joined, a scalar.
      values: a list of quantized tensors.
      input_mins: the least float of each, a list of scalars.
      input_maxes: the greatest float of each, a list of scalars.
      name: the name of the operation in a graph.

    Returns:
      The joined tensor, and the least and the greatest float of the range that all share.
    """
    return QuantizedConcat(concat_dim, list(values), list(input_mins), list(input_maxes))

"""Products that are computed as if their factors, and the gradients of their results, were floats of 8 bits.

The scales by which numbers fit follow the greatest absolute values of the last steps. The new scales and values of a
step are handed on as the gradients of their variables, by which the optimizer replaces these.
"""

from __future__ import annotations

from tapeflow.autodiff.custom_gradient import custom_gradient
from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.keras import quantizers
from tapeflow.keras.dtype_policy import QuantizedFloat8DTypePolicy
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_max

_FACTOR, _GRADIENT = dtypes.float8_e4m3fn, dtypes.float8_e5m2


def add_scales(layer, kept):
    """Adds the variables of scales and of greatest values to a layer.

    Args:
      layer: a layer.
      kept: of how many steps the greatest values are kept.
    """
    for what in ("inputs", "kernel", "outputs_grad"):
        for name, shape, start in ((f"{what}_scale", (), "ones"), (f"{what}_amax_history", (kept,), "zeros")):
            weight = layer.add_weight(name, shape, "float32", start, trainable=True, autocast=False)
            weight.overwrite_with_gradient = True
            setattr(layer, name, weight)


def history_length(policy):
    """How many steps the layers of a dtype policy remember; of other policies, the default."""
    return getattr(policy, "amax_history_length", QuantizedFloat8DTypePolicy.default_amax_history_length)


def _following(x: Tensor, scale: bool, history, dtype: DType):
    """The scale of the next step, and the history with this step."""
    limit = convert_to_tensor(float(dtype.max), dtypes.float32)
    found = quantizers.compute_float8_scale(reduce_max(history, 0), scale, limit)
    return found, quantizers.compute_float8_amax_history(x, history)


def product(layer, inputs: TensorLike, training: bool | Tensor, compute):
    """The product of inputs with the kernel of a layer.

    Args:
      layer: a layer with the variables of `add_scales`.
      inputs: floats.
      training: whether inputs and kernel are measured.
      compute: a function of inputs and kernel.

    Returns:
      What `compute` returns for rounded numbers; gradients of it are rounded too.

    Raises:
      NotImplementedError: for a layer with LoRA.
    """
    if layer.lora_enabled:
        raise NotImplementedError("Currently, `_float8_call` doesn't support LoRA")
    dtype = _compute_dtype(layer)

    @custom_gradient
    def rounded(x: Tensor, scale: bool, history):
        following = _following(x, scale, history, _FACTOR) if training else (None, None)
        return quantizers.quantize_and_dequantize(x, scale, _FACTOR, dtype), lambda dy: (dy, *following)

    @custom_gradient
    def with_rounded_gradient(y: Tensor, scale: bool, history):
        def gradient(dy: Tensor):
            return (
                quantizers.quantize_and_dequantize(dy, scale, _GRADIENT, dtype),
                *_following(dy, scale, history, _GRADIENT),
            )

        return y, gradient

    def read(*names):
        return [convert_to_tensor(getattr(layer, name)) for name in names]

    x = rounded(cast(inputs, dtype), *read("inputs_scale", "inputs_amax_history"))
    kernel = rounded(cast(layer.kernel, dtype), *read("kernel_scale", "kernel_amax_history"))
    return with_rounded_gradient(compute(x, kernel), *read("outputs_grad_scale", "outputs_grad_amax_history"))


def _compute_dtype(layer):
    return dtypes.as_dtype(layer.compute_dtype)


def rounded_bias(layer):
    """The bias of a layer; in layers of float32, rounded to bfloat16."""
    bias = cast(layer.bias, _compute_dtype(layer))
    return cast(cast(bias, dtypes.bfloat16), bias.dtype) if bias.dtype == dtypes.float32 else bias

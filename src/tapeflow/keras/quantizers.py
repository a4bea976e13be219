"""`keras.quantizers`: floats as small integers with a scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, DTypeLike, Tensor, TensorLike, Variable
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, computes_tensors
from tapeflow.core.spelling import snake_case
from tapeflow.keras.registry import from_config_dict, to_config
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.math.arithmetic import maximum, minimum
from tapeflow.ops.math.bitwise import bitwise_and, bitwise_xor, right_shift
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.elementwise import abs as absolute
from tapeflow.ops.math.float_kinds import is_finite
from tapeflow.ops.math.reductions import reduce_max
from tapeflow.ops.math.rounding import round as nearest
from tapeflow.ops.static import sizes_of

__all__ = [
    "AbsMaxQuantizer",
    "Float8QuantizationConfig",
    "Int4QuantizationConfig",
    "Int8QuantizationConfig",
    "QuantizationConfig",
    "Quantizer",
    "abs_max_quantize",
    "abs_max_quantize_grouped_with_zero_point",
    "compute_float8_amax_history",
    "compute_float8_scale",
    "deserialize",
    "fake_quant_with_min_max_vars",
    "get",
    "pack_int4",
    "quantize_and_dequantize",
    "serialize",
    "unpack_int4",
]


class Quantizer:
    """Base of what makes small integers of floats; subclasses define `__call__`.

    Args:
      output_dtype: the dtype of the integers.
    """

    def __init__(self, output_dtype: str = "int8"):
        self.output_dtype = output_dtype

    def __call__(self, x: Tensor):
        """Return x in another dtype."""
        return x

    def get_config(self):
        """The constructor's arguments."""
        raise NotImplementedError(f"{self} does not implement get_config()")

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """A quantizer from the constructor's arguments."""
        return cls(**config)


class AbsMaxQuantizer(Quantizer):
    """Scales such that the greatest absolute value along axes becomes the greatest integer.

    Args:
      axis: the axes, one or several.
      value_range: the least and the greatest integer.
      epsilon: what is added to the greatest absolute value.
      output_dtype: the dtype of the integers.
    """

    def __init__(
        self, axis: Sequence[int] | int | None = None, value_range: Sequence[int] = (-127, 127),
        epsilon: float = 1e-7, output_dtype: str = "int8",
    ):
        super().__init__(output_dtype)
        self.axis = (axis,) if isinstance(axis, int) else axis if axis is None else tuple(axis)
        self.value_range, self.epsilon = value_range, epsilon

    def __call__(self, x: TensorLike, axis: AxisLike | None = None, to_numpy: bool = False):
        """Return integers, and what the floats were multiplied by."""
        axis = self.axis if axis is None else axis
        if axis is None:
            raise ValueError("`axis` must be given, to the constructor or here.")
        return abs_max_quantize(x, axis, self.value_range, self.output_dtype, self.epsilon, to_numpy)

    def get_config(self):
        config = {"value_range": self.value_range, "epsilon": self.epsilon, "output_dtype": self.output_dtype}
        return config if self.axis is None else {**config, "axis": self.axis}


@computes_tensors
def abs_max_quantize(
    inputs: TensorLike, axis: Any, value_range: Sequence[int] = (-127, 127), dtype: DTypeLike = "int8",
    epsilon: float = 1e-7, to_numpy: bool = False,
):
    """Return integers, and what the inputs were multiplied by: the greatest integer for the greatest absolute value.

    Args:
      inputs: floats.
      axis: the axes along which one scale holds.
      value_range: the least and the greatest integer.
      dtype: the dtype of the integers.
      epsilon: what is added to the greatest absolute value.
      to_numpy: accepted for compatibility; it changes no result.
    """
    x = convert_to_tensor(inputs)
    greatest = reduce_max(absolute(x), axis if isinstance(axis, int) else list(axis), True)
    scale = cast(value_range[1], x.dtype) / (greatest + cast(epsilon, x.dtype))
    whole = clip_by_value(nearest(x * scale), cast(value_range[0], x.dtype), cast(value_range[1], x.dtype))
    return cast(whole, dtype), scale


@computes_tensors
def fake_quant_with_min_max_vars(
    inputs: TensorLike, min_vals: TensorLike, max_vals: TensorLike, num_bits: int = 8, narrow_range: bool = False,
    axis=None,
):
    """Return floats rounded to the values that integers of so many bits can stand for.

    Args:
      inputs: floats.
      min_vals: the least value; for an axis one for each of its indices.
      max_vals: the greatest value.
      num_bits: how many bits.
      narrow_range: whether the least integer is left out.
      axis: the axis of the ranges, or None for one range.
    """
    x, low, high = (cast(convert_to_tensor(value), dtypes.float32) for value in (inputs, min_vals, max_vals))
    if axis is not None:
        rank = x.shape.rank
        shape = [1] * rank
        shape[axis] = -1
        low, high = reshape(low, shape), reshape(high, shape)
    least, greatest = float(narrow_range), float(2**num_bits - 1)
    scale = (high - low) / (greatest - least)
    # Zero is one of the values: the range is moved by less than a step.
    start = clip_by_value(nearest(least - low / scale), least, greatest)
    low, high = (least - start) * scale, (greatest - start) * scale
    steps = nearest((minimum(maximum(x, low), high) - low) / scale)
    return cast(steps * scale + low, convert_to_tensor(inputs).dtype)


@computes_tensors
def compute_float8_scale(amax, scale: bool, dtype_max, margin: int = 0):
    """Compute the scale by which the greatest absolute value fits a dtype.

    Args:
      amax: the greatest absolute value.
      scale: the scale where there is no such value.
      dtype_max: the greatest number of the dtype.
      margin: how many powers of 2 are left free.

    Returns:
      The scale, a scalar.
    """
    found = dtype_max / amax / 2**margin
    return 1 / where(is_finite(amax), where(amax > 0.0, found, 1 / scale), 1 / scale)


@computes_tensors
def compute_float8_amax_history(x: TensorLike, amax_history):
    """Move a history of greatest absolute values by one, with that of x in the first place.

    Args:
      x: a tensor.
      amax_history: the history, a vector.

    Returns:
      The new history, a vector of the same length.
    """
    history = convert_to_tensor(amax_history)
    latest = cast(reduce_max(absolute(x)), history.dtype)
    return concat([reshape(latest, [1]), history[2:], history[:1]], 0)


@computes_tensors
def quantize_and_dequantize(inputs: TensorLike, scale: bool, quantized_dtype, compute_dtype):
    """Round floats to what a smaller float dtype can say of them, divided by a scale.

    Args:
      inputs: floats.
      scale: what they are divided by before rounding, and multiplied by after.
      quantized_dtype: the smaller dtype.
      compute_dtype: the dtype of the result.

    Returns:
      Floats of the shape of the inputs.
    """
    limit = float(dtypes.as_dtype(quantized_dtype).max)
    scale = cast(scale, compute_dtype)
    x = clip_by_value(cast(inputs, compute_dtype) / scale, -limit, limit)
    return cast(cast(x, quantized_dtype), compute_dtype) * scale


def pack_int4(arr: TensorLike, axis: int = 0, dtype: DTypeLike = "int8"):
    """Return integers of 4 bits, two in a byte along an axis; the shape of these bytes; and the size of the axis.

    Args:
      arr: integers of `dtype` in [-8, 7], or in [0, 15].
      axis: the axis of the pairs, of which the first is in the lower bits.
      dtype: "int8" or "uint8".
    """
    if dtype not in ("int8", "uint8"):
        raise ValueError(f"Expected dtype to be 'int8' or 'uint8', but got '{dtype}'.")
    values = np.asarray(arr)
    if values.dtype.name != dtype:
        raise TypeError(f"Expected {dtype} tensor for packing, got {values.dtype.name}.")
    values = np.moveaxis(values, axis, 0).view(np.uint8) & 0xF
    size = len(values)
    if size % 2:
        values = np.concatenate([values, np.zeros_like(values[:1])])
    packed = np.moveaxis(values[::2] | values[1::2] << 4, 0, axis)
    packed = np.ascontiguousarray(packed).view(dtype)
    return convert_to_tensor(packed), packed.shape, size


def unpack_int4(packed: Variable, orig_len: int, axis=0, dtype: DTypeLike = "int8"):
    """Return the integers that `pack_int4` packed.

    Args:
      packed: the bytes.
      orig_len: how many integers there are along the axis.
      axis: the axis of the pairs.
      dtype: "int8" or "uint8".
    """
    if dtype not in ("int8", "uint8"):
        raise ValueError(f"Expected dtype to be 'int8' or 'uint8', but got '{dtype}'.")
    values = convert_to_tensor(packed)
    if values.dtype.name != dtype:
        raise TypeError(f"Expected {dtype} tensor for unpacking, got {values.dtype.name}")
    low, high = bitwise_and(values, cast(0xF, dtype)), right_shift(values, cast(4, dtype))
    if dtype == "int8":
        low = bitwise_xor(low, cast(8, dtype)) - cast(8, dtype)  # the fourth bit is the sign
    axis %= values.shape.rank
    sizes = sizes_of(values)
    both = reshape(stack([low, high], axis + 1), [*sizes[:axis], 2 * sizes[axis], *sizes[axis + 1 :]])
    return both[(*[slice(None)] * axis, slice(orig_len))]


def abs_max_quantize_grouped_with_zero_point(
    inputs: np.ndarray, block_size: int, value_range: Sequence[int] = (-8, 7), dtype: DTypeLike = "int8",
    epsilon: float = 1e-7, to_numpy: bool = False,
):
    """Return integers of groups of rows, each column of which has a scale and a zero point of its own.

    Args:
      inputs: a matrix of floats.
      block_size: how many rows a group has.
      value_range: the least and the greatest integer.
      dtype: the dtype of the integers.
      epsilon: what is added to the range of each group.
      to_numpy: accepted for compatibility; it changes no result.

    Returns:
      The integers; how much one step is and the integer of zero, each a matrix with a row for each group.
    """
    values = np.asarray(inputs)
    count = -(-len(values) // block_size)
    padded = np.zeros((count * block_size, values.shape[1]), values.dtype)
    padded[: len(values)] = values
    groups = padded.reshape(count, block_size, -1)
    low, high = groups.min(1, keepdims=True), groups.max(1, keepdims=True)
    least, greatest = value_range
    scale = (high - low + np.asarray(epsilon, values.dtype)) / (greatest - least)
    zero = np.clip(np.round(-low / scale) + least, least, greatest)
    whole = np.clip(np.round(groups / scale) + zero, least, greatest).astype(dtype)
    return (
        convert_to_tensor(whole.reshape(padded.shape)[: len(values)]),
        convert_to_tensor(scale[:, 0].astype(values.dtype)),
        convert_to_tensor(zero[:, 0].astype("int8")),
    )


class QuantizationConfig:
    """Which quantizers a layer uses for its weights and its inputs.

    Args:
      weight_quantizer: for the weights.
      activation_quantizer: for the inputs.
    """

    mode: str | None = None

    def __init__(self, weight_quantizer=None, activation_quantizer: str | None = None):
        self.weight_quantizer, self.activation_quantizer = weight_quantizer, activation_quantizer

    def get_config(self):
        """The constructor's arguments."""
        return {
            "weight_quantizer": to_config(self.weight_quantizer),
            "activation_quantizer": to_config(self.activation_quantizer),
        }

    @staticmethod
    def weight_quantizer_or_default(config: QuantizationConfig | None, default: str):
        """Return the quantizer that a configuration has for weights, else the default."""
        found = None if config is None else config.weight_quantizer
        return default if found is None else found

    @staticmethod
    def activation_quantizer_or_default(config: QuantizationConfig | None, default: str):
        """Return the quantizer that a configuration has for inputs, None included; without one, the default."""
        return default if config is None else config.activation_quantizer

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """A configuration from the constructor's arguments."""
        return cls(**{name: deserialize(value) if isinstance(value, dict) else value for name, value in config.items()})


class Int8QuantizationConfig(QuantizationConfig):
    """Integers of 8 bits.

    Args:
      weight_quantizer: for the weights, None for an `AbsMaxQuantizer` along the axes that are summed over.
      activation_quantizer: for the inputs; "default" for an `AbsMaxQuantizer` for each row, None to keep floats.
    """

    mode = "int8"

    def __init__(self, weight_quantizer=None, activation_quantizer: str = "default"):
        super().__init__(weight_quantizer, activation_quantizer)


class Float8QuantizationConfig(QuantizationConfig):
    """Floats of 8 bits, which have no quantizers to choose."""

    mode = "float8"

    def __init__(self):
        super().__init__(None, None)

    def get_config(self):
        """The constructor's arguments: none."""
        return {}


class Int4QuantizationConfig(QuantizationConfig):
    """Integers of 4 bits, two in a byte.

    Args:
      weight_quantizer: for the weights, None for an `AbsMaxQuantizer` along the axes that are summed over.
      activation_quantizer: for the inputs; "default" and None keep floats.
      block_size: how many weights that are summed over have one scale and one zero; None or -1 for all of them, whose
        zero is 0.
    """

    mode = "int4"

    def __init__(
        self, weight_quantizer: AbsMaxQuantizer | None = None, activation_quantizer: str | None = "default",
        block_size: int | None = 128,
    ):
        super().__init__(weight_quantizer, None if activation_quantizer == "default" else activation_quantizer)
        if block_size is not None and block_size != -1 and block_size <= 0:
            raise ValueError(f"block_size must be None, -1, or a positive integer. Received: block_size={block_size}")
        self.block_size = block_size
        if self.blocks and (self.weight_quantizer is not None or self.activation_quantizer is not None):
            raise ValueError(f"Int4 sub-channel quantization does not support custom quantizers: {block_size=}")
        for name, wanted in (("value_range", (-8, 7)), ("output_dtype", "int8")):
            found = getattr(self.weight_quantizer, name, wanted)
            if (tuple(found) if name == "value_range" else found) != wanted:
                raise ValueError(
                    f"Int4QuantizationConfig requires a weight_quantizer with {name}={wanted!r}. "
                    f"Received: {name}={found!r}"
                )

    @property
    def blocks(self):
        """How many weights a group has; 0 for one group."""
        return self.block_size if self.block_size is not None and self.block_size > 0 else 0

    def get_config(self):
        return {**super().get_config(), "block_size": self.block_size}

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        return super().from_config({"block_size": None, **config})


_CLASSES = (
    Quantizer, AbsMaxQuantizer, QuantizationConfig, Int8QuantizationConfig, Int4QuantizationConfig,
    Float8QuantizationConfig,
)  # fmt: skip
_NAMES = {cls.__name__: cls for cls in _CLASSES}
_NAMES |= {snake_case(name): cls for name, cls in _NAMES.items()}


def serialize(initializer: AbsMaxQuantizer):
    """The config of a quantizer."""
    return to_config(initializer)


def deserialize(config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
    """A quantizer from its config."""
    return from_config_dict(config, _NAMES, "quantizer", custom_objects)


def get(identifier, **kwargs):
    """A quantizer from a name, a config, a class or a quantizer; None for None.

    Args:
      kwargs: arguments of its constructor, where that is called.
    """
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        if identifier not in _NAMES:
            raise ValueError(f"Could not interpret quantizer identifier: {identifier!r}")
        identifier = _NAMES[identifier]
    if isinstance(identifier, type):
        identifier = identifier(**kwargs)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret quantizer identifier: {identifier!r}")


boundaries(globals())

"""Floats as small integers and as floats of 8 bits, and integers of 4 bits in bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike, Variable
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, computes_tensors
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


boundaries(globals())

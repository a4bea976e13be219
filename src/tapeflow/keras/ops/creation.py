"""Tensors from sizes, numbers and ranges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import AxisLike, DTypeLike, TensorLike
from tapeflow.core.public import public_names
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.keras import settings
from tapeflow.keras.dtype_names import result_type
from tapeflow.keras.ops.conversion import axis_of, operation, promoted, static_rank, tensor
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape as tf_broadcast_dynamic_shape
from tapeflow.ops.array.broadcasting import broadcast_to as tf_broadcast_to
from tapeflow.ops.array.construction import ones as tf_ones
from tapeflow.ops.array.construction import ones_like as tf_ones_like
from tapeflow.ops.array.construction import zeros as tf_zeros
from tapeflow.ops.array.construction import zeros_like as tf_zeros_like
from tapeflow.ops.array.joining import concat as tf_concat
from tapeflow.ops.array.layout import expand_dims as tf_expand_dims
from tapeflow.ops.array.one_hot import one_hot as tf_one_hot
from tapeflow.ops.array.ranges import linspace as tf_linspace
from tapeflow.ops.array.ranges import range as tf_range
from tapeflow.ops.array.reorder import reverse as tf_reverse
from tapeflow.ops.array.rows import identity as tf_identity
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.array.tiling import repeat as tf_repeat
from tapeflow.ops.indexing.gather_nd import gather_nd as tf_gather_nd
from tapeflow.ops.math.arithmetic import pow as tf_pow
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.choice import where as tf_where
from tapeflow.ops.math.comparison import equal as tf_equal
from tapeflow.ops.math.comparison import greater_equal as tf_greater_equal
from tapeflow.ops.math.elementwise import abs as tf_abs
from tapeflow.ops.math.elementwise import log as tf_log
from tapeflow.ops.math.elementwise import sign as tf_sign
from tapeflow.ops.math.logic import logical_and as tf_logical_and
from tapeflow.ops.math.reductions import reduce_max as tf_reduce_max
from tapeflow.ops.sparse.arithmetic import reduce_max as tf_sparse_reduce_max
from tapeflow.ops.sparse.shaping import reorder as tf_sparse_reorder


@operation
def array(x: TensorLike, dtype: DTypeLike | None = None):
    """Return x as a tensor."""
    return tensor(x, dtype)


@operation
def copy(x: TensorLike):
    """Return another tensor of the same elements."""
    return tf_identity(tensor(x))


@operation
def zeros(shape: Sequence[Any], dtype: DTypeLike | None = None):
    """Return zeros of a shape, of `floatx` by default."""
    return tf_zeros(shape, dtype or settings.floatx())


@operation
def ones(shape: Sequence[Any], dtype: DTypeLike | None = None):
    """Return ones of a shape, of `floatx` by default."""
    return tf_ones(shape, dtype or settings.floatx())


@operation
def full(shape: Sequence[Any], fill_value, dtype: DTypeLike | None = None):
    """Return a value repeated to a shape, of `floatx` by default."""
    return tf_broadcast_to(tensor(fill_value, dtype or settings.floatx()), shape)


@operation
def empty(shape: Sequence[Any], dtype: DTypeLike | None = None):
    """Return a tensor of a shape; its elements are 0."""
    return zeros(shape, dtype)


@operation
def zeros_like(x: TensorLike, dtype: DTypeLike | None = None):
    """Return zeros of the shape of x."""
    return tf_zeros_like(tensor(x), dtype)


@operation
def ones_like(x: TensorLike, dtype: DTypeLike | None = None):
    """Return ones of the shape of x."""
    return tf_ones_like(tensor(x), dtype)


@operation
def empty_like(x: TensorLike, dtype: DTypeLike | None = None):
    """Return a tensor of the shape of x; its elements are 0."""
    return zeros_like(x, dtype)


@operation
def full_like(x: Any, fill_value, dtype: DTypeLike | None = None):
    """Return a value repeated to the shape of x."""
    x = tensor(x)
    return tf_broadcast_to(tensor(fill_value, dtype or x.dtype), tf_shape(x))


@operation
def arange(start, stop=None, step: int | None = None, dtype: DTypeLike | None = None):
    """Return the numbers from `start`, or 0, before `stop`, in steps, by default of 1."""
    if dtype is None:
        given = [each for each in (start, stop, step) if each is not None]
        dtype = result_type(*(getattr(each, "dtype", type(each)) for each in given))
    start, stop = (0, start) if stop is None else (start, stop)
    return tf_range(tensor(start, dtype), tensor(stop, dtype), tensor(1 if step is None else step, dtype))


@operation
def linspace(
    start, stop, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: DTypeLike | None = None,
    axis: AxisLike = 0,
):
    """Return `num` evenly spaced numbers; without `endpoint`, `stop` is not among them.

    Returns:
      A tensor with a new axis; with `retstep`, also the step.
    """
    if num < 0:
        raise ValueError(f"`num` must be a non-negative integer. Received: num={num}")
    start, stop = promoted(start, stop, more=(float,))
    shape = tf_broadcast_dynamic_shape(tf_shape(start), tf_shape(stop))
    start, stop = tf_broadcast_to(start, shape), tf_broadcast_to(stop, shape)
    gaps = num - 1 if endpoint else num
    step = (stop - start) / gaps if gaps else tf_cast(float("nan"), start.dtype) * start
    if num > 1:
        last = stop if endpoint else start + step * (num - 1)
        numbers = tf_linspace(start, last, num, axis=axis)
    else:
        numbers = tf_repeat(tf_expand_dims(start, axis), num, axis)
    if dtype is not None:
        numbers = tf_cast(numbers, dtype)
    return (numbers, step) if retstep else numbers


@operation
def logspace(
    start, stop, num: int = 50, endpoint: bool = True, base: int = 10, dtype: DTypeLike | None = None,
    axis: AxisLike = 0,
):
    """Return `base` to the power of `num` evenly spaced numbers."""
    powers = linspace(start, stop, num, endpoint, axis=axis)
    numbers = tf_pow(tf_cast(base, powers.dtype), powers)
    return numbers if dtype is None else tf_cast(numbers, dtype)


@operation
def geomspace(start, stop, num: int = 50, endpoint: bool = True, dtype: DTypeLike | None = None, axis: AxisLike = 0):
    """Return `num` numbers of which each is the same multiple of the one before."""
    dtype = dtype or settings.floatx()
    start, stop = tensor(start, dtype), tensor(stop, dtype)
    scale = tf_cast(math.log(10), start.dtype)
    first, last = tf_log(tf_abs(start)) / scale, tf_log(tf_abs(stop)) / scale
    return logspace(first, last, num, endpoint, dtype=dtype, axis=axis) * tf_sign(start)


@operation
def vander(x: Any, N=None, increasing: bool = False):
    """Return the powers of the elements of x, one row for each; from the highest down unless `increasing`."""
    x = tensor(x)
    powers = tf_range(tf_shape(x)[0] if N is None else N)
    powers = powers if increasing else tf_reverse(powers, [0])
    dtype = result_type(x.dtype, "float32")
    return tf_cast(tf_pow(tf_expand_dims(tf_cast(x, dtype), -1), tf_cast(powers, dtype)), x.dtype)


@operation
def eye(N, M=None, k: int = 0, dtype: DTypeLike | None = None):
    """Return a matrix of zeros with ones on a diagonal."""
    rows, columns = tf_range(N), tf_range(N if M is None else M)
    return tf_cast(tf_equal(tf_expand_dims(rows, 1) + k, columns), dtype or settings.floatx())


@operation
def identity(n: int, dtype: DTypeLike | None = None):
    """Return a square matrix of zeros with ones on the diagonal."""
    return eye(n, dtype=dtype)


@operation
def tri(N, M=None, k: int = 0, dtype: DTypeLike | None = None):
    """Return a matrix of ones with zeros above a diagonal."""
    rows, columns = tf_range(N), tf_range(N if M is None else M)
    return tf_cast(tf_greater_equal(tf_expand_dims(rows, 1) + k, columns), dtype or settings.floatx())


@operation
def one_hot(
    x: TensorLike, num_classes: int, axis: AxisLike = -1, dtype: DTypeLike | None = None, sparse: bool = False
):
    """Return vectors of zeros with a one at the index that x has; of zeros where that is no class.

    Args:
      x: integers, a tensor or what can be converted to one.
      num_classes: the length of the vectors.
      axis: the axis of the result that the vectors lie along.
      dtype: the dtype of the result; None for `floatx`.
      sparse: whether the result is a `SparseTensor`.
    """
    x = tensor(x, "int64")
    dtype = dtype or settings.floatx()
    if sparse:
        return _sparse_one_hot(x, num_classes, axis, dtype)
    return tf_one_hot(x, num_classes, axis=axis, dtype=dtype)


def _sparse_one_hot(x, num_classes: int, axis, dtype: DTypeLike):
    axis = axis_of(axis, static_rank(x) + 1)
    places = tf_where(tf_logical_and(tf_greater_equal(x, 0), x < num_classes))
    classes = tf_expand_dims(tf_gather_nd(x, places), 1)
    indices = tf_concat([places[:, :axis], classes, places[:, axis:]], 1)
    sizes = tf_shape(x, out_type="int64")
    sizes = tf_concat([sizes[:axis], [num_classes], sizes[axis:]], 0)
    return tf_sparse_reorder(SparseTensor(indices, tf_ones(tf_shape(places)[:1], dtype), sizes))


@operation
def multi_hot(
    inputs: Any, num_classes: int | None = None, axis: AxisLike = -1, dtype: DTypeLike | None = None,
    sparse: bool = False,
):
    """Return vectors of zeros with ones at all the indices along the last axis of `inputs`.

    Args:
      inputs: integers, a tensor or what can be converted to one.
      num_classes: the length of the vectors.
      axis: the axis that the vectors lie along.
      dtype: the dtype of the result; None for `floatx`.
      sparse: whether the result is a `SparseTensor`.

    Raises:
      ValueError: without `num_classes`.
    """
    if num_classes is None:
        raise ValueError("Argument `num_classes` must be specified.")
    inputs = tensor(inputs)
    reduced = 1 if inputs.shape.rank > 1 else 0
    ones = one_hot(inputs, num_classes, axis, dtype, sparse)
    return tf_sparse_reduce_max(ones, reduced, output_is_sparse=True) if sparse else tf_reduce_max(ones, reduced)


__all__ = public_names(globals())

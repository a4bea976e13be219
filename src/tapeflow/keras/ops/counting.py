"""Counts, distinct elements, membership and partial order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, Tensor, TensorLike
from tapeflow.core.public import public_names
from tapeflow.keras.dtype_names import result_type
from tapeflow.keras.ops.conversion import (
    axis_of,
    floating,
    operation,
    promoted,
    static_rank,
    tensor,
)
from tapeflow.keras.ops.order import argsort, searchsorted
from tapeflow.ops.array.layout import expand_dims as tf_expand_dims
from tapeflow.ops.array.layout import reshape as tf_reshape
from tapeflow.ops.array.padding import pad as tf_pad
from tapeflow.ops.array.ranges import linspace as tf_linspace
from tapeflow.ops.array.ranges import range as tf_range
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.array.transposing import invert_permutation as tf_invert_permutation
from tapeflow.ops.array.transposing import transpose as tf_transpose
from tapeflow.ops.indexing.boolean_mask import boolean_mask as tf_boolean_mask
from tapeflow.ops.indexing.gather import gather as tf_gather
from tapeflow.ops.indexing.unique import UniqueWithCountsV2
from tapeflow.ops.math.arithmetic import maximum as tf_maximum
from tapeflow.ops.math.arithmetic import minimum as tf_minimum
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.comparison import equal as tf_equal
from tapeflow.ops.math.logic import logical_and as tf_logical_and
from tapeflow.ops.math.logic import logical_not as tf_logical_not
from tapeflow.ops.math.reductions import reduce_any as tf_reduce_any
from tapeflow.ops.math.reductions import reduce_max as tf_reduce_max
from tapeflow.ops.math.reductions import reduce_min as tf_reduce_min
from tapeflow.ops.math.segment_functions import unsorted_segment_min as tf_unsorted_segment_min
from tapeflow.ops.math.segment_functions import unsorted_segment_sum as tf_unsorted_segment_sum
from tapeflow.ops.math.sorting import argsort as tf_argsort
from tapeflow.ops.sparse.functions import from_dense as tf_from_dense
from tapeflow.ops.statistics.bincount import bincount as tf_bincount

if TYPE_CHECKING:
    import numpy as np


@operation
def bincount(x: Any, weights=None, minlength: int = 0, sparse: bool = False):
    """Return how often each number from 0 occurs in x, or the sums of the weights of where it does."""
    x = tensor(x)
    dtype = "int32" if weights is None else None
    if weights is not None:
        weights = tensor(weights)
        dtype = result_type(x.dtype, weights.dtype)
        if weights.dtype.name not in ("int32", "int64", "float32", "float64"):
            weights = tf_cast(weights, "int32" if weights.dtype.is_integer else "float32")
    x = x if x.dtype.name in ("int32", "int64") else tf_cast(x, "int32")
    counts = tf_cast(tf_bincount(x, weights, minlength, axis=-1), dtype)
    return tf_from_dense(counts) if sparse else counts


@operation
def histogram(x: TensorLike, bins: int = 10, range=None):
    """Return how many elements lie in each of `bins` intervals of one width, and the ends of the intervals."""
    if not isinstance(bins, int) or bins < 0:
        raise ValueError(f"Argument `bins` should be a non-negative integer. Received: bins={bins}")
    if range is not None and (len(range) != 2 or range[1] < range[0]):
        raise ValueError(f"Argument `range` must be a pair (low, high). Received: range={range}")
    x = tf_reshape(tensor(x), [-1])
    low, high = (tf_reduce_min(x), tf_reduce_max(x)) if range is None else range
    low, high = tf_cast(low, floating(x).dtype), tf_cast(high, floating(x).dtype)
    edges = tf_cast(tf_linspace(low, high, bins + 1), x.dtype)
    within = tf_logical_and(x >= tf_cast(low, x.dtype), x <= tf_cast(high, x.dtype))
    kept = tf_boolean_mask(x, within)
    places = tf_cast(searchsorted(edges[1:-1], kept, side="right"), "int32")
    counts = tf_unsorted_segment_sum(tf_cast(tf_equal(places, places), x.dtype), places, bins)
    return counts, edges


@operation
def isin(x1: TensorLike, x2: TensorLike, assume_unique: bool = False, invert: bool = False):
    """Return whether elements of x1 are among those of x2, or with `invert` whether they are not."""
    x1, x2 = promoted(tensor(x1), tensor(x2))
    found = tf_reduce_any(tf_equal(tf_expand_dims(x1, -1), tf_reshape(x2, [-1])), -1)
    return tf_logical_not(found) if invert else found


@operation
def unravel_index(indices: TensorLike, shape: Sequence[Any]):
    """Return the indices along each axis of elements that are counted row by row in an array of a shape."""
    if None in shape:
        raise ValueError(f"`shape` argument cannot contain `None`. Received: shape={shape}")
    indices = tensor(indices)
    return tuple(_coordinates(indices, list(shape)))


def _coordinates(indices, shape: Sequence[Any]):
    found = []
    for size in reversed(shape):
        found.append(indices % tf_cast(size, indices.dtype))
        indices = indices // tf_cast(size, indices.dtype)
    return reversed(found)


@operation
def argpartition(x: np.ndarray, kth: int, axis: int = -1):
    """Return an order of indices along an axis by which all before place `kth` are no greater than all after it."""
    x = tensor(x)
    if axis is None:
        x, axis = tf_reshape(x, [-1]), 0
    return argsort(x, axis)


@operation
def unique(
    x: TensorLike, sorted: bool = True, return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False, axis: AxisLike | None = None, size: int | Sequence[int] | None = None,
    fill_value=None,
):  # fmt: skip
    """Return the distinct elements of x, or the distinct parts along an axis.

    Args:
      sorted: whether in ascending order instead of that of first occurrence.
      return_index: whether to return where each occurs first.
      return_inverse: whether to return which of them each element of x is.
      return_counts: whether to return how often each occurs.
      size: how many to return: the first ones, or as many with `fill_value` (default 0) at the end.
    """
    x = tensor(x)
    shape = tf_shape(x)
    flat = axis is None
    x = tf_reshape(x, [-1]) if flat else x
    axis = 0 if flat else axis_of(axis, static_rank(x))
    found, inverse, counts = UniqueWithCountsV2(x, [axis], dtypes.int32)
    many = tf_shape(found)[axis]
    index = tf_unsorted_segment_min(tf_range(tf_shape(x)[axis]), inverse, many)
    if sorted:
        order = _lexicographic(found, axis)
        found = tf_gather(found, order, axis=axis)
        index, counts = tf_gather(index, order), tf_gather(counts, order)
        inverse = tf_gather(tf_invert_permutation(order), inverse)
    if size is not None:
        found = _resized(found, axis, size, 0 if fill_value is None else fill_value)
        index, counts = _resized(index, 0, size, 1), _resized(counts, 0, size, 0)
    inverse = tf_reshape(inverse, shape) if flat else inverse
    wanted = [found, *(value for value, flag in ((index, return_index), (inverse, return_inverse),
                                                 (counts, return_counts)) if flag)]  # fmt: skip
    return tuple(wanted) if len(wanted) > 1 else found


def _lexicographic(x: Tensor, axis: int):
    """The order of the parts of x along an axis, by their first elements, then by the next."""
    rank = static_rank(x)
    rows = tf_transpose(x, [axis, *(i for i in range(rank) if i != axis)])
    rows = tf_reshape(rows, [tf_shape(rows)[0], -1])
    if rank == 1:
        return tf_argsort(x)
    order = tf_range(tf_shape(rows)[0])
    if rows.shape[1] is None:
        raise ValueError(f"unique of parts along an axis needs the other sizes of x to be known, got {x.shape}")
    for column in reversed(range(rows.shape[1])):
        order = tf_gather(order, tf_argsort(tf_gather(rows[:, column], order), stable=True))
    return order


def _resized(x: Tensor, axis: int, size, fill):
    """The first `size` parts of x along an axis, filled up with a value."""
    kept = tf_minimum(tf_shape(x)[axis], size)
    x = tf_gather(x, tf_range(kept), axis=axis)
    around = [[0, tf_maximum(size - kept, 0) if i == axis else 0] for i in range(static_rank(x))]
    return tf_pad(x, around, constant_values=tf_cast(fill, x.dtype))


__all__ = public_names(globals())

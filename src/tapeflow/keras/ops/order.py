"""`keras.ops`: elements by their order."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.public import public_names
from tapeflow.keras.ops.conversion import (
    axes_of,
    floating,
    operation,
    promoted,
    static_rank,
    tensor,
)
from tapeflow.ops.array.layout import expand_dims as tf_expand_dims
from tapeflow.ops.array.layout import reshape as tf_reshape
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.array.transposing import transpose as tf_transpose
from tapeflow.ops.indexing.gather import gather as tf_gather
from tapeflow.ops.indexing.selection import searchsorted as tf_searchsorted
from tapeflow.ops.indexing.top_k import top_k as tf_top_k
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.choice import where as tf_where
from tapeflow.ops.math.comparison import equal as tf_equal
from tapeflow.ops.math.float_kinds import is_nan as tf_is_nan
from tapeflow.ops.math.reductions import reduce_any as tf_reduce_any
from tapeflow.ops.math.rounding import ceil as tf_ceil
from tapeflow.ops.math.rounding import floor as tf_floor
from tapeflow.ops.math.rounding import round as tf_round
from tapeflow.ops.math.sorting import argsort as tf_argsort
from tapeflow.ops.math.sorting import sort as tf_sort


@operation
def median(x: TensorLike, axis: int | None = None, keepdims: bool = False):
    """Return the element in the middle along axes, or the mean of the two there.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return quantile(x, 0.5, axis, "linear", keepdims)


@operation
def quantile(x: Any, q: Any, axis: int | None = None, method: str = "linear", keepdims: bool = False):
    """Return the elements below which the parts `q` of all along axes are.

    Args:
      q: numbers of [0, 1].
      method: what is taken between two elements: "linear", "lower", "higher", "midpoint" or "nearest".
    """
    x = floating(x)
    q = tf_cast(tensor(q), x.dtype)
    axes, rank = axes_of(axis, static_rank(x)), static_rank(x)
    kept = [i for i in range(rank) if i not in axes]
    sizes = tf_shape(x)
    rows = tf_transpose(x, [*kept, *axes])
    rows = tf_sort(tf_reshape(rows, [*(sizes[i] for i in kept), -1]), axis=-1)
    count = tf_cast(tf_shape(rows)[-1], x.dtype) - 1
    place = q * count
    below, above = (tf_cast(step(place), "int32") for step in (tf_floor, tf_ceil))
    low, high = tf_gather(rows, below, axis=-1), tf_gather(rows, above, axis=-1)
    if method == "linear":
        part = place - tf_floor(place)
        found = tf_where(tf_equal(part, 0), low, low * (1 - part) + high * part)
    elif method == "midpoint":
        found = (low + high) / 2
    elif method == "nearest":
        found = tf_gather(rows, tf_cast(tf_round(place), "int32"), axis=-1)
    elif method in ("lower", "higher"):
        found = low if method == "lower" else high
    else:
        raise ValueError(f"Unknown quantile method: {method!r}")
    found = tf_where(tf_reduce_any(tf_is_nan(rows), -1, True) if q.shape.rank else
                     tf_reduce_any(tf_is_nan(rows), -1), tf_cast(float("nan"), x.dtype), found)  # fmt: skip
    if q.shape.rank:
        found = tf_transpose(found, [len(kept), *range(len(kept))])
    if keepdims:
        for i in sorted(axes):
            found = tf_expand_dims(found, i + (1 if q.shape.rank else 0))
    return found


@operation
def percentile(x: Any, q, axis=None, method: str = "linear", keepdims: bool = False):
    """Return `quantile` of q / 100.

    Args:
      x: a tensor, or what can be converted to one.
      q: the percentage, or several, from 0 to 100.
      axis: the axis, or several; None for all.
      method: what counts between two numbers: "linear", "lower", "higher", "midpoint" or "nearest".
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    x = floating(x)
    return quantile(x, tf_cast(tensor(q), x.dtype) / 100, axis, method, keepdims)


@operation
def argsort(x: Any, axis: AxisLike = -1):
    """Return the indices that sort along an axis, or all elements in a row for None.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, an integer; None for all elements in a row.
    """
    x = tensor(x)
    x = tf_cast(x, "uint8") if x.dtype.is_bool else x
    x, axis = (tf_reshape(x, [-1]), -1) if axis is None or x.shape.rank == 0 else (x, axis)
    return tf_argsort(x, axis=axis, stable=True)


@operation
def sort(x: Any, axis: AxisLike = -1):
    """Return the elements in ascending order along an axis.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, an integer.
    """
    x = tensor(x)
    if x.dtype.is_bool:
        return tf_cast(tf_sort(tf_cast(x, "int32"), axis=axis), "bool")
    return tf_sort(x, axis=axis)


@operation
def top_k(x: TensorLike, k: int, sorted: bool = True):
    """Return the `k` greatest elements of the last axis, and their indices.

    Args:
      x: a tensor, or what can be converted to one.
      k: how many of the greatest.
      sorted: whether results come in order.
    """
    return tf_top_k(tensor(x), k, sorted)


@operation
def searchsorted(sorted_sequence, values: TensorLike, side: str = "left"):
    """Return where values would be inserted into a sorted vector.

    Args:
      sorted_sequence: the sorted numbers.
      values: the numbers to find places for.
      side: "left" or "right" of numbers that are equal.
    """
    sequence, values = promoted(sorted_sequence, values)
    if sequence.shape.rank != 1:
        raise ValueError(
            "`searchsorted` only supports 1-D sorted sequences. You can use `keras.ops.vectorized_map` to extend it "
            f"to N-D sequences. Received: sorted_sequence.shape={sequence.shape}"
        )
    found = tf_searchsorted(sequence, tf_reshape(values, [-1]), side)
    return tf_reshape(found, tf_shape(values))


@operation
def digitize(x: TensorLike, bins):
    """Return the number of `bins`, increasing limits, up to each element.

    Args:
      x: a tensor, or what can be converted to one.
      bins: the limits, ascending.
    """
    x, bins = promoted(x, tensor(bins))
    found = tf_searchsorted(bins, tf_reshape(x, [-1]), "right")
    return tf_reshape(found, tf_shape(x))


__all__ = public_names(globals())

"""Sums, extremes, averages and searches along axes."""

from __future__ import annotations

import builtins
from typing import Any

from tapeflow.core.annotations import AxisLike, DTypeLike, TensorLike
from tapeflow.core.public import public_names
from tapeflow.keras.ops.conversion import (
    axes_of,
    axis_of,
    floating,
    operation,
    promoted,
    static_rank,
    tensor,
    wide,
)
from tapeflow.ops.array.broadcasting import broadcast_to as tf_broadcast_to
from tapeflow.ops.array.layout import expand_dims as tf_expand_dims
from tapeflow.ops.array.layout import reshape as tf_reshape
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.array.transposing import transpose as tf_transpose
from tapeflow.ops.indexing.gather import gather as tf_gather
from tapeflow.ops.indexing.selection import searchsorted as tf_searchsorted
from tapeflow.ops.indexing.top_k import top_k as tf_top_k
from tapeflow.ops.math.argmax import argmax as tf_argmax
from tapeflow.ops.math.argmax import argmin as tf_argmin
from tapeflow.ops.math.arithmetic import maximum as tf_maximum
from tapeflow.ops.math.arithmetic import minimum as tf_minimum
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.choice import where as tf_where
from tapeflow.ops.math.comparison import equal as tf_equal
from tapeflow.ops.math.cumulative import cumprod as tf_cumprod
from tapeflow.ops.math.cumulative import cumsum as tf_cumsum
from tapeflow.ops.math.float_kinds import is_nan as tf_is_nan
from tapeflow.ops.math.reductions import count_nonzero as tf_count_nonzero
from tapeflow.ops.math.reductions import reduce_all as tf_reduce_all
from tapeflow.ops.math.reductions import reduce_any as tf_reduce_any
from tapeflow.ops.math.reductions import reduce_logsumexp as tf_reduce_logsumexp
from tapeflow.ops.math.reductions import reduce_max as tf_reduce_max
from tapeflow.ops.math.reductions import reduce_mean as tf_reduce_mean
from tapeflow.ops.math.reductions import reduce_min as tf_reduce_min
from tapeflow.ops.math.reductions import reduce_prod as tf_reduce_prod
from tapeflow.ops.math.reductions import reduce_std as tf_reduce_std
from tapeflow.ops.math.reductions import reduce_sum as tf_reduce_sum
from tapeflow.ops.math.reductions import reduce_variance as tf_reduce_variance
from tapeflow.ops.math.rounding import ceil as tf_ceil
from tapeflow.ops.math.rounding import floor as tf_floor
from tapeflow.ops.math.rounding import round as tf_round
from tapeflow.ops.math.sorting import argsort as tf_argsort
from tapeflow.ops.math.sorting import sort as tf_sort


@operation
def sum(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the sum along axes; small integers are added up in 32 bits.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return tf_reduce_sum(wide(x), axis, keepdims)


@operation
def prod(x, axis: AxisLike | None = None, keepdims: bool = False, dtype: DTypeLike | None = None):
    """Return the product along axes; small integers are multiplied in 32 bits.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
      dtype: the dtype of the result; None for what follows from the inputs.
    """
    x = wide(x)
    return tf_reduce_prod(x if dtype is None else tf_cast(x, dtype), axis, keepdims)


@operation
def mean(x: TensorLike, axis: int | None = None, keepdims: bool = False):
    """Return the mean along axes.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return tf_reduce_mean(floating(x), axis, keepdims)


@operation
def var(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the variance along axes.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return tf_reduce_variance(floating(x), axis, keepdims)


@operation
def std(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the standard deviation along axes.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return tf_reduce_std(floating(x), axis, keepdims)


def _extreme(x, axis, keepdims: bool, initial, reduce, choose):
    x = tensor(x)
    bools = x.dtype.is_bool
    result = reduce(tf_cast(x, "int32") if bools else x, axis, keepdims)
    if initial is not None:
        result = choose(result, tf_cast(initial, result.dtype))
    return tf_cast(result, "bool") if bools else result


@operation
def max(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, initial=None):
    """Return the greatest element along axes, at least `initial`.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
      initial: a number that is compared with the others, needed where there are none.
    """
    return _extreme(x, axis, keepdims, initial, tf_reduce_max, tf_maximum)


@operation
def min(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, initial=None):
    """Return the least element along axes, at most `initial`.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
      initial: a number that is compared with the others, needed where there are none.
    """
    return _extreme(x, axis, keepdims, initial, tf_reduce_min, tf_minimum)


@operation
def amax(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the greatest element along axes.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return max(x, axis, keepdims)


@operation
def amin(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the least element along axes.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return min(x, axis, keepdims)


@operation
def all(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return whether all elements along axes are true.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return tf_reduce_all(tensor(x, "bool"), axis, keepdims)


@operation
def any(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return whether an element along axes is true.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return tf_reduce_any(tensor(x, "bool"), axis, keepdims)


@operation
def count_nonzero(x: TensorLike, axis: AxisLike | None = None):
    """Return how many elements along axes are not 0.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
    """
    return tf_count_nonzero(tensor(x), axis, dtype="int32")


@operation
def logsumexp(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the logarithm of the sum of exp(x) along axes.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return tf_reduce_logsumexp(floating(x), axis, keepdims)


def _place(x, axis, keepdims: bool, find):
    x = tensor(x)
    x = tf_cast(x, "int32") if x.dtype.is_bool else x
    if axis is None:
        found = find(tf_reshape(x, [-1]), 0, "int32")
        return tf_reshape(found, [1] * static_rank(x)) if keepdims else found
    found = find(x, axis, "int32")
    return tf_expand_dims(found, axis) if keepdims else found


@operation
def argmax(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the index of the first greatest element along an axis, or among all.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, an integer; None for the flattened tensor.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return _place(x, axis, keepdims, tf_argmax)


@operation
def argmin(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the index of the first least element along an axis, or among all.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, an integer; None for the flattened tensor.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return _place(x, axis, keepdims, tf_argmin)


def _cumulated(x, axis, dtype: DTypeLike | None, cumulate):
    x = tensor(x)
    x = tf_cast(x, dtype or ("int32" if x.dtype.is_bool else x.dtype))
    return cumulate(tf_reshape(x, [-1]), 0) if axis is None else cumulate(x, axis)


@operation
def cumsum(x: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None):
    """Return the running sum along an axis, or over all elements in a row.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, an integer; None for the flattened tensor.
      dtype: the dtype of the result; None for what follows from the inputs.
    """
    return _cumulated(x, axis, dtype, tf_cumsum)


@operation
def cumprod(x: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None):
    """Return the running product along an axis, or over all elements in a row.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, an integer; None for the flattened tensor.
      dtype: the dtype of the result; None for what follows from the inputs.
    """
    return _cumulated(x, axis, dtype, tf_cumprod)


@operation
def average(x: TensorLike, axis=None, weights=None):
    """Return the mean along an axis, in which elements count by `weights`.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      weights: how much each number counts; None for 1.
    """
    if weights is None:
        return tf_reduce_mean(floating(x), axis)
    x, weights = promoted(x, weights, more=(float,))
    if axis is not None and weights.shape.rank == 1 and static_rank(x) != 1:
        shape = [1] * static_rank(x)
        shape[axis] = -1
        weights = tf_reshape(weights, shape)
    weights = tf_broadcast_to(weights, tf_shape(x))
    return tf_reduce_sum(x * weights, axis) / tf_reduce_sum(weights, axis)


@operation
def ptp(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the greatest minus the least element along axes.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    x = tensor(x)
    return max(x, axis, keepdims) - min(x, axis, keepdims)


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


@operation
def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis=-1):
    """Return the integral along an axis by the trapezoidal rule, of points x or at distances `dx`.

    Args:
      y: the values.
      x: the points; None for a distance of `dx`.
      dx: the distance of the points where `x` is None.
      axis: the axis, an integer.
    """
    y = promoted(tensor(y), more=(float,))[0]
    at = axis_of(axis, static_rank(y))
    before = (builtins.slice(None),) * at
    means = (y[(*before, builtins.slice(1, None))] + y[(*before, builtins.slice(None, -1))]) / 2
    if x is None:
        return tf_reduce_sum(means * tf_cast(dx, y.dtype), at)
    x = tensor(x, y.dtype)
    along = (builtins.slice(None),) * axis_of(axis, static_rank(x)) if x.shape.rank > 1 else ()
    steps = x[(*along, builtins.slice(1, None))] - x[(*along, builtins.slice(None, -1))]
    if x.shape.rank == 1:
        steps = tf_reshape(steps, [-1] + [1] * (y.shape.rank - 1 - at))
    return tf_reduce_sum(means * steps, at)


__all__ = public_names(globals())

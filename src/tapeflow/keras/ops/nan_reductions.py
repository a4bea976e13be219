"""Reductions that leave out elements that are NaN."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import AxisLike, DTypeLike, TensorLike
from tapeflow.core.public import public_names
from tapeflow.keras.ops import reductions
from tapeflow.keras.ops.conversion import axes_of, floating, operation, static_rank, tensor
from tapeflow.ops.array.construction import ones_like as tf_ones_like
from tapeflow.ops.array.construction import zeros_like as tf_zeros_like
from tapeflow.ops.array.joining import concat as tf_concat
from tapeflow.ops.array.layout import reshape as tf_reshape
from tapeflow.ops.array.padding import pad as tf_pad
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.array.transposing import transpose as tf_transpose
from tapeflow.ops.indexing.gather import gather as tf_gather
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.choice import where as tf_where
from tapeflow.ops.math.comparison import equal as tf_equal
from tapeflow.ops.math.elementwise import sqrt as tf_sqrt
from tapeflow.ops.math.elementwise import square as tf_square
from tapeflow.ops.math.float_kinds import is_nan as tf_is_nan
from tapeflow.ops.math.logic import logical_not as tf_logical_not
from tapeflow.ops.math.reductions import reduce_all as tf_reduce_all
from tapeflow.ops.math.reductions import reduce_sum as tf_reduce_sum
from tapeflow.ops.math.rounding import ceil as tf_ceil
from tapeflow.ops.math.rounding import floor as tf_floor
from tapeflow.ops.math.rounding import round as tf_round
from tapeflow.ops.math.sorting import sort as tf_sort


def _filled(x, value):
    """`x` with `value` in place of NaN, and where it was NaN; None for dtypes without NaN."""
    x = tensor(x)
    if not x.dtype.is_floating:
        return x, None
    missing = tf_is_nan(x)
    return tf_where(missing, tf_cast(value, x.dtype), x), missing


@operation
def nansum(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the sum of what is not NaN along axes.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return reductions.sum(_filled(x, 0)[0], axis, keepdims)


@operation
def nanprod(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the product of what is not NaN along axes.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return reductions.prod(_filled(x, 1)[0], axis, keepdims)


@operation
def nancumsum(x: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None):
    """Return the sums up to each element along an axis, NaN counted as 0.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, an integer; None for the flattened tensor.
      dtype: the dtype of the result; None for what follows from the inputs.
    """
    return reductions.cumsum(_filled(x, 0)[0], axis, dtype)


@operation
def nancumprod(x: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None):
    """Return the products up to each element along an axis, NaN counted as 1.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, an integer; None for the flattened tensor.
      dtype: the dtype of the result; None for what follows from the inputs.
    """
    return reductions.cumprod(_filled(x, 1)[0], axis, dtype)


def _extreme(x, axis, keepdims: bool, reduce, least):
    x, missing = _filled(x, least)
    found = reduce(x, axis, keepdims)
    if missing is None:
        return found
    return tf_where(tf_reduce_all(missing, axis, keepdims), tf_cast(float("nan"), x.dtype), found)


@operation
def nanmax(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the greatest element that is not NaN along axes; NaN where there is none.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return _extreme(x, axis, keepdims, reductions.max, float("-inf"))


@operation
def nanmin(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the least element that is not NaN along axes; NaN where there is none.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return _extreme(x, axis, keepdims, reductions.min, float("inf"))


def _place(x, axis, keepdims: bool, find, least):
    x, missing = _filled(x, least)
    found = find(x, axis, keepdims)
    if missing is None:
        return found
    return tf_where(tf_reduce_all(missing, axis, keepdims), tf_cast(-1, found.dtype), found)


@operation
def nanargmax(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the index of the first greatest element that is not NaN; -1 where there is none.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, an integer; None for the flattened tensor.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return _place(x, axis, keepdims, reductions.argmax, float("-inf"))


@operation
def nanargmin(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the index of the first least element that is not NaN; -1 where there is none.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, an integer; None for the flattened tensor.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return _place(x, axis, keepdims, reductions.argmin, float("inf"))


def _counted(x, axis, keepdims: bool):
    present = tf_cast(tf_logical_not(tf_is_nan(x)), x.dtype)
    return tf_reduce_sum(present, axis, keepdims)


@operation
def nanmean(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the mean of what is not NaN along axes.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    x = floating(x)
    return nansum(x, axis, keepdims) / _counted(x, axis, keepdims)


@operation
def nanvar(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the variance of what is not NaN along axes.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    x = floating(x)
    apart = tf_where(tf_is_nan(x), tf_zeros_like(x), x - nanmean(x, axis, True))
    return tf_reduce_sum(tf_square(apart), axis, keepdims) / _counted(x, axis, keepdims)


@operation
def nanstd(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the standard deviation of what is not NaN along axes.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return tf_sqrt(nanvar(x, axis, keepdims))


def _linear(position: int, low, high):
    share = position - tf_floor(position)
    return tf_where(tf_equal(share, 0), low, low * (1 - share) + high * share)


_METHODS = {
    "linear": _linear,
    "lower": lambda position, low, high: low,
    "higher": lambda position, low, high: high,
    "midpoint": lambda position, low, high: (low + high) / 2,
    "nearest": lambda position, low, high: tf_where(tf_round(position) > tf_floor(position), high, low),
}


@operation
def nanquantile(x: Any, q, axis: AxisLike | None = None, method: str = "linear", keepdims: bool = False):
    """Return the values below which a share `q` of what is not NaN along axes lies.

    Args:
      method: how to interpolate between two elements: "linear", "lower", "higher", "midpoint" or "nearest".
    """
    if method not in _METHODS:
        raise ValueError(f"method must be one of {list(_METHODS)}. Received: {method!r}")
    x = floating(x)
    q = tf_cast(q, x.dtype)
    rank = static_rank(x)
    axes = axes_of(axis, rank)
    rest = [i for i in range(rank) if i not in axes]
    moved = tf_transpose(x, [*rest, *axes])
    flat = tf_reshape(moved, tf_concat([tf_shape(moved)[: len(rest)], [-1]], 0))
    ordered = tf_sort(_filled(flat, float("inf"))[0], axis=-1)
    # One element more, for those without any.
    ordered = tf_pad(ordered, [[0, 0]] * len(rest) + [[0, 1]])
    last = _counted(flat, -1, True) - 1
    shares = tf_reshape(q, [-1])
    positions = last * shares
    position = tf_where(positions < 0, tf_zeros_like(positions), positions)
    low, high = (
        tf_gather(ordered, tf_cast(edge(position), "int32"), axis=-1, batch_dims=len(rest))
        for edge in (tf_floor, tf_ceil)
    )
    found = _METHODS[method](position, low, high)
    found = tf_where(last < 0, tf_cast(float("nan"), x.dtype) * tf_ones_like(found), found)
    found = tf_transpose(found, [len(rest), *range(len(rest))])
    sizes = [1 if i in axes else tf_shape(x)[i] for i in range(rank) if keepdims or i in rest]
    return tf_reshape(found, tf_concat([tf_shape(q), tf_cast(sizes, "int32")], 0))


@operation
def nanpercentile(x: TensorLike, q, axis: AxisLike | None = None, method: str = "linear", keepdims: bool = False):
    """Return the values below which `q` percent of what is not NaN along axes lie.

    Args:
      x: a tensor, or what can be converted to one.
      q: the percentage, or several, from 0 to 100.
      axis: the axis, or several; None for all.
      method: what counts between two numbers: "linear", "lower", "higher", "midpoint" or "nearest".
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return nanquantile(x, tf_cast(q, floating(x).dtype) / 100, axis, method, keepdims)


@operation
def nanmedian(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Return the median of what is not NaN along axes.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
      keepdims: whether the axes that are reduced stay, with size 1.
    """
    return nanquantile(x, 0.5, axis, keepdims=keepdims)


__all__ = public_names(globals())

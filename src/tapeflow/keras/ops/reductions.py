"""Sums, extremes, averages and searches along axes."""

from __future__ import annotations

import builtins
from typing import Any

from tapeflow.core.annotations import AxisLike, DTypeLike, TensorLike
from tapeflow.core.public import public_names
from tapeflow.keras.ops.conversion import (
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
from tapeflow.ops.math.argmax import argmax as tf_argmax
from tapeflow.ops.math.argmax import argmin as tf_argmin
from tapeflow.ops.math.arithmetic import maximum as tf_maximum
from tapeflow.ops.math.arithmetic import minimum as tf_minimum
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.cumulative import cumprod as tf_cumprod
from tapeflow.ops.math.cumulative import cumsum as tf_cumsum
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

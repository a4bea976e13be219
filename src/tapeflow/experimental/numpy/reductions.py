"""Sums and the like along axes, and running ones."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, DTypeLike, TensorLike
from tapeflow.core.convert import constant
from tapeflow.core.public import public
from tapeflow.experimental.numpy.arrays import default_float, dtype_of, floating, tensor
from tapeflow.ops.array.broadcasting import broadcast_to
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import shape, size
from tapeflow.ops.math.argmax import argmax as argmax_
from tapeflow.ops.math.argmax import argmin as argmin_
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.complex_numbers import real
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.math.cumulative import cumprod as cumprod_
from tapeflow.ops.math.cumulative import cumsum as cumsum_
from tapeflow.ops.math.elementwise import sqrt, square
from tapeflow.ops.math.float_kinds import is_nan
from tapeflow.ops.math.logic import logical_not
from tapeflow.ops.math.reductions import count_nonzero as count_nonzero_
from tapeflow.ops.math.reductions import (
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
)

_NARROW = (dtypes.int8, dtypes.int16, dtypes.int32)
_NARROW_UNSIGNED = (dtypes.uint8, dtypes.uint16, dtypes.uint32)


def _widened(x):
    """What NumPy sums: integers narrower than 64 bits, and booleans, as 64 bits."""
    if x.dtype == dtypes.bool or x.dtype in _NARROW:
        return cast(x, dtypes.int64)
    return cast(x, dtypes.uint64) if x.dtype in _NARROW_UNSIGNED else x


def _no_out(out):
    if out is not None:
        raise ValueError("Setting out is not supported.")


@public
def sum(
    a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None, keepdims: bool | None = None
):
    """Return the sum along axes; booleans are counted.

    Args:
      a: an array, or what makes one.
      axis: the axis, or a tuple of axes; None: all.
      dtype: the dtype to compute in; None: that of `a`, small integers and booleans as 64 bits.
      keepdims: whether the axes stay, with size 1.
    """
    x = tensor(a)
    x = cast(x, dtype_of(dtype)) if dtype is not None else _widened(x)
    return reduce_sum(x, axis, bool(keepdims))


@public
def prod(
    a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None, keepdims: bool | None = None
):
    """Return the product along axes.

    Args:
      a: an array, or what makes one.
      axis: the axis, or a tuple of axes; None: all.
      dtype: the dtype to compute in; None: that of `a`, small integers and booleans as 64 bits.
      keepdims: whether the axes stay, with size 1.
    """
    x = tensor(a)
    x = cast(x, dtype_of(dtype)) if dtype is not None else _widened(x)
    return reduce_prod(x, axis, bool(keepdims))


@public
def mean(
    a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None, out=None,
    keepdims: bool | None = None,
):
    """Return the mean along axes, of integers in floating point.

    Args:
      a: an array, or what makes one.
      axis: the axis, or a tuple of axes; None: all.
      dtype: the dtype to compute in; None: that of `a`.
      out: must be None, else ValueError is raised.
      keepdims: whether the axes stay, with size 1.
    """
    _no_out(out)
    x = cast(tensor(a), dtype_of(dtype)) if dtype is not None else floating(a)
    return reduce_mean(x, axis, bool(keepdims))


@public
def amax(a: TensorLike, axis: AxisLike | None = None, out=None, keepdims: bool | None = None):
    """Return the largest element along axes.

    Args:
      a: an array, or what makes one.
      axis: the axis, or a tuple of axes; None: all.
      out: must be None, else ValueError is raised.
      keepdims: whether the axes stay, with size 1.
    """
    _no_out(out)
    return max(a, axis, keepdims)


@public
def amin(a: TensorLike, axis: AxisLike | None = None, out=None, keepdims: bool | None = None):
    """Return the smallest element along axes.

    Args:
      a: an array, or what makes one.
      axis: the axis, or a tuple of axes; None: all.
      out: must be None, else ValueError is raised.
      keepdims: whether the axes stay, with size 1.
    """
    _no_out(out)
    return min(a, axis, keepdims)


@public
def max(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None):
    """Return the largest element along axes.

    Args:
      a: an array, or what makes one.
      axis: the axis, or a tuple of axes; None: all.
      keepdims: whether the axes stay, with size 1.
    """
    x = tensor(a)
    return (reduce_any if x.dtype == dtypes.bool else reduce_max)(x, axis, bool(keepdims))


@public
def min(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None):
    """Return the smallest element along axes.

    Args:
      a: an array, or what makes one.
      axis: the axis, or a tuple of axes; None: all.
      keepdims: whether the axes stay, with size 1.
    """
    x = tensor(a)
    return (reduce_all if x.dtype == dtypes.bool else reduce_min)(x, axis, bool(keepdims))


@public
def ptp(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None):
    """Return the largest less the smallest element along axes.

    Args:
      a: an array, or what makes one.
      axis: the axis, or a tuple of axes; None: all.
      keepdims: whether the axes stay, with size 1.
    """
    return max(a, axis, keepdims) - min(a, axis, keepdims)


@public
def all(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None):
    """Return whether all elements along axes are true.

    Args:
      a: an array, or what makes one; what is not zero is true.
      axis: the axis, or a tuple of axes; None: all.
      keepdims: whether the axes stay, with size 1.
    """
    return reduce_all(cast(tensor(a), dtypes.bool), axis, bool(keepdims))


@public
def any(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None):
    """Return whether an element along axes is true.

    Args:
      a: an array, or what makes one; what is not zero is true.
      axis: the axis, or a tuple of axes; None: all.
      keepdims: whether the axes stay, with size 1.
    """
    return reduce_any(cast(tensor(a), dtypes.bool), axis, bool(keepdims))


@public
def var(
    a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None, out=None, ddof=0,
    keepdims: bool | None = None,
):
    """Return the variance along axes.

    Args:
      a: an array, or what makes one.
      axis: the axis, or a tuple of axes; None: all.
      dtype: the dtype of the result; None: that of `a`, of integers a floating one.
      out: must be None, else ValueError is raised.
      ddof: what is subtracted from the number of elements that the squares are divided by.
      keepdims: whether the axes stay, with size 1.
    """
    _no_out(out)
    x = tensor(a)
    if dtype is not None:
        target = work = dtype_of(dtype)
        if target.is_integer:
            work = default_float()
    else:
        target = work = x.dtype if x.dtype.is_floating or x.dtype.is_complex else default_float()
    x = cast(x, work)
    off = x - reduce_mean(x, axis, keepdims=True)
    squares = real(off * conj(off)) if x.dtype.is_complex else square(off)
    total = reduce_sum(squares, axis, bool(keepdims))
    count = cast(size(x) / maximum(size(total), 1), total.dtype)
    out = total / (count - cast(ddof, total.dtype))
    return cast(out, target.real_dtype)


@public
def std(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None):
    """Return the square root of the variance along axes.

    Args:
      a: an array, or what makes one.
      axis: the axis, or a tuple of axes; None: all.
      keepdims: whether the axes stay, with size 1.
    """
    return sqrt(var(a, axis, keepdims=keepdims))


@public
def average(a: TensorLike, axis: AxisLike | None = None, weights: TensorLike | None = None, returned: bool = False):
    """Return the mean with weights.

    Args:
      a: an array, or what makes one.
      axis: the axis; None: all elements.
      weights: what each element counts, of the shape of `a` or of its axis; None: 1.
      returned: whether to return also the sum of the weights.
    """
    x = floating(a)
    if axis is not None and not isinstance(axis, int):
        raise ValueError(
            f"Argument `axis` must be an integer. Received axis={axis} (of type {type(axis)})"
        )
    if weights is None:
        out = reduce_mean(x, axis)
        count = cast(size(x) / maximum(size(out), 1), out.dtype)
        return (out, broadcast_to(count, shape(out))) if returned else out
    w = cast(tensor(weights), x.dtype)
    if len(w.shape) == 1 and len(x.shape) > 1:
        if axis is None:
            raise ValueError("Axis must be specified when shapes of a and weights differ.")
        sides = [1] * len(x.shape)
        sides[axis] = -1
        w = reshape(w, sides)
    elif not w.shape.is_compatible_with(x.shape):
        raise ValueError("1D weights expected when shapes of a and weights differ.")
    w = broadcast_to(w, shape(x))
    total = reduce_sum(w, axis)
    out = reduce_sum(x * w, axis) / total
    return (out, total) if returned else out


@public
def nansum(
    a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None, keepdims: bool | None = False
):
    """Return the sum along axes, where NaN counts as 0.

    Args:
      a: an array, or what makes one.
      axis: the axis, or a tuple of axes; None: all.
      dtype: the dtype to compute in; None: that of `a`.
      keepdims: whether the axes stay, with size 1.
    """
    return sum(_without_nan(a, 0), axis, dtype, keepdims)


@public
def nanprod(
    a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None, keepdims: bool = False
):
    """Return the product along axes, where NaN counts as 1.

    Args:
      a: an array, or what makes one.
      axis: the axis, or a tuple of axes; None: all.
      dtype: the dtype to compute in; None: that of `a`.
      keepdims: whether the axes stay, with size 1.
    """
    return prod(_without_nan(a, 1), axis, dtype, keepdims)


@public
def nanmean(
    a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None, keepdims: bool | None = None
):
    """Return the mean of the elements that are not NaN.

    Args:
      a: an array, or what makes one.
      axis: the axis, or a tuple of axes; None: all.
      dtype: the dtype to compute in; None: that of `a`.
      keepdims: whether the axes stay, with size 1.
    """
    x = tensor(a)
    if x.dtype == dtypes.bool or x.dtype.is_integer:
        return mean(x, axis, dtype, keepdims=keepdims)
    there = reduce_sum(
        cast(logical_not(is_nan(x)), x.dtype), axis, bool(keepdims)
    )
    out = nansum(x, axis, None, keepdims) / there
    return out if dtype is None else cast(out, dtype_of(dtype))


def _without_nan(a, value):
    x = tensor(a)
    if not x.dtype.is_floating:
        return x
    return where(is_nan(x), constant(value, x.dtype), x)


@public
def count_nonzero(a: TensorLike, axis: AxisLike | None = None):
    """Return the number of elements that are not zero.

    Args:
      a: an array, or what makes one.
      axis: the axis, or a tuple of axes; None: all.
    """
    return count_nonzero_(tensor(a), axis)


@public
def cumsum(a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None):
    """Return the running sum along an axis.

    Args:
      a: an array, or what makes one.
      axis: the axis; None: all elements in a row.
      dtype: the dtype to compute in; None: that of `a`, small integers as 64 bits.
    """
    return _running(cumsum_, a, axis, dtype)


@public
def cumprod(a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None):
    """Return the running product along an axis.

    Args:
      a: an array, or what makes one.
      axis: the axis; None: all elements in a row.
      dtype: the dtype to compute in; None: that of `a`, small integers as 64 bits.
    """
    return _running(cumprod_, a, axis, dtype)


def _running(function, a, axis, dtype: DTypeLike | None):
    x = tensor(a)
    x = cast(x, dtype_of(dtype)) if dtype is not None else _widened(x)
    return function(reshape(x, [-1]) if axis is None else x, axis=axis or 0)


@public
def argmax(a: TensorLike, axis: AxisLike | None = None):
    """Return the index of the largest element along an axis.

    Args:
      a: an array, or what makes one.
      axis: the axis; None: of all elements in a row.
    """
    return _index(argmax_, a, axis)


@public
def argmin(a: TensorLike, axis: AxisLike | None = None):
    """Return the index of the smallest element along an axis.

    Args:
      a: an array, or what makes one.
      axis: the axis; None: of all elements in a row.
    """
    return _index(argmin_, a, axis)


def _index(function, a, axis):
    x = tensor(a)
    if x.dtype == dtypes.bool:
        x = cast(x, dtypes.int8)
    return function(reshape(x, [-1]) if axis is None or not len(x.shape) else x, axis or 0)

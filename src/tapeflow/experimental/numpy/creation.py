"""Tensors made of a shape, of a range, or like others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, DTypeLike, ShapeLike, TensorLike
from tapeflow.core.convert import constant, is_tensor
from tapeflow.core.public import public
from tapeflow.experimental.numpy.arrays import (
    array,
    default_float,
    dtype_of,
    floating,
    promoted,
    tensor,
)
from tapeflow.experimental.numpy.shaping import moveaxis
from tapeflow.ops.array.broadcasting import broadcast_to
from tapeflow.ops.array.construction import fill
from tapeflow.ops.array.construction import ones as ones_
from tapeflow.ops.array.construction import zeros as zeros_
from tapeflow.ops.array.construction import zeros_like as zeros_like_
from tapeflow.ops.array.diagonal import diag_part
from tapeflow.ops.array.diagonal_matrix import diag as diag_
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.ranges import linspace as linspace_
from tapeflow.ops.array.ranges import meshgrid as meshgrid_
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.reorder import reverse
from tapeflow.ops.array.sizes import shape as shape_
from tapeflow.ops.math.arithmetic import pow as pow_
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.elementwise import exp, log
from tapeflow.ops.math.elementwise import sign as sign_
from tapeflow.ops.static import static_value


def _like(dtype: DTypeLike | None, a):
    return a.dtype if dtype is None else dtype_of(dtype)


@public
def zeros(shape: ShapeLike, dtype: DTypeLike = float):
    """Return zeros.

    Args:
      shape: the shape, an int or a tuple of ints.
      dtype: the dtype; a Python float means float64, or float32 where that is preferred.
    """
    return zeros_(shape, dtype_of(dtype))


@public
def zeros_like(a: TensorLike, dtype: DTypeLike | None = None):
    """Return zeros of the shape of another array.

    Args:
      a: an array, or what makes one.
      dtype: the dtype; None: that of `a`.
    """
    a = tensor(a)
    return zeros_like_(a, _like(dtype, a))


@public
def ones(shape: ShapeLike, dtype: DTypeLike = float):
    """Return ones.

    Args:
      shape: the shape, an int or a tuple of ints.
      dtype: the dtype; a Python float means float64, or float32 where that is preferred.
    """
    return ones_(shape, dtype_of(dtype))


@public
def ones_like(a: TensorLike, dtype: DTypeLike | None = None):
    """Return ones of the shape of another array.

    Args:
      a: an array, or what makes one.
      dtype: the dtype; None: that of `a`.
    """
    a = tensor(a)
    return ones_(shape_(a), _like(dtype, a))


@public
def empty(shape: ShapeLike, dtype: DTypeLike = float):
    """Return zeros: no tensor is uninitialised.

    Args:
      shape: the shape, an int or a tuple of ints.
      dtype: the dtype; a Python float means float64, or float32 where that is preferred.
    """
    return zeros(shape, dtype)


@public
def empty_like(a: TensorLike, dtype: DTypeLike | None = None):
    """Return zeros of the shape of another array.

    Args:
      a: an array, or what makes one.
      dtype: the dtype; None: that of `a`.
    """
    return zeros_like(a, dtype)


@public
def full(shape: Sequence[Any], fill_value, dtype: DTypeLike | None = None):
    """Return an array filled with a value.

    Args:
      shape: the shape, an int or a tuple of ints.
      fill_value: the value, which broadcasts to the shape.
      dtype: the dtype; None: that of the value.
    """
    return broadcast_to(array(fill_value, dtype, copy=False), shape)


@public
def full_like(
    a: TensorLike, fill_value, dtype: DTypeLike | None = None, order: str = "K", subok: bool = True,
    shape: ShapeLike | None = None,
):
    """Return an array filled with a value, in the shape of another one.

    Args:
      a: an array, or what makes one.
      fill_value: the value, which broadcasts to the shape.
      dtype: the dtype; None: that of `a`.
      order: must be "K", else ValueError is raised.
      subok: must be True, else ValueError is raised.
      shape: must be None, else ValueError is raised.
    """
    if order != "K":
        raise ValueError("Non-standard orders are not supported.")
    if not subok:
        raise ValueError("subok being False is not supported.")
    if shape:
        raise ValueError("Overriding the shape is not supported.")
    a = tensor(a)
    return broadcast_to(tensor(fill_value, _like(dtype, a)), shape_(a))


def _places(rows, columns):
    """The numbers of the rows, below each other, and those of the columns, of one dtype whatever that of the sizes."""
    return cast(range_(rows), dtypes.int64)[:, None], cast(range_(columns), dtypes.int64)[None, :]


@public
def eye(N, M=None, k: int = 0, dtype: DTypeLike = float):
    """Return a matrix with ones on a diagonal.

    Args:
      N: the number of rows.
      M: the number of columns; None: that of rows.
      k: which diagonal: 0 is the main one, positive numbers are above it.
      dtype: the dtype; a Python float means float64, or float32 where that is preferred.
    """
    row, column = _places(N, N if M is None else M)
    on = equal(column, row + cast(k, row.dtype))
    return cast(on, dtype_of(dtype))


@public
def identity(n: int, dtype: DTypeLike = float):
    """Return the square matrix with ones on the diagonal.

    Args:
      n: the number of rows and columns.
      dtype: the dtype; a Python float means float64, or float32 where that is preferred.
    """
    return eye(n, n, dtype=dtype)


@public
def tri(N, M=None, k: int = 0, dtype: DTypeLike | None = None):
    """Return a matrix with ones on and below a diagonal.

    Args:
      N: the number of rows.
      M: the number of columns; None: that of rows.
      k: which diagonal: 0 is the main one, positive numbers are above it.
      dtype: the dtype; None: float64, or float32 where that is preferred.
    """
    row, column = _places(N, N if M is None else M)
    on = column <= row + cast(k, row.dtype)
    return cast(on, default_float() if dtype is None else dtype_of(dtype))


@public
def arange(start, stop=None, step: int = 1, dtype: DTypeLike | None = None):
    """Return numbers from `start` up to but without `stop`.

    Args:
      start: the first number; alone, it is the stop, and the numbers start at 0.
      stop: where they end.
      step: how far they are apart; ValueError for 0.
      dtype: the dtype; None: that of the arguments.
    """
    if not is_tensor(step) and not step:
        raise ValueError("step must be non-zero.")
    if stop is None:
        start, stop = 0, start
    start, stop, step = promoted(start, stop, step)
    known: list[Any] = [static_value(x) for x in (start, stop, step)]
    if all(x is not None for x in known):
        first, last, by = known
        if (by > 0 and first > last) or (by < 0 and first < last):
            stop = start  # nothing, as in NumPy
    numbers = range_(start, stop, step)
    return numbers if dtype is None else cast(numbers, dtype_of(dtype))


@public
def linspace(
    start, stop, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: DTypeLike = float,
    axis: AxisLike = 0,
):
    """Return evenly spaced numbers.

    Args:
      start: the first number.
      stop: the last.
      num: how many.
      endpoint: whether `stop` is one of them.
      retstep: whether to return also how far they are apart.
      dtype: the dtype; a Python float means float64, or float32 where that is preferred.
      axis: the axis of the numbers.
    """
    target = None if dtype is None else dtype_of(dtype)
    start, stop = (floating(x) for x in promoted(start, stop))
    if target is not None and (target.is_floating or target.is_complex):
        start, stop = cast(start, target), cast(stop, target)
    gaps = num - 1 if endpoint else num
    step = (
        (stop - start) / max(gaps, 1)
        if gaps
        else fill(shape_(stop - start), constant(np.nan, start.dtype))
    )
    start, stop = broadcast_to(start, shape_(step)), broadcast_to(stop, shape_(step))
    last = stop if endpoint else stop - step
    if num <= 0:
        out = zeros_(concat([[0], shape_(start)], 0), start.dtype)
    else:
        out = linspace_(start, last, num, axis=0)
    if axis:
        out = moveaxis(out, 0, axis)
    out = out if target is None else cast(out, target)
    return (out, step) if retstep else out


@public
def logspace(
    start, stop, num: int = 50, endpoint: bool = True, base: float = 10.0, dtype: DTypeLike | None = None,
    axis: AxisLike = 0,
):
    """Return powers whose exponents are evenly spaced.

    Args:
      start: the first exponent.
      stop: the last.
      num: how many.
      endpoint: whether `stop` is one of them.
      base: the base of the powers.
      dtype: the dtype; None: that of the powers.
      axis: the axis of the numbers.
    """
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    out = pow_(cast(base, exponents.dtype), exponents)
    return out if dtype is None else cast(out, dtype_of(dtype))


@public
def geomspace(start, stop, num: int = 50, endpoint: bool = True, dtype: DTypeLike | None = None, axis: AxisLike = 0):
    """Return numbers whose ratios are equal.

    Args:
      start: the first number.
      stop: the last, of the same sign.
      num: how many.
      endpoint: whether `stop` is one of them.
      dtype: the dtype; None: that of the ends.
      axis: the axis of the numbers.
    """
    start, stop = (floating(x) for x in promoted(start, stop))
    sign = sign_(start)
    exponents = linspace(
        log(start * sign),
        log(stop * sign),
        num,
        endpoint,
        dtype=start.dtype,
        axis=axis,
    )
    out = exp(exponents) * (sign if not axis else expand_dims(sign, axis))
    return out if dtype is None else cast(out, dtype_of(dtype))


@public
def diag(v, k: int = 0):
    """Return a matrix with a given diagonal, or the diagonal of a matrix.

    Args:
      v: a vector, or a matrix.
      k: which diagonal: 0 is the main one, positive numbers are above it.
    """
    v = tensor(v)
    if len(v.shape) == 1:
        return diag_(v, k=k)
    if len(v.shape) != 2:
        raise ValueError("Input array must be 1-D or 2-D.")
    rows, columns = v.shape
    if k >= columns or k <= -rows:
        return zeros_([0], v.dtype)
    return diag_part(v, k=k)


@public
def diagflat(v, k: int = 0):
    """Return a matrix with all elements of an array on a diagonal.

    Args:
      v: an array, or what makes one.
      k: which diagonal: 0 is the main one, positive numbers are above it.
    """
    return diag(reshape(tensor(v), [-1]), k)


@public
def diag_indices(n: int, ndim: int = 2):
    """Return the indices of the main diagonal: a tuple of equal tensors.

    Args:
      n: the size of each axis.
      ndim: the number of axes.
    """
    return (range_(n),) * ndim


@public
def vander(x: Any, N=None, increasing: bool = False):
    """Return the matrix whose columns are the powers of a vector.

    Args:
      x: a vector.
      N: the number of columns; None: as many as `x` has elements.
      increasing: whether powers rise from left to right.
    """
    x = tensor(x)
    columns = x.shape[0] if N is None else N
    powers = range_(columns)
    powers = cast(powers if increasing else reverse(powers, [0]), x.dtype)
    return pow_(x[:, None], powers[None, :])


@public
def meshgrid(*xi, **kwargs):
    """Return the coordinates of the points of a grid.

    Args:
      *xi: vectors, the coordinates along each axis.
      **kwargs: `indexing`, "xy" or "ij"; `sparse` and `copy`, which must be the default.
    """
    if kwargs.pop("sparse", False):
        raise ValueError("Function `meshgrid` does not support returning sparse arrays yet.")
    if not kwargs.pop("copy", True):
        raise ValueError("Function `meshgrid` only supports copy=True.")
    return meshgrid_(*(tensor(x) for x in xi), **kwargs)


@public
def ix_(*args):
    """One-axis sequences as indices of a grid: each with its own axis. Raises ValueError for other shapes."""
    out = []
    for i, each in enumerate(args):
        x = tensor(each)
        if len(x.shape) != 1:
            raise ValueError(f"Arguments must be 1-d, got arg {i} of rank {len(x.shape)}")
        if x.dtype == dtypes.bool:
            x = reshape(where(x), [-1])
        sides = [1] * len(args)
        sides[i] = -1
        out.append(reshape(x, sides))
    return out

"""Arrays joined and cut."""

from __future__ import annotations

import itertools

from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.public import public
from tapeflow.experimental.numpy.arrays import promoted, tensor
from tapeflow.experimental.numpy.shaping import atleast_1d, atleast_2d, atleast_3d, listed, ravel
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.joining import split as split_
from tapeflow.ops.array.layout import reshape as reshape_
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.stacking import stack as stack_
from tapeflow.ops.indexing.gather import gather


@public
def concatenate(arys, axis: AxisLike = 0):
    """Return arrays one after the other along an axis.

    Args:
      arys: a list of arrays, which are promoted to one dtype.
      axis: the axis; None: all elements in a row.
    """
    arrays = promoted(*listed(arys))
    if axis is None:
        return concat([reshape_(x, [-1]) for x in arrays], 0)
    return concat(arrays, axis)


@public
def stack(arrays, axis: AxisLike = 0):
    """Return arrays of one shape along a new axis.

    Args:
      arrays: a list of arrays, which are promoted to one dtype.
      axis: where the new axis is.
    """
    return stack_(promoted(*listed(arrays)), axis)


def _lists(value):
    return value if isinstance(value, list) else [value]


@public
def hstack(tup):
    """Arrays beside each other: along the second axis, or the only one."""
    arrays = _lists(atleast_1d(*promoted(*listed(tup))))
    return concat(arrays, 0 if len(arrays[0].shape) == 1 else 1)


@public
def vstack(tup):
    """Arrays below each other."""
    return concat(_lists(atleast_2d(*promoted(*listed(tup)))), 0)


@public
def dstack(tup):
    """Arrays behind each other, along the third axis."""
    return concat(_lists(atleast_3d(*promoted(*listed(tup)))), 2)


@public
def append(arr, values: TensorLike, axis: AxisLike | None = None):
    """Return an array with values behind it.

    Args:
      arr: the array.
      values: the values, of the same rank where there is an axis.
      axis: along which they are joined; None: both are made one row.
    """
    if axis is None:
        return concatenate([ravel(arr), ravel(values)])
    return concatenate([arr, values], axis)


@public
def split(ary, indices_or_sections, axis: AxisLike = 0):
    """Return parts along an axis.

    Args:
      ary: an array, or what makes one.
      indices_or_sections: the number of equal parts, or the indices where to cut.
      axis: the axis.
    """
    x = tensor(ary)
    if isinstance(indices_or_sections, int):
        return split_(x, indices_or_sections, axis)
    size = x.shape[axis]
    bounds = [0, *(int(i) for i in indices_or_sections), size]
    bounds = [min(b + size if b < 0 else b, size) for b in bounds]
    sizes = [max(end - begin, 0) for begin, end in itertools.pairwise(bounds)]
    starts = bounds[:-1]
    return [gather(x, range_(begin, begin + n), axis=axis) for begin, n in zip(starts, sizes)]


@public
def hsplit(ary, indices_or_sections):
    """Return parts along the second axis, or the only one.

    Args:
      ary: an array, or what makes one.
      indices_or_sections: the number of equal parts, or the indices where to cut.
    """
    x = tensor(ary)
    return split(x, indices_or_sections, 0 if len(x.shape) == 1 else 1)


@public
def vsplit(ary, indices_or_sections):
    """Return parts along the first axis.

    Args:
      ary: an array, or what makes one.
      indices_or_sections: the number of equal parts, or the indices where to cut.
    """
    return split(ary, indices_or_sections, 0)


@public
def dsplit(ary, indices_or_sections):
    """Return parts along the third axis.

    Args:
      ary: an array, or what makes one.
      indices_or_sections: the number of equal parts, or the indices where to cut.
    """
    return split(ary, indices_or_sections, 2)

"""The same elements in other shapes and orders, joined and cut."""

from __future__ import annotations

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.convert import constant
from tapeflow.core.public import public
from tapeflow.experimental.numpy.arrays import array, tensor
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape
from tapeflow.ops.array.broadcasting import broadcast_to as broadcast_to_
from tapeflow.ops.array.construction import zeros, zeros_like
from tapeflow.ops.array.diagonal import diag_part
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims as expand_dims_
from tapeflow.ops.array.layout import reshape as reshape_
from tapeflow.ops.array.layout import squeeze as squeeze_
from tapeflow.ops.array.padding import pad as pad_
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.reorder import reverse
from tapeflow.ops.array.reorder import roll as roll_
from tapeflow.ops.array.sizes import rank as rank_
from tapeflow.ops.array.sizes import shape as shape_
from tapeflow.ops.array.stacking import unstack
from tapeflow.ops.array.tiling import repeat as repeat_
from tapeflow.ops.array.tiling import tile as tile_
from tapeflow.ops.array.transposing import transpose as transpose_
from tapeflow.ops.indexing.partition import dynamic_stitch
from tapeflow.ops.indexing.unique import setdiff1d
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import equal


@public
def reshape(a: TensorLike, newshape, order: str = "C"):
    """Return an array in another shape.

    Args:
      a: an array, or what makes one.
      newshape: the sizes, one of which may be -1.
      order: "C" for reading row by row, "F" for column by column.
    """
    if order not in ("C", "F"):
        raise ValueError(f"Unsupported order argument {order}")
    x = tensor(a)
    shape = [newshape] if isinstance(newshape, int) else newshape
    if order == "F":
        return transpose_(reshape_(transpose_(x), shape[::-1]))
    return reshape_(x, shape)


@public
def ravel(a):
    """The elements in one axis."""
    return reshape_(tensor(a), [-1])


@public
def flatten(a: TensorLike, order: str = "C"):
    """Return the elements in one axis.

    Args:
      a: an array, or what makes one.
      order: "C" for row by row, "F" for column by column; ValueError for others.
    """
    if order not in ("C", "A", "K", "F"):
        raise ValueError("order can only be C, A, K (all row major) or F (column major).")
    return reshape(a, [-1], "F" if order == "F" else "C")


@public
def expand_dims(a: TensorLike, axis: AxisLike):
    """Return an array with a new axis of size 1.

    Args:
      a: an array, or what makes one.
      axis: where the new axis is.
    """
    return expand_dims_(tensor(a), axis)


@public
def squeeze(a: TensorLike, axis: AxisLike | None = None):
    """Return an array without axes of size 1.

    Args:
      a: an array, or what makes one.
      axis: the axis, or a tuple of axes, to remove; None: all of size 1.
    """
    return squeeze_(tensor(a), axis)


@public
def transpose(a: TensorLike, axes=None):
    """Return an array with its axes permuted.

    Args:
      a: an array, or what makes one.
      axes: the order of the axes; None: reversed.
    """
    return transpose_(tensor(a), axes)


@public
def swapaxes(a: TensorLike, axis1, axis2):
    """Return an array with two axes exchanged.

    Args:
      a: an array, or what makes one.
      axis1, axis2: the axes.
    """
    x = tensor(a)
    if x.shape.rank is None:
        order = range_(rank_(x))
        first, second = axis1 % rank_(x), axis2 % rank_(x)
        swapped = where(equal(order, second), first, order)
        return transpose_(x, where(equal(order, first), second, swapped))
    order = list(range(len(x.shape)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return transpose_(x, order)


@public
def moveaxis(a: TensorLike, source, destination):
    """Return an array with axes moved; the others keep their order.

    Args:
      a: an array, or what makes one.
      source: the axis, or a list of those, to move.
      destination: where they go, as many; else ValueError is raised.
    """
    x = tensor(a)
    rank = rank_(x) if x.shape.rank is None else len(x.shape)
    source = [s % rank for s in ([source] if isinstance(source, int) else source)]
    destination = [
        d % rank for d in ([destination] if isinstance(destination, int) else destination)
    ]
    if len(source) != len(destination):
        raise ValueError("The lengths of source and destination must equal")
    if x.shape.rank is None:
        axes = range_(rank)
        kept, free = setdiff1d(axes, source)[0], setdiff1d(axes, destination)[0]
        return transpose_(x, dynamic_stitch([free, destination], [kept, source]))
    order = [axis for axis in range(rank) if axis not in source]
    for target, axis in sorted(zip(destination, source)):
        order.insert(target, axis)
    return transpose_(x, order)


@public
def broadcast_to(array, shape):
    """Return an array repeated to a shape.

    Args:
      array: an array, or what makes one.
      shape: the shape, an int or a tuple of ints.
    """
    return broadcast_to_(tensor(array), [shape] if np.ndim(shape) == 0 else shape)


@public
def broadcast_arrays(*args, **kwargs):
    """Return arrays in their common shape.

    Args:
      *args: arrays that broadcast.
      **kwargs: `subok`, which must be False; ValueError for that and for others.
    """
    if kwargs.pop("subok", False):
        raise ValueError("subok=True is not supported.")
    if kwargs:
        raise ValueError(f"Received unsupported arguments {kwargs.keys()}")
    arrays = [tensor(each) for each in args]
    shape = constant([], dtypes.int32)
    for each in arrays:
        shape = broadcast_dynamic_shape(shape, shape_(each))
    return [broadcast_to_(each, shape) for each in arrays]


def _at_least(rank, arrays, widen):
    out = []
    for each in arrays:
        x = array(each, copy=False)
        out.append(widen(x) if len(x.shape) < rank else x)
    return out[0] if len(out) == 1 else out


@public
def atleast_1d(*arys):
    """Each with one axis or more."""
    return _at_least(1, arys, lambda x: reshape_(x, [1]))


@public
def atleast_2d(*arys):
    """Each with two axes or more, new ones in front."""
    return _at_least(2, arys, lambda x: reshape_(x, [1, -1]))


def _three_axes(x):
    if not len(x.shape):
        return reshape_(x, [1, 1, 1])
    return x[None, :, None] if len(x.shape) == 1 else x[:, :, None]


@public
def atleast_3d(*arys):
    """Each with three axes or more."""
    return _at_least(3, arys, _three_axes)


def listed(arrays):
    return list(arrays) if isinstance(arrays, (list, tuple)) else unstack(tensor(arrays))


@public
def tile(a, reps):
    """Return an array repeated as a whole.

    Args:
      a: an array, or what makes one.
      reps: how often along each axis; missing axes and numbers count as 1.
    """
    x = tensor(a)
    reps = [reps] if isinstance(reps, int) else list(reps)
    rank = max(len(x.shape), len(reps))
    x = reshape_(x, concat([[1] * (rank - len(x.shape)), shape_(x)], 0))
    return tile_(x, [1] * (rank - len(reps)) + reps)


@public
def repeat(a: TensorLike, repeats, axis: AxisLike | None = None):
    """Return an array with each element repeated.

    Args:
      a: an array, or what makes one.
      repeats: how often, an int or one for each element.
      axis: the axis; None: all elements in a row.
    """
    return repeat_(tensor(a), repeats, axis)


@public
def roll(a: TensorLike, shift, axis: AxisLike | None = None):
    """Return an array with its elements shifted around.

    Args:
      a: an array, or what makes one.
      shift: by how many places, an int or one for each axis.
      axis: the axis, or a tuple of axes; None: all elements in a row.
    """
    x = tensor(a)
    if axis is None:
        return reshape_(roll_(reshape_(x, [-1]), shift, 0), shape_(x))
    return roll_(x, shift, axis)


@public
def flip(m, axis: AxisLike | None = None):
    """Return elements in reverse order.

    Args:
      m: an array, or what makes one.
      axis: the axis; None: all.
    """
    x = tensor(m)
    if axis is None:
        return reverse(x, range_(len(x.shape)))
    return reverse(x, [axis] if isinstance(axis, int) else axis)


@public
def flipud(m):
    """Rows in reverse order."""
    return flip(m, 0)


@public
def fliplr(m):
    """Columns in reverse order."""
    return flip(m, 1)


@public
def rot90(m, k: int = 1, axes=(0, 1)):
    """Return an array turned by right angles in the plane of two axes.

    Args:
      m: an array of two axes or more.
      k: how many times by 90 degrees.
      axes: the two axes: from the first towards the second.
    """
    x = tensor(m)
    a, b = (axis % len(x.shape) for axis in axes)
    k %= 4
    if k == 0:
        return x
    if k == 2:
        return flip(flip(x, a), b)
    swapped = swapaxes(x, a, b)
    return flip(swapped, a) if k == 1 else flip(swapped, b)


@public
def pad(array, pad_width, mode, **kwargs):
    """Return an array with elements added at its borders.

    Args:
      array: an array, or what makes one.
      pad_width: how many before and after each axis: a list of pairs.
      mode: "constant", "reflect" or "symmetric".
      **kwargs: `constant_values`, for "constant" (0).
    """
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(f"Unsupported padding mode: {mode}")
    x = tensor(array)
    value = cast(kwargs.get("constant_values", 0), x.dtype)
    width = broadcast_to_(tensor(pad_width, dtypes.int32), [len(x.shape), 2])
    return pad_(x, width, mode.upper(), value)


@public
def diagonal(a: TensorLike, offset=0, axis1: int = 0, axis2: int = 1):
    """Return the diagonal of the matrices in two axes, as the last axis.

    Args:
      a: an array of two axes or more.
      offset: which diagonal: 0 is the main one, positive numbers are above it.
      axis1: the axis of rows.
      axis2: the axis of columns.
    """
    x = tensor(a)
    if (axis1, axis2) != (-2, -1):
        x = moveaxis(x, (axis1, axis2), (-2, -1))
    rows, columns = x.shape[-2], x.shape[-1]
    if rows is not None and columns is not None and (offset >= columns or offset <= -rows):
        return zeros([*x.shape[:-2], 0], x.dtype)
    return diag_part(x, k=offset)


@public
def tril(m, k: int = 0):
    """Return lower triangles; zeros elsewhere.

    Args:
      m: an array of two axes or more.
      k: the last diagonal that is kept: 0 is the main one, positive numbers are above it.
    """
    return _triangle(m, k, lambda row, column: column <= row + cast(k, row.dtype))


@public
def triu(m, k: int = 0):
    """Return upper triangles; zeros elsewhere.

    Args:
      m: an array of two axes or more.
      k: the first diagonal that is kept: 0 is the main one, positive numbers are above it.
    """
    return _triangle(m, k, lambda row, column: column >= row + cast(k, row.dtype))


def _triangle(m, k, inside):
    x = tensor(m)
    if len(x.shape) < 2:
        raise ValueError("Argument to tril/triu must have rank at least 2")
    shape = shape_(x)
    row, column = (cast(range_(size), dtypes.int64) for size in (shape[-2], shape[-1]))
    mask = inside(row[:, None], column[None, :])
    return where(broadcast_to_(mask, shape), x, zeros_like(x))

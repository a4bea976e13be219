"""Functions that join, split, move and repeat elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.annotations import AxisLike, Tensor, TensorLike
from tapeflow.core.public import public, public_names
from tapeflow.keras.ops.conversion import axes_of, axis_of, operation, promoted, static_rank, tensor
from tapeflow.ops.array.broadcasting import broadcast_to as tf_broadcast_to
from tapeflow.ops.array.joining import concat as tf_concat
from tapeflow.ops.array.layout import expand_dims as tf_expand_dims
from tapeflow.ops.array.layout import reshape as tf_reshape
from tapeflow.ops.array.layout import squeeze as tf_squeeze
from tapeflow.ops.array.padding import pad as tf_pad
from tapeflow.ops.array.ranges import meshgrid as tf_meshgrid
from tapeflow.ops.array.ranges import range as tf_range
from tapeflow.ops.array.reorder import reverse as tf_reverse
from tapeflow.ops.array.reorder import roll as tf_roll
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.array.sizes import size as tf_size
from tapeflow.ops.array.stacking import stack as tf_stack
from tapeflow.ops.array.tiling import repeat as tf_repeat
from tapeflow.ops.array.tiling import tile as tf_tile
from tapeflow.ops.array.transposing import transpose as tf_transpose
from tapeflow.ops.indexing.gather import gather as tf_gather
from tapeflow.ops.math.comparison import not_equal as tf_not_equal

if TYPE_CHECKING:
    import numpy as np


@operation
def reshape(x: TensorLike, newshape: Sequence[int]):
    """Return the elements in another shape, in which one size may be -1.

    Args:
      x: a tensor, or what can be converted to one.
      newshape: the sizes; one may be -1, for what is left.
    """
    return tf_reshape(tensor(x), newshape)


@operation
def ravel(x: TensorLike):
    """Return the elements in a row."""
    return tf_reshape(tensor(x), [-1])


@operation
def transpose(x: TensorLike, axes=None):
    """Return x with its axes in another order, by default in reverse.

    Args:
      x: a tensor, or what can be converted to one.
      axes: the axes in their new order; None for the reverse one.
    """
    return tf_transpose(tensor(x), axes)


@operation
def moveaxis(x: TensorLike, source, destination):
    """Return x with axes moved to other places.

    Args:
      x: a tensor, or what can be converted to one.
      source: the axis, or several.
      destination: where it goes, or where each of them goes.
    """
    x = tensor(x)
    rank = static_rank(x)
    source, destination = axes_of(source, rank), axes_of(destination, rank)
    order = [i for i in range(rank) if i not in source]
    for place, axis in sorted(zip(destination, source, strict=True)):
        order.insert(place, axis)
    return tf_transpose(x, order)


@operation
def swapaxes(x: TensorLike, axis1: int, axis2: int):
    """Return x with two axes exchanged.

    Args:
      x: a tensor, or what can be converted to one.
      axis1: the first of the two axes.
      axis2: the second of the two axes.
    """
    x = tensor(x)
    order = list(range(static_rank(x)))
    axis1, axis2 = axes_of((axis1, axis2), len(order))
    order[axis1], order[axis2] = axis2, axis1
    return tf_transpose(x, order)


@operation
def expand_dims(x: TensorLike, axis: int):
    """Return x with axes of size 1 at the places `axis` of the result.

    Args:
      x: a tensor, or what can be converted to one.
      axis: where the new axis is in the result, or several places.
    """
    x = tensor(x)
    axes = axis if isinstance(axis, (list, tuple)) else (axis,)
    for place in sorted(axis_of(each, static_rank(x) + len(axes)) for each in axes):
        x = tf_expand_dims(x, place)
    return x


@operation
def squeeze(x: Any, axis: AxisLike | None = None):
    """Return x without axes of size 1: those given, or all.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all of size 1.
    """
    x = tensor(x)
    if axis is not None:
        for each in axes_of(axis, static_rank(x)):
            if x.shape[each] not in (1, None):
                raise ValueError(f"Cannot squeeze axis={axis}, because the dimension is not 1.")
    return tf_squeeze(x, axis)


@operation
def broadcast_to(x: TensorLike, shape: Sequence[Any]):
    """Return x repeated to another shape.

    Args:
      x: a tensor, or what can be converted to one.
      shape: the sizes, a tuple.
    """
    return tf_broadcast_to(tensor(x), shape)


@operation
def concatenate(xs: Sequence[Tensor], axis: int = 0):
    """Return tensors joined along an axis; without one, their elements in a row.

    Args:
      xs: a list of tensors.
      axis: the axis, an integer; None for all elements in a row.
    """
    xs = promoted(*xs)
    if axis is None:
        return tf_concat([tf_reshape(x, [-1]) for x in xs], 0)
    return tf_concat(xs, axis)


@operation
def append(x1: TensorLike, x2: TensorLike, axis: AxisLike | None = None):
    """Return x2 behind x1 along an axis, or the elements of both in a row.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one.
      axis: the axis, an integer; None for the flattened tensor.
    """
    return concatenate([tensor(x1), tensor(x2)], axis)


@operation
def stack(x: Any, axis=0):
    """Return tensors joined along a new axis.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, an integer.
    """
    return tf_stack(promoted(*x), axis)


def _at_least(x: Tensor, rank: int):
    if x.shape.rank == 0:
        x = tf_reshape(x, [1])
    if rank >= 2 and x.shape.rank == 1:
        x = tf_expand_dims(x, 0)
    return tf_expand_dims(x, 2) if rank == 3 and x.shape.rank == 2 else x


@operation
def vstack(xs: Sequence[Any]):
    """Return tensors joined along the first axis; vectors are rows."""
    return tf_concat([_at_least(x, 2) for x in promoted(*xs)], 0)


@operation
def hstack(xs):
    """Return tensors joined along the second axis, vectors along their only one."""
    xs = [_at_least(x, 1) for x in promoted(*xs)]
    return tf_concat(xs, 0 if xs[0].shape.rank == 1 else 1)


@operation
def dstack(xs):
    """Return tensors joined along the third axis."""
    return tf_concat([_at_least(x, 3) for x in promoted(*xs)], 2)


@operation
def flip(x: TensorLike, axis: AxisLike | None = None):
    """Return the elements in reverse order along axes, by default all.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, or several; None for all.
    """
    x = tensor(x)
    return tf_reverse(x, axes_of(axis, static_rank(x)))


@operation
def flipud(x: TensorLike):
    """Return the elements in reverse order along the first axis."""
    return tf_reverse(tensor(x), [0])


@operation
def fliplr(x: TensorLike):
    """Return the elements in reverse order along the second axis."""
    return tf_reverse(tensor(x), [1])


@operation
def roll(x: TensorLike, shift: TensorLike, axis: AxisLike | None = None):
    """Return the elements moved along axes, those at the end to the begin.

    Args:
      x: a tensor, or what can be converted to one.
      shift: how far, an integer or one for each axis.
      axis: the axis, or several; None for all.
    """
    x = tensor(x)
    if axis is None:
        return tf_reshape(tf_roll(tf_reshape(x, [-1]), shift, 0), tf_shape(x))
    return tf_roll(x, shift, axis)


@operation
def rot90(array: np.ndarray, k: int = 1, axes: Sequence[int] = (0, 1)):
    """Return x turned `k` times by a right angle, from the first of two axes to the second.

    Args:
      array: a tensor.
      k: how often.
      axes: the two axes of the plane.
    """
    x = tensor(array)
    rank = static_rank(x)
    if rank < 2:
        raise ValueError(f"Input array must have at least 2 dimensions. Received: array.ndim={rank}")
    if len(axes) != 2 or axis_of(axes[0], rank) == axis_of(axes[1], rank):
        raise ValueError(f"Invalid axes: {axes}. Axes must be a tuple of two different dimensions.")
    first, second = axes_of(axes, rank)
    order = list(range(rank))
    order[first], order[second] = second, first
    k = k % 4
    if k == 0:
        return x
    if k == 2:
        return tf_reverse(x, [first, second])
    return tf_transpose(tf_reverse(x, [second]), order) if k == 1 else tf_reverse(tf_transpose(x, order), [second])


@operation
def repeat(x: TensorLike, repeats, axis: AxisLike | None = None):
    """Return each element so many times in a row, along an axis or over all.

    Args:
      x: a tensor, or what can be converted to one.
      repeats: how often; an integer, or one for each element along the axis.
      axis: the axis, an integer; None for the flattened tensor.
    """
    return tf_repeat(tensor(x), repeats, axis)


@operation
def tile(x: TensorLike, repeats):
    """Return x so many times along each of its last axes.

    Args:
      x: a tensor, or what can be converted to one.
      repeats: how often along each of the last axes, an integer or several.
    """
    x = tensor(x)
    repeats = [repeats] if isinstance(repeats, int) else list(repeats)
    missing = len(repeats) - static_rank(x)
    if missing > 0:
        x = tf_reshape(x, tf_concat([[1] * missing, tf_shape(x)], 0))
    return tf_tile(x, [1] * -missing + repeats)


@operation
def pad(x: TensorLike, pad_width, mode: str = "constant", constant_values=None):
    """Return x with elements added before and after it along its axes.

    Args:
      pad_width: how many for all sides, (before, after) for all axes, or such a pair for each axis.
      mode: "constant", "reflect" or "symmetric".
      constant_values: what is added in mode "constant", by default 0.
    """
    x = tensor(x)
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(f"Unknown mode of padding: {mode!r}")
    if constant_values is not None and mode != "constant":
        raise ValueError(
            "Argument `constant_values` can only be provided when `mode == 'constant'`. Received: "
            f"mode={mode}"
        )
    rank = static_rank(x)
    if isinstance(pad_width, int):
        pad_width = ((pad_width, pad_width),) * rank
    elif isinstance(pad_width[0], int):
        pad_width = (tuple(pad_width) if len(pad_width) == 2 else (pad_width[0],) * 2,) * rank
    pairs = [tuple(pair) if len(pair) == 2 else (pair[0], pair[0]) for pair in pad_width]
    pairs = pairs * rank if len(pairs) == 1 else pairs
    if mode == "constant":
        return tf_pad(x, pairs, "CONSTANT", constant_values=0 if constant_values is None else constant_values)
    return tf_pad(x, pairs, mode.upper())


@operation
def diff(a: TensorLike, n: int = 1, axis: int = -1):
    """Return the differences of neighbors along an axis, `n` times.

    Args:
      a: a tensor, or what can be converted to one.
      n: how many times.
      axis: the axis, an integer.
    """
    x = tensor(a)
    axis = axis_of(axis, static_rank(x))
    for _ in range(n):
        size = tf_shape(x)[axis]
        later, earlier = tf_gather(x, tf_range(1, size), axis=axis), tf_gather(x, tf_range(size - 1), axis=axis)
        x = tf_not_equal(later, earlier) if x.dtype.is_bool else later - earlier
    return x


@operation
def meshgrid(*x, indexing: str = "xy"):
    """Return the coordinates of a grid of points, one tensor for each vector.

    Args:
      *x: the vectors.
      indexing: "xy" or "ij".
    """
    return tf_meshgrid(*(tensor(each) for each in x), indexing=indexing)


@operation
def size(x: TensorLike):
    """Return how many elements x has."""
    return tf_size(tensor(x))


@public
def ndim(x: TensorLike):
    """Return how many axes x has."""
    return len((x if hasattr(x, "shape") else tensor(x)).shape)


__all__ = public_names(globals())

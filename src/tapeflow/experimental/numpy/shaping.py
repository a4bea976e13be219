"""The same elements in other shapes and orders, joined and cut."""

from __future__ import annotations

import itertools

import tapeflow as tf
from tapeflow.core.public import public
from tapeflow.experimental.numpy.arrays import array, promoted, tensor


@public
def reshape(a, newshape, order="C"):
    """`a` in another shape, of which one size may be -1, read row by row ("C") or column by column ("F").

    Raises ValueError for another order.
    """
    if order not in ("C", "F"):
        raise ValueError(f"Unsupported order argument {order}")
    x = tensor(a)
    shape = [newshape] if isinstance(newshape, int) else newshape
    if order == "F":
        return tf.transpose(tf.reshape(tf.transpose(x), shape[::-1]))
    return tf.reshape(x, shape)


@public
def ravel(a):
    """The elements in one axis."""
    return tf.reshape(tensor(a), [-1])


@public
def flatten(a, order="C"):
    """The elements in one axis, row by row, or column by column with "F". Raises ValueError for other orders."""
    if order not in ("C", "A", "K", "F"):
        raise ValueError("order can only be C, A, K (all row major) or F (column major).")
    return reshape(a, [-1], "F" if order == "F" else "C")


@public
def expand_dims(a, axis):
    """`a` with a new axis of size 1."""
    return tf.expand_dims(tensor(a), axis)


@public
def squeeze(a, axis=None):
    """`a` without its axes of size 1, or without `axis`."""
    return tf.squeeze(tensor(a), axis)


@public
def transpose(a, axes=None):
    """`a` with its axes permuted, by default reversed."""
    return tf.transpose(tensor(a), axes)


@public
def swapaxes(a, axis1, axis2):
    """`a` with two axes exchanged."""
    x = tensor(a)
    order = list(range(len(x.shape)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return tf.transpose(x, order)


@public
def moveaxis(a, source, destination):
    """`a` with axes moved; the others keep their order. Raises ValueError if their numbers differ."""
    x = tensor(a)
    rank = len(x.shape)
    source = [s % rank for s in ([source] if isinstance(source, int) else source)]
    destination = [
        d % rank for d in ([destination] if isinstance(destination, int) else destination)
    ]
    if len(source) != len(destination):
        raise ValueError("The lengths of source and destination must equal")
    order = [axis for axis in range(rank) if axis not in source]
    for target, axis in sorted(zip(destination, source)):
        order.insert(target, axis)
    return tf.transpose(x, order)


@public
def broadcast_to(array, shape):
    """`array` repeated to `shape`."""
    return tf.broadcast_to(tensor(array), shape)


@public
def broadcast_arrays(*args, **kwargs):
    """All arguments in their common shape. Raises ValueError for `subok=True` and TypeError for other arguments."""
    if kwargs.pop("subok", False):
        raise ValueError("subok=True is not supported.")
    if kwargs:
        raise ValueError(f"Received unsupported arguments {kwargs.keys()}")
    arrays = [tensor(each) for each in args]
    shape = tf.constant([], tf.int32)
    for each in arrays:
        shape = tf.broadcast_dynamic_shape(shape, tf.shape(each))
    return [tf.broadcast_to(each, shape) for each in arrays]


def _at_least(rank, arrays, widen):
    out = []
    for each in arrays:
        x = array(each, copy=False)
        out.append(widen(x) if len(x.shape) < rank else x)
    return out[0] if len(out) == 1 else out


@public
def atleast_1d(*arys):
    """Each with one axis or more."""
    return _at_least(1, arys, lambda x: tf.reshape(x, [1]))


@public
def atleast_2d(*arys):
    """Each with two axes or more, new ones in front."""
    return _at_least(2, arys, lambda x: tf.reshape(x, [1, -1]))


def _three_axes(x):
    if not len(x.shape):
        return tf.reshape(x, [1, 1, 1])
    return x[None, :, None] if len(x.shape) == 1 else x[:, :, None]


@public
def atleast_3d(*arys):
    """Each with three axes or more."""
    return _at_least(3, arys, _three_axes)


def _listed(arrays):
    return list(arrays) if isinstance(arrays, (list, tuple)) else tf.unstack(tensor(arrays))


@public
def concatenate(arys, axis=0):
    """Arrays one after the other along `axis`; of their elements, with None."""
    arrays = promoted(*_listed(arys))
    if axis is None:
        return tf.concat([tf.reshape(x, [-1]) for x in arrays], 0)
    return tf.concat(arrays, axis)


@public
def stack(arrays, axis=0):
    """Arrays of one shape along a new axis."""
    return tf.stack(promoted(*_listed(arrays)), axis)


def _lists(value):
    return value if isinstance(value, list) else [value]


@public
def hstack(tup):
    """Arrays beside each other: along the second axis, or the only one."""
    arrays = _lists(atleast_1d(*promoted(*_listed(tup))))
    return tf.concat(arrays, 0 if len(arrays[0].shape) == 1 else 1)


@public
def vstack(tup):
    """Arrays below each other."""
    return tf.concat(_lists(atleast_2d(*promoted(*_listed(tup)))), 0)


@public
def dstack(tup):
    """Arrays behind each other, along the third axis."""
    return tf.concat(_lists(atleast_3d(*promoted(*_listed(tup)))), 2)


@public
def append(arr, values, axis=None):
    """`values` behind `arr`; both are made one row where there is no axis."""
    if axis is None:
        return concatenate([ravel(arr), ravel(values)])
    return concatenate([arr, values], axis)


@public
def split(ary, indices_or_sections, axis=0):
    """Equal parts along `axis`, or those between indices."""
    x = tensor(ary)
    if isinstance(indices_or_sections, int):
        return tf.split(x, indices_or_sections, axis)
    size = x.shape[axis]
    bounds = [0, *(int(i) for i in indices_or_sections), size]
    bounds = [min(b + size if b < 0 else b, size) for b in bounds]
    sizes = [max(end - begin, 0) for begin, end in itertools.pairwise(bounds)]
    starts = bounds[:-1]
    return [tf.gather(x, tf.range(begin, begin + n), axis=axis) for begin, n in zip(starts, sizes)]


@public
def hsplit(ary, indices_or_sections):
    """Parts along the second axis, or the only one."""
    x = tensor(ary)
    return split(x, indices_or_sections, 0 if len(x.shape) == 1 else 1)


@public
def vsplit(ary, indices_or_sections):
    """Parts along the first axis."""
    return split(ary, indices_or_sections, 0)


@public
def dsplit(ary, indices_or_sections):
    """Parts along the third axis."""
    return split(ary, indices_or_sections, 2)


@public
def tile(a, reps):
    """`a` repeated along each axis; missing axes and numbers count as 1."""
    x = tensor(a)
    reps = [reps] if isinstance(reps, int) else list(reps)
    rank = max(len(x.shape), len(reps))
    x = tf.reshape(x, tf.concat([[1] * (rank - len(x.shape)), tf.shape(x)], 0))
    return tf.tile(x, [1] * (rank - len(reps)) + reps)


@public
def repeat(a, repeats, axis=None):
    """Each element repeated along `axis`, or of all in a row."""
    return tf.repeat(tensor(a), repeats, axis)


@public
def roll(a, shift, axis=None):
    """Elements shifted around, along `axis` or in a row."""
    x = tensor(a)
    if axis is None:
        return tf.reshape(tf.roll(tf.reshape(x, [-1]), shift, 0), tf.shape(x))
    return tf.roll(x, shift, axis)


@public
def flip(m, axis=None):
    """Elements in reverse order along `axis`, or along all axes."""
    x = tensor(m)
    if axis is None:
        return tf.reverse(x, tf.range(len(x.shape)))
    return tf.reverse(x, [axis] if isinstance(axis, int) else axis)


@public
def flipud(m):
    """Rows in reverse order."""
    return flip(m, 0)


@public
def fliplr(m):
    """Columns in reverse order."""
    return flip(m, 1)


@public
def rot90(m, k=1, axes=(0, 1)):
    """`m` turned k times by 90 degrees, from the first of `axes` towards the second."""
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
    """`array` with borders: of `constant_values`, or by "reflect" or "symmetric" mirrored.

    Raises ValueError for another mode.
    """
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(f"Unsupported padding mode: {mode}")
    x = tensor(array)
    value = tf.cast(kwargs.get("constant_values", 0), x.dtype)
    width = tf.broadcast_to(tensor(pad_width, tf.int32), [len(x.shape), 2])
    return tf.pad(x, width, mode.upper(), value)


@public
def diagonal(a, offset=0, axis1=0, axis2=1):
    """The diagonal of the matrices in two axes, as the last axis."""
    x = tensor(a)
    if (axis1, axis2) != (-2, -1):
        x = moveaxis(x, (axis1, axis2), (-2, -1))
    rows, columns = x.shape[-2], x.shape[-1]
    if rows is not None and columns is not None and (offset >= columns or offset <= -rows):
        return tf.zeros([*x.shape[:-2], 0], x.dtype)
    return tf.linalg.diag_part(x, k=offset)


@public
def tril(m, k=0):
    """The lower triangles, up to the k-th diagonal; zeros elsewhere."""
    return _triangle(m, k, lambda row, column: column <= row + k)


@public
def triu(m, k=0):
    """The upper triangles, from the k-th diagonal; zeros elsewhere."""
    return _triangle(m, k, lambda row, column: column >= row + k)


def _triangle(m, k, inside):
    x = tensor(m)
    if len(x.shape) < 2:
        raise ValueError("Argument to tril/triu must have rank at least 2")
    shape = tf.shape(x)
    mask = inside(tf.range(shape[-2])[:, None], tf.range(shape[-1])[None, :])
    return tf.where(tf.broadcast_to(mask, shape), x, tf.zeros_like(x))

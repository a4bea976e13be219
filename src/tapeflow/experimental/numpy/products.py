"""Products of vectors, matrices and more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tapeflow as tf
from tapeflow.core.annotations import AxisLike, DTypeLike, Tensor, TensorLike
from tapeflow.core.public import public
from tapeflow.experimental.numpy.arrays import dtype_of, promoted, tensor
from tapeflow.experimental.numpy.shaping import diagonal, moveaxis


def _counted(function: Callable[..., Any], *values):
    """Matrix products have no booleans: a product of such says whether one of the terms is true."""
    if values[0].dtype == tf.bool:
        return tf.cast(function(*(tf.cast(v, tf.int32) for v in values)), tf.bool)
    return function(*values)


def _matmul(a: Tensor, b: Tensor):
    if len(a.shape) == 1 and len(b.shape) == 1:
        return tf.tensordot(a, b, 1)
    if len(a.shape) == 1:
        return tf.squeeze(tf.matmul(a[None, :], b), -2)
    if len(b.shape) == 1:
        return tf.squeeze(tf.matmul(a, b[:, None]), -1)
    return tf.matmul(a, b)


@public
def matmul(x1: Any, x2: Any):
    """Return the product of matrices, or of a matrix and a vector; ValueError for scalars.

    Args:
      x1, x2: arrays, whose axes before the last two broadcast.
    """
    x1, x2 = promoted(x1, x2)
    if not len(x1.shape) or not len(x2.shape):
        raise ValueError("Scalar operands of matmul are not allowed, use multiply instead.")
    return _counted(_matmul, x1, x2)


@public
def dot(a, b):
    """Return products with scalars, else sums over the last axis of `a` and the last but one of `b`.

    Args:
      a, b: arrays, or what makes some.
    """
    a, b = promoted(a, b)
    if not len(a.shape) or not len(b.shape):
        return tf.multiply(a, b) if a.dtype != tf.bool else tf.logical_and(a, b)
    axis = -1 if len(b.shape) == 1 else -2
    return _counted(
        lambda x, y: tf.tensordot(x, y, [[-1 % len(a.shape)], [axis % len(b.shape)]]), a, b
    )


@public
def inner(a, b):
    """Return sums of products over the last axes of both.

    Args:
      a, b: arrays, or what makes some; a scalar is multiplied.
    """
    a, b = promoted(a, b)
    if not len(a.shape) or not len(b.shape):
        return tf.multiply(a, b)
    return _counted(lambda x, y: tf.tensordot(x, y, [[len(a.shape) - 1], [len(b.shape) - 1]]), a, b)


@public
def outer(a: TensorLike, b: TensorLike):
    """Return the products of all pairs of elements, as a matrix.

    Args:
      a, b: arrays, or what makes some, taken as vectors.
    """
    a, b = promoted(a, b)
    return tf.reshape(a, [-1, 1]) * tf.reshape(b, [1, -1])


@public
def vdot(a: Any, b: Any):
    """Return the sum of the products of elements, those of `a` conjugated.

    Args:
      a, b: arrays, or what makes some, taken as vectors.
    """
    a, b = promoted(a, b)
    return dot(
        tf.math.conj(tf.reshape(a, [-1])) if a.dtype.is_complex else tf.reshape(a, [-1]),
        tf.reshape(b, [-1]),
    )


@public
def tensordot(a: TensorLike, b: TensorLike, axes: AxisLike = 2):
    """Return products summed over pairs of axes.

    Args:
      a, b: arrays, or what makes some.
      axes: how many last axes of `a` go with as many first ones of `b`, or a pair of lists of axes.
    """
    return _counted(lambda x, y: tf.tensordot(x, y, axes), *promoted(a, b))


@public
def kron(a: Any, b: Any):
    """Return the Kronecker product.

    Args:
      a, b: arrays, or what makes some.
    """
    a, b = promoted(a, b)
    rank = max(len(a.shape), len(b.shape))
    a = tf.reshape(a, [1] * (rank - len(a.shape)) + list(a.shape))
    b = tf.reshape(b, [1] * (rank - len(b.shape)) + list(b.shape))
    pairs = tf.reshape(a, [s for n in a.shape for s in (n, 1)]) * tf.reshape(
        b, [s for n in b.shape for s in (1, n)]
    )
    return tf.reshape(pairs, [m * n for m, n in zip(a.shape, b.shape)])


@public
def einsum(subscripts, *operands, **kwargs):
    """Return products summed as an equation says, see `tf.einsum`.

    Args:
      subscripts: the equation.
      *operands: the arrays.
      **kwargs: `casting` and `order`, which must be the default, else ValueError is raised; `optimize`, which
        changes nothing in the result.
    """
    if kwargs.pop("casting", "safe") != "safe":
        raise ValueError("casting is not supported.")
    if kwargs.pop("order", "K") != "K":
        raise ValueError("order is not supported.")
    optimize = kwargs.pop("optimize", False)
    how = "greedy" if optimize is True else "optimal" if optimize is False else optimize
    return _counted(lambda *xs: tf.einsum(subscripts, *xs, optimize=how), *promoted(*operands))


@public
def cross(a: Any, b: Any, axisa=-1, axisb=-1, axisc=-1, axis: AxisLike | None = None):
    """Return the cross product of vectors of two or three elements.

    Args:
      a, b: arrays of vectors that broadcast; of two times two elements the third one of the result is returned.
      axisa: the axis of the vectors of `a`.
      axisb: the axis of the vectors of `b`.
      axisc: the axis of the vectors of the result.
      axis: replaces the three, where it is not None.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = promoted(a, b)
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError("incompatible dimensions for cross product (dimension must be 2 or 3)")
    flat = a.shape[-1] == b.shape[-1] == 2
    a, b = (tf.pad(x, [[0, 0]] * (len(x.shape) - 1) + [[0, 3 - x.shape[-1]]]) for x in (a, b))
    shape = tf.broadcast_dynamic_shape(tf.shape(a), tf.shape(b))
    out = tf.linalg.cross(tf.broadcast_to(a, shape), tf.broadcast_to(b, shape))
    return out[..., 2] if flat else moveaxis(out, -1, axisc)


@public
def trace(a: TensorLike, offset: TensorLike = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None):
    """Return the sum of the diagonal of the matrices in two axes.

    Args:
      a: an array of two axes or more.
      offset: which diagonal: 0 is the main one, positive numbers are above it.
      axis1: the axis of rows.
      axis2: the axis of columns.
      dtype: the dtype of the sum; None: that of `a`.
    """
    x = diagonal(a, offset, axis1, axis2)
    if dtype is not None:
        x = tf.cast(x, dtype_of(dtype))
    elif x.dtype == tf.bool:
        x = tf.cast(x, tf.int64)
    return tf.reduce_sum(x, -1)


@public
def polyval(p, x: TensorLike):
    """Return the values of a polynomial.

    Args:
      p: the coefficients, from the highest power down.
      x: where to evaluate it.
    """
    p, x = promoted(p, x)
    out = tf.zeros_like(x)
    for coefficient in tf.unstack(tf.reshape(p, [-1]) if p.shape.rank == 0 else p):
        out = out * x + coefficient
    return out


@public
def diff(a: TensorLike, n: int = 1, axis=-1):
    """Return differences of neighbours along an axis.

    Args:
      a: an array, or what makes one.
      n: how many times differences are taken.
      axis: the axis.
    """
    x = tensor(a)
    axis %= len(x.shape)
    for _ in range(n):
        size = x.shape[axis]
        later = tf.gather(x, tf.range(1, size), axis=axis)
        earlier = tf.gather(x, tf.range(0, size - 1), axis=axis)
        x = tf.not_equal(later, earlier) if x.dtype == tf.bool else later - earlier
    return x

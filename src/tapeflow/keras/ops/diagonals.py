"""`keras.ops`: diagonals and triangles of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import public_names
from tapeflow.keras.ops.conversion import axes_of, operation, static_rank, tensor
from tapeflow.keras.ops.shaping import ravel
from tapeflow.ops.array.construction import zeros_like as tf_zeros_like
from tapeflow.ops.array.diagonal_matrix import diag as tf_diag
from tapeflow.ops.array.joining import concat as tf_concat
from tapeflow.ops.array.layout import expand_dims as tf_expand_dims
from tapeflow.ops.array.layout import reshape as tf_reshape
from tapeflow.ops.array.ranges import range as tf_range
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.array.transposing import transpose as tf_transpose
from tapeflow.ops.indexing.gather import gather as tf_gather
from tapeflow.ops.math.arithmetic import maximum as tf_maximum
from tapeflow.ops.math.arithmetic import minimum as tf_minimum
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.choice import where as tf_where
from tapeflow.ops.math.comparison import greater_equal as tf_greater_equal
from tapeflow.ops.math.comparison import less as tf_less
from tapeflow.ops.math.reductions import reduce_sum as tf_reduce_sum


@operation
def diag(x: Any, k: int = 0):
    """Return a matrix with the vector x on a diagonal, or the diagonal of a matrix.

    Args:
      x: a tensor, or what can be converted to one.
      k: which diagonal: above 0 above the main one, below 0 below it.
    """
    x = tensor(x)
    if static_rank(x) == 1:
        return tf_diag(x, k=k)
    if x.shape.rank == 2:
        return diagonal(x, k)
    raise ValueError(f"`x` must be 1d or 2d. Received: x.shape={x.shape}")


@operation
def diagflat(x: TensorLike, k: int = 0):
    """Return a matrix with the elements of x in a row on a diagonal.

    Args:
      x: a tensor, or what can be converted to one.
      k: which diagonal: above 0 above the main one, below 0 below it.
    """
    return tf_diag(ravel(x), k=k)


@operation
def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1):
    """Return the diagonals of the matrices along two axes, as the last axis.

    Args:
      x: a tensor, or what can be converted to one.
      offset: which diagonal: above 0 above the main one, below 0 below it.
      axis1: the first of the two axes.
      axis2: the second of the two axes.
    """
    x = tensor(x)
    rank = static_rank(x)
    if rank < 2:
        raise ValueError(f"`diagonal` requires an array of at least two dimensions, but `x` is of shape {x.shape}")
    first, second = axes_of((axis1, axis2), rank)
    x = tf_transpose(x, [*(i for i in range(rank) if i not in (first, second)), first, second])
    rows, columns = tf_shape(x)[-2], tf_shape(x)[-1]
    starts, steps = max(-offset, 0), max(offset, 0)
    count = tf_maximum(tf_minimum(rows - starts, columns - steps), 0)
    places = (tf_range(count) + starts) * columns + tf_range(count) + steps
    flat = tf_reshape(x, tf_concat([tf_shape(x)[:-2], [-1]], 0))
    return tf_gather(flat, places, axis=-1)


@operation
def trace(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1):
    """Return the sums of the diagonals of the matrices along two axes.

    Args:
      x: a tensor, or what can be converted to one.
      offset: which diagonal: above 0 above the main one, below 0 below it.
      axis1: the first of the two axes.
      axis2: the second of the two axes.
    """
    found = diagonal(x, offset, axis1, axis2)
    return tf_reduce_sum(tf_cast(found, "int32") if found.dtype.is_bool else found, -1)


def _triangle(x, k: int, keep: Callable[..., Any]):
    x = tensor(x)
    rows, columns = tf_range(tf_shape(x)[-2]), tf_range(tf_shape(x)[-1])
    return tf_where(keep(tf_expand_dims(rows, 1) + k, columns), x, tf_zeros_like(x))


@operation
def tril(x: TensorLike, k: int = 0):
    """Return matrices with 0 above a diagonal.

    Args:
      x: a tensor, or what can be converted to one.
      k: up to which diagonal: above 0 above the main one, below 0 below it.
    """
    return _triangle(x, k, tf_greater_equal)


@operation
def triu(x: TensorLike, k: int = 0):
    """Return matrices with 0 below a diagonal.

    Args:
      x: a tensor, or what can be converted to one.
      k: from which diagonal on: above 0 above the main one, below 0 below it.
    """
    return _triangle(x, k - 1, tf_less)


__all__ = public_names(globals())

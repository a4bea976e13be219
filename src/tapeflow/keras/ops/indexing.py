"""`keras.ops`: elements of tensors by their places."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.public import public_names
from tapeflow.keras.ops.conversion import axis_of, operation, static_rank, tensor
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape as tf_broadcast_dynamic_shape
from tapeflow.ops.array.broadcasting import broadcast_to as tf_broadcast_to
from tapeflow.ops.array.joining import concat as tf_concat
from tapeflow.ops.array.layout import reshape as tf_reshape
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.array.stacking import unstack as tf_unstack
from tapeflow.ops.array.transposing import transpose as tf_transpose
from tapeflow.ops.indexing.gather import gather as tf_gather
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.choice import where as tf_where


@operation
def take(x: TensorLike, indices: TensorLike, axis: AxisLike | None = None):
    """Return the elements at indices along an axis, or of all in a row; negative indices count from the end.

    Args:
      x: a tensor, or what can be converted to one.
      indices: the places, an integer tensor of any shape.
      axis: the axis, an integer; None for the flattened tensor.
    """
    x, indices = tensor(x), tensor(indices)
    x, axis = (tf_reshape(x, [-1]), 0) if axis is None else (x, axis)
    indices = _from_start(indices, tf_shape(x)[axis])
    return tf_gather(x, indices, axis=axis)


def _from_start(indices, size):
    if not indices.dtype.is_integer:
        indices = tf_cast(indices, "int32")
    return tf_where(indices < 0, indices + tf_cast(size, indices.dtype), indices)


@operation
def take_along_axis(x: TensorLike, indices: Any, axis: AxisLike | None = None):
    """Return along an axis the elements at indices of the same rank as x.

    Args:
      x: a tensor, or what can be converted to one.
      indices: the places, an integer tensor.
      axis: the axis, an integer; None for the flattened tensor.
    """
    x, indices = tensor(x), tensor(indices)
    if axis is None:
        if indices.shape.rank != 1:
            raise ValueError(f"`indices` must be 1D if axis=None. Got indices.shape={indices.shape}")
        return take(x, indices)
    rank = static_rank(x)
    axis = axis_of(axis, rank)
    order = [*(i for i in range(rank) if i != axis), axis]
    back = [order.index(i) for i in range(rank)]
    indices = tf_transpose(_from_start(indices, tf_shape(x)[axis]), order)
    x = tf_transpose(x, order)
    front = tf_broadcast_dynamic_shape(tf_shape(x)[:-1], tf_shape(indices)[:-1])
    x = tf_broadcast_to(x, tf_concat([front, tf_shape(x)[-1:]], 0))
    indices = tf_broadcast_to(indices, tf_concat([front, tf_shape(indices)[-1:]], 0))
    return tf_transpose(tf_gather(x, indices, axis=rank - 1, batch_dims=rank - 1), back)


@operation
def nonzero(x: TensorLike):
    """Return the indices of the elements that are not 0: a tuple of vectors, one for each axis."""
    x = tensor(x, "bool")
    return tuple(tf_unstack(tf_cast(tf_where(x), "int32"), static_rank(x), axis=-1))


@operation
def get_item(x: TensorLike, key: TensorLike):
    """Return x[key].

    Args:
      x: a tensor, or what can be converted to one.
      key: what stands in the brackets.
    """
    return tensor(x)[key]


__all__ = public_names(globals())

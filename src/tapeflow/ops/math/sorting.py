"""Sorting along an axis, by `top_k` of all elements."""

from __future__ import annotations

import numpy as np

from tapeflow.api import api
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import AxisLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.array.transposing import axis_swapped, transpose
from tapeflow.ops.indexing.top_k import TopKV2
from tapeflow.ops.math.arithmetic import subtract
from tapeflow.ops.math.elementwise import negative
from tapeflow.ops.static import concrete_value


@api("sort")
@tensor_function
def sort(values: TensorLike, axis: AxisLike = -1, direction: str = "ASCENDING", name: str | None = None):
    """Bring each line along an axis in order.

    Args:
      values: a real tensor of rank 1 at least.
      axis: the axis, an int in [-rank, rank).
      direction: "ASCENDING" or "DESCENDING".
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `values`. NaN comes first in either direction.

    Raises:
      ValueError: for another direction.
      InvalidArgumentError: for an axis out of range (a ValueError in graphs), and for complex numbers, strings and
        bools.

    >>> tf.sort([3, 1, 2], direction="DESCENDING")
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([3, 2, 1], dtype=int32)>
    """
    return _ordered(values, axis, direction)[0]


@api("argsort")
@tensor_function
def argsort(
    values: TensorLike, axis: AxisLike = -1, direction: str = "ASCENDING", stable: bool = False,
    name: str | None = None,
):
    """Find the indices that bring each line along an axis in order.

    Args:
      values: a real tensor of rank 1 at least.
      axis: the axis, an int in [-rank, rank).
      direction: "ASCENDING" or "DESCENDING".
      stable: has no effect: equal elements always keep their order.
      name: a name for the operation (optional).

    Returns:
      An int32 tensor of the shape of `values`.

    Raises:
      ValueError: for another direction.

    >>> tf.argsort([3, 1, 2])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 2, 0], dtype=int32)>
    """
    return _ordered(values, axis, direction)[1]


def _ordered(values: TensorLike, axis, direction: str):
    """(values, indices) in order along `axis`."""
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            f"Argument `direction` should be one of ASCENDING, DESCENDING. Received: direction={direction}"
        )
    values = convert_to_tensor(values)
    axis = int(concrete_value(axis))
    rank = values.shape.rank
    if rank is not None and not -rank <= axis < rank:
        message = f"slice index {axis} of dimension 0 out of bounds."
        raise InvalidArgumentError(None, None, message) if context.executing_eagerly() else ValueError(message)
    swap = axis_swapped(values, axis)
    keys = values if swap is None else transpose(values, swap)
    if direction == "ASCENDING":
        keys = _mirrored(keys)
    ordered, indices = TopKV2(keys, shape(keys)[-1], True, dtypes.int32)
    if direction == "ASCENDING":
        ordered = _mirrored(ordered)
    if swap is None:
        return ordered, indices
    return transpose(ordered, swap), transpose(indices, swap)


def _mirrored(values: Tensor):
    """The same numbers in opposite order; its own inverse. Unlike -x, -1 - x has no overflow."""
    if values.dtype.is_unsigned:
        return subtract(np.array(values.dtype.max, values.dtype.as_numpy_dtype), values)
    if values.dtype.is_integer:
        return subtract(np.array(-1, values.dtype.as_numpy_dtype), values)
    return negative(values)

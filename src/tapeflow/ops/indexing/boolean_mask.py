"""Elements chosen by a mask."""

from __future__ import annotations

from typing import Any

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.sizes import Shape as shape_of
from tapeflow.ops.indexing.gather import Gather, GatherV2
from tapeflow.ops.indexing.where import Where
from tapeflow.ops.math import casting, choice, reductions
from tapeflow.ops.static import as_shape, joined, product, rank_of, sizes_of, static_value
from tapeflow.ops.validate import one_value


def _axis_number(tensor, axis):
    """`axis`, counted from the front; a scalar tensor where it is not known yet."""
    if isinstance(axis, int):
        return axis if axis >= 0 else rank_of(tensor) + axis
    axis = casting.cast(axis, dtypes.int32)
    return choice.SelectV2(axis < 0, axis + rank_of(tensor), axis)


@api(v2="boolean_mask")
@tensor_function
@graph_scope("boolean_mask")
def boolean_mask(tensor: TensorLike, mask: Any, axis: AxisLike | None = None, name: str | None = "boolean_mask"):
    """Keep the elements or slices of a tensor for which a mask is true.

    Args:
      tensor: a tensor of any dtype.
      mask: a bool tensor of rank 1 at least, whose shape is that of `tensor` from `axis` on as far as it goes.
      axis: the first dimension that the mask covers, a scalar int; None: 0.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `tensor`, in which the masked dimensions are one of as many elements as the mask has
      true ones.

    Raises:
      ValueError: for a mask that is a scalar or does not fit.

    >>> tf.boolean_mask([[1, 2], [3, 4], [5, 6]], [True, False, True])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 2],
           [5, 6]], dtype=int32)>
    """
    tensor = convert_to_tensor(tensor)
    mask = convert_to_tensor(mask)
    rank = mask.shape.rank
    if rank is None:
        raise ValueError(
            "Number of mask dimensions must be specified, even if some dimensions are None.  E.g. shape=[None] is "
            "ok, but shape=None is not."
        )
    if rank == 0:
        raise ValueError("mask cannot be scalar.")
    known = 0 if axis is None else static_value(axis)
    if known is None or tensor.shape.rank is None:
        at = _axis_number(tensor, axis if known is None else int(known))
        if rank > 1:
            shape = shape_of(tensor)
            merged = reductions.reduce_prod(shape[at : at + rank])
            tensor = Reshape(tensor, joined(shape[:at], Reshape(merged, [1]), shape[at + rank :]))
            mask = Reshape(mask, [-1])
        where = Reshape(Where(casting.cast(mask, dtypes.bool)), [-1])
        return GatherV2(tensor, where, at)
    axis = one_value(known, "axis must be scalar")
    at = axis + tensor.shape.rank if axis < 0 else axis
    part = tensor.shape[at : at + rank]
    if not part.is_compatible_with(mask.shape):
        raise ValueError(f"Shapes {part} and {mask.shape} are incompatible")
    if rank > 1:
        sizes = sizes_of(tensor)
        merged = product(sizes[at : at + rank])
        tensor = Reshape(tensor, as_shape([*sizes[:at], merged, *sizes[at + rank :]]))
        mask = Reshape(mask, [-1])
    else:
        # So that the gradient is dense, as TensorFlow's, and not the rows that were kept.
        tensor = Reshape(tensor, as_shape(sizes_of(tensor)))
    if mask.dtype != dtypes.bool:
        mask = casting.cast(mask, dtypes.bool)
    where = Reshape(Where(mask), [-1])
    return Gather(tensor, where) if at == 0 else GatherV2(tensor, where, at)


@api(v1="boolean_mask")
@tensor_function
@graph_scope("boolean_mask")
def boolean_mask_v1(
    tensor: TensorLike, mask: TensorLike, name: str | None = "boolean_mask", axis: AxisLike | None = None
):
    """`boolean_mask` with the 1.x order of arguments."""
    return boolean_mask(tensor, mask, axis)

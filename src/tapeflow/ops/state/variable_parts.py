"""Assignments to parts of a variable that take more than one op, and counting; eagerly and in graphs."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from tapeflow.core import context, errors
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.variables import dtype_of
from tapeflow.ops import shapes
from tapeflow.ops.array.broadcasting import BroadcastTo
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.indexing import slicing
from tapeflow.ops.indexing.where import Where
from tapeflow.ops.signature import dtype, integer
from tapeflow.ops.state import rows as state
from tapeflow.ops.static import joined, rank_of, size_of, static_value
from tapeflow.ops.table import op
from tapeflow.ops.validate import invalid, shape_text


def assign_part(variable, key, value):
    """`variable[key].assign(value)`. Returns the variable."""
    value = convert_to_tensor(value, dtype_of(variable))
    if slicing.is_mask(key):
        return _assign_where(variable, key, value)
    spec = slicing.parse_key(key)
    op = state.ResourceStridedSliceAssign(variable, *spec.vectors(), value, *spec.masks)
    return variable._after(op)


def _assign_where(variable, mask, value):
    known = static_value(mask)
    if known is not None and static_value(value) is not None:
        where = np.argwhere(known)
        rest = variable.shape.as_list()[where.shape[1] :]
        updates = np.broadcast_to(static_value(value), (len(where), *rest))
        return variable.scatter_nd_update(where, updates)

    where = Where(convert_to_tensor(mask))
    rest = Shape(variable)[rank_of(convert_to_tensor(mask)) :]
    updates = BroadcastTo(value, joined(Shape(where)[:1], rest))
    return variable.scatter_nd_update(where, updates)


def batch_coordinates(indices):
    """[..., j] -> [..., j, rank]: for each index its own place but for the last coordinate, which it is itself."""
    indices = convert_to_tensor(indices)
    known = static_value(indices)
    if known is not None:
        batch = np.indices(known.shape)[:-1]
        return np.stack([*batch, known], axis=-1).astype(known.dtype)

    rank = indices.shape.rank
    if rank is None:
        raise ValueError("The rank of the indices of batch_scatter_update must be known.")
    shape = Shape(indices)
    columns = []
    for i in range(rank - 1):
        line = Reshape(range_(0, size_of(indices, i), dtype=indices.dtype), joined([-1], rank - 1 - i))
        columns.append(BroadcastTo(line, shape))
    return stack([*columns, indices], -1)


@op(
    "ResourceCountUpTo",
    "resource: resource -> output: T",
    attrs={"limit": integer, "T": dtype},
    shape=shapes.scalar,
    stateful=True,
)
def ResourceCountUpTo(xp: ModuleType, resource, limit: int, T: DType):
    before = resource.numpy().copy()
    if before.ndim:
        raise invalid(f"input is not a scalar: {shape_text(before.shape)}")
    if before >= limit:
        raise errors.OutOfRangeError(None, None, f"Reached limit of {limit}")
    with context.eager_mode():  # a session may run this while a graph is built
        resource.assign(before + before.dtype.type(1))
    return before


ResourceCountUpTo.gradient(None)


def count_up_to(variable, limit: int):
    """Adds one to an integer scalar; what it was before. Raises OutOfRangeError if it has reached `limit`."""
    return ResourceCountUpTo(variable, int(limit), dtype_of(variable))

"""Ops on variables: reading, assigning, gathering from and scattering into them."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtensor import placed
from tapeflow.core.dtypes import DType
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.variables import dtype_of, is_set, set_value
from tapeflow.ops import shapes
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.indexing import scatter
from tapeflow.ops.indexing.slicing import Slice
from tapeflow.ops.indexing.strided_slice import SLICE_MASKS, numpy_key
from tapeflow.ops.math.casting import cast
from tapeflow.ops.signature import dtype
from tapeflow.ops.table import ANY, INDEX, NUMERIC, op
from tapeflow.ops.validate import first_out_of_range, invalid, known, shape_text, type_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, ShapeCall


def _read(resource: Any, dtype: DType) -> Array:
    if resource.dtype.base_dtype != dtype:
        raise invalid(
            f"Trying to read variable with wrong dtype. Expected {type_text(dtype)} got {type_text(resource.dtype)}"
        )
    return resource.numpy()


def _assigned(call: ShapeCall) -> list:
    held = call.variable(0, call.dtype(1))
    if not call.takes_any_shape(0):
        shapes.merge(held, call.shape(1))
    return []


@op(
    "ReadVariableOp",
    "resource: resource -> value: dtype",
    attrs={"dtype": dtype},
    shape=lambda call: [call.variable(0, call.attr("dtype"))],
    effects=False,
)
def ReadVariableOp(xp: ModuleType, resource, dtype: DType):
    return _read(resource, dtype)


@ReadVariableOp.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return dy


@op(
    "AssignVariableOp",
    "resource: resource, value: dtype ->",
    types={"dtype": ANY},
    attrs={"validate_shape": False},
    shape=_assigned,
)
def AssignVariableOp(xp: ModuleType, resource, value: np.ndarray, validate_shape: bool):
    """With `validate_shape` a value is of the shape of the one before, if any; else of any, whatever was declared."""
    check_dtype(resource, value)
    if not (validate_shape and is_set(resource)):
        set_value(resource, placed.like(convert_to_tensor(value, dtype_of(resource)), resource))
        return
    known = resource._value_shape.as_list()
    if tuple(known) != value.shape:
        raise invalid(
            "Trying to assign to variable with tensor with wrong shape. Expected "
            f"{shape_text(known)} got {shape_text(value.shape)}"
        )
    resource.assign(value)


AssignVariableOp.gradient(None)


def check_dtype(variable, value: Any) -> None:
    given = dtypes.as_dtype(value.dtype) if value.dtype != object else dtypes.string
    held = variable.dtype.base_dtype
    if given != held:
        raise invalid(
            f"Trying to assign variable with wrong dtype. Expected {type_text(held)} got {type_text(given)}"
        )


def _updated(resource, value, update):
    check_dtype(resource, value)
    old = resource.numpy()
    if old.shape != value.shape:
        raise invalid(
            f"Cannot update variable with shape {shape_text(old.shape)} using a Tensor with shape "
            f"{shape_text(value.shape)}, shapes must be equal."
        )
    resource.assign(update(old, value).astype(old.dtype))


@op(
    "AssignAddVariableOp",
    "resource: resource, value: dtype ->",
    types={"dtype": NUMERIC},
    shape=_assigned,
)
def AssignAddVariableOp(xp: ModuleType, resource: Array, value: Array):
    _updated(resource, value, xp.add)


AssignAddVariableOp.gradient(None)


@op(
    "AssignSubVariableOp",
    "resource: resource, value: dtype ->",
    types={"dtype": NUMERIC},
    shape=_assigned,
)
def AssignSubVariableOp(xp: ModuleType, resource: Array, value: Array):
    _updated(resource, value, xp.subtract)


AssignSubVariableOp.gradient(None)


@op("VarIsInitializedOp", "resource: resource -> is_initialized: bool", shape=shapes.scalar, effects=False)
def VarIsInitializedOp(xp: ModuleType, resource):
    return np.array(is_set(resource))


VarIsInitializedOp.gradient(None)


def _rank_rule(call: ShapeCall):
    shape = call.variable(0)
    return [(None if shape is None else len(shape),)]


@op(
    "VariableShape",
    "input: resource -> output: out_type",
    attrs={"out_type": dtype(dtypes.int32)},
    shape=_rank_rule,
    effects=False,
)
def VariableShape(xp: ModuleType, input: Any, out_type):
    return np.array(input.numpy().shape, out_type.as_numpy_dtype)


VariableShape.gradient(None)


def _gather_rule(call):
    shape, indices, batch = call.variable(0, call.attr("dtype")), call.shape(1), call.attr("batch_dims")
    if indices is None or shapes.at_least(shape, 1 + batch) is None:
        return [None]
    return [(*indices, *shape[1 + batch :])]


@op(
    "ResourceGather",
    "resource: resource, indices: Tindices -> output: dtype",
    types={"Tindices": INDEX},
    attrs={"batch_dims": 0, "validate_indices": True, "dtype": dtype},
    shape=_gather_rule,
    effects=False,
)
def ResourceGather(
    xp: ModuleType, resource: Any, indices: Array, batch_dims: int, validate_indices: bool, dtype: DType
):
    params = _read(resource, dtype)
    if params.ndim == 0:
        raise invalid("params must be at least 1 dimensional")
    if batch_dims:
        if not 0 < batch_dims <= indices.ndim or batch_dims >= params.ndim:
            raise invalid(
                f"batch_dims ({batch_dims}) must be less than rank(params) ({params.ndim})."
            )
        if params.shape[:batch_dims] != indices.shape[:batch_dims]:
            raise invalid(
                f"params.shape {shape_text(params.shape)} and indices.shape {shape_text(indices.shape)} differ in the "
                f"first {batch_dims} dimensions"
            )
    check_range(indices, params.shape[batch_dims])
    if not batch_dims:
        return params[indices]
    batch = np.indices(indices.shape)[:batch_dims]
    return params[(*batch, indices)]


@ResourceGather.gradient(needs="resource indices")
def _(call: GradientCall, dy: TensorLike):
    shape = VariableShape(call.resource)
    rows = ConcatV2([np.array([-1], np.int32), Slice(shape, [1], [-1])], 0)
    return IndexedSlices(Reshape(dy, rows), Reshape(call.indices, [-1]), shape), None


def check_range(indices, size: int) -> None:
    bad = first_out_of_range(indices, size)
    if bad:
        raise invalid(f"indices{bad[0]} = {bad[1]} is not in [0, {size})")


def tuples(indices: Any, shape: Sequence[Any], what: str):
    """Index arrays for the leading axes of `shape`, checked."""
    depth = indices.shape[-1]
    for where in np.ndindex(indices.shape[:-1]) if known(indices) else ():
        found = indices[where]
        if any(not 0 <= i < d for i, d in zip(found, shape)):
            place = f"[{','.join(map(str, where))}]" if where else ""
            raise invalid(
                f"indices{place} = [{', '.join(map(str, found))}] does not index into {what}{shape_text(shape)}"
            )
    return tuple(indices[..., k] for k in range(depth))


def _gather_nd_rule(call: ShapeCall):
    shape, indices = call.variable(0, call.attr("dtype")), shapes.at_least(call.shape(1), 1)
    if shape is None or indices is None or indices[-1] is None:
        return [None]
    if indices[-1] > len(shape):
        raise invalid(
            f"indices.shape[-1] must be <= params.rank, but saw {list(indices)} and {list(shape)}"
        )
    return [(*indices[:-1], *shape[indices[-1] :])]


@op(
    "ResourceGatherNd",
    "resource: resource, indices: Tindices -> output: dtype",
    types={"Tindices": INDEX},
    attrs={"dtype": dtype},
    shape=_gather_nd_rule,
    effects=False,
)
def ResourceGatherNd(xp: ModuleType, resource: Any, indices: Array, dtype: DType):
    params = _read(resource, dtype)
    if params.ndim < 1:
        raise invalid("params must be at least a vector")
    if indices.ndim < 1:
        raise invalid("indices must be at least a vector")
    if indices.shape[-1] > params.ndim:
        raise invalid(
            "index innermost dimension length must be <= params rank; saw: "
            f"{indices.shape[-1]} vs. {params.ndim}"
        )
    at = tuples(indices, params.shape, "param shape ")
    return params[at] if at else xp.broadcast_to(params, indices.shape[:-1] + params.shape)


@ResourceGatherNd.gradient(needs="resource indices")
def _(call: GradientCall, dy: Tensor):
    return scatter.ScatterNd(
        call.indices, dy, cast(VariableShape(call.resource), call.dtype("indices"))
    ), None


def _sliced(call: ShapeCall) -> list:
    call.variable(0, call.dtype(4))
    return []


@op(
    "ResourceStridedSliceAssign",
    "ref: resource, begin: Index, end: Index, strides: Index, value: T ->",
    types={"Index": INDEX, "T": ANY},
    attrs=SLICE_MASKS,
    shape=_sliced,
)
def ResourceStridedSliceAssign(
    xp: ModuleType, ref: Any, begin: Array, end: Array, strides: Array, value: Array, **masks
):
    check_dtype(ref, value)
    params = xp.array(ref.numpy())
    key = numpy_key(params.shape, begin, end, strides, masks.values())
    cut = params[key].shape
    while value.ndim > len(cut) and value.shape[0] == 1:
        value = value[0]
    try:
        wide = xp.broadcast_to(value, cut)
    except ValueError:
        raise invalid(
            f"Cannot broadcast input shape {shape_text(value.shape)} into final shape {shape_text(cut)}"
        ) from None
    if xp is np:
        params[key] = wide
    ref.assign(params if xp is np else params.at[key].set(wide))


ResourceStridedSliceAssign.gradient(None)
ResourceStridedSliceAssign.compiled(static="begin, end, strides")

"""Rows that scatter updates into variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.annotations import Array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import UnimplementedError
from tapeflow.ops import shapes
from tapeflow.ops.folding import fold_at
from tapeflow.ops.indexing import scatter
from tapeflow.ops.state.rows import check_dtype, check_range, tuples
from tapeflow.ops.table import ANY, INDEX, NUMERIC, REAL, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import ShapeCall


def _divide(into, at, values):
    if np.issubdtype(into.dtype, np.integer):
        if (values == 0).any():
            raise invalid("updates must not contain 0")
        for place, value in zip(np.ndindex(values.shape), values.reshape(-1)):
            where = tuple(a[place[: a.ndim]] for a in at) + place[at[0].ndim :]
            into[where] = np.trunc(into[where] / value)
    else:
        fold_at(np.divide, into, at, values)


def _assign(into: np.ndarray, at: Sequence[np.ndarray], values: np.ndarray):
    into[at] = values


_UPDATES: dict[str, tuple[Callable[..., None], tuple[DType, ...]]] = {
    "Update": (_assign, ANY),
    "Add": (partial(fold_at, np.add), NUMERIC),
    "Sub": (partial(fold_at, np.subtract), NUMERIC),
    "Mul": (partial(fold_at, np.multiply), NUMERIC),
    "Div": (_divide, NUMERIC),
    "Min": (partial(fold_at, np.minimum), REAL),
    "Max": (partial(fold_at, np.maximum), REAL),
}


def _combined(xp: ModuleType, name: str, params: Any, at: Sequence[Array], updates: Any):
    """`params`, a fresh array, with `updates` combined into the places `at`."""
    if xp is np:
        _UPDATES[name][0](params, at, updates)
        return params
    if name == "Div" and np.issubdtype(params.dtype, np.integer):
        raise UnimplementedError(None, None, "Division of integers into a variable cannot be compiled")
    how = {"Update": "set", "Sub": "add", "Mul": "multiply", "Div": "divide"}.get(name, name.lower())
    if name == "Sub":
        updates = -updates
    return getattr(params.at[at], how)(updates)


def _scattered(call: ShapeCall) -> list:
    shape, indices, updates = call.variable(0, call.dtype(2)), call.shape(1), call.shape(2)
    if shape is not None and indices is not None and updates != ():
        shapes.at_least(shape, 1)
        shapes.merge(updates, (*indices, *shape[1:]))
    return []


def _scatter_row(name: str):
    types = _UPDATES[name][1]

    def kernel(xp: ModuleType, resource, indices: Array, updates: Array):
        check_dtype(resource, updates)
        params = xp.array(resource.numpy())
        if params.ndim < 1 or (updates.ndim and updates.shape != indices.shape + params.shape[1:]):
            raise invalid(
                "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape "
                f"{shape_text(updates.shape)}, indices.shape {shape_text(indices.shape)}, params.shape "
                f"{shape_text(params.shape)}"
            )
        check_range(indices, params.shape[0])
        with np.errstate(all="ignore"):
            wide = xp.broadcast_to(updates, indices.shape + params.shape[1:])
            params = _combined(xp, name, params, (indices,), wide)
        resource.assign(params)

    row = op(
        f"ResourceScatter{name}",
        "resource: resource, indices: Tindices, updates: dtype ->",
        types={"Tindices": INDEX, "dtype": types},
        shape=_scattered,
    )(kernel)
    row.gradient(None)
    return row


ResourceScatterUpdate = _scatter_row("Update")
ResourceScatterAdd = _scatter_row("Add")
ResourceScatterSub = _scatter_row("Sub")
ResourceScatterMul = _scatter_row("Mul")
ResourceScatterDiv = _scatter_row("Div")
ResourceScatterMin = _scatter_row("Min")
ResourceScatterMax = _scatter_row("Max")


def _scattered_nd(call: ShapeCall) -> list:
    shape, indices, updates = call.variable(0, call.dtype(2)), call.shape(1), call.shape(2)
    if shape is not None and indices and indices[-1] is not None and updates is not None:
        if indices[-1] > len(shape):
            raise invalid(
                f"indices.shape[-1] must be <= the variable's rank, but saw {list(indices)} and {list(shape)}"
            )
        shapes.merge(updates, (*indices[:-1], *shape[indices[-1] :]))
    return []


def _scatter_nd_row(name: str):
    types = _UPDATES[name][1]

    def kernel(
        xp: ModuleType, ref, indices: Array, updates: Array, use_locking: bool, bad_indices_policy: str
    ):
        check_dtype(ref, updates)
        params = xp.array(ref.numpy())
        if indices.ndim < 1:
            raise invalid(
                f"Indices shape must have rank at least one. Found:{shape_text(indices.shape)}"
            )
        outer, depth = indices.ndim - 1, indices.shape[-1]
        if updates.shape[:outer] != indices.shape[:-1]:
            raise invalid(
                f"Dimensions [0,{outer}) of indices[shape={shape_text(indices.shape)}] must match dimensions "
                f"[0,{outer}) of updates[shape={shape_text(updates.shape)}]"
            )
        if depth > params.ndim or params.shape[depth:] != updates.shape[outer:]:
            raise invalid(
                f"Dimensions [{depth},{params.ndim}) of input[shape={shape_text(params.shape)}] must match dimensions "
                f"[{outer},{updates.ndim}) of updates[shape={shape_text(updates.shape)}]"
            )
        if bad_indices_policy == "IGNORE" and xp is np:
            inside = ~scatter.outside(indices, params.shape)
            indices, updates = indices[inside], updates[inside]
        at = tuples(indices, params.shape, "shape ")
        if at:
            params = _combined(xp, name, params, at, updates)
        else:
            for one in updates.reshape(-1, *params.shape):
                params = _combined(xp, name, params, (), one)
        ref.assign(params)

    row = op(
        f"ResourceScatterNd{name}",
        "ref: resource, indices: Tindices, updates: T ->",
        types={"Tindices": INDEX, "T": types},
        attrs={"use_locking": True, "bad_indices_policy": ""},
        shape=_scattered_nd,
    )(kernel)
    row.gradient(None)
    return row


ResourceScatterNdUpdate = _scatter_nd_row("Update")
ResourceScatterNdAdd = _scatter_nd_row("Add")
ResourceScatterNdSub = _scatter_nd_row("Sub")
ResourceScatterNdMin = _scatter_nd_row("Min")
ResourceScatterNdMax = _scatter_nd_row("Max")

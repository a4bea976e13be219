"""Ops that write elements by their index into a new tensor: scatter_nd and tensor_scatter_nd_*."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, ShapeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public, tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.folding import fold_at
from tapeflow.ops.indexing import gather_nd
from tapeflow.ops.signature import string
from tapeflow.ops.table import ANY, INDEX, NUMERIC, Sample, op
from tapeflow.ops.validate import dimensions, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

SCATTER_INDEX = (*INDEX, dtypes.int16)
POLICY = {"bad_indices_policy": string("")}


def outside(indices: Any, shape: Sequence[Any]) -> np.ndarray:
    """Which rows of `indices` do not lie in `shape`."""
    indices = np.asarray(indices)
    limits = np.array(shape[: indices.shape[-1]], np.int64)
    return ((indices < 0) | (indices >= limits)).any(-1)


def first_bad(indices, bad: np.ndarray) -> tuple[str, str]:
    """The place and the text of the first bad row of `indices`."""
    at = np.unravel_index(int(np.argmax(bad)), bad.shape) if bad.ndim else ()
    place = "[" + ",".join(str(int(i)) for i in at) + "]" if bad.ndim else ""
    return place, "[" + ", ".join(str(int(i)) for i in np.asarray(indices)[at]) + "]"


def _checked(indices: Any, shape: Sequence[Any], policy: str):
    """Which rows to leave out (None: none); raises for bad ones unless the policy ignores them."""
    bad = outside(indices, shape)
    if not bad.any():
        return None
    if policy == "IGNORE":
        return ~bad
    where, row = first_bad(indices, bad)
    raise invalid(f"indices{where} = {row} does not index into shape {shape_text(shape)}")


def _scatter_rule(call: ShapeCall):
    shape = shapes.from_value(call, 2)
    _check_scatter(call.shape(0), call.shape(1), shape)
    return [shape]


def updated_rule(call: ShapeCall):
    shape = shapes.at_least(call.shape(0), 1)
    _check_scatter(call.shape(1), call.shape(2), shape)
    return [shape]


def _check_scatter(indices, updates, shape) -> None:
    """Updates have the shape of the places that the indices name, as far as the three are known."""
    shapes.at_least(indices, 1)
    shapes.at_least(updates, 1)
    if not indices or updates is None:
        return
    outer, depth = len(indices) - 1, indices[-1]
    shapes.at_least(updates, outer)
    shapes.merge(indices[:-1], updates[:outer])
    if depth is not None and shape is not None:
        if depth > len(shape):
            raise invalid(
                f"The innermost dimension of indices, {depth}, must be <= the rank of the output, {len(shape)}"
            )
        shapes.merge(updates[outer:], shape[depth:])


def _require_scatter_shapes(indices: Any, updates: Any, shape: Sequence[Any]) -> None:
    if indices.ndim < 1:
        raise invalid(
            f"Indices shape must have rank at least one. Found:{shape_text(indices.shape)}"
        )
    if updates.ndim < 1:
        raise invalid(
            f"Updates shape must have rank at least one. Found:{shape_text(updates.shape)}"
        )
    outer, depth = indices.ndim - 1, indices.shape[-1]
    if indices.shape[:-1] != updates.shape[:outer]:
        raise invalid(
            f"Dimensions [0,{outer}) of indices[shape={shape_text(indices.shape)}] must match dimensions "
            f"[0,{outer}) of updates[shape={shape_text(updates.shape)}]"
        )
    if depth > len(shape) or tuple(shape[depth:]) != updates.shape[outer:]:
        raise invalid(
            f"Dimensions [{depth},{len(shape)}) of input[shape={shape_text(shape)}] must match dimensions "
            f"[{outer},{updates.ndim}) of updates[shape={shape_text(updates.shape)}]"
        )


def write_updates(xp: ModuleType, out: Any, indices: Array, updates: Any, how: str, policy: str):
    """`out` (a fresh array on NumPy) with `updates` combined into the places `indices`."""
    if xp is not np:
        at = tuple(xp.moveaxis(indices, -1, 0))
        return getattr(out.at[at], {"update": "set"}.get(how, how))(updates)
    keep = _checked(indices, out.shape, policy)
    if keep is not None:
        indices, updates = indices[keep], updates[keep]
    places: Any = ...
    if indices.shape[-1]:
        places = tuple(np.moveaxis(np.asarray(indices), -1, 0))
    if places is ...:
        for update in updates.reshape(-1, *out.shape):
            out[...] = update if how == "update" else _UFUNCS[how](out, update)
    elif how == "update":
        out[places] = updates
    elif out.dtype == object:
        flat = indices.reshape(-1, indices.shape[-1])
        for at, update in zip(
            flat, updates.reshape(len(flat), *updates.shape[indices.ndim - 1 :]), strict=True
        ):
            out[tuple(at)] += update
    else:
        fold_at(_UFUNCS[how], out, places, updates)
    return out


_UFUNCS = {"add": np.add, "subtract": np.subtract, "min": np.minimum, "max": np.maximum}


@op(
    "ScatterNd",
    "indices: Tindices, updates: T, shape: Tindices -> output: T",
    types={"T": ANY, "Tindices": SCATTER_INDEX},
    attrs=POLICY,
    shape=_scatter_rule,
)
def ScatterNd(xp: ModuleType, indices: Array, updates: Array, shape: Array, bad_indices_policy: str):
    if np.ndim(shape) != 1:
        raise invalid("Shape must be a vector")
    size = dimensions(shape)
    if indices.size and updates.size:
        if not size:
            raise invalid("Indices and updates specified for empty output shape")
        if 0 in size:
            raise invalid(
                "Indices and updates specified for empty output.  indices shape: "
                + shape_text(indices.shape)
            )
    _require_scatter_shapes(indices, updates, size)
    fill = b"" if updates.dtype == object else 0
    how = "max" if updates.dtype == bool else "add"
    out = xp.full(size, fill, updates.dtype)
    return write_updates(xp, out, indices, updates, how, bad_indices_policy)


@ScatterNd.gradient(needs="indices")
def _(call: GradientCall, dy: Tensor):
    return None, gather_nd.GatherNd(dy, call.indices), None


@ScatterNd.samples
def _(rng: SampleGenerator):
    yield Sample([[0], [2], [0]], rng.normal(3), [4])
    yield Sample([[0], [2]], rng.normal(2, 3), [4, 3])
    yield Sample([[[0, 1]], [[1, 1]]], rng.normal(2, 1), [2, 2])
    yield Sample(np.zeros((0, 1), np.int32), rng.normal(0), [3])
    yield Sample([[0], [4]], rng.normal(2), [4], raises=InvalidArgumentError)
    yield Sample([[0], [-1]], rng.normal(2), [4], raises=InvalidArgumentError)
    yield Sample([[0], [1]], rng.normal(3), [4], raises=InvalidArgumentError)
    yield Sample([[0], [1]], rng.normal(2, 1), [4], raises=InvalidArgumentError)
    yield Sample([[0, 0, 0]], rng.normal(1), [4], raises=InvalidArgumentError)
    yield Sample(0, rng.normal(), [4], raises=InvalidArgumentError)
    yield Sample([[0]], rng.normal(1), [-4], raises=InvalidArgumentError)
    yield Sample([[0]], rng.normal(1), [[4]], raises=InvalidArgumentError)
    yield Sample([[0]], rng.normal(1), [0], raises=InvalidArgumentError)


@ScatterNd.reference
def _(indices: Any, updates: Any, shape: Sequence[Any], bad_indices_policy: str):
    updates = np.asarray(updates)
    return reference_scatter(np.zeros(tuple(shape), updates.dtype), indices, updates, lambda a, b: a + b)


def reference_scatter(out, indices, updates, combine):
    indices, out = np.asarray(indices), np.array(out)
    for at in np.ndindex(*indices.shape[:-1]):
        place = tuple(int(i) for i in indices[at])
        out[place] = combine(out[place], np.asarray(updates)[at])
    return out


@api("scatter_nd", v1="manip.scatter_nd")
@tensor_function
def scatter_nd(
    indices: TensorLike, updates: TensorLike, shape: ShapeLike, bad_indices_policy: str = "",
    name: str | None = None,
):
    """Make a tensor of zeros, and add updates to it at coordinates.

    Args:
      indices: an int16, int32 or int64 tensor `[..., n]`, each row of which has coordinates for the first n
        dimensions.
      updates: what to add, `indices.shape[:-1] + shape[n:]`; updates of the same coordinates add up.
      shape: the shape of the result, a vector of the dtype of `indices`.
      bad_indices_policy: "" or "DEFAULT" or "ERROR": coordinates outside of the result raise; "IGNORE": they are
        left out.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `updates` and of shape `shape`.

    Raises:
      InvalidArgumentError: for coordinates outside of the result, and for shapes that do not fit.

    >>> tf.scatter_nd([[1], [3], [1]], [5, 6, 7], [5])
    <tf.Tensor: shape=(5,), dtype=int32, numpy=array([ 0, 12,  0,  6,  0], dtype=int32)>
    """
    if bad_indices_ignored(bad_indices_policy):
        shape = convert_to_tensor(shape)
        return _without_bad(lambda at, new: ScatterNd(at, new, shape), indices, updates, shape)
    return ScatterNd(indices, updates, shape, bad_indices_policy)


def bad_indices_ignored(policy: str) -> bool:
    """Whether bad indices are left out. Raises InvalidArgumentError for an unknown policy."""
    if policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise invalid(f"Unknown bad indices handling attribute: {policy}")
    return policy == "IGNORE"


def _without_bad(write: Callable[..., Any], indices, updates: TensorLike, shape: ShapeLike):
    from tapeflow.ops.indexing.bad_indices import scattered  # which is made of these rows

    return scattered(write, indices, updates, shape)


def written(row: Callable[..., Any], tensor, indices, updates, policy: str):
    """`row` of a tensor that is written into; see `scatter_nd` for the policy."""
    if not bad_indices_ignored(policy):
        return row(tensor, indices, updates, policy)
    tensor = convert_to_tensor(tensor)
    return _without_bad(lambda at, new: row(tensor, at, new), indices, updates, Shape(tensor))


@op(
    "ScatterNdNonAliasingAdd",
    "input: T, indices: Tindices, updates: T -> output: T",
    types={"T": (*NUMERIC, dtypes.bool), "Tindices": INDEX},
    attrs=POLICY,
    shape=updated_rule,
)
def ScatterNdNonAliasingAdd(xp: ModuleType, input: Array, indices: Array, updates: Array, bad_indices_policy: str):
    _require_scatter_shapes(indices, updates, input.shape)
    how = "max" if updates.dtype == bool else "add"
    return write_updates(xp, xp.array(input), indices, updates, how, bad_indices_policy)


@ScatterNdNonAliasingAdd.gradient(needs="indices")
def _(call: GradientCall, dy: Tensor):
    return dy, None, gather_nd.GatherNd(dy, call.indices)


@ScatterNdNonAliasingAdd.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(4), [[0], [2], [0]], rng.normal(3))
    yield Sample(rng.normal(4), [[0], [4]], rng.normal(2), raises=InvalidArgumentError)


@ScatterNdNonAliasingAdd.reference
def _(input: np.ndarray, indices: np.ndarray, updates: np.ndarray, bad_indices_policy: str):
    return reference_scatter(input, indices, updates, lambda a, b: a + b)


@public
def scatter_nd_non_aliasing_add(
    input: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "",
    name: str | None = None,
):
    """`input` with `updates` added at the coordinates `indices`.

    Args:
      input: a tensor.
      indices: an integer tensor; its last dimension holds coordinates.
      updates: a tensor of `input`'s dtype.
      bad_indices_policy: "", "ERROR" or "IGNORE".
      name: a name for the operation (optional).
    """
    return written(ScatterNdNonAliasingAdd, input, indices, updates, bad_indices_policy)

"""Rows that fill the empty rows of sparse tensors."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.array.construction import fill
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_update
from tapeflow.ops.sparse.parts import checked
from tapeflow.ops.sparse.rows import INDICES, SHAPE, values_of
from tapeflow.ops.sparse.shapes import elements_and_rank
from tapeflow.ops.table import ANY, NUMERIC, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _fill_rule(call: ShapeCall):
    count, rank = elements_and_rank(call, 0)
    sizes = call.value(2)
    rows = None if sizes is None or not len(sizes) else int(sizes[0])
    return [(None, rank), (None,), (rows,), (count,)]


@op("SparseFillEmptyRows", "indices: int64, values: T, dense_shape: int64, default_value: T "
    "-> output_indices: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64",
    types={"T": ANY}, ranks="default_value: 0",
    shape=_fill_rule)  # fmt: skip
def SparseFillEmptyRows(
    xp: ModuleType, indices: np.ndarray, values: np.ndarray, dense_shape: np.ndarray, default_value: Array
):
    if dense_shape.ndim != 1:
        raise invalid(f"dense_shape must be a vector, saw: {shape_text(dense_shape.shape)}")
    if not len(dense_shape):
        raise invalid("Dense shape cannot be empty.")
    if default_value.ndim:
        raise invalid(f"default_value must be a scalar, saw: {shape_text(default_value.shape)}")
    sizes = checked(indices, values, dense_shape, False)
    if sizes[0] > 2**31:
        raise invalid(f"dense_shape[0] is too large: {sizes[0]}")
    rows = indices[:, 0]
    outside = np.flatnonzero((rows < 0) | (rows >= sizes[0]))
    if outside.size:
        raise invalid(f"indices({outside[0]}, 0) is invalid: {rows[outside[0]]} >= {sizes[0]}")
    empty = np.ones(sizes[0], bool)
    empty[rows] = False
    added = np.zeros((int(empty.sum()), len(sizes)), np.int64)
    added[:, 0] = np.flatnonzero(empty)
    by = np.argsort(np.concatenate([rows, added[:, 0]]), kind="stable")
    fill = np.empty(len(added), values.dtype)
    fill[:] = default_value[()]
    back = np.zeros(len(by), np.int64)
    back[by] = np.arange(len(by))
    return (
        np.concatenate([indices, added])[by],
        np.concatenate([values, fill])[by],
        empty,
        back[: len(indices)],
    )


@SparseFillEmptyRows.gradient(needs="reverse_index_map")
def _(call: GradientCall, *dy):
    d_values, d_default = SparseFillEmptyRowsGrad(call.reverse_index_map, dy[1])
    return None, d_values, None, d_default


@SparseFillEmptyRows.samples
def _(rng: SampleGenerator):
    values, shape = values_of(rng), np.array([5, 4])
    yield Sample(INDICES, values, shape, 0.5)
    yield Sample(INDICES[:0], values[:0], shape, 0.5)
    yield Sample(INDICES, values, SHAPE, 0.5)
    yield Sample(INDICES, values, shape, [0.5], raises=InvalidArgumentError)
    yield Sample(INDICES, values, np.array([2, 4]), 0.5, raises=InvalidArgumentError)
    yield Sample(INDICES, values[:1], shape, 0.5, raises=InvalidArgumentError)
    yield Sample(INDICES, values, shape[:0], 0.5, raises=InvalidArgumentError)


@SparseFillEmptyRows.reference
def _(indices, values, shape, default):
    out, empty, place = [], [], {}
    for row in range(shape[0]):
        own = [i for i, at in enumerate(indices) if at[0] == row]
        empty.append(not own)
        for i in own:
            place[i] = len(out)
            out.append((indices[i], values[i]))
        if not own:
            out.append((np.array([row] + [0] * (len(shape) - 1)), default))
    return (
        np.array([at for at, _ in out]),
        np.array([v for _, v in out], values.dtype),
        np.array(empty),
        np.array([place[i] for i in range(len(indices))], np.int64),
    )


@op("SparseFillEmptyRowsGrad",
    "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T",
    types={"T": NUMERIC}, ranks="reverse_index_map: 1, grad_values: 1",
    shape=lambda call: [call.shape(0), ()])  # fmt: skip
def SparseFillEmptyRowsGrad(xp: ModuleType, reverse_index_map: Array, grad_values: Array):
    if reverse_index_map.ndim != 1 or grad_values.ndim != 1:
        raise invalid("reverse_index_map and grad_values must be vectors")
    outside = np.flatnonzero((reverse_index_map < 0) | (reverse_index_map >= len(grad_values)))
    if outside.size:
        at = reverse_index_map[outside[0]]
        raise invalid(f"Elements in reverse index must be in [0, {len(grad_values)}) but got {at} at {outside[0]}")
    rest = np.ones(len(grad_values), bool)
    rest[reverse_index_map] = False
    total = grad_values[rest].sum(dtype=grad_values.dtype)
    return grad_values[reverse_index_map], np.asarray(total, grad_values.dtype)


@SparseFillEmptyRowsGrad.gradient(needs="reverse_index_map")
def _(call: GradientCall, d_values: Tensor, d_default: Tensor):
    spread = fill(call.shape("grad_values"), d_default)
    return None, tensor_scatter_nd_update(spread, call.reverse_index_map[:, None], d_values)


@SparseFillEmptyRowsGrad.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([0, 2, 3]), rng.normal(5))
    yield Sample(np.array([0, 5]), rng.normal(5), raises=InvalidArgumentError)
    yield Sample(np.array([[0]]), rng.normal(5), raises=InvalidArgumentError)


@SparseFillEmptyRowsGrad.reference
def _(back, dy: np.ndarray):
    return dy[back], np.array(dy.sum() - dy[back].sum())


for _row in (SparseFillEmptyRows, SparseFillEmptyRowsGrad):
    _row.compiled(never="what it returns depends on values")

"""Rows of ragged tensors given by the row of each value: rows without values filled."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.api import api
from tapeflow.core.annotations import Array, Tensor, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.broadcasting import broadcast_to
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_update
from tapeflow.ops.table import ANY, NUMERIC, Sample, op
from tapeflow.ops.validate import invalid, one_value, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _fill_rule(call: ShapeCall):
    return [(None,), (None,), (None,), shapes.merge(call.shape(0), call.shape(1))]


@op("RaggedFillEmptyRows",
    "value_rowids: int64, values: T, nrows: int64, default_value: T -> output_value_rowids: int64, "
    "output_values: T, empty_row_indicator: bool, reverse_index_map: int64",
    types={"T": ANY},
    ranks="value_rowids: 1, values: 1, nrows: 0, default_value: 0",
    shape=_fill_rule)  # fmt: skip
def RaggedFillEmptyRows(
    xp: ModuleType, value_rowids: Array, values: Array, nrows: Array, default_value: Array
):
    if value_rowids.ndim != 1 or values.shape != value_rowids.shape:
        raise invalid(
            f"value_rowids and values must be vectors of one length, got shapes {shape_text(value_rowids.shape)} and "
            f"{shape_text(values.shape)}"
        )
    if default_value.ndim:
        raise invalid(f"default_value must be a scalar, saw: {shape_text(default_value.shape)}")
    count = one_value(nrows, "nrows must be a scalar")
    if count < 0:
        raise invalid(f"nrows must not be negative, got {count}")
    outside = (value_rowids < 0) | (value_rowids >= count)
    if outside.any():
        i = int(outside.argmax())
        limit = f"{value_rowids[i]} < 0" if value_rowids[i] < 0 else f"{value_rowids[i]} >= {count}"
        raise invalid(f"indices({i}, 0) is invalid: {limit}")
    empty = np.bincount(value_rowids, minlength=count) == 0
    rows = np.concatenate([value_rowids, np.flatnonzero(empty)])
    by = np.argsort(rows, kind="stable")
    filled = np.concatenate([values, np.full(int(empty.sum()), default_value[()], values.dtype)])
    place = np.empty(len(by), np.int64)
    place[by] = np.arange(len(by))
    return rows[by].astype(np.int64), filled[by], empty, place[: len(values)]


RaggedFillEmptyRows.compiled(never="how many elements it returns depends on values")


@op("RaggedFillEmptyRowsGrad",
    "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T",
    types={"T": NUMERIC}, ranks="reverse_index_map: 1, grad_values: 1",
    shape=lambda call: [call.shape(0), ()])  # fmt: skip
def RaggedFillEmptyRowsGrad(xp: ModuleType, reverse_index_map: Array, grad_values: Array):
    if reverse_index_map.ndim != 1 or grad_values.ndim != 1:
        raise invalid("reverse_index_map and grad_values must be vectors")
    outside = (reverse_index_map < 0) | (reverse_index_map >= len(grad_values))
    if outside.any():
        raise invalid(
            f"Elements in reverse index must be in [0, {len(grad_values)}) but got "
            f"{reverse_index_map[outside][0]}"
        )
    rest = np.ones(len(grad_values), bool)
    rest[reverse_index_map] = False
    return grad_values[reverse_index_map], grad_values[rest].sum(dtype=grad_values.dtype)


RaggedFillEmptyRowsGrad.compiled(never="it looks at values")


@RaggedFillEmptyRows.gradient(needs="reverse_index_map")
def _(call: GradientCall, drowids: Tensor, dvalues: Tensor, dempty: Tensor, dmap: Tensor):
    grads = RaggedFillEmptyRowsGrad(call.reverse_index_map, dvalues)
    return None, grads.d_values, None, grads.d_default_value


@RaggedFillEmptyRowsGrad.gradient(needs="reverse_index_map")
def _(call: GradientCall, dvalues: Tensor, ddefault: Tensor):
    whole = broadcast_to(ddefault, call.shape("grad_values"))
    return None, tensor_scatter_nd_update(whole, call.reverse_index_map[:, None], dvalues)


_ROWS = np.array([0, 0, 2])


@RaggedFillEmptyRows.samples
def _(rng: SampleGenerator):
    values = np.array([1.0, 2.0, 3.0])
    yield Sample(_ROWS, values, 4, 9.0, expect=(
        np.array([0, 0, 1, 2, 3]), np.array([1.0, 2, 9, 3, 9]), np.array([False, True, False, True]),
        np.array([0, 1, 3])))  # fmt: skip
    yield Sample(_ROWS, values, 2, 9.0, raises=InvalidArgumentError)
    yield Sample(-_ROWS, values, 4, 9.0, raises=InvalidArgumentError)
    yield Sample(_ROWS[:2], values, 4, 9.0, raises=InvalidArgumentError)
    yield Sample(_ROWS, values, 4, np.array([9.0]), raises=InvalidArgumentError)


@RaggedFillEmptyRowsGrad.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([0, 1, 3]), np.array([1.0, 2, 3, 4]), expect=(np.array([1.0, 2, 4]), 3.0))
    yield Sample(np.array([0, 9]), np.array([1.0, 2]), raises=InvalidArgumentError)


@api("ragged_fill_empty_rows")
@tensor_function
def ragged_fill_empty_rows(
    value_rowids: TensorLike, values: TensorLike, nrows, default_value: TensorLike, name: str | None = None
):
    """Give each row without values one value.

    Args:
      value_rowids: the row of each value, a sorted int64 vector.
      values: a vector of any dtype.
      nrows: how many rows there are, a scalar int64.
      default_value: a scalar of the dtype of `values`.
      name: a name for the operation (optional).

    Returns:
      (rows of the values, the values, which rows had none, where each of the old values went).
    """
    return RaggedFillEmptyRows(value_rowids, values, nrows, default_value)


@api("ragged_fill_empty_rows_grad")
@tensor_function
def ragged_fill_empty_rows_grad(reverse_index_map, grad_values, name: str | None = None):
    """Compute the gradients of `tf.ragged_fill_empty_rows`.

    Args:
      reverse_index_map: where each of the old values went, as that function returned it.
      grad_values: the gradient of the values, a numeric vector.
      name: a name for the operation (optional).

    Returns:
      (the gradient of the old values, that of the default value).
    """
    return RaggedFillEmptyRowsGrad(reverse_index_map, grad_values)

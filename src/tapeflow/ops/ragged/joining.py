"""Ragged tensors joined and stacked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.public import public
from tapeflow.ops.array import joining, stacking, transposing
from tapeflow.ops.array import layout as dense_layout
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.control.assertions import assert_equal_v1
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.ragged.axis import positive_axis
from tapeflow.ops.ragged.functions import expand_dims, gather_rows
from tapeflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor

# Joining


def _same_depth(values: Sequence[Any]):
    """Ragged tensors with as many ragged dimensions each."""
    depth = max([v.ragged_rank for v in values if isinstance(v, RaggedTensor)], default=0)
    if not depth:
        return values
    out = []
    for v in values:
        if not isinstance(v, RaggedTensor):
            v = RaggedTensor.from_tensor(v, ragged_rank=depth) if depth < v.shape.rank else v
        elif v.ragged_rank < depth:
            flat = RaggedTensor.from_tensor(v.flat_values, ragged_rank=depth - v.ragged_rank)
            v = v.with_flat_values(flat)
        out.append(v)
    if len({v.row_splits.dtype for v in out if isinstance(v, RaggedTensor)}) > 1:
        out = [v.with_row_splits_dtype(dtypes.int64) for v in out]
    return out


def _require_fitting(values: Sequence[Any]):
    """Raises ValueError for no values, or for values of several ranks or dtypes of splits."""
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    if len({v.row_splits.dtype for v in values if isinstance(v, RaggedTensor)}) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use "
            "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
        )
    ranks = sorted({v.shape.rank for v in values if v.shape.rank is not None})
    if len(ranks) > 1:
        raise ValueError(f"The values must have one rank, but have ranks {ranks}")


def _axis(axis, values: Sequence[Any], extra: int = 0):
    rank = next((v.shape.rank for v in values if v.shape.rank is not None), None)
    return positive_axis(axis, rank, extra=extra)


def _joined(values: Sequence[Any], axis):
    values = _same_depth(values)
    if not isinstance(values[0], RaggedTensor):
        return joining.concat(values, axis)
    if axis == 0:
        inner = _joined([v.values for v in values], 0)
        lengths = joining.concat([v.row_lengths() for v in values], 0)
        return RaggedTensor.from_row_lengths(inner, lengths, validate=False)
    if axis == 1:
        count = len(values)
        rows = values[0].nrows()
        checks = [
            assert_equal_v1(v.nrows(), rows, message="Input tensors have incompatible shapes.")
            for v in values[1:]
        ]
        with control_dependencies([c for c in checks if c is not None]):
            whole = _joined(values, 0)
            turned = transposing.transpose(
                dense_layout.reshape(range_(rows * count), stacking.stack([count, rows]))
            )
            woven = gather_rows(whole, dense_layout.reshape(turned, [-1]))
            splits = woven.row_splits[::count]
        return RaggedTensor.from_row_splits(woven.values, splits, validate=False)
    inner = _joined([v.values for v in values], axis - 1)
    checks = [
        assert_equal_v1(
            v.row_splits, values[0].row_splits, message="Input tensors have incompatible shapes."
        )
        for v in values[1:]
    ]
    with control_dependencies([c for c in checks if c is not None]):
        return values[0].with_values(inner)


@public
def concat(values: TensorLike, axis: AxisLike, name: str | None = None):
    """`tf.concat` of ragged tensors and tensors.

    Args:
      values: a list of ragged tensors and tensors of one rank.
      axis: an int or a list of ints, the axes; None: all.
      name: a name for the operation (optional).
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    values = [as_ragged_or_tensor(v) for v in values]
    _require_fitting(values)
    axis = _axis(axis, values)
    if len(values) == 1:
        return values[0]
    return _joined(values, axis)


@public
def stack(values: TensorLike, axis: AxisLike = 0, name: str | None = None):
    """Stack tensors of one rank along a new dimension, as a ragged tensor.

    Args:
      values: a list of tensors and `tf.RaggedTensor`s of one rank and dtype.
      axis: where the new dimension is, in [-rank - 1, rank].
      name: a name for the operation (optional).

    Returns:
      A `tf.RaggedTensor` of one dimension more.

    >>> tf.ragged.stack([[1, 2], [3]])
    <tf.RaggedTensor [[1, 2], [3]]>
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    values = [as_ragged_or_tensor(v) for v in values]
    _require_fitting(values)
    axis = _axis(axis, values, 1)
    if all(v.shape.rank == 0 for v in values):
        return stacking.stack(values)
    ragged = [
        v if isinstance(v, RaggedTensor) or v.shape.rank == 1 else RaggedTensor.from_tensor(v)
        for v in values
    ]
    if axis == 0:
        parts = _same_depth(ragged)
        whole = _joined(parts, 0) if len(parts) > 1 else parts[0]
        lengths = [v.nrows() if isinstance(v, RaggedTensor) else Shape(v)[0] for v in parts]
        return RaggedTensor.from_row_lengths(whole, stacking.stack(lengths), validate=False)
    return _joined([expand_dims(v, axis) for v in ragged], axis)

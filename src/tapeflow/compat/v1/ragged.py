"""tf.compat.v1.ragged: `tf.ragged` with what 1.x has besides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.context import name_scope_v1
from tapeflow.core.public import names_itself, public
from tapeflow.graph.build.placeholders import placeholder as dense_placeholder
from tapeflow.ops.ragged.construction import constant_value
from tapeflow.ops.ragged.tensor import RaggedTensor
from tapeflow.ops.ragged.value import RaggedTensorValue
from tapeflow.ragged import (
    boolean_mask,
    constant,
    cross,
    cross_hashed,
    map_flat_values,
    range,
    row_splits_to_segment_ids,
    segment_ids_to_row_splits,
    stack,
    stack_dynamic_partitions,
)

__all__ = [
    "RaggedTensorValue", "boolean_mask", "constant", "constant_value", "cross", "cross_hashed", "map_flat_values",
    "placeholder", "range", "row_splits_to_segment_ids", "segment_ids_to_row_splits", "stack",
    "stack_dynamic_partitions",
]  # fmt: skip


@public
@names_itself
def placeholder(dtype: DTypeLike, ragged_rank, value_shape: Sequence[Any] | None = None, name: str | None = None):
    """A ragged tensor of a graph that is fed, as a `RaggedTensorValue`, when the graph runs.

    Args:
      ragged_rank: how many dimensions are ragged; zero for a tensor.
      value_shape: the shape of each flat value, by default unknown.
    """
    flat_shape = None if value_shape is None else [None, *value_shape]
    if not ragged_rank:
        return dense_placeholder(dtype, value_shape, name)
    with name_scope_v1(name, "RaggedPlaceholder"):
        out = dense_placeholder(dtype, flat_shape, "flat_values")
        level = ragged_rank
        while level:
            level -= 1
            splits = dense_placeholder(dtypes.int64, [None], f"row_splits_{level}")
            out = RaggedTensor.from_row_splits(out, splits, validate=False)
    return out

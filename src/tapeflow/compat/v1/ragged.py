"""tf.compat.v1.ragged: `tf.ragged` with what 1.x has besides."""

from tapeflow.ops.ragged_functions import constant_value
from tapeflow.ops.ragged_tensor import RaggedTensorValue
from tapeflow.ragged import (
    boolean_mask,
    constant,
    map_flat_values,
    range,
    row_splits_to_segment_ids,
    segment_ids_to_row_splits,
    stack,
    stack_dynamic_partitions,
)

__all__ = [
    "RaggedTensorValue", "boolean_mask", "constant", "constant_value", "map_flat_values", "range",
    "row_splits_to_segment_ids", "segment_ids_to_row_splits", "stack", "stack_dynamic_partitions",
]  # fmt: skip

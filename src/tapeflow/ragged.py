"""tf.ragged: tensors with rows of different lengths."""

from tapeflow.ops.ragged import math as ragged_math  # the operators of RaggedTensor
from tapeflow.ops.ragged.construction import constant
from tapeflow.ops.ragged.cross import cross, cross_hashed
from tapeflow.ops.ragged.functions import boolean_mask, map_flat_values, stack_dynamic_partitions
from tapeflow.ops.ragged.functions import ranges as range
from tapeflow.ops.ragged.joining import stack
from tapeflow.ops.ragged.segment_ids import row_splits_to_segment_ids, segment_ids_to_row_splits

__all__ = [
    "boolean_mask", "constant", "cross", "cross_hashed", "map_flat_values", "range",
    "row_splits_to_segment_ids", "segment_ids_to_row_splits", "stack", "stack_dynamic_partitions",
]  # fmt: skip
del ragged_math

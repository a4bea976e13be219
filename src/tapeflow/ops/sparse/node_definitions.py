"""Rows of the nodes that take and make sparse and ragged tensors of several dtypes."""

from tapeflow.ops.node_rows import node
from tapeflow.ops.signature import boolean, dtype, integer, string, strings, type_list

node(
    "RaggedCross",
    "ragged_values: ragged_values_types, ragged_row_splits: ragged_splits_types, sparse_indices: Nsparse*int64, "
    "sparse_values: sparse_values_types, sparse_shape: Nsparse*int64, dense_inputs: dense_types -> output_values: "
    "out_values_type, output_row_splits: out_row_splits_type",
    {"Nsparse": integer, "input_order": string, "hashed_output": boolean, "num_buckets": integer,
     "hash_key": integer, "ragged_values_types": type_list, "ragged_splits_types": type_list,
     "sparse_values_types": type_list, "dense_types": type_list, "out_values_type": dtype,
     "out_row_splits_type": dtype},
)  # fmt: skip
node(
    "RaggedTensorToSparse",
    "rt_nested_splits: RAGGED_RANK>=1*Tsplits, rt_dense_values: T -> sparse_indices: int64, sparse_values: T, "
    "sparse_dense_shape: int64", {"RAGGED_RANK": integer, "T": dtype, "Tsplits": dtype},
)  # fmt: skip
node(
    "RaggedTensorToTensor",
    "shape: Tshape, values: T, default_value: T, row_partition_tensors: num_row_partition_tensors>=1*Tindex "
    "-> result: T",
    {"T": dtype, "Tindex": dtype, "Tshape": dtype, "num_row_partition_tensors": integer,
     "row_partition_types": strings},
)  # fmt: skip
node(
    "SparseCross",
    "indices: N*int64, values: sparse_types, shapes: N*int64, dense_inputs: dense_types -> output_indices: int64, "
    "output_values: out_type, output_shape: int64",
    {"N": integer, "hashed_output": boolean, "num_buckets": integer, "hash_key": integer,
     "sparse_types": type_list, "dense_types": type_list, "out_type": dtype, "internal_type": dtype},
)  # fmt: skip
node(
    "SparseCrossV2",
    "indices: N*int64, values: sparse_types, shapes: N*int64, dense_inputs: dense_types, sep: string -> "
    "output_indices: int64, output_values: string, output_shape: int64",
    {"N": integer, "sparse_types": type_list, "dense_types": type_list},
)  # fmt: skip

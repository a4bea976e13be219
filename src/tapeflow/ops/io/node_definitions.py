"""Rows of the nodes that read and write whole records and checkpoints."""

from tapeflow.ops.node_rows import node
from tapeflow.ops.signature import dtype, integer, ints, shape_list, string, strings, type_list

node(
    "SaveV2", "prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes ->",
    {"dtypes": type_list}, stateful=True, touches="files",
)  # fmt: skip
node(
    "RestoreV2", "prefix: string, tensor_names: string, shape_and_slices: string -> tensors: dtypes",
    {"dtypes": type_list}, stateful=True, touches="files",
)  # fmt: skip
node(
    "MergeV2Checkpoints", "checkpoint_prefixes: string, destination_prefix: string ->",
    {"delete_old_dirs": True, "allow_missing_files": False}, stateful=True, touches="files",
)  # fmt: skip
node("Save", "filename: string, tensor_names: string, data: T ->", {"T": type_list}, stateful=True, touches="files")
node(
    "SaveSlices", "filename: string, tensor_names: string, shapes_and_slices: string, data: T ->", {"T": type_list},
    stateful=True, touches="files",
)  # fmt: skip
node(
    "Restore", "file_pattern: string, tensor_name: string -> tensor: dt", {"dt": dtype, "preferred_shard": -1},
    stateful=True, touches="files",
)  # fmt: skip
node(
    "RestoreSlice", "file_pattern: string, tensor_name: string, shape_and_slice: string -> tensor: dt",
    {"dt": dtype, "preferred_shard": -1}, stateful=True, touches="files",
)  # fmt: skip
node(
    "DecodeCSV", "records: string, record_defaults: OUT_TYPE -> output: OUT_TYPE",
    {"OUT_TYPE": type_list, "field_delim": ",", "use_quote_delim": True, "na_value": "", "select_cols": ints([])},
)  # fmt: skip
node(
    "DecodeProtoV2", "bytes: string -> sizes: int32, values: output_types",
    {"message_type": string, "field_names": strings, "output_types": type_list, "descriptor_source": "local://",
     "message_format": "binary", "sanitize": False}, touches="files",
    less=("descriptor_source", ("local://", "bytes://*"), ""),
)  # fmt: skip
node(
    "EncodeProto", "sizes: int32, values: Tinput_types -> bytes: string",
    {"field_names": strings, "message_type": string, "descriptor_source": "local://", "Tinput_types": type_list},
    touches="files", less=("descriptor_source", ("local://", "bytes://*"), ""),
)  # fmt: skip
node(
    "ParseExample",
    "serialized: string, names: string, sparse_keys: Nsparse*string, dense_keys: Ndense*string, dense_defaults: "
    "Tdense -> sparse_indices: Nsparse*int64, sparse_values: sparse_types, sparse_shapes: Nsparse*int64, "
    "dense_values: Tdense",
    {"Nsparse": integer, "Ndense": integer, "sparse_types": type_list, "Tdense": type_list,
     "dense_shapes": shape_list},
)  # fmt: skip
node(
    "ParseExampleV2",
    "serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys: string, "
    "dense_defaults: Tdense -> sparse_indices: num_sparse*int64, sparse_values: sparse_types, sparse_shapes: "
    "num_sparse*int64, dense_values: Tdense, ragged_values: ragged_value_types, ragged_row_splits: ragged_split_types",
    {"Tdense": type_list, "num_sparse": integer, "sparse_types": type_list, "ragged_value_types": type_list,
     "ragged_split_types": type_list, "dense_shapes": shape_list},
)  # fmt: skip
node(
    "ParseSequenceExample",
    "serialized: string, debug_name: string, context_dense_defaults: Tcontext_dense -> context_sparse_indices: "
    "Ncontext_sparse*int64, context_sparse_values: context_sparse_types, context_sparse_shapes: "
    "Ncontext_sparse*int64, context_dense_values: Tcontext_dense, feature_list_sparse_indices: "
    "Nfeature_list_sparse*int64, feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes: "
    "Nfeature_list_sparse*int64, feature_list_dense_values: feature_list_dense_types, feature_list_dense_lengths: "
    "Nfeature_list_dense*int64",
    {"feature_list_dense_missing_assumed_empty": strings, "context_sparse_keys": strings,
     "context_dense_keys": strings, "feature_list_sparse_keys": strings, "feature_list_dense_keys": strings,
     "Ncontext_sparse": 0, "Ncontext_dense": 0, "Nfeature_list_sparse": 0, "Nfeature_list_dense": 0,
     "context_sparse_types": type_list([]), "Tcontext_dense": type_list([]),
     "feature_list_dense_types": type_list([]), "context_dense_shapes": shape_list([]),
     "feature_list_sparse_types": type_list([]), "feature_list_dense_shapes": shape_list([])},
)  # fmt: skip
node(
    "ParseSequenceExampleV2",
    "serialized: string, debug_name: string, context_sparse_keys: string, context_dense_keys: string, "
    "context_ragged_keys: string, feature_list_sparse_keys: string, feature_list_dense_keys: string, "
    "feature_list_ragged_keys: string, feature_list_dense_missing_assumed_empty: bool, context_dense_defaults: "
    "Tcontext_dense -> context_sparse_indices: Ncontext_sparse*int64, context_sparse_values: context_sparse_types, "
    "context_sparse_shapes: Ncontext_sparse*int64, context_dense_values: Tcontext_dense, context_ragged_values: "
    "context_ragged_value_types, context_ragged_row_splits: context_ragged_split_types, "
    "feature_list_sparse_indices: Nfeature_list_sparse*int64, feature_list_sparse_values: "
    "feature_list_sparse_types, feature_list_sparse_shapes: Nfeature_list_sparse*int64, feature_list_dense_values: "
    "feature_list_dense_types, feature_list_dense_lengths: Nfeature_list_dense*int64, feature_list_ragged_values: "
    "feature_list_ragged_value_types, feature_list_ragged_outer_splits: feature_list_ragged_split_types, "
    "feature_list_ragged_inner_splits: feature_list_ragged_split_types",
    {"Ncontext_sparse": 0, "Tcontext_dense": type_list([]), "context_sparse_types": type_list([]),
     "context_ragged_value_types": type_list([]), "context_ragged_split_types": type_list([]),
     "context_dense_shapes": shape_list([]), "Nfeature_list_sparse": 0, "Nfeature_list_dense": 0,
     "feature_list_dense_types": type_list([]), "feature_list_sparse_types": type_list([]),
     "feature_list_ragged_value_types": type_list([]), "feature_list_ragged_split_types": type_list([]),
     "feature_list_dense_shapes": shape_list([])},
)  # fmt: skip
node(
    "ParseSingleExample",
    "serialized: string, dense_defaults: Tdense -> sparse_indices: num_sparse*int64, sparse_values: sparse_types, "
    "sparse_shapes: num_sparse*int64, dense_values: Tdense",
    {"num_sparse": integer, "sparse_keys": strings, "dense_keys": strings, "sparse_types": type_list,
     "Tdense": type_list, "dense_shapes": shape_list},
)  # fmt: skip
node(
    "ParseSingleSequenceExample",
    "serialized: string, feature_list_dense_missing_assumed_empty: string, context_sparse_keys: "
    "Ncontext_sparse*string, context_dense_keys: Ncontext_dense*string, feature_list_sparse_keys: "
    "Nfeature_list_sparse*string, feature_list_dense_keys: Nfeature_list_dense*string, context_dense_defaults: "
    "Tcontext_dense, debug_name: string -> context_sparse_indices: Ncontext_sparse*int64, context_sparse_values: "
    "context_sparse_types, context_sparse_shapes: Ncontext_sparse*int64, context_dense_values: Tcontext_dense, "
    "feature_list_sparse_indices: Nfeature_list_sparse*int64, feature_list_sparse_values: "
    "feature_list_sparse_types, feature_list_sparse_shapes: Nfeature_list_sparse*int64, feature_list_dense_values: "
    "feature_list_dense_types",
    {"Ncontext_sparse": 0, "Ncontext_dense": 0, "Nfeature_list_sparse": 0, "Nfeature_list_dense": 0,
     "context_sparse_types": type_list([]), "Tcontext_dense": type_list([]),
     "feature_list_dense_types": type_list([]), "context_dense_shapes": shape_list([]),
     "feature_list_sparse_types": type_list([]), "feature_list_dense_shapes": shape_list([])},
)  # fmt: skip

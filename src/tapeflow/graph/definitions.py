"""Ops that are defined without a row, most of which cannot run: programs that build, read and write graphs use them.

A line is `Name inputs -> outputs; attr kind default; ...`, with inputs and outputs as rows write them. `!` after
the name: stateful.
"""

TABLE = """
None ->
Barrier! -> handle: string; component_types list(type); shapes list(shape) []; capacity int -1; container string ""; shared_name string ""
DisableCopyOnRead! resource: resource ->
HistogramSummary tag: string, values: T -> summary: string; T type
MergeSummary inputs: N*string -> summary: string; N int
MergeV2Checkpoints! checkpoint_prefixes: string, destination_prefix: string ->; delete_old_dirs bool true; allow_missing_files bool false
RestoreV2! prefix: string, tensor_names: string, shape_and_slices: string -> tensors: dtypes; dtypes list(type)
SaveV2! prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes ->; dtypes list(type)
ScalarSummary tags: string, values: T -> summary: string; T type
FiveFloatOutputs -> a: float32, b: float32, c: float32, d: float32, e: float32
FloatInput a: float32 ->
FloatOutput -> a: float32
FloatOutputStringOutput -> a: float32, b: string
GraphDefVersion! -> version: int32
IntInput a: int32 ->
IntInputFloatInput a: int32, b: float32 ->
IntInputIntOutput a: int32 -> b: int32
IntOutput -> a: int32
IntOutputFloatOutput -> a: int32, b: float32
KernelLabel -> result: string
ListInput a: N*T ->; N int; T type
ListOutput -> a: T; T list(type)
OpWithDefaultAttr -> a: int32; default_float float 123.0
OpWithFutureDefaultAttr ->
RaggedCross ragged_values: ragged_values_types, ragged_row_splits: ragged_splits_types, sparse_indices: Nsparse*int64, sparse_values: sparse_values_types, sparse_shape: Nsparse*int64, dense_inputs: dense_types -> output_values: out_values_type, output_row_splits: out_row_splits_type; Nsparse int; input_order string; hashed_output bool; num_buckets int; hash_key int; ragged_values_types list(type); ragged_splits_types list(type); sparse_values_types list(type); dense_types list(type); out_values_type type; out_row_splits_type type
RaggedTensorToTensor shape: Tshape, values: T, default_value: T, row_partition_tensors: num_row_partition_tensors*Tindex -> result: T; T type; Tindex type; Tshape type; num_row_partition_tensors int; row_partition_types list(string)
RefInputIntInput a: int32, b: int32 ->
RefOutput -> a: int32
RefOutputFloatOutput -> a: float32, b: float32
RequiresOlderGraphVersion! -> version: int32
SparseCross indices: N*int64, values: sparse_types, shapes: N*int64, dense_inputs: dense_types -> output_indices: int64, output_values: out_type, output_shape: int64; N int; hashed_output bool; num_buckets int; hash_key int; sparse_types list(type); dense_types list(type); out_type type; internal_type type
SparseCrossV2 indices: N*int64, values: sparse_types, shapes: N*int64, dense_inputs: dense_types, sep: string -> output_indices: int64, output_values: string, output_shape: int64; N int; sparse_types list(type); dense_types list(type)
StringListAttr ->; a list(string); b string
TwoFloatInputs a: float32, b: float32 ->
TwoFloatInputsFloatOutput a: float32, b: float32 -> c: float32
TwoFloatInputsIntOutput a: float32, b: float32 -> c: int32
TwoFloatOutputs -> a: float32, b: float32
TwoIntInputs a: int32, b: int32 ->
TwoIntOutputs -> a: int32, b: int32
TypeList a: T ->; T list(type)
"""  # noqa: E501

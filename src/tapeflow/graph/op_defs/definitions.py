"""Ops that are defined without a row, most of which cannot run: programs that build, read and write graphs use them.

A line is `Name inputs -> outputs; attr kind default; ...`, with inputs and outputs as rows write them. `!` after
the name: stateful; `=`: the outputs are the inputs; `@files` after that: it may read or write files, `@process`
objects of the process that are not its inputs, as `touches` of a row says; `?attr=value|...` unless an attr is one of
these, or begins as `value*` says.
"""

TABLE = """
None ->
DisableCopyOnRead! resource: resource ->
MergeV2Checkpoints!@files checkpoint_prefixes: string, destination_prefix: string ->; delete_old_dirs bool true; allow_missing_files bool false
DecodeCSV records: string, record_defaults: OUT_TYPE -> output: OUT_TYPE; OUT_TYPE list(type); field_delim string ","; use_quote_delim bool true; na_value string ""; select_cols list(int) []
DecodeProtoV2@files?descriptor_source=local://|bytes://* bytes: string -> sizes: int32, values: output_types; message_type string; field_names list(string); output_types list(type); descriptor_source string "local://"; message_format string "binary"; sanitize bool false
EncodeProto@files?descriptor_source=local://|bytes://* sizes: int32, values: Tinput_types -> bytes: string; field_names list(string); message_type string; descriptor_source string "local://"; Tinput_types list(type)
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
ParseExample serialized: string, names: string, sparse_keys: Nsparse*string, dense_keys: Ndense*string, dense_defaults: Tdense -> sparse_indices: Nsparse*int64, sparse_values: sparse_types, sparse_shapes: Nsparse*int64, dense_values: Tdense; Nsparse int; Ndense int; sparse_types list(type); Tdense list(type); dense_shapes list(shape)
ParseExampleV2 serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys: string, dense_defaults: Tdense -> sparse_indices: num_sparse*int64, sparse_values: sparse_types, sparse_shapes: num_sparse*int64, dense_values: Tdense, ragged_values: ragged_value_types, ragged_row_splits: ragged_split_types; Tdense list(type); num_sparse int; sparse_types list(type); ragged_value_types list(type); ragged_split_types list(type); dense_shapes list(shape)
ParseSequenceExample serialized: string, debug_name: string, context_dense_defaults: Tcontext_dense -> context_sparse_indices: Ncontext_sparse*int64, context_sparse_values: context_sparse_types, context_sparse_shapes: Ncontext_sparse*int64, context_dense_values: Tcontext_dense, feature_list_sparse_indices: Nfeature_list_sparse*int64, feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes: Nfeature_list_sparse*int64, feature_list_dense_values: feature_list_dense_types, feature_list_dense_lengths: Nfeature_list_dense*int64; feature_list_dense_missing_assumed_empty list(string); context_sparse_keys list(string); context_dense_keys list(string); feature_list_sparse_keys list(string); feature_list_dense_keys list(string); Ncontext_sparse int 0; Ncontext_dense int 0; Nfeature_list_sparse int 0; Nfeature_list_dense int 0; context_sparse_types list(type) []; Tcontext_dense list(type) []; feature_list_dense_types list(type) []; context_dense_shapes list(shape) []; feature_list_sparse_types list(type) []; feature_list_dense_shapes list(shape) []
ParseSequenceExampleV2 serialized: string, debug_name: string, context_sparse_keys: string, context_dense_keys: string, context_ragged_keys: string, feature_list_sparse_keys: string, feature_list_dense_keys: string, feature_list_ragged_keys: string, feature_list_dense_missing_assumed_empty: bool, context_dense_defaults: Tcontext_dense -> context_sparse_indices: Ncontext_sparse*int64, context_sparse_values: context_sparse_types, context_sparse_shapes: Ncontext_sparse*int64, context_dense_values: Tcontext_dense, context_ragged_values: context_ragged_value_types, context_ragged_row_splits: context_ragged_split_types, feature_list_sparse_indices: Nfeature_list_sparse*int64, feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes: Nfeature_list_sparse*int64, feature_list_dense_values: feature_list_dense_types, feature_list_dense_lengths: Nfeature_list_dense*int64, feature_list_ragged_values: feature_list_ragged_value_types, feature_list_ragged_outer_splits: feature_list_ragged_split_types, feature_list_ragged_inner_splits: feature_list_ragged_split_types; Ncontext_sparse int 0; Tcontext_dense list(type) []; context_sparse_types list(type) []; context_ragged_value_types list(type) []; context_ragged_split_types list(type) []; context_dense_shapes list(shape) []; Nfeature_list_sparse int 0; Nfeature_list_dense int 0; feature_list_dense_types list(type) []; feature_list_sparse_types list(type) []; feature_list_ragged_value_types list(type) []; feature_list_ragged_split_types list(type) []; feature_list_dense_shapes list(shape) []
ParseSingleExample serialized: string, dense_defaults: Tdense -> sparse_indices: num_sparse*int64, sparse_values: sparse_types, sparse_shapes: num_sparse*int64, dense_values: Tdense; num_sparse int; sparse_keys list(string); dense_keys list(string); sparse_types list(type); Tdense list(type); dense_shapes list(shape)
ParseSingleSequenceExample serialized: string, feature_list_dense_missing_assumed_empty: string, context_sparse_keys: Ncontext_sparse*string, context_dense_keys: Ncontext_dense*string, feature_list_sparse_keys: Nfeature_list_sparse*string, feature_list_dense_keys: Nfeature_list_dense*string, context_dense_defaults: Tcontext_dense, debug_name: string -> context_sparse_indices: Ncontext_sparse*int64, context_sparse_values: context_sparse_types, context_sparse_shapes: Ncontext_sparse*int64, context_dense_values: Tcontext_dense, feature_list_sparse_indices: Nfeature_list_sparse*int64, feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes: Nfeature_list_sparse*int64, feature_list_dense_values: feature_list_dense_types; Ncontext_sparse int 0; Ncontext_dense int 0; Nfeature_list_sparse int 0; Nfeature_list_dense int 0; context_sparse_types list(type) []; Tcontext_dense list(type) []; feature_list_dense_types list(type) []; context_dense_shapes list(shape) []; feature_list_sparse_types list(type) []; feature_list_dense_shapes list(shape) []
RaggedCross ragged_values: ragged_values_types, ragged_row_splits: ragged_splits_types, sparse_indices: Nsparse*int64, sparse_values: sparse_values_types, sparse_shape: Nsparse*int64, dense_inputs: dense_types -> output_values: out_values_type, output_row_splits: out_row_splits_type; Nsparse int; input_order string; hashed_output bool; num_buckets int; hash_key int; ragged_values_types list(type); ragged_splits_types list(type); sparse_values_types list(type); dense_types list(type); out_values_type type; out_row_splits_type type
RaggedTensorToSparse rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: T -> sparse_indices: int64, sparse_values: T, sparse_dense_shape: int64; RAGGED_RANK int; T type; Tsplits type
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
DestroyTemporaryVariable ref: &T -> value: T; T type; var_name string
CountUpTo ref: &T -> output: T; limit int; T type
DebugGradientRefIdentity input: &T -> output: &T; T type
IsVariableInitialized ref: &dtype -> is_initialized: bool; dtype type
RefIdentity= input: &T -> output: &T; T type
TemporaryVariable! -> ref: &dtype; shape shape; dtype type; var_name string ""
Variable! -> ref: &dtype; shape shape; dtype type; container string ""; shared_name string ""
VariableV2! -> ref: &dtype; shape shape; dtype type; container string ""; shared_name string ""
"""  # noqa: E501

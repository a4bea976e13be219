"""Ops that are defined and cannot run: TensorFlow knows them, and programs that build, read and write graphs use them.

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
RefInputIntInput a: int32, b: int32 ->
RefOutput -> a: int32
RefOutputFloatOutput -> a: float32, b: float32
RequiresOlderGraphVersion! -> version: int32
StringListAttr ->; a list(string); b string
TwoFloatInputs a: float32, b: float32 ->
TwoFloatInputsFloatOutput a: float32, b: float32 -> c: float32
TwoFloatInputsIntOutput a: float32, b: float32 -> c: int32
TwoFloatOutputs -> a: float32, b: float32
TwoIntInputs a: int32, b: int32 ->
TwoIntOutputs -> a: int32, b: int32
TypeList a: T ->; T list(type)
"""  # noqa: E501

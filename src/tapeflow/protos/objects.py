"""Objects that are saved, and the variables among them."""

TABLE = """
enum VariableSynchronization
    VARIABLE_SYNCHRONIZATION_AUTO 0
    VARIABLE_SYNCHRONIZATION_NONE 1
    VARIABLE_SYNCHRONIZATION_ON_WRITE 2
    VARIABLE_SYNCHRONIZATION_ON_READ 3

enum VariableAggregation
    VARIABLE_AGGREGATION_NONE 0
    VARIABLE_AGGREGATION_SUM 1
    VARIABLE_AGGREGATION_MEAN 2
    VARIABLE_AGGREGATION_ONLY_FIRST_REPLICA 3

VariableDef
    variable_name 1 string
    initial_value_name 6 string
    initializer_name 2 string
    snapshot_name 3 string
    save_slice_info_def 4 SaveSliceInfoDef
    is_resource 5 bool
    trainable 7 bool
    synchronization 8 VariableSynchronization
    aggregation 9 VariableAggregation

SaveSliceInfoDef
    full_name 1 string
    full_shape 2 int64*
    var_offset 3 int64*
    var_shape 4 int64*

TrackableObjectGraph
    nodes 1 TrackableObjectGraph.TrackableObject*

TrackableObjectGraph.TrackableObject
    children 1 TrackableObjectGraph.TrackableObject.ObjectReference*
    attributes 2 TrackableObjectGraph.TrackableObject.SerializedTensor*
    slot_variables 3 TrackableObjectGraph.TrackableObject.SlotVariableReference*
    registered_saver 4 RegisteredSaver
    has_checkpoint_values 5 google.protobuf.BoolValue

TrackableObjectGraph.TrackableObject.ObjectReference
    node_id 1 int32
    local_name 2 string

TrackableObjectGraph.TrackableObject.SerializedTensor
    name 1 string
    full_name 2 string
    checkpoint_key 3 string

TrackableObjectGraph.TrackableObject.SlotVariableReference
    original_variable_node_id 1 int32
    slot_name 2 string
    slot_variable_node_id 3 int32

RegisteredSaver
    name 1 string
    object_name 2 string

SavedObjectGraph
    nodes 1 SavedObject*
    concrete_functions 2 map<string,SavedConcreteFunction>

SavedObject
    children 1 TrackableObjectGraph.TrackableObject.ObjectReference*
    dependencies 15 TrackableObjectGraph.TrackableObject.ObjectReference*
    slot_variables 3 TrackableObjectGraph.TrackableObject.SlotVariableReference*
    user_object 4 SavedUserObject in kind
    asset 5 SavedAsset in kind
    function 6 SavedFunction in kind
    variable 7 SavedVariable in kind
    bare_concrete_function 8 SavedBareConcreteFunction in kind
    constant 9 SavedConstant in kind
    resource 10 SavedResource in kind
    captured_tensor 12 CapturedTensor in kind
    saveable_objects 11 map<string,SaveableObject>
    registered_name 13 string
    serialized_user_proto 14 google.protobuf.Any
    registered_saver 16 string

SavedUserObject
    identifier 1 string
    version 2 VersionDef
    metadata 3 string

SavedAsset
    asset_file_def_index 1 int32

SavedFunction
    concrete_functions 1 string*
    function_spec 2 FunctionSpec

CapturedTensor
    name 1 string
    concrete_function 2 string

SavedConcreteFunction
    bound_inputs 2 int32*
    canonicalized_input_signature 3 StructuredValue
    output_signature 4 StructuredValue

SavedBareConcreteFunction
    concrete_function_name 1 string
    argument_keywords 2 string*
    allowed_positional_arguments 3 int64
    function_spec 4 FunctionSpec

SavedConstant
    operation 1 string

SavedVariable
    dtype 1 DataType
    shape 2 TensorShapeProto
    trainable 3 bool
    synchronization 4 VariableSynchronization
    aggregation 5 VariableAggregation
    name 6 string
    device 7 string
    experimental_distributed_variable_components 8 SavedVariable*

FunctionSpec
    fullargspec 1 StructuredValue
    is_method 2 bool
    input_signature 5 StructuredValue
    jit_compile 6 FunctionSpec.JitCompile

enum FunctionSpec.JitCompile
    DEFAULT 0
    ON 1
    OFF 2

SavedResource
    device 1 string

SaveableObject
    save_function 2 int32
    restore_function 3 int32
"""

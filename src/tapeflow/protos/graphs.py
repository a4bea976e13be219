"""Graphs: nodes, attrs, definitions of ops, functions."""

TABLE = """
AttrValue
    s 2 bytes in value
    i 3 int64 in value
    f 4 float in value
    b 5 bool in value
    type 6 DataType in value
    shape 7 TensorShapeProto in value
    tensor 8 TensorProto in value
    list 1 AttrValue.ListValue in value
    func 10 NameAttrList in value
    placeholder 9 string in value

AttrValue.ListValue
    s 2 bytes*
    i 3 int64*
    f 4 float*
    b 5 bool*
    type 6 DataType*
    shape 7 TensorShapeProto*
    tensor 8 TensorProto*
    func 9 NameAttrList*

NameAttrList
    name 1 string
    attr 2 map<string,AttrValue>

enum FullTypeId
    TFT_UNSET 0
    TFT_VAR 1
    TFT_ANY 2
    TFT_PRODUCT 3
    TFT_NAMED 4
    TFT_FOR_EACH 20
    TFT_CALLABLE 100
    TFT_TENSOR 1000
    TFT_ARRAY 1001
    TFT_OPTIONAL 1002
    TFT_LITERAL 1003
    TFT_ENCODED 1004
    TFT_SHAPE_TENSOR 1005
    TFT_BOOL 200
    TFT_UINT8 201
    TFT_UINT16 202
    TFT_UINT32 203
    TFT_UINT64 204
    TFT_INT8 205
    TFT_INT16 206
    TFT_INT32 207
    TFT_INT64 208
    TFT_HALF 209
    TFT_FLOAT 210
    TFT_DOUBLE 211
    TFT_BFLOAT16 215
    TFT_COMPLEX64 212
    TFT_COMPLEX128 213
    TFT_STRING 214
    TFT_DATASET 10102
    TFT_RAGGED 10103
    TFT_ITERATOR 10104
    TFT_MUTEX_LOCK 10202
    TFT_LEGACY_VARIANT 10203

FullTypeDef
    type_id 1 FullTypeId
    args 2 FullTypeDef*
    s 3 string in attr
    i 4 int64 in attr

NodeDef
    name 1 string
    op 2 string
    input 3 string*
    device 4 string
    attr 5 map<string,AttrValue>
    experimental_debug_info 6 NodeDef.ExperimentalDebugInfo
    experimental_type 7 FullTypeDef

NodeDef.ExperimentalDebugInfo
    original_node_names 1 string*
    original_func_names 2 string*

OpDef
    name 1 string
    input_arg 2 OpDef.ArgDef*
    output_arg 3 OpDef.ArgDef*
    control_output 20 string*
    attr 4 OpDef.AttrDef*
    deprecation 8 OpDeprecation
    summary 5 string
    description 6 string
    is_commutative 18 bool
    is_aggregate 16 bool
    is_stateful 17 bool
    allows_uninitialized_input 19 bool
    is_distributed_communication 21 bool

OpDef.ArgDef
    name 1 string
    description 2 string
    type 3 DataType
    type_attr 4 string
    number_attr 5 string
    type_list_attr 6 string
    handle_data 7 ResourceHandleProto.DtypeAndShape*
    is_ref 16 bool
    experimental_full_type 17 FullTypeDef

OpDef.AttrDef
    name 1 string
    type 2 string
    default_value 3 AttrValue
    description 4 string
    has_minimum 5 bool
    minimum 6 int64
    allowed_values 7 AttrValue

OpDeprecation
    version 1 int32
    explanation 2 string

OpList
    op 1 OpDef*

FunctionDefLibrary
    function 1 FunctionDef*
    gradient 2 GradientDef*
    registered_gradients 3 RegisteredGradient*

FunctionDef
    signature 1 OpDef
    attr 5 map<string,AttrValue>
    arg_attr 7 map<uint32,FunctionDef.ArgAttrs>
    resource_arg_unique_id 8 map<uint32,uint32>
    node_def 3 NodeDef*
    ret 4 map<string,string>
    control_ret 6 map<string,string>

FunctionDef.ArgAttrs
    attr 1 map<string,AttrValue>

GradientDef
    function_name 1 string
    gradient_func 2 string

RegisteredGradient
    gradient_func 1 string
    registered_op_type 2 string

VersionDef
    producer 1 int32
    min_consumer 2 int32
    bad_consumers 3 int32*

GraphDef
    node 1 NodeDef*
    versions 4 VersionDef
    version 3 int32
    library 2 FunctionDefLibrary
    debug_info 5 GraphDebugInfo
"""

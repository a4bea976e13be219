"""Structures of Python values."""

TABLE = """
StructuredValue
    none_value 1 NoneValue in kind
    float64_value 11 double in kind
    int64_value 12 sint64 in kind
    string_value 13 string in kind
    bool_value 14 bool in kind
    tensor_shape_value 31 TensorShapeProto in kind
    tensor_dtype_value 32 DataType in kind
    tensor_spec_value 33 TensorSpecProto in kind
    type_spec_value 34 TypeSpecProto in kind
    bounded_tensor_spec_value 35 BoundedTensorSpecProto in kind
    list_value 51 ListValue in kind
    tuple_value 52 TupleValue in kind
    dict_value 53 DictValue in kind
    named_tuple_value 54 NamedTupleValue in kind
    tensor_value 55 TensorProto in kind
    numpy_value 56 TensorProto in kind

NoneValue

ListValue
    values 1 StructuredValue*

TupleValue
    values 1 StructuredValue*

DictValue
    fields 1 map<string,StructuredValue>

PairValue
    key 1 string
    value 2 StructuredValue

NamedTupleValue
    name 1 string
    values 2 PairValue*

TensorSpecProto
    name 1 string
    shape 2 TensorShapeProto
    dtype 3 DataType

BoundedTensorSpecProto
    name 1 string
    shape 2 TensorShapeProto
    dtype 3 DataType
    minimum 4 TensorProto
    maximum 5 TensorProto

TypeSpecProto
    type_spec_class 1 TypeSpecProto.TypeSpecClass
    type_state 2 StructuredValue
    type_spec_class_name 3 string
    num_flat_components 4 int32

enum TypeSpecProto.TypeSpecClass
    UNKNOWN 0
    SPARSE_TENSOR_SPEC 1
    INDEXED_SLICES_SPEC 2
    RAGGED_TENSOR_SPEC 3
    TENSOR_ARRAY_SPEC 4
    DATA_DATASET_SPEC 5
    DATA_ITERATOR_SPEC 6
    OPTIONAL_SPEC 7
    PER_REPLICA_SPEC 8
    VARIABLE_SPEC 9
    ROW_PARTITION_SPEC 10
    REGISTERED_TYPE_SPEC 12
    EXTENSION_TYPE_SPEC 13
"""

"""Tensors, their dtypes and shapes."""

TABLE = """
CppShapeInferenceResult
    shape 1 TensorShapeProto
    handle_data 4 CppShapeInferenceResult.HandleData

CppShapeInferenceResult.HandleShapeAndType
    shape 1 TensorShapeProto
    dtype 2 DataType

CppShapeInferenceResult.HandleData
    is_set 1 bool
    shape_and_type 2 CppShapeInferenceResult.HandleShapeAndType*

enum DataType
    DT_INVALID 0
    DT_FLOAT 1
    DT_DOUBLE 2
    DT_INT32 3
    DT_UINT8 4
    DT_INT16 5
    DT_INT8 6
    DT_STRING 7
    DT_COMPLEX64 8
    DT_INT64 9
    DT_BOOL 10
    DT_QINT8 11
    DT_QUINT8 12
    DT_QINT32 13
    DT_BFLOAT16 14
    DT_QINT16 15
    DT_QUINT16 16
    DT_UINT16 17
    DT_COMPLEX128 18
    DT_HALF 19
    DT_RESOURCE 20
    DT_VARIANT 21
    DT_UINT32 22
    DT_UINT64 23
    DT_FLOAT8_E5M2 24
    DT_FLOAT8_E4M3FN 25
    DT_FLOAT8_E4M3FNUZ 26
    DT_FLOAT8_E4M3B11FNUZ 27
    DT_FLOAT8_E5M2FNUZ 28
    DT_INT4 29
    DT_UINT4 30
    DT_INT2 31
    DT_UINT2 32
    DT_FLOAT4_E2M1FN 33
    DT_FLOAT_REF 101
    DT_DOUBLE_REF 102
    DT_INT32_REF 103
    DT_UINT8_REF 104
    DT_INT16_REF 105
    DT_INT8_REF 106
    DT_STRING_REF 107
    DT_COMPLEX64_REF 108
    DT_INT64_REF 109
    DT_BOOL_REF 110
    DT_QINT8_REF 111
    DT_QUINT8_REF 112
    DT_QINT32_REF 113
    DT_BFLOAT16_REF 114
    DT_QINT16_REF 115
    DT_QUINT16_REF 116
    DT_UINT16_REF 117
    DT_COMPLEX128_REF 118
    DT_HALF_REF 119
    DT_RESOURCE_REF 120
    DT_VARIANT_REF 121
    DT_UINT32_REF 122
    DT_UINT64_REF 123
    DT_FLOAT8_E5M2_REF 124
    DT_FLOAT8_E4M3FN_REF 125
    DT_FLOAT8_E4M3FNUZ_REF 126
    DT_FLOAT8_E4M3B11FNUZ_REF 127
    DT_FLOAT8_E5M2FNUZ_REF 128
    DT_INT4_REF 129
    DT_UINT4_REF 130
    DT_INT2_REF 131
    DT_UINT2_REF 132
    DT_FLOAT4_E2M1FN_REF 133

SerializedDType
    datatype 1 DataType

TensorShapeProto
    dim 2 TensorShapeProto.Dim*
    unknown_rank 3 bool

TensorShapeProto.Dim
    size 1 int64
    name 2 string

ResourceHandleProto
    device 1 string
    container 2 string
    name 3 string
    hash_code 4 uint64
    maybe_type_name 5 string
    dtypes_and_shapes 6 ResourceHandleProto.DtypeAndShape*

ResourceHandleProto.DtypeAndShape
    dtype 1 DataType
    shape 2 TensorShapeProto

TensorProto
    dtype 1 DataType
    tensor_shape 2 TensorShapeProto
    version_number 3 int32
    tensor_content 4 bytes
    half_val 13 int32*
    float_val 5 float*
    double_val 6 double*
    int_val 7 int32*
    string_val 8 bytes*
    scomplex_val 9 float*
    int64_val 10 int64*
    bool_val 11 bool*
    dcomplex_val 12 double*
    resource_handle_val 14 ResourceHandleProto*
    variant_val 15 VariantTensorDataProto*
    uint32_val 16 uint32*
    uint64_val 17 uint64*
    float8_val 18 bytes

VariantTensorDataProto
    type_name 1 string
    metadata 2 bytes
    tensors 3 TensorProto*

TensorSliceProto
    extent 1 TensorSliceProto.Extent*

TensorSliceProto.Extent
    start 1 int64
    length 2 int64 in has_length_hack
"""

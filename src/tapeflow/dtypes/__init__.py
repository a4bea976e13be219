"""tf.dtypes: element types and casts between them."""

from tapeflow.core.dtypes import (
    QUANTIZED_DTYPES,
    DType,
    as_dtype,
    bfloat16,
    bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from tapeflow.dtypes import experimental
from tapeflow.ops.math.casting import cast, saturate_cast
from tapeflow.ops.math.complex_numbers import complex

__all__ = [
    "QUANTIZED_DTYPES", "DType", "as_dtype", "bfloat16", "bool", "cast", "complex", "complex128", "complex64",
    "double", "experimental", "float16", "float32", "float64", "half", "int16", "int32", "int64", "int8",
    "qint16", "qint32", "qint8", "quint16", "quint8", "resource", "saturate_cast",
    "string", "uint16", "uint32", "uint64", "uint8",
    "variant",
]  # fmt: skip

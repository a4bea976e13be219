"""`tf.compat.v1.lite.constants`: dtypes, and the formats of what a converter writes."""

from tapeflow.core import dtypes
from tapeflow.lite.converter_v1 import GRAPHVIZ_DOT, TFLITE

FLOAT = dtypes.float32
FLOAT16 = dtypes.float16
INT16 = dtypes.int16
INT32 = dtypes.int32
INT64 = dtypes.int64
INT8 = dtypes.int8
QUANTIZED_UINT8 = dtypes.uint8
STRING = dtypes.string

__all__ = [
    "FLOAT",
    "FLOAT16",
    "GRAPHVIZ_DOT",
    "INT16",
    "INT32",
    "INT64",
    "INT8",
    "QUANTIZED_UINT8",
    "STRING",
    "TFLITE",
]

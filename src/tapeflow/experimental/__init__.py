"""tf.experimental: what may change."""

from tapeflow.core.context import async_clear_error, async_scope
from tapeflow.core.dtypes import (
    float4_e2m1fn,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    int2,
    int4,
    uint2,
    uint4,
)
from tapeflow.experimental import dlpack, numpy

__all__ = [
    "async_clear_error", "async_scope", "dlpack", "float4_e2m1fn", "float8_e4m3b11fnuz", "float8_e4m3fn",
    "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "int2", "int4", "numpy", "uint2", "uint4",
]  # fmt: skip

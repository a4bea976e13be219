"""tf.experimental: what may change."""

import importlib
from typing import Any

from tapeflow.core.context import async_clear_error, async_scope, function_executor_type
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
from tapeflow.core.specs.extension_batching import BatchableExtensionType, ExtensionTypeBatchEncoder
from tapeflow.core.specs.extension_spec import ExtensionTypeSpec as ExtensionTypeSpec
from tapeflow.core.specs.extension_type import ExtensionType
from tapeflow.data.optional import Optional
from tapeflow.experimental import dlpack, extension_type, numpy
from tapeflow.ops.api_dispatch import (
    dispatch_for_api,
    dispatch_for_binary_elementwise_apis,
    dispatch_for_binary_elementwise_assert_apis,
    dispatch_for_unary_elementwise_apis,
    unregister_dispatch_for,
)
from tapeflow.ops.ragged.row_partition import RowPartition
from tapeflow.ops.ragged.shape import DynamicRaggedShape
from tapeflow.ops.structured.array import StructuredTensor


def __getattr__(name: str) -> Any:
    if name != "dtensor":
        raise AttributeError(f"module 'tapeflow.experimental' has no attribute {name!r}")
    return importlib.import_module("tapeflow.experimental.dtensor")


__all__ = [
    "DynamicRaggedShape", "RowPartition", "StructuredTensor",
    "BatchableExtensionType", "ExtensionType", "ExtensionTypeBatchEncoder", "ExtensionTypeSpec", "Optional",
    "async_clear_error", "async_scope",
    "dispatch_for_api", "dispatch_for_binary_elementwise_apis", "dispatch_for_binary_elementwise_assert_apis",
    "dispatch_for_unary_elementwise_apis", "dlpack", "dtensor", "extension_type", "float4_e2m1fn", "float8_e4m3b11fnuz",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "function_executor_type", "int2", "int4",
    "numpy", "uint2", "uint4", "unregister_dispatch_for",
]  # fmt: skip

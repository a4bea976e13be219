"""`tf.compat.v1.tpu`: what programs written for TPUs compute and train with."""

from __future__ import annotations

import importlib
from typing import Any

from tapeflow.tpu import XLAOptions
from tapeflow.tpu.replication import (
    CrossShardOptimizer,
    batch_parallel,
    bfloat16_scope,
    core,
    cross_replica_sum,
    outside_compilation,
    replicate,
    rewrite,
    shard,
)
from tapeflow.tpu.system import PaddingSpec, initialize_system, shutdown_system

__all__ = [
    "CrossShardOptimizer", "PaddingSpec", "XLAOptions", "batch_parallel", "bfloat16_scope", "core",
    "cross_replica_sum", "initialize_system", "outside_compilation", "replicate", "rewrite", "shard",
    "shutdown_system",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "experimental":
        return importlib.import_module("tapeflow.tpu.experimental")
    raise AttributeError(f"module 'tapeflow.compat.v1.tpu' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "experimental"])

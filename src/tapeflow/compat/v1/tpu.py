"""`tf.compat.v1.tpu`: what programs written for TPUs train with, on one device."""

from __future__ import annotations

import importlib
from typing import Any

from tapeflow.contrib.tpu import CrossShardOptimizer, cross_replica_sum
from tapeflow.tpu import XLAOptions

__all__ = ["CrossShardOptimizer", "XLAOptions", "cross_replica_sum"]


def __getattr__(name: str) -> Any:
    if name == "experimental":
        return importlib.import_module("tapeflow.tpu.experimental")
    raise AttributeError(f"module 'tapeflow.compat.v1.tpu' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "experimental"])

"""tf.types.experimental: types for annotations, and those that functions are traced by."""

from __future__ import annotations

import importlib
from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.specs.trace_type import SupportsTracingProtocol, TraceType
from tapeflow.function.atomic import AtomicFunction
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.function import Function
from tapeflow.function.function_type import FunctionType

Callable = ConcreteFunction
GenericFunction = Function
PolymorphicFunction = Function


def __getattr__(name: str) -> Any:
    if name != "distributed":
        raise AttributeError(f"module 'tapeflow.types.experimental' has no attribute {name!r}")
    return importlib.import_module("tapeflow.types.experimental.distributed")


__all__ = [
    "AtomicFunction",
    "Callable",
    "ConcreteFunction",
    "FunctionType",
    "GenericFunction",
    "PolymorphicFunction",
    "SupportsTracingProtocol",
    "TensorLike",
    "TraceType",
    "distributed",
]

"""tf.types.experimental: types for annotations, and those that functions are traced by."""

from tapeflow.core.annotations import TensorLike
from tapeflow.core.specs.trace_type import SupportsTracingProtocol, TraceType
from tapeflow.function.atomic import AtomicFunction
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.function import Function
from tapeflow.function.function_type import FunctionType

Callable = ConcreteFunction
GenericFunction = Function
PolymorphicFunction = Function

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
]

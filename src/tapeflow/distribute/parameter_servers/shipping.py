"""Functions as messages for other processes: definitions of graphs, as in a SavedModel, and what they captured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow import _native, protos
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.core.processes.arrays import array_of, as_tensor
from tapeflow.core.variables import dtype_of
from tapeflow.data import leaves
from tapeflow.data.shipping import NotShippable, from_bytes, to_bytes
from tapeflow.distribute.parameter_servers import current_worker
from tapeflow.distribute.parameter_servers.connection import Connection
from tapeflow.distribute.parameter_servers.server import Call, Held
from tapeflow.distribute.parameter_servers.variables import RemoteVariable
from tapeflow.function.compiled import Compiled
from tapeflow.graph.interchange.function_bodies import Functions
from tapeflow.ops.state.rows import ReadVariableOp
from tapeflow.saved_model.datasets import is_dataset
from tapeflow.saved_model.function_writing import FunctionWriter

# Stands for the number of the worker where a function captures it.
WORKER_INDEX = convert_to_tensor(0, dtypes.int64)


class Message(NamedTuple):
    """A function for another process.

    Attributes:
      library: a serialized `FunctionDefLibrary`.
      name: the function's name in it.
      captured: for each capture a pair of what it is, "variable", "dataset", "index" or "tensor", and its content.
    """

    library: bytes
    name: str
    captured: list[tuple[str, Any]]


def message_of(concrete: Any) -> Message:
    """A concrete function as a message.

    Raises:
      InvalidArgumentError: it captured a variable of this process.
      UnimplementedError: it calls Python, or captured what other processes cannot have.
    """
    graph = concrete.graph
    writer = FunctionWriter()
    name = writer.add(concrete)
    library = protos.FunctionDefLibrary()
    for definition in writer.library.values():
        for node in definition.node_def:
            if "token" in node.attr and node.attr["token"].s.startswith(b"pyfunc"):
                raise UnimplementedError(
                    None, None, f"'{node.name}' in function {name} calls Python, which does not go to a worker."
                )
        library.function.append(definition)
    captured = [_captured(outer, graph.variables_by_handle.variable_of(inner)) for outer, inner in graph.captures]
    return Message(library.SerializeToString(), name, captured)


def _captured(outer: Any, variable: Any) -> tuple[str, Any]:
    if outer is WORKER_INDEX:
        return "index", None
    if variable is not None:
        if not isinstance(variable, RemoteVariable):
            raise InvalidArgumentError(
                None, None, f"The variable '{variable.name}' was made outside of the scope of the strategy, so that "
                "workers cannot reach it."
            )  # fmt: skip
        return "variable", (variable.description, variable.connection)
    if not isinstance(outer, _native.EagerTensor):
        raise UnimplementedError(None, None, f"A function that captured {outer} does not go to a worker.")
    if is_dataset(outer):
        dataset = leaves.unboxed(outer)
        try:
            return "dataset", to_bytes(dataset)
        except NotShippable as reason:
            raise UnimplementedError(None, None, str(reason)) from None
    if outer.dtype in (dtypes.resource, dtypes.variant):
        raise UnimplementedError(
            None, None, f"A function that captured {outer} does not go to a worker: make it in the function's dataset, "
            "or give the function what it is made of."
        )  # fmt: skip
    return "tensor", array_of(outer)


class Program:
    """A function of another process, to be run here.

    Args:
      message: what `message_of` gave.
      variable: gives the variable of this process for a description and the connection to its server.
    """

    def __init__(self, message: Message, variable: Callable[[Any, Connection], Any]):
        library = protos.FunctionDefLibrary.FromString(message.library)
        held = [variable(*what) if kind == "variable" else None for kind, what in message.captured]
        outside = [_outside(kind, what, v) for (kind, what), v in zip(message.captured, held, strict=True)]
        functions = Functions(library)
        count = functions.arity(message.name) - len(held)
        given = [_Known(dtypes.float32)] * count + [_known(x, v) for x, v in zip(outside, held, strict=True)]
        graph = functions.fresh(message.name, given).graph
        inner = graph.inputs[count:]
        self.reads: list[tuple[Connection, Call]] = []
        for x, v, own in zip(outside, held, inner, strict=True):
            graph.capture_again(x, own)
            if v is not None:
                graph.variables_by_handle[v] = own
                graph.watch_variable(v)
        handles = {id(own): v for v, own in zip(held, inner, strict=True) if v is not None}
        for op in graph.operations:
            v = handles.pop(id(op.inputs[0]), None) if op.row is ReadVariableOp else None
            if v is not None:
                call = Call(ReadVariableOp.name, (Held(v.description.key),), {"dtype": dtype_of(v)})
                self.reads.append((v.connection, call))
        self._compiled = Compiled(graph)
        self._kept = held  # handles do not

    def __call__(self, arguments: Sequence[Any]) -> list[np.ndarray]:
        """The outputs for tensors, as arrays."""
        return [array_of(y) for y in self._compiled(arguments)]


class _Known(NamedTuple):
    """What is known of an argument before the body of a function is built."""

    dtype: Any
    handle_dtype: Any = None
    handle_shape: Any = None


def _known(outside: Any, variable: Any) -> _Known:
    if variable is None:
        return _Known(outside.dtype)
    shape = variable.shape
    return _Known(outside.dtype, dtype_of(variable), None if shape.rank is None else tuple(shape.as_list()))


def _outside(kind: str, what: Any, variable: Any) -> Any:
    if kind == "variable":
        return variable.handle
    if kind == "index":
        return convert_to_tensor(current_worker.index(), dtypes.int64)
    return leaves.boxed(from_bytes(what)) if kind == "dataset" else as_tensor(what)

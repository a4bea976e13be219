"""Gradients that programs defined, as a SavedModel has them: functions that nodes of other functions name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.graph.build import building
from tapeflow.graph.interchange.function_bodies import Functions
from tapeflow.graph.interchange.inlining import inline
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.array.construction import zeros_like
from tapeflow.saved_model.gradient_writing import TYPE_ATTR, CapturedTensor
from tapeflow.saved_model.restored import functions as restored_functions
from tapeflow.saved_model.restored.functions import Captured


class RestoredGradients:
    """The gradient functions of a library.

    Args:
      library: the `FunctionDefLibrary`.
      functions: its bodies.
      messages: the `SavedConcreteFunction`s by name, which say what gradient functions capture.
      captured: gives the object of a number: a `CapturedTensor`, or else a `Captured`.

    Raises ValueError for one that is not in the library, and for types that are registered for two.
    """

    def __init__(
        self, library: Any, functions: Functions, messages: Any, captured: Callable[[int], CapturedTensor | Captured]
    ):
        self.functions = functions
        self.messages = messages
        self.captured = captured
        self.by_type: dict[str, str] = {}
        for each in library.registered_gradients:
            kind, name = each.registered_op_type, each.gradient_func
            if name not in functions:
                raise ValueError(f"The gradient function '{name}' of '{kind}' is not in the library of the GraphDef.")
            if self.by_type.setdefault(kind, name) != name:
                raise ValueError(f"'{kind}' has two gradient functions, '{self.by_type[kind]}' and '{name}'.")

    def function_of(self, node: Any) -> str | None:
        """The name of the gradient function of a `NodeDef`; None if it has none of its own."""
        if not self.by_type or TYPE_ATTR not in node.attr:
            return None
        return self.by_type.get(node.attr[TYPE_ATTR].s.decode(errors="replace"))

    def attach(self, op: Operation, name: str) -> None:
        """Gives an operation the gradient function of a name. Raises ValueError for one of another arity."""
        count, captured = self.functions.arity(name), len(self._bound(name))
        if count != len(op.outputs) + captured:
            raise ValueError(
                f"The gradient function '{name}' of node '{op.name}' has {count} arguments for the gradients of "
                f"{len(op.outputs)} outputs and {captured} captured tensors."
            )
        op.custom_gradient = functools.partial(self._gradients, op.graph, name)

    def _bound(self, name: str) -> Any:
        return self.messages[name].bound_inputs if name in self.messages else ()

    def _gradients(self, forward: Any, name: str, op: Operation, *dys: Any) -> Any:
        """The gradients of the inputs of `op`, which is one of the graph `forward` or a copy of it."""
        graph = context.current_graph()
        upstream = [_dense(dy, y) for dy, y in zip(dys, op.outputs, strict=True)]
        inputs = [building.as_symbolic(graph, dy) for dy in upstream]
        inputs += [self._input(graph, forward, name, self.captured(n)) for n in self._bound(name)]
        with context.init_scope():
            body = self.functions.body(name, op.name, inputs)
        for given, own in zip(inputs, body.graph.inputs, strict=True):
            if given.dtype != own.dtype:
                raise ValueError(
                    f"The gradient function '{name}' of node '{op.name}' takes {own.dtype.name} where "
                    f"{given.dtype.name} is given."
                )
        outputs = inline(body.graph, body.outputs, inputs)
        if name not in self.messages:
            return outputs
        return restored_functions.results(self.messages[name], outputs, name)

    def _input(self, graph: Any, forward: Any, name: str, captured: CapturedTensor | Captured) -> SymbolicTensor:
        if isinstance(captured, CapturedTensor):
            return building.as_symbolic(graph, _tensor(forward, name, captured))
        if captured.variable is not None:
            return building.handle_in(graph, captured.variable)
        if captured.tensor.dtype in (dtypes.resource, dtypes.variant) or isinstance(captured.tensor, SymbolicTensor):
            return building.as_symbolic(graph, captured.tensor)
        return building.constant(graph, captured.tensor)  # functions and loops around need not know of it


def _dense(dy: Any, y: SymbolicTensor) -> Any:
    if dy is None:
        return zeros_like(y)
    return dy.to_dense() if isinstance(dy, IndexedSlices) else convert_to_tensor(dy)


def _tensor(graph: Any, gradient: str, captured: CapturedTensor) -> SymbolicTensor:
    """The tensor in `graph`, the body of the function that the node belongs to."""
    where = f"The gradient function '{gradient}' uses tensor '{captured.name}' of function '{captured.function}'"
    if graph.name != captured.function:
        raise ValueError(f"{where}, but its node is in '{graph.name}'. This is not supported.")
    try:
        return graph.get_tensor_by_name(captured.name)
    except (KeyError, ValueError):
        raise ValueError(f"{where}, which is not there.") from None

"""Control flow while a graph is built: `tf.cond`, `tf.while_loop`, `tf.group` and the like become nodes.

Imported once, for its effect: it gives the functions of `ops.control` their staged half.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Set
from typing import Any

from tapeflow.core import context
from tapeflow.core.annotations import TensorLike
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.structures import nest
from tapeflow.graph.build import building, tracing
from tapeflow.graph.control_flow.conditional import conditional
from tapeflow.graph.control_flow.loop import loop
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.graph import Graph
from tapeflow.graph.nodes import python_ops, text_nodes
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.array.rows import Identity
from tapeflow.ops.control.grouping import NoOp


class Staging:
    """What `ops.control.flow` asks for while a graph is built."""

    cond = staticmethod(lambda pred, true_fn, false_fn, name: conditional(
        pred, [true_fn, false_fn], ["true", "false"], name or "cond"))  # fmt: skip
    loop = staticmethod(loop)

    @staticmethod
    def active(*values: Any) -> bool:
        """Whether control flow on `values` is to be staged."""
        return not context.executing_eagerly() or any(isinstance(v, SymbolicTensor) for v in values)

    @staticmethod
    def specs_of(function: Any, arguments: Any) -> Any:
        """The specs of what `function` returns for tensors of which dtypes and shapes are given."""
        graph = FuncGraph("element")
        with graph.as_default():
            inputs = [
                graph.add_input(
                    dtype, None if shape.rank is None else tuple(shape.as_list()), f"arg{i}"
                )
                for i, (dtype, shape) in enumerate(arguments)
            ]
            tracing.finish(graph, function(*inputs))
        return nest.map_structure(tracing.spec_of, graph.structured_outputs)

    @staticmethod
    def switch(index: Any, functions: Any, name: str | None) -> Any:
        """The function with number `index`, the last one for others."""
        graph = context.current_graph() or building.graph_of([index])
        labels = [f"branch{i}" for i in range(len(functions))]
        return conditional(
            building.as_symbolic(graph, index), functions, labels, name or "switch_case"
        )

    @staticmethod
    @contextlib.contextmanager
    def control_dependencies(inputs: Any) -> Iterator[None]:
        if callable(inputs):
            inputs = inputs()
        if inputs is not None:
            if isinstance(inputs, (Iterator, Set)) and not hasattr(inputs, "dtype"):
                inputs = list(inputs)
            inputs = [x for x in nest.flatten(inputs) if x is not None]
            inputs = [x() if callable(x) and not hasattr(x, "dtype") else x for x in inputs]
            inputs = [x for x in nest.flatten(inputs) if x is not None]
        with get_default_graph().control_dependencies(inputs):
            yield

    @staticmethod
    def no_op(name: str | None) -> Operation:
        return context.current_graph().add(NoOp.name, None, (), (), {}, name or NoOp.name)

    @staticmethod
    def group(inputs: Any, name: str | None) -> Operation:
        graph = context.current_graph()
        found = []
        for x in nest.flatten(inputs, expand_composites=True):
            if x is None:
                continue
            if (
                not hasattr(x, "device")
                and not hasattr(x, "op")
                and not isinstance(x, (Operation, IndexedSlices))
            ):
                raise TypeError(
                    f"'inputs' should be zero (or one or more) TensorFlow objects, got type {type(x)}."
                )
            found.append(x)
        ops = [op for op in map(graph.control_operation, found) if op is not None]
        by_device: dict[str, list[Operation]] = {}
        for op in ops:
            by_device.setdefault(op.device, []).append(op)
        with graph.name_scope(name or "group_deps") as scope:
            if len(by_device) > 1:
                ops = [
                    _gate(graph, device, ops, NoOp.name) for device, ops in sorted(by_device.items())
                ]
                return _gate(graph, "", ops, scope)
            return _gate(graph, next(iter(by_device), ""), ops, scope)

    @staticmethod
    def tuple(tensors: Any, control_inputs: Any, name: str | None) -> list[Any]:
        graph = context.current_graph()
        gates = [x for x in tensors if x is not None]
        for x in control_inputs or ():
            if not isinstance(x, (SymbolicTensor, Operation)) and not hasattr(x, "op"):
                raise TypeError(
                    f"'control_inputs' must only contain Operation or Tensor. Received: {type(x)}"
                )
        with graph.name_scope(name or "tuple"):
            with graph.control_dependencies([*gates, *(control_inputs or ())]):
                gate = graph.add(NoOp.name, None, (), (), {}, "group_deps")
            with graph.control_dependencies([gate]):
                return [_gated(x) for x in tensors]

    @staticmethod
    def assertion(condition: Any, data: Any, summarize: int | None, name: str | None) -> Operation:
        """A node that raises InvalidArgumentError unless `condition` holds."""
        return python_ops.assertion(condition, data, summarize, name)

    effect = staticmethod(python_ops.effect)
    text = staticmethod(text_nodes.text)
    string_format = staticmethod(text_nodes.string_format)
    print = staticmethod(text_nodes.print_text)
    print_beside = staticmethod(text_nodes.print_beside)
    py_function = staticmethod(python_ops.py_function)
    numpy_function = staticmethod(python_ops.numpy_function)


def _gate(graph: Graph, device: str, ops: list[Operation], name: str) -> Operation:
    """A node that does nothing, after `ops`."""
    placed = graph.device(device) if device else contextlib.nullcontext()
    with placed, graph.control_dependencies(ops):
        return graph.add(NoOp.name, None, (), (), {}, name)


def _gated(x: TensorLike) -> Any:
    if x is None or isinstance(x, Operation):
        return None
    if isinstance(x, IndexedSlices):
        return IndexedSlices(Identity(x.values), Identity(x.indices), x.dense_shape)
    return Identity(x)


def get_enclosing_xla_context() -> None:
    """None: what is compiled is a whole function, no part of a graph in a context of its own."""

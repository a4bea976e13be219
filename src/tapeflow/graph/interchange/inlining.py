"""Inlining: the operations of a function's body copied into the graph that calls it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import context
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.graph.build import building, copied_tensors
from tapeflow.graph.func_graph import FuncGraph, copy_handle
from tapeflow.graph.interchange import trust
from tapeflow.graph.nodes import resource_nodes
from tapeflow.graph.operation import Operation
from tapeflow.graph.run.order import needed
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops import shape_inference, shapes
from tapeflow.ops.array.rows import Identity


def inline(
    graph: FuncGraph, outputs: Sequence[SymbolicTensor], inputs: Sequence[Any], effects: bool = True
) -> list[SymbolicTensor]:
    """Copies what `outputs`, and with `effects` the side effects, of `graph` need into the graph being built.

    Args:
      inputs: what stands for the inputs of `graph`, one each.
    """
    target = context.current_graph()
    target.limits = trust.narrower(target.limits, graph.limits)
    found: dict[int, SymbolicTensor] = {}
    for inner, given in zip(graph.inputs, inputs, strict=True):
        found[id(inner)] = building.as_symbolic(target, given)
    targets = (
        (graph.targets if graph.pruned else [op for op in graph.operations if op.effects])
        if effects
        else []
    )
    placeholders = {id(x) for x in graph.inputs}
    copies: dict[int, Operation] = {}
    for op in needed(graph, outputs, targets, graph.inputs):
        if op.outputs and id(op.outputs[0]) in placeholders:
            continue
        copies[id(op)] = copy_operation(target, op, found, copies)
    results = [found[id(y)] for y in outputs]
    waited = [copies[id(op)] for op in targets if id(op) in copies]
    if not waited or (target.building_function and not getattr(target, "pruned", False)):
        return results
    # Only what is asked for runs there: the side effects of a call belong to its results.
    with target.control_dependencies(waited):
        return [_waiting(y) for y in results]


def without_shapes(graph: FuncGraph) -> FuncGraph | None:
    """A copy of a function that knows no shapes of what it computes; None if it has branches or loops."""
    if any("branches" in op.attrs or "body" in op.attrs for op in graph.operations):
        return None
    with context.init_scope():
        made = FuncGraph(graph.name)
    made.limits = graph.limits
    with made.as_default():
        count = len(graph.inputs) - graph.num_captures
        inputs = [made.add_input(x.dtype, None, x.op.name) for x in graph.inputs[:count]]
        for outer, inner in graph.captures:
            inputs.append(made.add_capture(outer, inner.op.name))
            copy_handle(inner, inputs[-1])
        copies = {id(x): own for x, own in zip(graph.inputs, inputs, strict=True)}
        for variable, handle in graph.variables_by_handle.items():
            if id(handle) in copies:
                made.variables_by_handle[variable] = copies[id(handle)]
                made.watch_variable(variable)
        made.outputs = inline(graph, graph.outputs, inputs)
    known = {id(x) for x in made.inputs}
    for op in made.operations:
        for y in op.outputs:
            if op.type != "Const" and id(y) not in known:
                y.shape_tuple = None
    made.structured_outputs = list(made.outputs)
    return made


def _waiting(y: SymbolicTensor) -> SymbolicTensor:
    made = Identity(y)
    copy_handle(y, made)
    return made


def copy_operation(
    target: Any,
    op: Operation,
    found: dict[int, SymbolicTensor],
    copies: dict[int, Operation],
    name: str | None = None,
) -> Operation:
    """A copy of `op` in `target`; `found` gives its inputs, and takes its outputs.

    Args:
      name: that of the copy, in the current scope unless it ends with a slash; None: the last part of the name of `op`.
    """
    inputs = tuple(found[id(x)] for x in op.inputs)
    attrs = op.attrs
    if "branches" in attrs:  # each node has its own lists of what its branches return
        attrs = {
            **attrs,
            "branches": [body.copy() for body in attrs["branches"]],
        }
    copy = target.add(
        op.type,
        op.row,
        inputs,
        op.input_sizes,
        attrs,
        op.name.rpartition("/")[2] if name is None else name,
    )
    if op.custom_gradient is not None:
        copy.custom_gradient = _gradient_of_copy(target, op, found, copies)
    copy.defined_at = op.defined_at
    copy.take_attrs(op.extra_attrs)
    resource_nodes.copied(op, copy)
    for other in op.control_inputs:
        known = copies.get(id(other))
        if known is not None:
            copy.control_inputs.append(known)
    shapes = None
    if op.row is not None and any(
        x.shape_tuple is None or None in x.shape_tuple for x in op.outputs
    ):
        shapes = _inferred(op, inputs)
    for i, y in enumerate(op.outputs):
        shape = y.shape_tuple if shapes is None else shapes[i]
        made = copy.add_output(y.dtype, shape)
        copy_handle(y, made)
        found[id(y)] = made
    return copy


def _gradient_of_copy(
    target: Any, op: Operation, found: dict[int, SymbolicTensor], copies: dict[int, Operation]
) -> Callable[..., Any]:
    """The gradient that a program defined for `op`, with copies of what it uses of the body.

    What it alone uses is copied when it asks for it.
    """
    body, of_op = op.graph, op.custom_gradient

    def copied(x: SymbolicTensor) -> SymbolicTensor:
        if id(x) not in found:
            for each in needed(body, [x], [], body.inputs if isinstance(body, FuncGraph) else []):
                if not all(id(y) in found for y in each.outputs):
                    copies[id(each)] = copy_operation(target, each, found, copies)
        return found[id(x)]

    def gradient(at: Operation, *dys: Any) -> Any:
        with copied_tensors.copied(body, copied):
            return of_op(at, *dys)

    return gradient


def _inferred(op: Operation, inputs: tuple[SymbolicTensor, ...]) -> Any:
    """Shapes may be better known where the body was put than where it was traced."""
    try:
        fresh = shape_inference.infer(op.row, inputs, op.attrs, op.list_sizes)
        return [shapes.merge(a, y.shape_tuple) for a, y in zip(fresh, op.outputs, strict=True)]
    except InvalidArgumentError:
        return None

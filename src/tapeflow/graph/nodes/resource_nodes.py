"""Nodes of ops that work on objects behind handles; imported once, for its effect.

A session keeps the objects, by the names of the nodes that make them; runs that wait in it end when it closes.
"""

from __future__ import annotations

from typing import Any

from tapeflow.core import context
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.threads import waiting
from tapeflow.graph.build import building
from tapeflow.graph.operation import Operation
from tapeflow.graph.run.program import Instruction
from tapeflow.ops.state.resource_op import ResourceOp, object_of, row_of


def build(kind: ResourceOp, flat: list[Any], attrs: dict[str, Any], name: str | None) -> Operation:
    """A node of the graph being built."""
    graph = context.current_graph() or building.graph_of(flat)
    inputs = tuple(building.as_symbolic(graph, x) for x in flat)
    known: dict[str, Any] = {key: own.default for key, own in kind.attrs.items() if not own.required}
    known.update((key, value) for key, value in attrs.items() if value is not None)
    if "container" in kind.attrs:
        known["container"] = graph.resource_container
    return finish(
        graph.add(kind.name, None, inputs, (None,) * len(inputs), known, name or kind.name)
    )


def _row(op: Operation) -> ResourceOp:
    row = row_of(op.type)
    assert row is not None, op.type
    return row


def finish(op: Operation) -> Operation:
    """Gives a node its outputs."""
    kind = _row(op)
    shapes = kind.output_shapes(op.attrs, op.inputs)
    for dtype, shape in zip(kind.output_types(op.attrs), shapes, strict=True):
        op.add_output(dtype, shape)
    return op


def emit(emitter: Any, op: Operation) -> None:
    """The instruction of a node, or the handle of what it makes."""
    kind = _row(op)
    if kind.makes:
        handle = kept(op) if emitter.resolve is None else emitter.resolve(op)
        emitter.constant(op.outputs[0], kept(op) if handle is None else handle)
        return
    attrs = op.attrs
    keeper = None
    if kind.keeps is not None:
        keeper = kept(op) if emitter.resolve is None else emitter.resolve(op) or kept(op)
    cancellation = getattr(getattr(emitter.resolve, "__self__", None), "_cancellation", None)

    def run(*values: Any) -> list[Any]:
        if cancellation is None:  # what holds for the thread that runs
            return kind.run(values, attrs, keeper)
        with waiting.under(cancellation):
            return kind.run(values, attrs, keeper)

    inputs = [emitter.number(x) for x in op.inputs]
    outputs = [emitter.output(y) for y in op.outputs]
    emitter.program.instructions.append(Instruction("python", run, inputs, outputs, op, True))


def key_of(op: Operation) -> tuple[str, str]:
    """By what a resource is found: its container and its name."""
    return op.attrs.get("container") or "", op.attrs.get("shared_name") or op.name


def kept(op: Operation) -> Any:
    """The handle of what a node of a function makes: the function keeps it, and gives it to copies of the node."""
    known = op.graph.__dict__.setdefault("_handles", {})
    if op not in known:
        known[op] = found(op, op.graph.__dict__.setdefault("_resources", {}))
    return known[op]


def copied(op: Operation, copy: Operation) -> None:
    """Lets the copy of a function's node that makes something stand for the same object."""
    kind = row_of(op.type)
    if kind is not None and (kind.makes or kind.keeps) and op.graph.building_function:
        copy.graph.__dict__.setdefault("_handles", {})[copy] = kept(op)


def found(op: Operation, resources: dict[tuple[str, str], Any]) -> Any:
    """The handle of what a node makes, among the resources of a session, made if it is not there.

    Raises InvalidArgumentError where another node of this shared name makes another kind of object.
    """
    kind = _row(op)
    key = key_of(op)
    name = key[1]
    if key not in resources:
        resources[key] = kind.make(name, op.attrs)
        return resources[key]
    made = object_of(resources[key])
    asked = object_of(kind.make(name, op.attrs))
    if hasattr(made, "check_same"):
        made.check_same(asked)
    elif type(made) is not type(asked):
        raise InvalidArgumentError(
            None, op, f"'{name}' is a {type(made).__name__}, not what {op.type} makes."
        )
    return resources[key]

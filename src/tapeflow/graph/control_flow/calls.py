"""`PartitionedCall` nodes: calls of functions that came with a `GraphDef`, kept as calls."""

from __future__ import annotations

from typing import Any

from tapeflow.core import context
from tapeflow.graph.build import building, gradients
from tapeflow.graph.control_flow import conditional
from tapeflow.graph.func_graph import copy_handle
from tapeflow.graph.interchange.inlining import inline
from tapeflow.graph.operation import Operation
from tapeflow.graph.run import planning
from tapeflow.graph.run.program import Instruction
from tapeflow.graph.tensor import SymbolicTensor


@planning.emits("PartitionedCall")
def _emit(emitter: Any, op: Operation) -> None:
    inputs = [emitter.number(x) for x in op.inputs]
    outputs = [emitter.output(y) for y in op.outputs]
    body = op.attrs["branches"][0]
    emitter.program.instructions.append(Instruction("call", body, inputs, outputs, op, op.effects))


@gradients.gradient_of("PartitionedCall")
def _gradient(op: Operation, *dys: Any) -> list[Any]:
    """The gradient of the body, in line; what it needs from inside the call becomes an output of the call."""
    graph = context.current_graph()
    body = op.attrs["branches"][0]
    wanted = [i for i, x in enumerate(op.inputs) if gradients.differentiable(x.dtype)]
    given = [i for i, dy in enumerate(dys) if dy is not None]
    back, found = conditional.backward(body, given, wanted)
    kept = [k for k in range(len(wanted)) if found[k] is not None]
    with back.as_default():
        results = [building.as_symbolic(back, conditional.dense(found[k])) for k in kept]
    places = {id(x): i for i, x in enumerate(body.graph.inputs)}
    captured = []
    for tensor, _ in back.captures:
        place = places.get(id(tensor))
        if place is not None:
            captured.append(op.inputs[place])
        else:
            captured.append(_output(op, tensor) if conditional.inside(body, tensor) else tensor)
    upstream = [conditional.dense(dys[i]) for i in given]
    values = inline(back, results, [building.as_symbolic(graph, x) for x in (*upstream, *captured)])
    gradient: list[Any] = [None] * len(op.inputs)
    for k, y in zip(kept, values, strict=True):
        gradient[wanted[k]] = y
    return gradient


def _output(op: Operation, tensor: SymbolicTensor) -> SymbolicTensor:
    """A tensor inside of the body as an output of the call."""
    for i, y in enumerate(op.attrs["branches"][0].outputs):
        if y is tensor:
            return op.outputs[i]
    # A body of this call's own: other calls keep the outputs that they have.
    op.attrs["branches"][0] = conditional.Body(
        tensor.op.graph, [*op.attrs["branches"][0].outputs, tensor]
    )
    made = op.add_output(tensor.dtype, tensor.shape_tuple)
    copy_handle(tensor, made)
    op.graph.edited()
    return made

"""`lift_to_graph`: what tensors of one graph need, copied into another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow.graph.build.building import placeholder
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.interchange.inlining import copy_operation
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph


class UnliftableError(Exception):
    """A tensor depends on a placeholder that cannot be copied."""


def lift_to_graph(
    tensors: Any,
    graph: Graph,
    sources: Any = None,
    disallowed_placeholders: Any = None,
    add_sources: bool = False,
    handle_captures: bool = False,
    base_graph: Any = None,
    op_map: Any = None,
) -> dict[Any, Any]:
    """Copies what tensors or operations need into another graph; a dict of what became of each tensor and operation.

    Args:
      tensors: the tensors or operations, of one graph.
      graph: where they are copied to.
      sources: tensors that are not copied, but become placeholders.
      disallowed_placeholders: placeholders that may not be copied.
      add_sources: whether placeholders among what is copied become inputs of `graph`, a FuncGraph.
      handle_captures: whether what the graph of the tensors captured is captured by `graph`.
      base_graph: the graph of the tensors; None: that of the first.
      op_map: what was copied before, which is added to.

    Raises UnliftableError for a placeholder that may not be copied.
    """
    op_map = {} if op_map is None else op_map
    base = base_graph or tensors[0].graph
    known = {id(old): new for old, new in op_map.items() if isinstance(old, SymbolicTensor)}
    copies = {id(old): new for old, new in op_map.items() if isinstance(old, Operation)}
    ends = {id(x) for x in sources or ()}
    refused = {id(x.op if isinstance(x, SymbolicTensor) else x) for x in disallowed_placeholders or ()}
    with graph.as_default():
        for source in sources or ():
            if id(source) not in known:
                known[id(source)] = op_map[source] = placeholder(
                    graph, source.dtype, source.shape_tuple, source.op.name
                )
                if add_sources and isinstance(graph, FuncGraph):
                    graph.inputs.append(known[id(source)])
        if handle_captures and isinstance(base, FuncGraph):
            for outer, inner in base.captures:
                if id(inner) not in known:
                    known[id(inner)] = op_map[inner] = graph.capture(outer)
        wanted = [x if isinstance(x, Operation) else x.op for x in tensors]
        for op in _in_order(wanted, ends | set(known), copies):
            if id(op) in refused or (op.type == "Placeholder" and not add_sources and isinstance(base, FuncGraph)):
                raise UnliftableError(f"Unable to lift tensor {op.name}: it depends on a placeholder.")
            made = copies[id(op)] = op_map[op] = copy_operation(graph, op, known, copies, f"{op.name}/")
            for old, new in zip(op.outputs, made.outputs, strict=True):
                op_map[old] = new
            if op.type == "Placeholder" and add_sources and isinstance(graph, FuncGraph):
                graph.inputs += made.outputs
    return op_map


def _in_order(ops: list[Any], ends: set[int], done: Any) -> list[Any]:
    """What the operations need, inputs first."""
    found: dict[int, Any] = {}
    todo = [(op, False) for op in reversed(ops)]
    while todo:
        op, ready = todo.pop()
        if id(op) in found or id(op) in done:
            continue
        if ready:
            found[id(op)] = op
            continue
        if op.outputs and all(id(y) in ends for y in op.outputs):
            continue
        todo.append((op, True))
        todo += [(x.op, False) for x in op.inputs if id(x) not in ends]
        todo += [(other, False) for other in op.control_inputs]
    return list(found.values())

"""Which ops a `GraphDef` uses, and their definitions."""

from __future__ import annotations

from typing import Any

from tapeflow import protos
from tapeflow.core.public import public
from tapeflow.graph.op_defs import messages as op_defs


@public
def ops_used_by_graph_def(graph_def):
    """The names of the ops that a GraphDef uses, also in functions that it calls; functions are none."""
    functions = {f.signature.name: f for f in graph_def.library.function}
    used: set[str] = set()
    seen: set[str] = set()
    waiting: list[Any] = list(graph_def.node)
    while waiting:
        node = waiting.pop()
        named = [node.op]
        for attr in node.attr.values():
            named += [attr.func.name, *(each.name for each in attr.list.func)]
        if node.op not in functions:
            used.add(node.op)
        for name in named:
            if name in functions and name not in seen:
                seen.add(name)
                waiting += functions[name].node_def
    return used


@public
def stripped_op_list_for_graph(graph_def):
    """An `OpList` of the ops that a GraphDef uses. Raises ValueError for ops that are not known."""
    used = sorted(ops_used_by_graph_def(graph_def))
    unknown = [name for name in used if not op_defs.known(name)]
    if unknown:
        raise ValueError(f"Op {unknown[0]} is used by the graph, but is not registered")
    return protos.OpList(op=[op_defs.op_def(name) for name in used])

"""Attrs of nodes that have the defaults of their op: what older readers need not know."""

from __future__ import annotations

from typing import Any

from tapeflow.graph.op_defs import messages as op_defs


def strip_defaults(node: Any) -> None:
    """Takes away the attrs of a `NodeDef` that have their defaults."""
    if not op_defs.known(node.op):
        return
    for attr in op_defs.op_def(node.op).attr:
        if attr.HasField("default_value") and node.attr.get(attr.name) == attr.default_value:
            del node.attr[attr.name]


def strip_graph(graph_def: Any) -> None:
    """As `strip_defaults`, for all nodes of a `GraphDef` and its functions."""
    for nodes in (graph_def.node, *(f.node_def for f in graph_def.library.function)):
        for node in nodes:
            strip_defaults(node)

"""A part of a GraphDef replaced by one node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow.compat import v1

__all__ = ["fuse_op"]


def _name(key: str) -> str:
    return key.removeprefix("^").partition(":")[0]


def _needed(outputs: Sequence[str], inputs: Mapping[str, list[str]]) -> set[str]:
    """The nodes that some nodes are computed from, and these."""
    found: set[str] = set()
    waiting = list(outputs)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += inputs[name]
    return found


def fuse_op(
    graph_def: Any, input_nodes: Sequence[str], output_nodes: Sequence[str], output_dtypes: Sequence[Any],
    output_quantized: bool, op_name: str, op_type: str,
) -> Any:  # fmt: skip
    """A GraphDef in which one node stands for all between some nodes and others.

    Args:
      graph_def: the GraphDef.
      input_nodes: the nodes before, which stay.
      output_nodes: the nodes after, each with one input; the new node's outputs are these inputs, in this order.
      output_dtypes: of the outputs of the new node, as numbers of DataType.
      output_quantized: what the attr `_output_quantized` of the new node says.
      op_name: the name of the new node.
      op_type: its op.

    Raises:
      TypeError: for what is no GraphDef, names that are no list, and nodes in between that need others.
      AssertionError: for a name that the graph does not have.
    """
    if not isinstance(graph_def, v1.GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    for names, what in ((input_nodes, "input_nodes"), (output_nodes, "output_nodes")):
        if isinstance(names, str):
            raise TypeError(f"{what} must be a list.")
    nodes = {node.name: node for node in graph_def.node}
    for name in [*input_nodes, *output_nodes]:
        assert name in nodes, f"{name} is not in graph"
    inputs = {name: [_name(key) for key in node.input] for name, node in nodes.items()}
    before, needed = _needed(input_nodes, inputs), _needed(output_nodes, inputs)
    kept = set(input_nodes)
    for name in needed - before - set(output_nodes):
        for reached in _needed([name], {key: [] if key in kept else found for key, found in inputs.items()}):
            if reached in before and reached not in kept:
                raise TypeError(f"Node {name} uses input {reached} not in input_nodes.")
    out = v1.GraphDef()
    out.node.extend(node for node in graph_def.node if node.name in before)
    fused = out.node.add(name=op_name, op=op_type, input=list(input_nodes))
    fused.attr["_output_types"].list.type.extend(output_dtypes)
    fused.attr["_output_quantized"].b = output_quantized
    for i, name in enumerate(output_nodes):
        node = out.node.add()
        node.CopyFrom(nodes[name])
        assert len(node.input) == 1
        node.input[0] = f"{op_name}:{i}" if i else op_name
    out.node.extend(node for node in graph_def.node if node.name not in before and node.name not in needed)
    out.library.CopyFrom(graph_def.library)
    out.versions.CopyFrom(graph_def.versions)
    return out

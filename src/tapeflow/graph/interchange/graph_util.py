"""`tf.compat.v1.graph_util`: parts of `GraphDef`s, and variables turned into constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import protos
from tapeflow.api import api
from tapeflow.core.public import public
from tapeflow.graph.interchange.importing import import_graph_def
from tapeflow.ops.array.rows import Identity, StopGradient
from tapeflow.ops.indexing.partition import DynamicStitch, ParallelDynamicStitch
from tapeflow.ops.math.casting import Cast
from tapeflow.ops.math.check import CheckNumerics
from tapeflow.ops.state.resource import VarHandleOp
from tapeflow.ops.state.rows import ReadVariableOp

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph

__all__ = [
    "extract_sub_graph", "import_graph_def", "must_run_on_cpu",
    "remove_training_nodes", "tensor_shape_from_node_def_name",
]  # fmt: skip

_VARIABLES = frozenset(
    ["Variable", "VariableV2", "AutoReloadVariable", VarHandleOp.name, ReadVariableOp.name]
)


def node_name(text: str) -> str:
    """The node of an input: "^node" and "node:1" are "node"."""
    return text.removeprefix("^").partition(":")[0]


def _check(graph_def: protos.GraphDef) -> None:
    if getattr(getattr(graph_def, "DESCRIPTOR", None), "full_name", "") != "tensorflow.GraphDef":
        raise TypeError(
            f"graph_def must be a graph_pb2.GraphDef proto, but got type {type(graph_def)}."
        )


@api(v1="graph_util.extract_sub_graph")
@public
def extract_sub_graph(graph_def, dest_nodes: Sequence[str]):
    """The part of a GraphDef that the nodes of these names need.

    Raises TypeError for arguments of wrong types, AssertionError for names that are not there.

    Args:
      graph_def: a `GraphDef` message.
      dest_nodes: a list of names of nodes.
    """
    _check(graph_def)
    if isinstance(dest_nodes, str):
        raise TypeError(
            f"dest_nodes must be an iterable of strings, but got type {type(dest_nodes)}."
        )
    nodes = {node.name: node for node in graph_def.node}
    wanted = [node_name(name) for name in dest_nodes]
    for name in wanted:
        assert name in nodes, f"{name} is not in graph"
    kept: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name not in kept and name in nodes:
            kept.add(name)
            wanted += map(node_name, nodes[name].input)
    made = protos.GraphDef()
    made.node.extend(node for node in graph_def.node if node.name in kept)
    made.library.CopyFrom(graph_def.library)
    made.versions.CopyFrom(graph_def.versions)
    return made


@api(v1="graph_util.must_run_on_cpu")
@public
def must_run_on_cpu(node, pin_variables_on_cpu: bool = False):
    """Whether a node (a NodeDef or Operation) has no kernel for other devices: it is a variable, or of strings.

    Args:
      node: a `NodeDef` or an operation.
      pin_variables_on_cpu: whether variables count.
    """
    node = getattr(node, "node_def", node)
    assert isinstance(node, protos.NodeDef), f"{node!r} is no NodeDef"
    if pin_variables_on_cpu and node.op in _VARIABLES:
        return True
    if node.op == "Const":
        return node.attr["dtype"].type in (protos.DataType.DT_STRING, protos.DataType.DT_INT32)
    if node.op in (DynamicStitch.name, ParallelDynamicStitch.name):
        return node.attr["T"].type == protos.DataType.DT_INT32
    if node.op == Cast.name:
        return node.attr["SrcT"].type == protos.DataType.DT_INT32
    return False


@api(v1="graph_util.tensor_shape_from_node_def_name")
@public
def tensor_shape_from_node_def_name(graph: Graph, input_name: str):
    """The shape of a tensor of `graph`; "node" stands for "node:0".

    Args:
      graph: a graph.
      input_name: the name.
    """
    return graph.get_tensor_by_name(
        input_name if ":" in input_name else f"{input_name}:0"
    ).get_shape()


@api(v1="graph_util.remove_training_nodes")
@public
def remove_training_nodes(input_graph, protected_nodes=None):
    """Return a GraphDef without the nodes that only training needs.

    These are CheckNumerics, and then Identity and StopGradient unless they wait for others, are waited for, or have
    others placed beside them.

    Args:
      input_graph: a GraphDef.
      protected_nodes: names of nodes to keep.

    Returns:
      A new GraphDef.
    """
    protected = set(protected_nodes or ())
    made = _without(
        input_graph,
        {node.name: node.input[0] for node in input_graph.node if node.op == CheckNumerics.name},
        protected,
    )
    awaited = {node_name(text) for node in made.node for text in node.input if text.startswith("^")}
    beside = {
        text.decode().removeprefix("loc:@")
        for node in made.node
        if "_class" in node.attr
        for text in node.attr["_class"].list.s
    }
    through = {
        node.name: node.input[0]
        for node in made.node
        if node.op in (Identity.name, StopGradient.name) and len(node.input) == 1 and not node.input[0].startswith("^")
    }
    return _without(made, through, protected | awaited | beside)


def _without(graph_def: protos.GraphDef, gone: dict[str, str], protected: set[str]) -> Any:
    """The nodes without some: who took the value of one takes its input, and no node waits for one.

    Args:
      gone: the inputs of the nodes that go, by their names.
      protected: the names of nodes to keep.
    """
    gone = {name: text for name, text in gone.items() if name not in protected}
    made = protos.GraphDef()
    for node in graph_def.node:
        if node.name in gone:
            continue
        copy = made.node.add()
        copy.CopyFrom(node)
        del copy.input[:]
        for text in node.input:
            if text.startswith("^") and text[1:] in gone:
                continue
            seen: set[str] = set()
            while node_name(text) in gone and node_name(text) not in seen:
                seen.add(node_name(text))
                text = gone[node_name(text)]
            copy.input.append(text)
    copy_setting(graph_def, made)
    return made


def copy_setting(source: Any, target: Any) -> None:
    """Give a GraphDef the functions and versions of another that has any."""
    if source.library.ByteSize():
        target.library.CopyFrom(source.library)
    if source.versions.ByteSize():
        target.versions.CopyFrom(source.versions)

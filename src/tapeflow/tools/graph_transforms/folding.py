"""`fold_constants`: what depends on no input is computed now, and becomes a constant."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.core.errors import OpError
from tapeflow.graph.graph import Graph
from tapeflow.graph.interchange.graph_util import node_name
from tapeflow.graph.interchange.importing import import_graph_def
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.graph.run.session import Session
from tapeflow.tools.graph_transforms.registry import Call, invalid, transform
from tapeflow.tools.graph_transforms.stripping import strip_unused_nodes
from tapeflow.tools.nodes import Nodes, constant

_NEVER = ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "Const", "Enter", "Exit", "RefEnter", "RefExit",
          "Switch", "RefSwitch", "Merge", "RefMerge", "NextIteration", "RefNextIteration", "LoopCond")  # fmt: skip


@transform
def fold_constants(graph_def: protos.GraphDef, call: Call) -> Any:
    """Replace nodes by constants that have their names, where no input, effect or chance takes part in them.

    `exclude_op` and `exclude_node` name what stays; `max_constant_size_in_bytes` (10 MiB) limits what is made;
    `clear_output_shapes` (true) says that the attr `_output_shapes` is dropped. Inputs become placeholders.
    """
    if call.flag("clear_output_shapes", True):
        graph_def = _without_shapes(graph_def)
    graph_def = strip_unused_nodes(graph_def, call.without_parameters())
    nodes, limit = Nodes(graph_def, call.outputs), call.whole("max_constant_size_in_bytes", 10 << 20)
    with Graph().as_default() as graph:
        try:
            import_graph_def(graph_def, name="")
        except ValueError as error:
            raise invalid(str(error)) from None
        known = _known(graph, call)
        ends = _ends(nodes, known, call)
        for name, values in _computed(graph, known, ends).items():
            if all(value.nbytes <= limit for value in values.values()):
                _replace(nodes, name, values, graph)
    nodes.prune(known)
    return nodes.graph_def()


def _without_shapes(graph_def: protos.GraphDef) -> Any:
    result = type(graph_def)()
    result.CopyFrom(graph_def)
    for node in result.node:
        node.attr.pop("_output_shapes", None)
    return result


def _known(graph: Graph, call: Call) -> set[str]:
    """The operations whose values are known now; constants are among them."""
    excluded = {*call.parameters.get("exclude_op", ())}
    stays = {*call.parameters.get("exclude_node", ()), *map(node_name, call.inputs)}
    known: set[str] = set()
    for op in graph.get_operations():
        if op.type == "Const":
            known.add(op.name)
            continue
        if op.type in _NEVER or op.type in excluded or op.name in stays or not op.outputs:
            continue
        if op_defs.op_def(op.type).is_stateful or op.control_inputs:
            continue
        if _is_of_shapes(op):
            found = all(x.shape.is_fully_defined() for x in op.inputs)
        else:
            found = bool(op.inputs) and all(tensor.op.name in known for tensor in op.inputs)
        if found:
            known.add(op.name)
    return known


def _ends(nodes: Nodes, known: set[str], call: Call) -> dict[str, set[int]]:
    """The outputs of known operations that others use."""
    outputs = {node_name(text) for text in call.outputs}
    found: dict[str, set[int]] = {name: {0} for name in known if name in outputs}
    for node in nodes:
        if node.name not in known:
            for text in node.input:
                name, _, output = text.removeprefix("^").partition(":")
                if name in known:
                    found.setdefault(name, set()).add(int(output or 0))
    return {name: used for name, used in found.items() if nodes.get(name).op != "Const"}


def _computed(graph: Graph, known: set[str], ends: dict[str, set[int]]) -> dict[str, dict[int, Any]]:
    """The values of these outputs, for the operations that can be computed."""
    of_shapes = [op for op in graph.get_operations() if op.name in known and _is_of_shapes(op)]
    shapes = {
        y: np.array(op.row.of_shape(x.shape_tuple), y.dtype.as_numpy_dtype)
        for op in of_shapes for x, y in zip(op.inputs, op.outputs, strict=True)
    }  # fmt: skip
    found = {}
    with Session(graph=graph) as session:
        for name, outputs in ends.items():
            op = graph.get_operation_by_name(name)
            try:
                found[name] = session.run({i: op.outputs[i] for i in outputs}, shapes)
            except OpError:
                continue  # it fails where the graph runs, if it does
    return found


def _is_of_shapes(op: Any) -> bool:
    return op.row is not None and op.row.of_shape is not None


def _replace(nodes: Nodes, name: str, values: dict[int, Any], graph: Graph) -> None:
    """Put constants in the place of a node: one of its name for its first output, others for the rest."""
    op, inputs = graph.get_operation_by_name(name), list(nodes.get(name).input)
    names = {i: f"{name}/output_{i}" if i else name for i in values}
    for i, value in values.items():
        nodes.put(constant(names[i], value, op.outputs[i].dtype))
    if 0 not in values:
        nodes.remove(name)
    nodes.redirect(lambda node, i: names[i] if node == name and i > 0 else None)
    nodes.prune(map(node_name, inputs))

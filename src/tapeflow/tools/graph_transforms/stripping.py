"""Transforms that drop nodes, or bring them into order."""

from __future__ import annotations

import functools
from typing import Any

from tapeflow import protos
from tapeflow.core.dtypes import as_dtype
from tapeflow.graph.interchange.graph_util import node_name
from tapeflow.graph.interchange.references import topological
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.tools.graph_transforms.registry import Call, invalid, transform
from tapeflow.tools.nodes import Nodes, data_inputs, made


@transform
def strip_unused_nodes(graph_def: protos.GraphDef, call: Call) -> Any:
    """Keep what the outputs need of the inputs; inputs become placeholders.

    `type` and `shape` are those of placeholders; `name` with `type_for_name` or `shape_for_name` says them for one.
    """
    nodes, inputs = Nodes(graph_def), {node_name(name) for name in call.inputs}
    needed, open_ = set(inputs), [node_name(name) for name in call.outputs]
    while open_:
        name = open_.pop()
        if name in needed and name in inputs:
            continue
        if name not in nodes:
            raise invalid(f"Input node {name} not found in graph")
        if name not in needed:
            needed.add(name)
            open_ += map(node_name, nodes.get(name).input)
    for node in nodes:
        if node.name not in needed:
            nodes.remove(node.name)
        elif node.name in inputs and node.op != "Placeholder":
            nodes.put(_placeholder(node.name, call))
    return nodes.graph_def()


def _placeholder(name: str, call: Call) -> Any:
    kind = _of_name(call, name, "type", "float")
    try:
        node = made("Placeholder", name, dtype=as_dtype(kind))
    except TypeError:
        raise invalid(f"Couldn't understand type argument '{kind}'") from None
    text = _of_name(call, name, "shape", None)
    try:
        sizes = [] if text is None else [int(size) for size in text.split(",")]
    except ValueError:
        raise invalid(f"Could parse as shape: '{text}'") from None
    for size in sizes:
        node.attr["shape"].shape.dim.add(size=size)
    node.attr["shape"].shape.SetInParent()
    return node


def _of_name(call: Call, name: str, what: str, default: str | None) -> str | None:
    """The type or shape of a placeholder, as text."""
    values = call.parameters.get(what, [default])
    if len(values) != 1:
        raise invalid(f"You must pass no more than one default '{what}' to {call.name}")
    names, own = call.parameters.get("name", []), call.parameters.get(f"{what}_for_name", [])
    if own and len(names) != len(own):
        raise invalid(f"You must pass a '{what}_for_name' arg for every 'name'")
    return dict(zip(names, own, strict=False)).get(name, values[0])


@transform
def remove_nodes(graph_def: protos.GraphDef, call: Call) -> Any:
    """Drop the nodes of each `op`: who used one uses its first input. `max_inputs`: how many inputs they may have."""
    if "op" not in call.parameters:
        raise invalid("remove_nodes expects at least one 'op' argument, e.g. remove_nodes(op=Identity)")
    most, ends = call.whole("max_inputs", 1), call.ends
    nodes = Nodes(graph_def)
    for op in call.parameters["op"]:
        removed: dict[str, str] = {}
        waits: dict[str, list[str]] = {}
        left: list[str] = []
        for node in nodes:
            values = data_inputs(node)
            if node.op != op or node.name in ends or not 1 <= len(values) <= most:
                continue
            removed[node.name] = values[0]
            waits[node.name] = list(node.input[len(values) :])
            left += map(node_name, values[1:])
        nodes.remove(*removed)
        _hand_on(nodes, waits)
        nodes.redirect(functools.partial(_through, removed))
        nodes.kept = ends
        nodes.prune(left)
    return nodes.graph_def()


def _hand_on(nodes: Nodes, waits: dict[str, list[str]]) -> None:
    """Let those who use removed nodes wait for what these waited for."""
    for node in nodes:
        names, seen = [node_name(text) for text in node.input], set(node.input)
        while names:
            name = names.pop()
            for text in waits.get(name, ()):
                names.append(node_name(text))
                if text not in seen and node_name(text) not in waits:
                    seen.add(text)
                    node.input.append(text)


def _through(removed: dict[str, str], name: str, output: int) -> str | None:
    """What the removed node of a name was an end of: the first input that stays."""
    seen: set[str] = set()
    text = None
    while name in removed and name not in seen:
        seen.add(name)
        text = removed[name]
        name = node_name(text)
    return text


@transform
def merge_duplicate_nodes(graph_def: protos.GraphDef, call: Call) -> Any:
    """Let one node stand for all that compute the same; inputs, outputs and nodes with effects stay."""
    ends = call.ends
    while True:
        nodes = Nodes(graph_def)
        first: dict[bytes, str] = {}
        same: dict[str, str] = {}
        for node in nodes:
            if not op_defs.known(node.op):
                raise invalid(f"Op type not registered '{node.op}'")
            if node.name in ends or op_defs.op_def(node.op).is_stateful:
                continue
            key = type(node)()
            key.CopyFrom(node)
            key.name = ""
            original = first.setdefault(key.SerializeToString(deterministic=True), node.name)
            if original != node.name:
                same[node.name] = original
        if not same:
            return nodes.graph_def()
        nodes.remove(*same)
        nodes.redirect(functools.partial(_first_of, same))
        graph_def = nodes.graph_def()


def _first_of(same: dict[str, str], name: str, output: int) -> str | None:
    """The output of the node that stands for the node of a name; None for others."""
    return None if name not in same else f"{same[name]}:{output}" if output > 0 else same[name]


@transform
def sort_by_execution_order(graph_def: protos.GraphDef, call: Call) -> Any:
    """Put each node after those that it needs.

    Raises InvalidArgumentError for a graph with a cycle other than a loop's.
    """
    nodes = list(graph_def.node)
    turns = {node.name for node in nodes if node.op == "NextIteration"}
    given = {text for node in nodes for text in node.input if node_name(text) in turns}
    try:
        order = topological(nodes, lambda text: (node_name(text), 0), given)
    except ValueError as error:
        raise invalid(str(error)) from None
    result = type(graph_def)()
    result.node.extend(nodes[i] for i in order)
    result.versions.CopyFrom(graph_def.versions)
    return result

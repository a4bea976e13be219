"""Transforms of what nodes are called and carry: names, ops, devices, attrs and control inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow import protos
from tapeflow.graph.interchange.graph_util import node_name
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.tools.graph_transforms.registry import Call, invalid, transform

_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _each(graph_def: protos.GraphDef, change: Callable[[Any], None]) -> Any:
    """A copy of a `GraphDef` whose nodes are changed."""
    result = type(graph_def)()
    result.CopyFrom(graph_def)
    for node in result.node:
        change(node)
    return result


@transform
def rename_attribute(graph_def: protos.GraphDef, call: Call) -> Any:
    """Give an attr another name, in all nodes or those of `op_name`."""
    old, new = call.only("old_attribute_name", "new_attribute_name")
    op = call.text("op_name", "*")

    def change(node):
        if op in ("*", node.op) and old in node.attr:
            node.attr[new].CopyFrom(node.attr[old])
            del node.attr[old]

    return _each(graph_def, change)


@transform
def remove_attribute(graph_def: protos.GraphDef, call: Call) -> Any:
    """Drop an attr, in all nodes or those of `op_name`."""
    (name,) = call.only("attribute_name")
    op = call.text("op_name", "*")
    return _each(graph_def, lambda node: node.attr.pop(name, None) if op in ("*", node.op) else None)


@transform
def set_device(graph_def: protos.GraphDef, call: Call) -> Any:
    """Place all nodes on `device`; `if_default`: only those that have none."""
    device, only_unset = call.text("device"), call.flag("if_default", False)

    def change(node):
        if not (only_unset and node.device):
            node.device = device

    return _each(graph_def, change)


@transform
def remove_device(graph_def: protos.GraphDef, call: Call) -> Any:
    """Place no node on a device."""
    return _each(graph_def, lambda node: node.ClearField("device"))


@transform
def rename_op(graph_def: protos.GraphDef, call: Call) -> Any:
    """Give the nodes of an op another one."""
    old, new = call.only("old_op_name", "new_op_name")

    def change(node):
        if node.op == old:
            node.op = new

    return _each(graph_def, change)


@transform
def rename_node(graph_def: protos.GraphDef, call: Call) -> Any:
    """Give one node another name."""
    old, new = call.only("old_node_name", "new_node_name")
    if any(node.name == new for node in graph_def.node):
        raise invalid(f"A node named '{new}' is in the graph already")
    return _renamed(graph_def, {old: new})


def _renamed(graph_def: protos.GraphDef, names: dict[str, str]) -> Any:
    def change(node):
        node.name = names.get(node.name, node.name)
        for i, text in enumerate(node.input):
            name = node_name(text)
            if name in names:
                sign = "^" if text.startswith("^") else ""
                node.input[i] = sign + names[name] + text.removeprefix("^")[len(name) :]

    return _each(graph_def, change)


@transform
def obfuscate_names(graph_def: protos.GraphDef, call: Call) -> Any:
    """Give all nodes but inputs and outputs the shortest names that are free, which say nothing."""
    names, number, kept = {}, 0, call.ends
    for node in graph_def.node:
        if node.name in kept:
            continue
        while (new := _in_letters(number)) in kept:
            number += 1
        names[node.name] = new
        number += 1
    return _renamed(graph_def, names)


def _in_letters(number: int) -> str:
    rest, last = divmod(number, len(_LETTERS))
    return (_in_letters(rest) if rest else "") + _LETTERS[last]


@transform
def remove_control_dependencies(graph_def: protos.GraphDef, call: Call) -> Any:
    """Let no node wait for another that it takes no value of."""

    def change(node):
        kept = [text for text in node.input if not text.startswith("^")]
        del node.input[:]
        node.input.extend(kept)

    return _each(graph_def, change)


@transform
def add_default_attributes(graph_def: protos.GraphDef, call: Call) -> Any:
    """Write the attrs that nodes leave out because they have their defaults.

    Raises InvalidArgumentError for an op that is not known.
    """
    functions = {function.signature.name for function in graph_def.library.function}

    def change(node):
        if node.op in functions:
            return
        if not op_defs.known(node.op):
            raise invalid(f"Op type not registered '{node.op}'")
        for attr in op_defs.op_def(node.op).attr:
            if attr.HasField("default_value") and attr.name not in node.attr:
                node.attr[attr.name].CopyFrom(attr.default_value)

    return _each(graph_def, change)

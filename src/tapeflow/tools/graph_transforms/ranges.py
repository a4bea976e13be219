"""Transforms that print what nodes compute, and make constants of the ranges that a run has printed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.gfile import GFile
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.ops.quantize.arithmetic import RequantizationRange
from tapeflow.tools.graph_transforms.registry import Call, invalid, transform
from tapeflow.tools.nodes import Nodes, constant, data_inputs, made, parts_of

_PRINTED = "__print__"
_RANGE = re.compile(r"([^;]*)__print__;__requant_min_max:\[([^\]]*)\]\[([^\]]*)\]")


@transform
def insert_logging(graph_def: protos.GraphDef, call: Call) -> Any:
    """Print the outputs of nodes: of those of each `op`, and of those whose names begin with each `prefix`.

    `message` comes first, after the op if `show_op`, and the name if `show_name`; `first_n` and `summarize` are those
    of `Print`.
    """
    ops, prefixes = call.parameters.get("op"), call.parameters.get("prefix")
    message, names, kinds = call.text("message"), call.flag("show_name", False), call.flag("show_op", False)
    first, most = call.whole("first_n", -1), call.whole("summarize", 1024)
    nodes = Nodes(graph_def)
    used: dict[str, set[int]] = {}
    for node in nodes:
        for text in data_inputs(node):
            _, name, output = parts_of(text)
            used.setdefault(name, set()).add(output)
    printed = {}
    for node in nodes:
        if node.name not in used or (ops and node.op not in ops):
            continue
        if prefixes and not node.name.startswith(tuple(prefixes)):
            continue
        name = node.name + _PRINTED
        text = (f";{node.op};" if kinds else "") + (f";{name};" if names else "") + message
        outputs = sorted(used[node.name])
        inputs = [f"{node.name}:{i}" for i in (0, *outputs)]
        logged = made("Print", name, inputs, message=text, first_n=first, summarize=most)
        types = _output_types(node)
        logged.attr["T"].type = types[0]
        logged.attr["U"].list.type.extend(types[i] for i in outputs)
        printed[node.name] = logged
    nodes.redirect(lambda name, i: printed[name].name if name in printed and i == 0 else None)
    nodes.put(*printed.values())
    return nodes.graph_def()


def _output_types(node: protos.NodeDef) -> list[int]:
    """The numbers of the dtypes of a node's outputs."""
    if not op_defs.known(node.op):
        raise invalid(f"Op type not registered '{node.op}'")
    definition = op_defs.op_def(node.op)
    defaults = {attr.name: attr.default_value for attr in definition.attr}

    def attr(name: str):
        return node.attr[name] if name in node.attr else defaults[name]

    found: list[int] = []
    for argument in definition.output_arg:
        if argument.type_list_attr:
            found += attr(argument.type_list_attr).list.type
        else:
            kind = attr(argument.type_attr).type if argument.type_attr else argument.type
            found += [kind] * (attr(argument.number_attr).i if argument.number_attr else 1)
    return found


@transform
def freeze_requantization_ranges(graph_def: protos.GraphDef, call: Call) -> Any:
    """Replace each `RequantizationRange` by the range that it had in a run, of which `min_max_log_file` is the log.

    The run printed the ranges by `insert_logging(op=RequantizationRange, show_name=true,
    message="__requant_min_max:")`. `min_percentile` and `max_percentile` (5) say how many values lie outside.

    Raises InvalidArgumentError for a file without ranges, and for nodes that are not there.
    """
    file = call.text("min_max_log_file")
    if not file:
        raise invalid("You must pass a file name to min_max_log_file")
    lowest, highest = call.number("min_percentile", 5.0), call.number("max_percentile", 5.0)
    with GFile(file) as log:
        records = [match.groups() for match in _RANGE.finditer(log.read())]
    if not records:
        raise invalid("No min/max range logs were found in the log file")
    seen: dict[str, list[tuple[float, float]]] = {}
    for name, low, high in records:
        seen.setdefault(name, []).append((float(low), float(high)))
    nodes = Nodes(graph_def)
    for name, values in seen.items():
        if name not in nodes:
            raise invalid("Nodes were found in the log file that aren't present in the graph")
        if nodes.get(name).op != RequantizationRange.name:
            raise invalid(f"Node is expected to be a RequantizationRange op: {name}, but is: {nodes.get(name).op}")
        lows, highs = (np.sort(each) for each in zip(*values, strict=True))
        least = min(round(len(lows) * lowest / 100), len(lows) - 1)
        greatest = min(round(len(highs) * (1 - highest / 100)), len(highs) - 1)
        inputs = list(nodes.get(name).input)
        nodes.remove(name)
        nodes.put(constant(f"{name}/frozen_min", np.float32(lows[max(least, 0)])),
                  constant(f"{name}/frozen_max", np.float32(highs[max(greatest, 0)])))  # fmt: skip
        nodes.kept = call.ends
        nodes.prune(inputs)
    nodes.redirect(lambda name, i: f"{name}/frozen_{('min', 'max')[i]}" if name in seen and i >= 0 else None)
    return nodes.graph_def()

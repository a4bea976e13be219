"""`tf.profiler.profile` of 1.x."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tapeflow import protos
from tapeflow.api import api, api_value
from tapeflow.core import context
from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.core.public import public
from tapeflow.graph.graph import Graph
from tapeflow.v1.profiler import report
from tapeflow.v1.profiler.nodes import ROOT, Node, tree_of
from tapeflow.v1.profiler.options import ProfileOptionBuilder

# Options by what they are the least of: of a node's own, and of all in it.
_LEAST_OWN = {"min_params": "params", "min_float_ops": "float_ops"}
_LEAST_TOTAL = {
    "min_micros": "micros", "min_cpu_micros": "micros", "min_bytes": "bytes", "min_peak_bytes": "peak_bytes",
    "min_residual_bytes": "residual_bytes", "min_output_bytes": "output_bytes",
}  # fmt: skip
_FIELDS = {
    "exec_micros": "micros", "cpu_exec_micros": "micros", "requested_bytes": "bytes", "peak_bytes": "peak_bytes",
    "residual_bytes": "residual_bytes", "output_bytes": "output_bytes", "parameters": "params",
    "float_ops": "float_ops",
}  # fmt: skip

api_value("GraphNodeProto", v1="profiler.GraphNodeProto")
api_value("MultiGraphNodeProto", v1="profiler.MultiGraphNodeProto")


def __getattr__(name: str) -> Any:
    if name in ("GraphNodeProto", "MultiGraphNodeProto"):
        return getattr(protos, f"tfprof.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@api(v1="profiler.profile")
@public
def profile(
    graph: Graph | None = None, run_meta: Any = None, op_log: Any = None, cmd: str = "scope",
    options: Mapping[str, Any] | None = None,
) -> Any:  # fmt: skip
    """Show and return what the operations of a graph have and cost.

    Args:
      graph: the graph; None: the default one.
      run_meta: a RunMetadata of a run with FULL_TRACE, for times and memory.
      op_log: accepted for compatibility; must be None.
      cmd: "scope" for a tree of the scopes of names, "op" for the types of operations.
      options: what to show, and where: see `ProfileOptionBuilder`; None: its defaults.

    Returns:
      A GraphNodeProto of the tree, or a MultiGraphNodeProto of the types, each in the one before it.

    Raises:
      InvalidArgumentError: for an unknown `cmd`.
      UnimplementedError: for the commands "graph" and "code", and for an `op_log`.
    """
    if cmd in ("graph", "code") or op_log is not None:
        what = "an op_log" if op_log is not None else f"the command {cmd!r}"
        raise UnimplementedError(None, None, f"Profiles with {what} are not supported; use 'scope' or 'op'.")
    if cmd not in ("scope", "op"):
        raise InvalidArgumentError(None, None, f"unknown cmd: {cmd}\n")
    given = {**ProfileOptionBuilder().build(), **(options or {})}
    if graph is None:
        with context.init_scope():
            graph = context.current_graph() or Graph()
    shown = (_scopes if cmd == "scope" else _types)(tree_of(graph, run_meta), given)
    report.write(shown, cmd, given)
    return _tree_proto(shown) if cmd == "scope" else _types_proto(shown)


@dataclasses.dataclass
class Shown:
    """A line of a profile.

    Args:
      node: what it tells of; of types, one without an operation.
      accounted: whether it counts itself.
      total: what it and those in it have and cost.
      children: the lines in it.
      members: of a type, its operations.
    """

    node: Node
    accounted: bool
    total: Counter[str]
    children: list[Shown]
    members: list[Node] = dataclasses.field(default_factory=list)


def _matches(patterns: Iterable[str], *names: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in patterns for name in names)


def _by_order(options: Mapping[str, Any]) -> Callable[[Shown], Any]:
    key = options["order_by"]
    if key in ("name", "depth"):
        return lambda shown: shown.node.name
    return lambda shown: (-shown.total[key], shown.node.name)


def _accounts(node: Node, options: Mapping[str, Any]) -> bool:
    return node.name != ROOT and _matches(options["account_type_regexes"], *node.types)


def _is_shown(line: Shown, depth: int, options: Mapping[str, Any]) -> bool:
    if line.node.name == ROOT:
        return True
    return (
        depth <= options["max_depth"]
        and all(line.node.own[key] >= options.get(name, 0) for name, key in _LEAST_OWN.items())
        and all(line.total[key] >= options.get(name, 0) for name, key in _LEAST_TOTAL.items())
        and options.get("min_accelerator_micros", 0) <= 0
        and _matches(options["show_name_regexes"], line.node.name)
        and not _matches(options["hide_name_regexes"], line.node.name)
    )


def _scopes(root: Node, options: Mapping[str, Any]) -> Shown:
    """The tree of what is shown; what is in something that is not shown moves up."""
    starts = _starts(root, options["start_name_regexes"])
    if starts != [root]:
        root = Node(ROOT, children={node.name: node for node in starts})
    (shown,) = _lines(root, 0, options)[0]
    return shown


def _starts(node: Node, patterns: list[str]) -> list[Node]:
    if _matches(patterns, node.name):
        return [node]
    return [start for child in node.children.values() for start in _starts(child, patterns)]


def _lines(node: Node, depth: int, options: Mapping[str, Any]) -> tuple[list[Shown], Counter[str], bool]:
    """(the lines of a node, what all in it has and costs, whether anything in it is accounted)."""
    if node.name != ROOT and _matches(options["trim_name_regexes"], node.name):
        return [], Counter(), False
    lines: list[Shown] = []
    accounted = _accounts(node, options)
    everything, any_inside = Counter(node.own if accounted else {}), accounted
    for child in node.children.values():
        below, total, inside = _lines(child, depth + 1, options)
        lines += below
        everything += total
        any_inside = any_inside or inside
    if not any_inside and node.name != ROOT:
        return [], Counter(), False
    total = everything
    lines.sort(key=_by_order(options))
    line = Shown(node, accounted, everything, lines)
    if not _is_shown(line, depth, options):
        return lines, everything, any_inside
    if options["account_displayed_op_only"]:
        total = Counter(node.own if accounted else {})
        for child_line in lines:
            total += child_line.total
        line.total = total
    return [line], everything, any_inside


def _types(root: Node, options: Mapping[str, Any]) -> Shown:
    """The types of operations, in a list below the root."""
    found: dict[str, Shown] = {}
    for node in root.all():
        if node.operation is None or not _accounts(node, options):
            continue
        if _matches(options["show_name_regexes"], node.name):
            kind = node.operation.type
            line = found.setdefault(kind, Shown(Node(kind, [kind]), True, Counter(), []))
            line.node.own += node.own
            line.total += node.own
            line.members.append(node)
    lines = [
        line
        for line in found.values()
        if all(line.node.own[key] >= options.get(name, 0) for name, key in {**_LEAST_OWN, **_LEAST_TOTAL}.items())
        and line.node.own["occurrence"] >= options.get("min_occurrence", 0)
    ]
    lines.sort(key=_by_order(options))
    rest: Counter[str] = Counter()
    for line in reversed(lines):  # the total of a line is of it and of those after it
        rest = rest + line.node.own
        line.total = rest
    return Shown(root, False, rest, lines)


def _fill(proto: Any, own: Counter[str], total: Counter[str]) -> None:
    for field, key in _FIELDS.items():
        setattr(proto, field, own[key])
        setattr(proto, f"total_{field}", total[key])


def _node_proto(line: Shown) -> Any:
    proto = getattr(protos, "tfprof.GraphNodeProto")(name=line.node.name)
    own = line.node.own if line.accounted else Counter()
    _fill(proto, own, line.total)
    proto.run_count, proto.total_run_count = own["runs"], line.total["runs"]
    proto.total_definition_count = line.total["occurrence"]
    if line.node.operation is not None:
        if line.node.operation.device:
            proto.devices.append(line.node.operation.device)
        for i, tensor in enumerate(line.node.operation.inputs):
            if tensor.shape.rank is not None:
                proto.input_shapes[i].CopyFrom(tensor.shape.as_proto())
    if line.node.shape is not None:
        shape = proto.shapes.add()
        for size in line.node.shape:
            shape.dim.add(size=size)
    return proto


def _tree_proto(line: Shown) -> Any:
    proto = _node_proto(line)
    proto.children.extend(_tree_proto(child) for child in line.children)
    return proto


def _types_proto(root: Shown) -> Any:
    make = getattr(protos, "tfprof.MultiGraphNodeProto")
    below = None
    for line in reversed(root.children):
        proto = make(name=line.node.name)
        _fill(proto, line.node.own, line.total)
        proto.graph_nodes.extend(_node_proto(Shown(node, True, node.own, [])) for node in line.members)
        if below is not None:
            proto.children.append(below)
        below = proto
    found = make(name=ROOT)
    _fill(found, Counter(), root.total)
    if below is not None:
        found.children.append(below)
    return found

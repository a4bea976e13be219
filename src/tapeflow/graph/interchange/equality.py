"""Whether two graphs are equal."""

from __future__ import annotations

from typing import Any

from tapeflow import protos
from tapeflow.core.files import tensor_proto


def graph_defs_equal(graph_def_1: Any, graph_def_2: Any, treat_nan_as_equal: bool = False) -> bool:
    """Whether two GraphDefs have equal nodes, in any order, and equal functions.

    Args:
      graph_def_1: a GraphDef.
      graph_def_2: another one.
      treat_nan_as_equal: whether constants that are not a number in the same places are equal.

    Raises TypeError for what is no GraphDef.
    """
    for each in (graph_def_1, graph_def_2):
        if getattr(getattr(each, "DESCRIPTOR", None), "full_name", "") != "tensorflow.GraphDef":
            raise TypeError(f"Expected a GraphDef, but got {type(each)}")
    pairs = [(graph_def_1.node, graph_def_2.node)]
    functions = [{f.signature.name: f for f in g.library.function} for g in (graph_def_1, graph_def_2)]
    if functions[0].keys() != functions[1].keys():
        return False
    for name, one in functions[0].items():
        other = functions[1][name]
        if one.signature != other.signature or dict(one.ret) != dict(other.ret):
            return False
        pairs.append((one.node_def, other.node_def))
    return all(_nodes_equal(a, b, treat_nan_as_equal) for a, b in pairs)


def _nodes_equal(one: Any, other: Any, nan_equal: bool) -> bool:
    named = {node.name: node for node in other}
    return len(one) == len(other) and all(
        node.name in named and _node_equal(node, named[node.name], nan_equal) for node in one
    )


def _node_equal(a: Any, b: Any, nan_equal: bool) -> bool:
    if (a.op, a.device, _inputs(a)) != (b.op, b.device, _inputs(b)) or set(a.attr) != set(b.attr):
        return False
    return all(a.attr[key] == b.attr[key] or _constants_equal(a.attr[key], b.attr[key], nan_equal) for key in a.attr)


def _inputs(node: protos.NodeDef) -> tuple[list[str], list[str]]:
    data = [name for name in node.input if not name.startswith("^")]
    return data, sorted(name for name in node.input if name.startswith("^"))


def _constants_equal(a: Any, b: Any, nan_equal: bool) -> bool:
    if not (a.HasField("tensor") and b.HasField("tensor")) or a.tensor.dtype != b.tensor.dtype:
        return False
    one, other = tensor_proto.make_ndarray(a.tensor), tensor_proto.make_ndarray(b.tensor)
    if one.shape != other.shape:
        return False
    same = one == other
    if nan_equal and one.dtype.kind in "fc":
        same = same | ((one != one) & (other != other))
    return bool(same.all())

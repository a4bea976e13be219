"""Whether two GraphDefs describe the same graph."""

from __future__ import annotations

import re
from typing import Any

from tapeflow import protos
from tapeflow.core.public import boundaries

# Names that are drawn anew for each graph: folders of checkpoints in parts, and tables.
_DRAWN_FOLDER, _DRAWN_TABLE = re.compile(r"_temp_[a-z0-9]{32}/part"), re.compile(r"hash_table_[0-9a-z\-]+")


def assert_equal_graph_def(expected: protos.GraphDef, actual: protos.GraphDef) -> None:
    """Fail where two GraphDefs have different nodes.

    Neither the order of nodes, of attributes and of control inputs counts, nor attributes whose names begin with an
    underscore, nor versions. Names that are drawn anew for each graph are taken to be equal.

    Args:
      expected: the one.
      actual: the other.

    Raises:
      AssertionError: which says the first difference.
      TypeError: for what is no GraphDef.
    """
    assert_equal_graph_def_v1(actual, expected, checkpoint_v2=True, hash_table_shared_name=True)


def assert_equal_graph_def_v1(
    actual: protos.GraphDef, expected: protos.GraphDef, checkpoint_v2: bool = False,
    hash_table_shared_name: bool = False,
) -> None:  # fmt: skip
    """`assert_equal_graph_def` with the arguments of 1.x.

    Args:
      actual, expected: the GraphDefs.
      checkpoint_v2: take the names of temporary folders to be equal.
      hash_table_shared_name: take the names of tables to be equal.
    """
    for what, given in (("actual", actual), ("expected", expected)):
        if not isinstance(given, protos.GraphDef):
            raise TypeError(f"Expected tf.GraphDef for {what}, got {type(given).__name__}")
    drawn = [pattern for pattern, on in ((_DRAWN_FOLDER, checkpoint_v2), (_DRAWN_TABLE, hash_table_shared_name)) if on]
    found = _difference(actual, expected, drawn)
    if found:
        raise AssertionError(found)


def _difference(actual: Any, expected: Any, drawn: list[re.Pattern[str]]) -> str | None:
    wanted = {node.name: node for node in expected.node}
    for node in actual.node:
        other = wanted.pop(node.name, None)
        if other is None:
            return f"Found unexpected node '{node.name}' of op {node.op}"
        mine, its = _facts(node, drawn), _facts(other, drawn)
        for what in sorted({*mine, *its}):
            if mine.get(what) != its.get(what):
                return f"Node named '{node.name}' has {what} {mine.get(what)}, expected {its.get(what)}"
    for name, node in wanted.items():
        return f"Did not find expected node '{name}' of op {node.op}"
    return None


def _facts(node: Any, drawn: list[re.Pattern[str]]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "op": node.op,
        "device": node.device,
        "inputs": [name for name in node.input if not name.startswith("^")],
        "control inputs": sorted(name for name in node.input if name.startswith("^")),
    }
    for name, value in node.attr.items():
        if not name.startswith("_") and not any(_names(pattern, value) for pattern in drawn):
            found[f"attr {name}"] = value
    return found


def _names(pattern: re.Pattern[str], value: Any) -> bool:
    texts = [value.s, *value.tensor.string_val]
    return any(pattern.match(text.decode(errors="replace")) for text in texts)


boundaries(globals())

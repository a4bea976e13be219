"""What the inputs of nodes refer to, and the order that follows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.graph.topology import in_order

_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")


def split_reference(text: str) -> tuple[str, int]:
    """Name and number of an input: "node:3" -> ("node", 3), "node" -> ("node", 0); -1 for a control input."""
    if text.startswith("^"):
        return text[1:], -1
    name, colon, number = text.rpartition(":")
    if colon and number.isascii() and number.isdigit() and len(number) < 9:
        return name, int(number)
    return text, 0


def topological(
    nodes: Sequence[Any], split: Callable[[str], tuple[str, int]], given: set[str]
) -> list[int]:
    """The numbers of the nodes, each after those that it needs, else as they are.

    Args:
      split: takes the name of a node out of an input's.
      given: inputs, as they are written, that need no node.

    Raises ValueError for names that are wrong, taken twice or missing, and for cycles.
    """
    by_name: dict[str, int] = {}
    for i, node in enumerate(nodes):
        if not _NAME.match(node.name):
            raise ValueError(f"Node '{node.name}': Node name contains invalid characters")
        if node.name in by_name:
            raise ValueError(f"Node '{node.name}' is not unique")
        by_name[node.name] = i
    needs: dict[int, list[int]] = {}
    for i, node in enumerate(nodes):
        needs[i] = []
        controls = False
        for text in node.input:
            if controls and not text.startswith("^"):
                raise ValueError(
                    f"Node '{node.name}': Control dependencies must come after regular dependencies"
                )
            controls = text.startswith("^")
            if text in given:
                continue
            source = by_name.get(split(text)[0])
            if source is None:
                raise ValueError(f"Node '{node.name}': Unknown input node '{text}'")
            needs[i].append(source)
    order = in_order(needs, lambda i: i)
    if len(order) < len(nodes):
        done = set(order)
        stuck = [node.name for i, node in enumerate(nodes) if i not in done]
        raise ValueError(f"{len(stuck)} nodes in a cycle: {', '.join(stuck[:5])}")
    return order

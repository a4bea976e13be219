"""What makes nodes of control flow while a graph is built: the `graph` package provides it."""

from __future__ import annotations

from typing import Any

# The staged half; an object with cond, loop, switch, ... once graphs are there.
nodes: Any = None


def register_staging(makers: type) -> None:
    """Say what makes nodes of control flow."""
    global nodes
    nodes = makers


def staged(*values) -> bool:
    return nodes is not None and nodes.active(*values)

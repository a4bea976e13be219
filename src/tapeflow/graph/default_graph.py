"""The graph that operations go to where none was entered."""

from __future__ import annotations

from tapeflow.api import api
from tapeflow.core import context
from tapeflow.graph.graph import Graph


class _Defaults:
    """The graph that operations go to where the process builds graphs and none was entered."""

    def __init__(self) -> None:
        self.graph: Graph | None = None


_defaults = _Defaults()


def default_graph() -> Graph:
    if _defaults.graph is None:
        _defaults.graph = Graph()
    return _defaults.graph


def known_default_graph() -> Graph | None:
    """The default graph, None before there is one."""
    return _defaults.graph


@api(v1="get_default_graph")
def get_default_graph() -> Graph:
    """The graph that operations of this thread go to, or would if they were not eager."""
    graph = context.current_graph()
    if graph is None:
        graph = context.innermost_graph()
    return default_graph() if graph is None else graph


@api(v1="reset_default_graph")
def reset_default_graph() -> None:
    """A new default graph. Raises AssertionError inside of a graph's block."""
    if context.inside_graph():
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the "
            "nesting and create a new graph."
        )
    _defaults.graph = Graph()

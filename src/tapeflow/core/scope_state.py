"""Where one is among the variable scopes of 1.x: in each graph, and eagerly, with its functions, in each thread.

The scopes themselves are made far above; the names that optimizers give to what they keep depend on them, too.
"""

from __future__ import annotations

import enum
import sys
import threading
from typing import Any

from tapeflow.api import api_value
from tapeflow.core import context


class _ReuseMode(enum.Enum):
    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE
api_value("AUTO_REUSE", v1="AUTO_REUSE")


class State(threading.local):
    """The scope (None before the first), the reuse of the outermost, how often each name was opened, the stores.

    Each thread has scopes of its own, and shares the variables.

    Eagerly there is a store only while a program makes one the default; functions that are traced meanwhile find their
    variables in another, where each of their traces finds the same.
    """

    def __init__(self, reuse: Any, store: dict[str, Any] | None) -> None:
        self.scope: Any = None
        self.reuse = reuse
        self.opened: dict[str, int] = {}
        self.store = store

    @property
    def variables(self) -> dict[str, Any] | None:
        """Where `get_variable` finds and keeps variables, by name; None: nowhere."""
        return _of_functions() if self.store is None and context.current_graph() is not None else self.store

    @property
    def prefix(self) -> str:
        """What the names of variables begin with: "" or a name that ends with "/"."""
        return f"{self.scope.name}/" if self.scope is not None and self.scope.name else ""


def _of_functions() -> dict[str, Any]:
    """The variables of functions outside of graphs, whichever thread traces them: the default graph keeps them."""
    graph = sys.modules["tapeflow.graph.default_graph"].default_graph()  # which is loaded where functions are traced
    found: dict[str, Any] = graph.__dict__.setdefault("_traced_variables", {})
    return found


class _Eager(threading.local):
    """The scopes of eager code, which `tf.reset_default_graph` forgets with those of the graph."""

    def __init__(self) -> None:
        self._state = State(AUTO_REUSE, None)
        self._graph: Any = None

    @property
    def state(self) -> State:
        graphs = sys.modules.get("tapeflow.graph.default_graph")
        graph = None if graphs is None else graphs.known_default_graph()
        if graph is not self._graph:
            if self._graph is not None:
                self._state = State(AUTO_REUSE, None)
            self._graph = graph
        return self._state


_eager = _Eager()


def state() -> State:
    """The state of the graph being built, not of a function in it that has none of its own, else that of the thread."""
    graph = context.current_graph()
    while graph is not None and graph.building_function and "_variable_state" not in graph.__dict__:
        graph = graph.enclosing_graph
    return _eager.state if graph is None else of_graph(graph)


def of_graph(graph: Any) -> State:
    """The state of a graph, which it has from now on."""
    found = graph.__dict__.get("_variable_state")
    if found is None:
        found = graph.__dict__["_variable_state"] = State(False, {})
    return found


def unique(prefix: str, name: str) -> str:
    """`name`, or the first of `name_1`, `name_2`... of which no scope is open under `prefix`."""
    opened = state().opened
    found, index = name, 0
    while opened.get(prefix + found):
        index += 1
        found = f"{name}_{index}"
    return found


def claim(name: str) -> str:
    """The full name of a scope that is called `name`, made unique below the current one; it counts as opened."""
    now = state()
    full = now.prefix + unique(now.prefix, name)
    now.opened[full] = now.opened.get(full, 0) + 1
    return full

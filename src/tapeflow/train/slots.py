"""Variables that an optimizer keeps beside each variable it trains."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable
from typing import Any

from tapeflow._native import EagerTensor
from tapeflow.core import context
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.dtensor import placed
from tapeflow.core.scope_state import claim
from tapeflow.ops.state.variable import Variable


class Slots:
    """Slot variables by trained variable and slot name; they go when the trained variable goes."""

    def __init__(self):
        self._by_variable = {}

    def of(self, variable):
        """The dict of slots of one variable, made empty when there is none."""
        key = id(variable)
        entry = self._by_variable.get(key)
        if entry is None or entry[0]() is not variable:
            table = self._by_variable
            entry = (weakref.ref(variable, lambda _: table.pop(key, None)), {})
            table[key] = entry
        return entry[1]

    def get(self, variable: Any, name: str):
        """One slot, or None."""
        entry = self._by_variable.get(id(variable))
        return entry[1].get(name) if entry is not None and entry[0]() is variable else None

    def __getstate__(self):
        # Beside their variables: by what number an object is known holds in one process only.
        return {"pairs": [(var, slots) for ref, slots in self._by_variable.values() if (var := ref()) is not None]}

    def __setstate__(self, state):
        self._by_variable = {}
        for variable, slots in state["pairs"]:
            self.of(variable).update(slots)

    def names(self):
        """The names in use, sorted."""
        return sorted({name for _, slots in self._by_variable.values() for name in slots})

    def all(self, by_variable: bool = True):
        """All slot variables, variable by variable, or else slot name by slot name."""
        tables = [slots for _, slots in self._by_variable.values()]
        if by_variable:
            return [slot for slots in tables for slot in slots.values()]
        names = dict.fromkeys(name for slots in tables for name in slots)
        return [slots[name] for name in names for slots in tables if name in slots]


class OwnVariables:
    """The variables of an optimizer that belong to no trained one: by name, in each graph and eagerly."""

    def __init__(self):
        self._eager = {}
        self._by_graph = weakref.WeakKeyDictionary()

    def here(self):
        """Those of the place where a variable would be made now, as a dict to change."""
        if context.executing_eagerly():
            return self._eager
        with context.init_scope():
            graph = context.current_graph()
        return self._eager if graph is None else self._by_graph.setdefault(graph, {})

    def __getstate__(self):
        return {"eager": self._eager}

    def __setstate__(self, state):
        self.__init__()
        self._eager.update(state["eager"])


def graph_of(variable):
    """The graph that a variable belongs to; None for one of eager code."""
    return getattr(variable, "graph", None)


def base_name(variable):
    """The name of a variable without ":0"."""
    return getattr(variable, "_shared_name", variable.name).partition(":")[0]


def make_slot(start: Callable[..., Any], primary: Any, label: str, dtype: DTypeLike | None):
    """A variable that is kept beside the variable (or tensor) `primary`, begins with `start()` and is not trained.

    It is made outside of the functions that are being traced, and outlives them. Its name is that of a variable
    scope "primary/label": names in checkpoints depend on it.
    """
    with context.init_scope(), context.name_scope(""), on_device_of(primary):
        name = claim(f"{base_name(primary)}/{label}")
        return Variable(start(), trainable=False, name=name, dtype=dtype)


def _in_graph_beside(variable: Any):
    """The scope of the device of a variable or tensor of the graph being built; no scope elsewhere."""
    graph, op = context.current_graph(), None if context.executing_eagerly() else getattr(variable, "op", None)
    here = graph is not None and op is not None and op.graph is graph
    return graph.colocate_with(op) if here else contextlib.nullcontext()


def on_device_of(primary):
    """The scope of the device, the mesh, or the parameter server where the variable or tensor is."""
    if hasattr(primary, "colocated"):
        return primary.colocated()
    layout = placed.layout_of(primary)
    if layout is not None:
        return placed.within(layout.mesh, layout)
    if not context.executing_eagerly():
        return _in_graph_beside(primary)
    there = isinstance(primary, (Variable, EagerTensor))
    return context.device(primary.device) if there else contextlib.nullcontext()


def make_own(start: Callable[..., Any], name: str, dtype, scope: str, beside: Any = None):
    """A variable of an optimizer itself, which begins with `start()`, in the name scope where it was applied.

    In a graph it is on the device of the variable `beside`.
    """
    with context.init_scope(), context.name_scope(scope), _in_graph_beside(beside):
        return Variable(start(), trainable=False, name=name, dtype=dtype)

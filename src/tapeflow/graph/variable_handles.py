"""Which handle stands for a variable in a graph."""

from __future__ import annotations

from typing import Any


class VariableHandles:
    """The handle of each variable that a graph knows; both are compared by identity, and a handle has one variable."""

    def __init__(self) -> None:
        self._items: dict[int, tuple[Any, Any]] = {}  # by the id of the variable; keeps both, so that ids stay theirs
        self._variables: dict[int, Any] = {}  # by the id of the handle

    def get(self, variable: Any) -> Any:
        found = self._items.get(id(variable))
        return None if found is None else found[1]

    def variable_of(self, handle: Any) -> Any:
        """The variable whose handle is this very tensor, or None."""
        return self._variables.get(id(handle))

    def __setitem__(self, variable: Any, handle: Any) -> None:
        if id(variable) in self._items:
            del self[variable]
        self._items[id(variable)] = (variable, handle)
        self._variables.setdefault(id(handle), variable)

    def __delitem__(self, variable: Any) -> None:
        _, handle = self._items.pop(id(variable))
        if self._variables.get(id(handle)) is variable:
            del self._variables[id(handle)]

    def items(self) -> list[tuple[Any, Any]]:
        return list(self._items.values())

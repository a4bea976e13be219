"""The collections of a graph: lists of values under names."""

from __future__ import annotations

import re
from typing import Any


class Collections:
    """What a `Graph` knows of its collections."""

    _collections: dict[Any, list[Any]]
    _finalized: bool

    @property
    def collection_lists(self) -> dict[Any, list[Any]]:
        """The lists themselves, by name."""
        return self._collections

    @property
    def collections(self) -> list[Any]:
        return list(self._collections)

    def get_all_collection_keys(self) -> list[Any]:
        """The names of all collections."""
        return [key for key in self._collections if isinstance(key, str)]

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Append a value to the collection of a name."""
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Append a value to each of some collections; `names` is one name or several."""
        for name in (names,) if isinstance(names, str) else set(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The list itself, made if there is none."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of a collection; with `scope`, of the items whose name begins with it (a regular expression)."""
        found = self._collections.get(name)
        if found is None:
            return []
        if scope is None:
            return list(found)
        pattern = re.compile(scope)
        return [item for item in found if hasattr(item, "name") and pattern.match(item.name)]

    def clear_collection(self, name: str) -> None:
        """Remove a collection with all it has."""
        self._check_not_finalized()
        self._collections.pop(name, None)

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

"""The store of the variables that `get_variable` makes, which libraries put one of their own in the place of."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tapeflow.v1.variable_scoping import scopes


class _Store:
    """What is asked of the current store."""

    @property
    def _vars(self) -> dict[str, Any]:
        return {} if scopes.store is None else scopes.store


def current_store() -> Any:
    """The current store: one that a library put there, else that of the graph or thread."""
    own = getattr(scopes.state(), "library", None)
    return _Store() if own is None else own


@contextlib.contextmanager
def with_variable_store(store: Any) -> Iterator[None]:
    """A block in which `get_variable` asks `store.get_variable` of a library for its variables."""
    state = scopes.state()
    before = getattr(state, "library", None)
    state.library = store
    try:
        yield
    finally:
        state.library = before

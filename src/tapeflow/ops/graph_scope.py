"""Scopes that a function's operations have in a graph whether or not it was given a name."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

from tapeflow.core import context


def graph_scope(name: str) -> contextlib.AbstractContextManager[Any]:
    """A block whose operations have names below `name` in a graph; nothing eagerly."""
    if context.current_graph() is None:
        return contextlib.nullcontext()
    return context.name_scope(name)


def in_scope(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let the operations that a function without an argument `name` adds to a graph have names below `name`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def scoped(*args: Any, **kwargs: Any) -> Any:
            if context.current_graph() is None:
                return function(*args, **kwargs)
            with context.name_scope(name):
                return function(*args, **kwargs)

        return scoped

    return decorate

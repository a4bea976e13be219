"""Functions that a library of layers registers, so that the layers below it can ask for its session or state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_registered: dict[str, Callable[..., Any] | None] = {}


def register_clear_session_function(func: Callable[..., Any]) -> None:
    """Registers what forgets the library's graph and session; it is called when the default graph is reset."""
    _registered["clear_session"] = func


def get_clear_session_function() -> Callable[..., Any] | None:
    """What was registered, or None."""
    return _registered.get("clear_session")


def register_get_session_function(func: Callable[..., Any]) -> None:
    """Registers what gives the library's session: checkpoints of a graph are restored in it."""
    _registered["get_session"] = func


def get_get_session_function() -> Callable[..., Any] | None:
    """What was registered, or None."""
    return _registered.get("get_session")


def register_load_model_function(func: Callable[..., Any]) -> None:
    """Registers what loads the library's models."""
    _registered["load_model"] = func


def get_load_model_function() -> Callable[..., Any] | None:
    """What was registered, or None."""
    return _registered.get("load_model")


def register_call_context_function(func: Callable[..., Any]) -> None:
    """Registers what tells in which layer a thread is."""
    _registered["call_context"] = func


def get_call_context_function() -> Callable[..., Any] | None:
    """What was registered, or None."""
    return _registered.get("call_context")

"""Whether objects are being made from configs, and whether these are trusted.

A config comes from a file that somebody else may have written. While one is read, constructors that would read other
files, and lookups that would find more than functions of tensors, ask here first.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class _State(threading.local):
    safe: bool | None = None  # None: nothing is being deserialized


_state = _State()
_all_trusted = False


def trust_all() -> None:
    """Trust every config that the process reads from now on."""
    global _all_trusted
    _all_trusted = True


def in_safe_mode() -> bool:
    """Whether objects are being made from a config that is not trusted."""
    return _state.safe is True


@contextlib.contextmanager
def safe_mode_scope(safe_mode: bool) -> Iterator[None]:
    """A block in which objects are made from a config, which is trusted if not `safe_mode`."""
    before = _state.safe
    _state.safe = bool(safe_mode) and not _all_trusted
    try:
        yield
    finally:
        _state.safe = before


@contextlib.contextmanager
def deserializing(safe_mode: bool = True) -> Iterator[None]:
    """Like `safe_mode_scope`, but a surrounding block keeps the mode that it has."""
    with safe_mode_scope(safe_mode if _state.safe is None else _state.safe):
        yield


def refuse_unsafe(what: str) -> None:
    """Raise ValueError in safe mode: a config asks for `what`, for which it has to be trusted."""
    if in_safe_mode():
        raise ValueError(
            f"A config asks for {what}, which is not allowed by default: it may come from someone else, and could harm "
            "this machine or reveal its files. If you trust the source of the config, pass `safe_mode=False` to the "
            "loading function, or call `keras.config.enable_unsafe_deserialization()`."
        )

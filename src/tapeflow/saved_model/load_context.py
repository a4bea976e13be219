"""The options of the model that is being loaded in this thread, which the parts of the model may ask for."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any


class _State(threading.local):
    def __init__(self) -> None:
        self.options: list[Any] = []


_state = _State()


@contextlib.contextmanager
def load_context(load_options: Any) -> Iterator[None]:
    """A block in which a model is loaded with these options."""
    _state.options.append(load_options)
    try:
        yield
    finally:
        _state.options.pop()


def get_load_options() -> Any:
    """The options of the model that is being loaded; None outside of such a block."""
    return _state.options[-1] if _state.options else None


def in_load_context() -> bool:
    """Whether a model is being loaded."""
    return bool(_state.options)

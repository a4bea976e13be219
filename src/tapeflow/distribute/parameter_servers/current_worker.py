"""Which worker of a coordinator this thread is."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class _Here(threading.local):
    index: int | None = None


_here = _Here()


@contextlib.contextmanager
def at(index: int) -> Iterator[None]:
    """A block that a worker runs."""
    before, _here.index = _here.index, index
    try:
        yield
    finally:
        _here.index = before


def index() -> int | None:
    """The number of the worker; None outside of a step."""
    return _here.index

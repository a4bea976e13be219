"""Python's collector of cyclic garbage, while many objects are made that all stay."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Let the collector wait.

    A graph is tens of objects for each of its nodes, of which none is garbage before it is complete: looking for
    garbage among them, again and again, would take half as long as making them.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

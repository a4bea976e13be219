"""Python's collector of cyclic garbage, while many objects are made that all stay."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

_lock = threading.Lock()
_pauses = 0
_threshold = 0  # of the youngest generation, before the first of the pauses


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Let the collector wait.

    A graph is tens of objects for each of its nodes, of which none is garbage before it is complete: looking for
    garbage among them, again and again, would take half as long as making them.

    Pauses of several threads may overlap: the collector waits for the last. `gc.enable` and `gc.disable` remain the
    program's: what waits is the threshold, unless the program sets that meanwhile.
    """
    global _pauses, _threshold
    with _lock:
        _pauses += 1
        if _pauses == 1:
            _threshold, *older = gc.get_threshold()
            gc.set_threshold(0, *older)
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            now, *older = gc.get_threshold()
            if _pauses == 0 and now == 0:
                gc.set_threshold(_threshold, *older)

"""Waiting of one thread for another: what cancels it, and how long it may last.

A call that waits gives the lock of the interpreter away, so that others can run; Ctrl-C, the time that a run may
take, and the end of the session it runs in end it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tapeflow import _native
from tapeflow.core.errors import CancelledError, DeadlineExceededError


class Cancellation:
    """Ends the waits that were begun under it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waits: set[Wait] = set()
        self.cancelled = False

    def cancel(self) -> None:
        """Ends all waits under it, now and later."""
        with self._lock:
            self.cancelled = True
            waits = list(self._waits)
        for wait in waits:
            wait.end()

    def add(self, wait: Wait) -> None:
        """End a wait with the others, or at once where they were ended."""
        with self._lock:
            self._waits.add(wait)
        if self.cancelled:
            wait.end()

    def discard(self, wait: Wait) -> None:
        """Forget a wait that is over."""
        with self._lock:
            self._waits.discard(wait)


class _Current(threading.local):
    cancellation: Cancellation | None = None


_current = _Current()


@contextlib.contextmanager
def under(cancellation: Cancellation | None) -> Iterator[None]:
    """A block whose waits `cancellation` ends."""
    before = _current.cancellation
    _current.cancellation = cancellation
    try:
        yield
    finally:
        _current.cancellation = before


class Wait:
    """One wait, for a call of `end`."""

    def __init__(self) -> None:
        self._ended = threading.Event()

    def end(self) -> None:
        self._ended.set()

    def until(self, done: Callable[[], bool], cancelled: str) -> None:
        """Returns when `end` was called and `done()` holds.

        Raises CancelledError with the text `cancelled` at the end of the session, DeadlineExceededError when the
        time of the run is over.
        """
        cancellation = _current.cancellation
        left = _milliseconds_left()
        if cancellation is not None:
            cancellation.add(self)
        try:
            if not self._ended.wait(None if left is None else left / 1000) and not done():
                raise DeadlineExceededError(None, None, "Timed out waiting for notification")
            if not done():
                raise CancelledError(None, None, cancelled)
        finally:
            if cancellation is not None:
                cancellation.discard(self)

    def within(self, seconds: float, done: Callable[[], bool], cancelled: str) -> bool:
        """As `until`, but waits for `seconds` at most. Returns whether `done()` holds."""
        cancellation = _current.cancellation
        left = _milliseconds_left()
        short = left is not None and left / 1000 < seconds
        if cancellation is not None:
            cancellation.add(self)
        try:
            self._ended.wait(left / 1000 if short and left is not None else max(seconds, 0))
            if done():
                return True
            if cancellation is not None and cancellation.cancelled:
                raise CancelledError(None, None, cancelled)
            if short:
                raise DeadlineExceededError(None, None, "Timed out waiting for notification")
            return False
        finally:
            if cancellation is not None:
                cancellation.discard(self)


def _milliseconds_left() -> float | None:
    """How long runs of this thread may still take; None: without end."""
    left = _native.set_deadline(0)
    if left:
        _native.set_deadline(left)
    return left or None


def check(cancelled: str) -> None:
    """Raises CancelledError where the session of this run is over."""
    found: Any = _current.cancellation
    if found is not None and found.cancelled:
        raise CancelledError(None, None, cancelled)

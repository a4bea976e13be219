"""One call of a service: who makes it, how long it may take, and whether it is still wanted."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from tapeflow.core import errors
from tapeflow.core.errors import OpError
from tapeflow.core.threads.waiting import Cancellation

_MOST_TEXT = 4000  # bytes of an error: gRPC sends it in headers, which have a limit


class Call:
    """One call.

    Args:
      local: whether it comes from this process.
      seconds: how long it may take; None: any time.

    Attributes:
      cancellation: ends waits when nobody waits for the answer any more.
    """

    def __init__(self, local: bool, seconds: float | None = None):
        self.local = local
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.cancellation = Cancellation()
        self._lock = threading.Lock()
        self._listeners: list[Callable[[], None]] = []
        self._cancelled = False

    def seconds_left(self) -> float | None:
        """How long the call may still take; None: any time."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def on_cancel(self, listener: Callable[[], None]) -> None:
        """Call a function when the answer is not wanted any more."""
        with self._lock:
            if not self._cancelled:
                self._listeners.append(listener)
                return
        listener()

    def cancel(self) -> None:
        """Say that the answer is not wanted any more."""
        with self._lock:
            self._cancelled = True
            listeners, self._listeners = self._listeners, []
        self.cancellation.cancel()
        for listener in listeners:
            listener()


class Pending:
    """The answer of a call that is under way."""

    def __init__(self, cancel: Callable[[], Any]):
        self._cancel = cancel
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._listeners: list[Callable[[Pending], None]] = []
        self.value: Any = None
        self.error: OpError | None = None

    def finish(self, value: Any, error: OpError | None = None) -> None:
        """Set the answer, or what went wrong."""
        with self._lock:
            if self._done.is_set():
                return
            self.value, self.error = value, error
            self._done.set()
            listeners, self._listeners = self._listeners, []
        for listener in listeners:
            listener(self)

    @property
    def is_done(self) -> bool:
        """Whether the answer is there."""
        return self._done.is_set()

    def when_done(self, listener: Callable[[Pending], None]) -> None:
        """Call a function when the answer is there."""
        with self._lock:
            if not self._done.is_set():
                self._listeners.append(listener)
                return
        listener(self)

    def result(self, seconds: float | None = None) -> Any:
        """The answer. Raises what went wrong, DeadlineExceededError where it takes longer than some seconds."""
        if not self._done.wait(seconds):
            raise errors.DeadlineExceededError(None, None, "Deadline Exceeded")
        if self.error is not None:
            raise errors.from_code(self.error.error_code, self.error.message)
        return self.value

    def cancel(self) -> None:
        """Say that the answer is not wanted any more."""
        self._cancel()


def as_error(error: BaseException, what: str) -> OpError:
    """The error that a caller gets for an exception of a service.

    Args:
      what: the request that failed, for errors that say too little by themselves.
    """
    if isinstance(error, OpError):
        return errors.from_code(error.error_code, _cut(error.message))
    text = _cut(str(error))
    if isinstance(error, (ValueError, TypeError, KeyError, OverflowError)):
        return errors.InvalidArgumentError(None, None, text or what)
    if isinstance(error, MemoryError):
        return errors.ResourceExhaustedError(None, None, f"{what} takes more memory than there is")
    if isinstance(error, RecursionError):
        return errors.InvalidArgumentError(None, None, f"{what} is nested too deeply")
    return errors.InternalError(None, None, f"{what}: {type(error).__name__}: {text}")


def _cut(text: str) -> str:
    """The beginning of a text that fits into headers, where bytes beyond ASCII take three each."""
    if text.isascii():
        return text[:_MOST_TEXT]
    return text.encode(errors="replace")[: _MOST_TEXT // 3].decode(errors="ignore")

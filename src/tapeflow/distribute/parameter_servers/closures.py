"""Functions that wait for workers, and what becomes of them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from tapeflow.core.errors import CancelledError
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest


class RemoteValue:
    """The result of a scheduled function, which may still be running."""

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._value: Callable[[], Any] | None = None
        self._error: BaseException | None = None

    def fetch(self) -> Any:
        """Wait for the result and return it, tensors as arrays.

        Raises:
          CancelledError: the function was cancelled, as another one failed.
          Exception: what the function raised.
        """
        return nest.map_structure(lambda x: x.numpy() if hasattr(x, "numpy") else x, self.get())

    def get(self) -> Any:
        """Wait for the result and return it; raises as `fetch` does."""
        self._ready.wait()
        if self._error is not None:
            raise self._error
        assert self._value is not None
        return self._value()

    def resolve(self, value: Callable[[], Any]) -> None:
        """Say what gives the result."""
        self._value = value
        self._ready.set()

    def fail(self, error: BaseException) -> None:
        """Say why there is no result."""
        self._error = error
        self._ready.set()


class Closure:
    """A function with its arguments.

    Args:
      run: runs it, given a worker; returns what gives the result.
    """

    def __init__(self, run: Callable[[Any], Callable[[], Any]]):
        self.run, self.result = run, RemoteValue()


class Closures:
    """The functions that wait or run. After an error those that wait are cancelled; whoever asks next gets it, once."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Closure] = deque()
        self._running = 0
        self._error: BaseException | None = None
        self._ended = False

    def put(self, closure: Closure) -> None:
        """Add one. Raises what another one raised."""
        with self._changed:
            self._waiting.append(closure)
            self._raise()
            self._changed.notify_all()

    def wait(self) -> None:
        """Wait until all are done. Raises what one of them raised, as soon as all that run have ended."""
        with self._changed:
            self._changed.wait_for(lambda: self._error is not None or not (self._waiting or self._running))
            self._raise()

    def done(self) -> bool:
        """Whether all are done. Raises what one of them raised."""
        with self._changed:
            self._raise()
            return not (self._waiting or self._running)

    def end(self) -> None:
        """Let workers stop when they have done what they do."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _raise(self) -> None:
        if self._error is None:
            return
        self._changed.wait_for(lambda: not self._running)
        while self._waiting:
            self._waiting.popleft().result.fail(
                CancelledError(
                    None, None, "The corresponding function is cancelled. Please reschedule the function."
                )
            )
        error, self._error = self._error, None
        raise error

    def serve(self, worker: Any) -> None:
        """Let a worker run one after the other, until the end."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ended or (self._waiting and self._error is None))
                if self._ended:
                    return
                closure = self._waiting.popleft()
                self._running += 1
            error: BaseException | None = None
            try:
                value = closure.run(worker)
            except BaseException as raised:
                error = raised
                closure.result.fail(raised)
            else:
                closure.result.resolve(value)
            del closure  # its result may be large, and be the last reference to it
            with self._changed:
                self._running -= 1
                if error is not None and self._error is None:
                    self._error = error
                self._changed.notify_all()


boundaries(globals())

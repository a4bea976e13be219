"""Calls that wait in lines for an object that threads share to change.

Calls that cannot be served at once wait in the order in which they came; whoever changes the object serves the
heads of its lines as far as they can be served.
"""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable

from tapeflow.core.errors import CancelledError, OpError, OutOfRangeError
from tapeflow.core.threads.waiting import Wait


class Attempt:
    """A call that waits in a line.

    Attributes:
      step: does what can be done now; returns (whether anything was, whether all is done).
      give_back: puts back what was taken, for a call that ends early.
    """

    __slots__ = ("step", "give_back", "cancelled", "done", "error", "wait")

    def __init__(
        self, step: Callable[[], tuple[bool, bool]], give_back: Callable[[], None], cancelled: str
    ):
        self.step, self.give_back, self.cancelled = step, give_back, cancelled
        self.done = False
        self.error: BaseException | None = None
        self.wait: Wait | None = None

    def finish(self, error: BaseException | None = None) -> None:
        self.done, self.error = True, error
        if self.wait is not None:
            self.wait.end()


class Lines:
    """What has lines of waiting calls.

    Args:
      count: how many lines; the first is served first.
    """

    def __init__(self, count: int):
        self._lock = threading.RLock()
        self._lines: list[collections.deque[Attempt]] = [collections.deque() for _ in range(count)]

    def _attempt(
        self,
        line: collections.deque[Attempt],
        step: Callable[[], tuple[bool, bool]],
        give_back: Callable[[], None],
        cancelled: str,
    ) -> None:
        """Waits in a line until `step` says that all is done. Raises CancelledError and DeadlineExceededError."""
        attempt = Attempt(step, give_back, cancelled)
        with self._lock:
            line.append(attempt)
            self._serve()
            if not attempt.done:
                attempt.wait = Wait()
        if attempt.wait is not None:
            try:
                attempt.wait.until(lambda: attempt.done, cancelled)
            except BaseException as error:
                done = self._abandon(line, attempt)
                if not done:
                    raise
                if not isinstance(error, OpError):  # Ctrl-C: nobody will have what was taken
                    with self._lock:
                        attempt.give_back()
                        self._serve()
                    raise
        if attempt.error is not None:
            raise attempt.error

    def _abandon(self, line: collections.deque[Attempt], attempt: Attempt) -> bool:
        """Takes a call out of its line; True if it was done meanwhile."""
        with self._lock:
            if attempt.done:
                return True
            attempt.finish()
            if attempt in line:
                line.remove(attempt)
            attempt.give_back()
            self._serve()
            return False

    def _serve(self) -> None:
        """Serves the lines until none moves. The lock is held."""
        while any(_serve_line(line) for line in self._lines):
            pass


def _serve_line(line: collections.deque[Attempt]) -> bool:
    moved = False
    while line:
        attempt = line[0]
        try:
            progress, done = attempt.step()
        except (CancelledError, OutOfRangeError) as error:
            attempt.give_back()
            line.popleft()
            attempt.finish(error)
            moved = True
            continue
        moved = moved or progress
        if not done:
            break
        line.popleft()
        attempt.finish()
        moved = True
    return moved

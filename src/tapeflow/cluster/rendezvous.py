"""Where the tensors of one step wait until the part of the graph that needs them takes them."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tapeflow.cluster.calls import Pending
from tapeflow.core.errors import AbortedError, InvalidArgumentError, OpError, from_code
from tapeflow.core.threads.waiting import Cancellation, Wait, under

# The steps that are over, which nobody should wait for any more.
_REMEMBERED = 10_000


class Key(NamedTuple):
    """What a tensor is known by within a step."""

    source: str  # full device names
    incarnation: int
    target: str
    name: str

    def __str__(self) -> str:
        return f"{self.source};{self.incarnation:016x};{self.target};{self.name};0:0"


def parse(text: str) -> Key:
    """The key of a string, as `str` wrote it. Raises InvalidArgumentError for any other one."""
    parts = text.split(";")
    try:
        source, incarnation, target, name, _ = parts
        return Key(source, int(incarnation, 16), target, name)
    except ValueError:
        raise InvalidArgumentError(None, None, f"Invalid rendezvous key: {text[:200]!r}") from None


class Step:
    """The tensors of one run of one worker, by key.

    Attributes:
      cancellation: ends the waits of the run.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.cancellation = Cancellation()
        self._lock = threading.Lock()
        self._tensors: dict[str, Any] = {}
        self._asked: dict[str, Pending] = {}
        self._error: OpError | None = None
        self._listeners: list[Callable[[], None]] = []

    def send(self, key: str, tensor: Any) -> None:
        """Give a tensor to who takes it, once. Raises AbortedError for a key that was used before."""
        with self._lock:
            if self._error is not None:
                return
            if key in self._tensors:
                raise AbortedError(None, None, f"Duplicate sends: {key}")
            asked = self._asked.pop(key, None)
            if asked is None:
                self._tensors[key] = tensor
        if asked is not None:
            asked.finish(tensor)

    def ask(self, key: str) -> Pending:
        """What will have the tensor of a key, or what the step was aborted with."""
        pending = Pending(lambda: None)
        with self._lock:
            error = self._error
            there = key in self._tensors
            if error is None and not there:
                if key in self._asked:
                    error = AbortedError(None, None, f"Duplicate receives: {key}")
                else:
                    self._asked[key] = pending
                    return pending
            tensor = self._tensors.pop(key) if there else None
        pending.finish(tensor, None if there else error)
        return pending

    def receive(self, key: str) -> Any:
        """The tensor of a key, when it is there. Raises what the step was aborted with."""
        pending = self.ask(key)
        self.wait_for(pending, key)
        return pending.result()

    def wait_for(self, pending: Pending, what: str) -> None:
        """Wait until a tensor is there. Raises what the step was aborted with."""
        if pending.is_done:
            return
        wait = Wait()
        pending.when_done(lambda _: wait.end())
        self.on_abort(wait.end)
        wait.until(lambda: pending.is_done or self._error is not None, f"RecvAsync is cancelled: {what}")
        if not pending.is_done and self._error is not None:
            raise from_code(self._error.error_code, self._error.message)

    def on_abort(self, listener: Callable[[], None]) -> None:
        """Call a function when the step is aborted, at once if it was."""
        with self._lock:
            if self._error is None:
                self._listeners.append(listener)
                return
        listener()

    def abort(self, error: OpError) -> None:
        """Let all that wait, now or later, raise an error."""
        with self._lock:
            if self._error is not None:
                return
            self._error = error
            asked = list(self._asked.values())
            self._asked.clear()
            self._tensors.clear()
            listeners, self._listeners = self._listeners, []
        self.cancellation.cancel()
        for pending in asked:
            pending.finish(None, error)
        for listener in listeners:
            listener()

    @property
    def error(self) -> OpError | None:
        """What the step was aborted with."""
        return self._error


class Steps:
    """The steps of a worker that are under way, by number."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._steps: dict[int, Step] = {}
        self._over: OrderedDict[int, None] = OrderedDict()

    def find(self, number: int) -> Step:
        """The step of a number, whoever names it first. Raises AbortedError for one that is over."""
        with self._lock:
            if number in self._over:
                raise AbortedError(None, None, f"Step {number} is over.")
            if number not in self._steps:
                self._steps[number] = Step(number)
            return self._steps[number]

    def end(self, number: int) -> None:
        """Forget a step; what still waits in it ends."""
        with self._lock:
            step = self._steps.pop(number, None)
            self._over[number] = None
            while len(self._over) > _REMEMBERED:
                self._over.popitem(last=False)
        if step is not None:
            step.abort(AbortedError(None, None, f"Cleanup {number}"))

    def abort(self, error: OpError) -> None:
        """Abort all steps."""
        with self._lock:
            steps = list(self._steps.values())
        for step in steps:
            step.abort(error)


class _Current(threading.local):
    run: Any = None


_current = _Current()


@contextlib.contextmanager
def running(step: Step, run: Any) -> Iterator[None]:
    """A block that is part of a step; `run` is what `current` returns in it."""
    before = _current.run
    _current.run = run
    try:
        with under(step.cancellation):
            yield
    finally:
        _current.run = before


def current() -> Any:
    """What runs a part of a step in this thread."""
    return _current.run

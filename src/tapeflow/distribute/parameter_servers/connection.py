"""The connection to a parameter server. Within a step, what gives nothing is sent later, together with what follows."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tapeflow.core.errors import UnavailableError
from tapeflow.core.processes import ray_runtime
from tapeflow.distribute.parameter_servers.server import Call, Held

if TYPE_CHECKING:
    from tapeflow.distribute.parameter_servers.variables import Description


class PSUnavailableError(UnavailableError):
    """A parameter server is gone, and with it the variables that it held.

    Args:
      original_exception: the UnavailableError that says so.
    """

    def __init__(self, original_exception: UnavailableError):
        self.original_exception = original_exception
        error = original_exception
        super().__init__(error.node_def, error.op, error.message)

    def __reduce__(self) -> Any:
        return PSUnavailableError, (self.original_exception,)


class _Step:
    """What a step of this thread has yet to send, and what was read ahead for it, by server and variable."""

    def __init__(self) -> None:
        self.waiting: dict[Connection, list[Call]] = {}
        self.read: dict[tuple[Connection, int], Any] = {}


class _Here(threading.local):
    step: _Step | None = None
    placed: Connection | None = None


_here = _Here()


def placed() -> Connection | None:
    """The server where variables are to be made now; None where any may be."""
    return _here.placed


class Connection:
    """A parameter server.

    Args:
      actor: the actor of a `ParameterServer`.
      index: its number.
    """

    def __init__(self, actor: Any, index: int):
        self._actor, self.index = actor, index

    def create(self, known: Description, value: Any) -> None:
        """Let the server make a variable, and wait for it."""
        self._ask(self._actor.create.remote(known.key, value, known.dtype, known.shape, known.name))

    def forget(self, key: int) -> None:
        """Let the server drop a variable, if it is there at all."""
        with contextlib.suppress(Exception):  # called by the collector of garbage, also when all has ended
            self._actor.forget.remote([key])

    def run(self, call: Call, gives: bool) -> Any:
        """Run an operation.

        Args:
          call: the operation.
          gives: whether it has outputs; what has none is sent at the end of the step at the latest.

        Returns:
          Its outputs, as arrays.

        Raises:
          PSUnavailableError: the server is gone.
        """
        step = _here.step
        if step is None:
            return self._ask(self._actor.run.remote([call]))[0]
        waiting = step.waiting.setdefault(self, [])
        if not gives:
            waiting.append(call)
            for held in _held(call.inputs):
                step.read.pop((self, held.key), None)
            return None
        ahead = step.read.pop((self, call.inputs[0].key), None) if len(call.inputs) == 1 else None
        if ahead is not None:
            calls, position = ahead
            return calls.results()[position] if call == calls.calls[position] else self._now(call, waiting)
        return self._now(call, waiting)

    def _now(self, call: Call, waiting: list[Call]) -> Any:
        calls = [*waiting, call]
        waiting.clear()
        return self._ask(self._actor.run.remote(calls))[-1]

    def sent(self, calls: list[Call]) -> Any:
        """Send operations; returns the reference to what comes of them."""
        return self._actor.run.remote(calls)

    def _ask(self, reference: Any) -> Any:
        return received(reference, self)

    @contextlib.contextmanager
    def colocated(self) -> Iterator[None]:
        """A block in which this thread makes variables here."""
        before, _here.placed = _here.placed, self
        try:
            yield
        finally:
            _here.placed = before

    def __reduce__(self) -> Any:
        return Connection, (self._actor, self.index)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Connection) and other._actor == self._actor

    def __hash__(self) -> int:
        return self.index


class _Ahead:
    """Operations that were sent ahead, all to one server."""

    def __init__(self, connection: Connection, calls: list[Call]):
        self.calls, self._connection = calls, connection
        self._reference, self._results = connection.sent(calls), None

    def results(self) -> Any:
        """What comes of them, in their order."""
        if self._results is None:
            self._results = received(self._reference, self._connection)
        return self._results


def received(reference: Any, connection: Connection) -> Any:
    """What a server answers. Raises what the operation raised, and PSUnavailableError where the server is gone."""
    place = f"/job:ps/task:{connection.index}"
    return ray_runtime.answer(
        reference,
        lambda error: PSUnavailableError(
            UnavailableError(None, None, f"The parameter server {place} is gone: {error}")
        ),
    )


def _held(inputs: Iterable[Any]) -> Iterator[Held]:
    for x in inputs:
        if isinstance(x, list):
            yield from _held(x)
        elif isinstance(x, Held):
            yield x


@contextlib.contextmanager
def step(reads: Iterable[tuple[Connection, Call]] = ()) -> Iterator[None]:
    """A block in which operations without outputs are sent together, at its end at the latest.

    Args:
      reads: operations on one variable each, which the block will do and which are sent at once.
    """
    before, _here.step = _here.step, _Step()
    current = _here.step
    by_server: dict[Connection, list[Call]] = {}
    for connection, call in reads:
        by_server.setdefault(connection, []).append(call)
    for connection, calls in by_server.items():
        ahead = _Ahead(connection, calls)
        current.read.update({(connection, call.inputs[0].key): (ahead, i) for i, call in enumerate(calls)})
    try:
        yield
        sent = [(c.sent(calls), c) for c, calls in current.waiting.items() if calls]
        for reference, connection in sent:
            received(reference, connection)
    finally:
        _here.step = before

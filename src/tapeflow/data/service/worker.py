"""The process that makes elements."""

from __future__ import annotations

import threading
import time
from typing import Any

from tapeflow.core.errors import CancelledError
from tapeflow.core.processes import ray_runtime
from tapeflow.core.processes.arrays import array_of
from tapeflow.data.iteration.passes import begun, close_pass
from tapeflow.data.nodes.variants import unpacked
from tapeflow.data.parts import parts_of
from tapeflow.data.service.dispatcher import Task
from tapeflow.data.service.shards import part_of

# How long an answer may wait for further elements, in seconds.
_PATIENCE = 0.05


class DataWorker:
    """Passes that readers are in.

    Args:
      dispatcher: the actor of the dispatcher.
    """

    def __init__(self, dispatcher: Any):
        self._dispatcher = dispatcher
        self._streams: dict[int, _Stream] = {}
        self._over: set[int] = set()
        self._lock = threading.Lock()

    def ready(self) -> str:
        """The machine that this runs on, once it runs."""
        node: str = ray_runtime.started().get_runtime_context().get_node_id()
        return node

    def elements(self, task: Task, most: int) -> tuple[list[list[Any]], bool]:
        """The next elements, at least one: lists of arrays; and whether none follows."""
        return self._stream(task).next(most)

    def element(self, task: Task, place: int) -> list[Any] | None:
        """The element at one place of the pass, which one reader asks for; None after the last."""
        return self._stream(task).at(place)

    def forget(self, number: int) -> None:
        """End a pass, for which requests may still come that were sent before."""
        with self._lock:
            self._over.add(number)
            stream = self._streams.pop(number, None)
        if stream is not None:
            stream.close()

    def held(self) -> int:
        """How many passes it makes elements for."""
        return len(self._streams)

    def _stream(self, task: Task) -> _Stream:
        with self._lock:
            if task.number in self._over:
                raise CancelledError(None, None, f"Pass {task.number} is over")
            if task.number not in self._streams:
                message = ray_runtime.started().get(self._dispatcher.dataset.remote(task.dataset))
                self._streams[task.number] = _Stream(part_of(message, task, self._claim))
            return self._streams[task.number]

    def _claim(self, *what: int) -> int:
        found: int = ray_runtime.started().get(self._dispatcher.claim.remote(*what))
        return found


class _Stream:
    """A pass over a dataset, for several that ask."""

    def __init__(self, dataset: Any):
        self._elements: Any = begun(parts_of(dataset).start)
        self._lock = threading.Lock()
        self._taken = 0
        self._kept: dict[int, list[Any]] = {}
        self._error: Exception | None = None

    def next(self, most: int) -> tuple[list[list[Any]], bool]:
        """The next elements, and whether none follows. An error comes alone, after the elements before it."""
        found: list[list[Any]] = []
        end = time.monotonic() + _PATIENCE
        with self._lock:
            while len(found) < most and (not found or time.monotonic() < end):
                try:
                    element = self._next()
                except Exception as error:
                    if not found:
                        raise
                    self._error = error
                    break
                if element is None:
                    return found, True
                found.append(element)
        return found, False

    def at(self, place: int) -> list[Any] | None:
        with self._lock:
            while self._taken <= place:
                element = self._next()
                if element is None:
                    return None
                self._kept[self._taken] = element
                self._taken += 1
            return self._kept.pop(place, None)

    def close(self) -> None:
        """End the pass."""
        with self._lock:
            elements, self._elements = self._elements, None
            if elements is not None:
                close_pass(elements)

    def _next(self) -> list[Any] | None:
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        if self._elements is None:
            return None
        try:
            return [array_of(x) for x in unpacked(next(self._elements))]
        except StopIteration:
            close_pass(self._elements)
            self._elements = None
            return None

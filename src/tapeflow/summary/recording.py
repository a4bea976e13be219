"""Where a thread's summaries go: its default writer, its step, and whether they are recorded at all."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.context import executing_eagerly
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.comparison import logical_and
from tapeflow.ops.control import cond, no_op, py_function
from tapeflow.summary.events import EventFile


class _State(threading.local):
    def __init__(self) -> None:
        self.writer: Any = None
        self.step: Any = None
        self.condition: Any = None  # None where nobody has said anything


state = _State()


class SummaryWriter:
    """Writes summaries to an event file."""

    def __init__(
        self,
        logdir: Any,
        max_queue: Any = None,
        flush_millis: Any = None,
        filename_suffix: Any = None,
        init: bool = True,
    ):
        self._arguments = (
            _plain(logdir),
            10 if max_queue is None else int(_plain(max_queue)),
            (120_000 if flush_millis is None else int(_plain(flush_millis))) / 1000,
            ".v2" if filename_suffix is None else _plain(filename_suffix),
        )
        self._file: EventFile | None = None
        self._closed = False
        if init:
            self.init()

    def init(self) -> Any:
        """Makes the event file."""
        if self._file is None:
            self._file = EventFile(*self._arguments)
        return None if executing_eagerly() else no_op()

    @property
    def file(self) -> EventFile:
        """The event file, made when it is first needed. Raises RuntimeError after close."""
        if self._closed:
            raise RuntimeError("SummaryWriter is already closed")
        self.init()
        assert self._file is not None
        return self._file

    def set_as_default(self, step: Any = None) -> None:
        """Lets summaries of this thread go here; `step`, where given, is their step."""
        if self._closed:
            raise RuntimeError("SummaryWriter is already closed")
        state.writer = self
        if step is not None:
            state.step = step

    @contextlib.contextmanager
    def as_default(self, step: Any = None) -> Iterator[SummaryWriter]:
        """A context in which summaries go here; events are written out at its end."""
        if self._closed:
            raise RuntimeError("SummaryWriter is already closed")
        before = state.writer, state.step
        state.writer = self
        if step is not None:
            state.step = step
        try:
            yield self
            self.flush()
        finally:
            state.writer, state.step = before

    def flush(self) -> Any:
        """Writes all events that wait; in a graph, an operation that does."""
        if executing_eagerly():
            return self._flush()
        return py_function(self._flush, [], [])

    def _flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    def close(self) -> Any:
        """Writes all events that wait, and closes the file; in a graph, an operation that does."""
        if executing_eagerly():
            return self._close()
        return py_function(self._close, [], [])

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._closed = True


class NoopWriter(SummaryWriter):
    """A writer that records nothing."""

    def __init__(self) -> None:
        self._file = None
        self._closed = False

    def init(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""

    def flush(self) -> None:
        """Nothing."""


def _plain(value: Any) -> Any:
    if hasattr(value, "numpy"):
        value = value.numpy()
    return value.decode() if isinstance(value, bytes) else value


@contextlib.contextmanager
def condition_scope(condition: Any) -> Iterator[None]:
    """A context in which summaries are recorded where the condition, a bool, tensor or function, holds."""
    before = state.condition
    state.condition = condition
    try:
        yield
    finally:
        state.condition = before


def is_recording(default: bool) -> Any:
    """Whether summaries are recorded: what the condition of the thread says, else `default`."""
    if state.writer is None or isinstance(state.writer, NoopWriter):
        return False
    condition = default if state.condition is None else state.condition
    return condition() if callable(condition) else condition


def record(default: bool, inputs: list[Any], write: Callable[..., Any]) -> Any:
    """Calls `write(file, *arrays)` with the values of the inputs, if summaries are recorded.

    In a graph this happens when the graph runs. Returns whether something was written, a bool tensor.
    """
    recording = is_recording(default)
    if recording is False:
        return convert_to_tensor(False)
    writer = state.writer
    tensors = [x if isinstance(x, np.ndarray) else convert_to_tensor(x) for x in inputs]
    eager = executing_eagerly() and all(
        isinstance(x, (_native.EagerTensor, np.ndarray, bool, np.bool_))
        for x in (*tensors, recording)
    )
    if eager:
        if not bool(recording):
            return convert_to_tensor(False)
        write(writer.file, *[x.numpy() if hasattr(x, "numpy") else x for x in tensors])
        return convert_to_tensor(True)

    def run(*values: Any) -> Any:
        write(writer.file, *[value.numpy() for value in values])
        return convert_to_tensor(True)

    def written() -> Any:
        return py_function(run, tensors, dtypes.bool)

    if isinstance(recording, bool):
        return written()
    return cond(recording, written, lambda: logical_and(recording, False))

"""Where a thread's summaries go: its default writer, its step, and whether they are recorded at all."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.context import current_graph, executing_eagerly
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.ops.control.flow import cond
from tapeflow.ops.control.grouping import no_op
from tapeflow.ops.control.py_functions import py_function
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.static import static_value
from tapeflow.summary.events import EventFile


class _State(threading.local):
    def __init__(self) -> None:
        self.writer: Any = None
        self.step: Any = None
        self.condition: Any = None  # None where nobody has said anything


state = _State()


class Slot:
    """The event file of a writer, or of all writers of one name: open, closed, or not made yet."""

    def __init__(self, arguments: tuple[Any, ...]):
        self._arguments = arguments
        self.file: EventFile | None = None

    def open(self) -> EventFile:
        """The file; a new one where there was none, or it was closed."""
        if self.file is None:
            self.file = EventFile(*self._arguments)
        return self.file

    def flush(self) -> None:
        if self.file is not None:
            self.file.flush()

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
        self.file = None


_Slots = weakref.WeakValueDictionary[str, Slot]
_shared: _Slots = weakref.WeakValueDictionary()
_shared_in_graphs: weakref.WeakKeyDictionary[Any, _Slots] = weakref.WeakKeyDictionary()
# The collection of the operations that make the files of a graph's writers.
INITIALIZERS = "_SUMMARY_WRITER_INIT"


class SummaryWriter:
    """Writes summaries to an event file.

    Args:
      shared_name: writers of one name write to one file; None: to a file of its own.
      reopens: whether a closed writer can be used again, with a new file.

    Raises ValueError for arguments that are tensors of a graph.
    """

    def __init__(
        self,
        logdir: Any,
        max_queue: Any = None,
        flush_millis: Any = None,
        filename_suffix: Any = None,
        shared_name: str | None = None,
        reopens: bool = False,
    ):
        arguments = (
            _plain(logdir, "logdir"),
            10 if max_queue is None else int(_plain(max_queue, "max_queue")),
            (120_000 if flush_millis is None else int(_plain(flush_millis, "flush_millis"))) / 1000,
            ".v2" if filename_suffix is None else _plain(filename_suffix, "filename_suffix"),
        )
        self._slot = Slot(arguments)
        if shared_name is not None:
            self._slot = _shared_slots().setdefault(shared_name, self._slot)
        self._resource = self._slot
        self._reopens, self._closed = reopens, False
        if _at_once():
            self._open()
        else:
            current_graph().add_to_collection(INITIALIZERS, self.init())

    def _open(self) -> None:
        self._closed = False
        self._slot.open()

    def init(self) -> Any:
        """Makes the event file; in a graph, an operation that does."""
        self._check()
        if not _at_once():
            return py_function(self._open, [], [])
        self._open()
        return None if executing_eagerly() else no_op()

    def _check(self) -> None:
        if self._closed and not self._reopens:
            raise RuntimeError("SummaryWriter is already closed")

    @property
    def file(self) -> EventFile:
        """The event file, made when it is first needed. Raises RuntimeError after close."""
        self._check()
        return self._slot.open()

    def set_as_default(self, step: Any = None) -> None:
        """Lets summaries of this thread go here; `step`, where given, is their step."""
        self._check()
        state.writer = self
        if step is not None:
            state.step = step

    @contextlib.contextmanager
    def as_default(self, step: Any = None) -> Iterator[SummaryWriter]:
        """A context in which summaries go here; events are written out at its end."""
        self._check()
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
        return flush_slot(self._slot)

    def close(self) -> Any:
        """Writes all events that wait, and closes the file; in a graph, an operation that does."""
        if executing_eagerly():
            return self._close()
        return py_function(self._close, [], [])

    def _close(self) -> None:
        self._slot.close()
        self._closed = True


def _shared_slots() -> _Slots:
    """The slots of writers by name: of the program, or of the graph that it builds."""
    if _at_once():
        return _shared
    return _shared_in_graphs.setdefault(current_graph(), weakref.WeakValueDictionary())


def flush_slot(slot: Slot) -> Any:
    """Writes all events of a file that wait; in a graph, an operation that does."""
    if executing_eagerly():
        return slot.flush()
    return py_function(slot.flush, [], [])


def _at_once() -> bool:
    """Whether files are made now: not in graphs of 1.x, whose sessions make them."""
    graph = current_graph()
    while getattr(graph, "building_function", False):
        graph = graph.enclosing_graph
    return graph is None


class NoopWriter(SummaryWriter):
    """A writer that records nothing."""

    def __init__(self) -> None:
        self._closed = False

    def init(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""

    def flush(self) -> None:
        """Nothing."""


def _plain(value: Any, name: str) -> Any:
    if isinstance(value, _native.Tensor) and not isinstance(value, _native.EagerTensor):
        known = static_value(value) if current_graph() is not None else None
        if known is None or getattr(current_graph(), "building_function", False):
            raise ValueError(
                f'Invalid graph Tensor argument "{name}={value}" to eager create_file_writer()'
            )
        value = known.item()
    if hasattr(value, "numpy"):
        value = value.numpy()
    if hasattr(value, "__fspath__"):
        value = value.__fspath__()
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


def record(recording: Any, inputs: list[Any], write: Callable[..., Any]) -> Any:
    """Calls `write(file, *arrays)` with the values of the inputs, if `recording`, as `is_recording` gave it.

    In a graph this happens when the graph runs. Returns whether something was written, a bool tensor.
    """
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

    done = (
        written()
        if isinstance(recording, bool)
        else cond(recording, written, lambda: logical_and(recording, False))
    )
    graph = current_graph()
    if getattr(graph, "pruned", False):  # a branch or loop of 1.x: nothing else asks for the summary
        graph.targets = [*graph.targets, done.op]
    return done


boundaries(globals())

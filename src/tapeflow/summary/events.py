"""Event files: what TensorBoard reads, one record per event."""

from __future__ import annotations

import atexit
import itertools
import os
import socket
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

from tapeflow import protos
from tapeflow.core.errors import FailedPreconditionError
from tapeflow.core.files.paths import local_path
from tapeflow.core.files.whole_files import name_file
from tapeflow.core.public import boundaries
from tapeflow.summary.records import framed, read_records

_WRITER = "tensorflow.core.util.events_writer"
_numbers = itertools.count()
_open: weakref.WeakSet[EventFile] = weakref.WeakSet()


class EventFile:
    """A new event file of a folder. Events wait in memory until there are `max_queue`, or flush is called.

    Raises FailedPreconditionError for events after close.
    """

    def __init__(
        self, folder: Any, max_queue: int = 10, flush_seconds: float = 120.0, suffix: str = ""
    ):
        self.folder = local_path(folder)
        os.makedirs(self.folder, exist_ok=True)
        self._max_queue, self._flush_seconds = max_queue, flush_seconds
        name = (
            f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}."
            f"{next(_numbers)}{suffix}"
        )
        self.path = os.path.join(self.folder, name)
        self._waiting: list[bytes] = []
        self._lock = threading.Lock()
        self._file: Any = None
        self._last_flush = time.monotonic()
        self.closed = False
        first = protos.Event(wall_time=time.time(), file_version="brain.Event:2")
        first.source_metadata.writer = _WRITER
        self._waiting.append(framed(first.SerializeToString()))
        self._write()
        _open.add(self)

    def forget(self) -> None:
        """Drop what waits; threads of a process that was forked may hold the lock, so make another."""
        self._lock = threading.Lock()
        self._waiting.clear()

    def add(self, event: Any) -> None:
        """Adds an Event, given as a message or as bytes."""
        data = event if isinstance(event, bytes) else event.SerializeToString()
        record = framed(data)
        with self._lock:
            if self.closed:
                raise FailedPreconditionError(
                    None, None, f"The event file {self.path} is closed; no event can be added."
                )
            self._waiting.append(record)
            late = time.monotonic() - self._last_flush > self._flush_seconds
            if len(self._waiting) > self._max_queue or late:
                self._write()

    def add_summary(self, summary: Any, step: int = 0) -> None:
        """Adds an event of now with a Summary."""
        event = protos.Event(wall_time=time.time(), step=int(step))
        event.summary.CopyFrom(summary)
        self.add(event)

    def _write(self) -> None:
        if self._file is None:
            self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115
        data = memoryview(b"".join(self._waiting))
        start = os.fstat(self._file.fileno()).st_size
        try:
            while data:
                data = data[self._file.write(data) :]
        except OSError as error:  # events wait until there is room; those in the file stay readable
            os.ftruncate(self._file.fileno(), start)
            name_file(error, self.path)
            raise
        self._waiting.clear()
        self._last_flush = time.monotonic()

    def flush(self) -> None:
        """Writes all events that wait."""
        with self._lock:
            if not self.closed:
                self._write()

    def __del__(self) -> None:
        if sys.is_finalizing():
            return  # all was written before; a thread that is gone may hold the lock
        if getattr(self, "_file", None) is not None or getattr(self, "_waiting", None):
            self.close()

    def close(self) -> None:
        """Writes all events that wait, and closes the file."""
        with self._lock:
            if self.closed:
                return
            self._write()
            self._file.close()
            self.closed = True


@atexit.register
def _flush_all() -> None:
    for file in list(_open):
        file.flush()


def _in_forked_child() -> None:
    """What waits is the parent's to write, and its threads may have held the locks."""
    for file in list(_open):
        file.forget()


os.register_at_fork(after_in_child=_in_forked_child)


def read_events(path: Any) -> Iterator[Any]:
    """The events of a file. Raises DataLossError where one is cut off or damaged."""
    with open(local_path(path), "rb") as file:
        for record in read_records(file, path):
            yield protos.Event.FromString(record)


summary_iterator = read_events


boundaries(globals())

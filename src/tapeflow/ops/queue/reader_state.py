"""The readers behind handles: they take names of files from a queue, and give records one by one."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterator
from typing import Any

from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.core.files import expansion, file_system, tf_record, wire
from tapeflow.core.files.paths import local_path

Record = tuple[bytes, bytes]


class Reader:
    """Gives (key, value) records of works, such as files, that a queue names.

    Subclasses say what the records of a work are.
    """

    kind = "Reader"
    saves = False

    def __init__(self, name: str):
        self.name = name
        self._lock = threading.RLock()
        self.reset()

    def reset(self) -> None:
        """Begins anew: no work, nothing counted."""
        with self._lock:
            self._records: Iterator[Record] | None = None
            self.produced = self.started = self.finished = 0
            self._work = b""

    def records(self, work: bytes) -> Iterator[Record]:
        """The records of a work."""
        raise UnimplementedError(None, None, f"{self.kind} has no records")

    def read(self, queue: Any) -> Record:
        """The next record. Raises OutOfRangeError when the queue is closed and empty."""
        return self.read_up_to(queue, 1)[0]

    def read_up_to(self, queue: Any, count: int) -> list[Record]:
        """The next records, `count` at most, of one work."""
        if count < 1:
            raise InvalidArgumentError(None, None, f"num_records must be at least 1, got {count}")
        with self._lock:
            while True:
                if self._records is None:
                    self._start(queue)
                found: list[Record] = []
                for record in self._records or ():
                    found.append(record)
                    if len(found) == count:
                        break
                else:
                    self._records = None
                    self.finished += 1
                if found:
                    self.produced += len(found)
                    return found

    def _start(self, queue: Any) -> None:
        element = queue.dequeue()
        if len(element) != 1 or element[0].dtype.name != "string" or element[0].shape.rank:
            raise InvalidArgumentError(
                None, None, "A reader's queue must have scalar strings as elements"
            )
        self._work = element[0].numpy()
        self.started += 1
        self._records = iter(self.records(self._work))

    def serialize(self) -> bytes:
        """Where it is, for `restore`. Raises UnimplementedError for kinds that cannot tell."""
        if not self.saves:
            raise UnimplementedError(None, None, "Reader SerializeState")
        with self._lock:
            return self._state()

    def _state(self) -> bytes:
        numbers = ((1, self.started), (2, self.finished), (3, self.produced))
        text = b"".join(wire.varint_field(n, value) for n, value in numbers if value)
        return text + (wire.bytes_field(4, self._work) if self._work else b"")

    def restore(self, state: bytes) -> None:
        """Goes on from where `serialize` was called. Raises InvalidArgumentError for another text."""
        with self._lock:
            before = (self.started, self.finished, self.produced, self._work)
            try:
                found: dict[int, Any] = {number: value for number, _, value in wire.fields(state)}
                self.started, self.finished, self.produced = (found.get(i, 0) for i in (1, 2, 3))
                self._work = bytes(found.get(4, b""))
                valid = self.saves and self._state() == state and self.started >= self.finished
            except (wire.WireError, TypeError):
                valid = False
            if not valid:
                self.started, self.finished, self.produced, self._work = before
                raise InvalidArgumentError(
                    None, None, f"Could not parse state for {self.kind} '{self.name}': {state!r}"
                )
            self._records = None


class WorkReader(Reader):
    """Gives the works themselves."""

    kind = "IdentityReader"
    saves = True

    def records(self, work: bytes) -> Iterator[Record]:
        return iter(())

    def read_up_to(self, queue: Any, count: int) -> list[Record]:
        with self._lock:
            found: list[Record] = []
            while len(found) < count and (not found or queue.size()):
                self._start(queue)
                self._records = None
                found.append((self._work, self._work))
                self.finished += 1
                self.produced += 1
            return found


class FileReader(Reader):
    """Gives whole files, by their names."""

    kind = "WholeFileReader"

    def records(self, work: bytes) -> Iterator[Record]:
        yield work, _contents(work)


class LineReader(Reader):
    """Gives the lines of text files, without their ends; keys are `name:number`."""

    kind = "TextLineReader"

    def __init__(self, name: str, skip_header_lines: int):
        self._skip = skip_header_lines
        super().__init__(name)

    def records(self, work: bytes) -> Iterator[Record]:
        lines = _contents(work).split(b"\n")
        if lines and not lines[-1]:
            lines.pop()
        for number, line in enumerate(lines, 1):
            if number > self._skip:
                yield work + b":%d" % number, line.replace(b"\r", b"")


class FixedReader(Reader):
    """Gives records of one length; keys are `name:number`."""

    kind = "FixedLengthRecordReader"

    def __init__(self, name: str, header: int, record: int, footer: int, hop: int, encoding: str):
        for what, value, least in (
            ("header_bytes", header, 0),
            ("record_bytes", record, 1),
            ("footer_bytes", footer, 0),
            ("hop_bytes", hop, 0),
        ):
            if value < least:
                raise InvalidArgumentError(None, None, f"{what} must be >= {least} not {value}")
        if encoding not in ("", "ZLIB", "GZIP"):
            raise InvalidArgumentError(
                None, None, f'encoding must be "", "ZLIB" or "GZIP", not "{encoding}"'
            )
        self._header, self._size, self._footer = header, record, footer
        self._hop = hop or record
        self._encoding = encoding
        super().__init__(name)

    def records(self, work: bytes) -> Iterator[Record]:
        data = _contents(work)
        if self._encoding:
            try:
                data = expansion.expanded(data, self._encoding, local_path(work))
            except (EOFError, zlib.error) as error:
                raise InvalidArgumentError(
                    None, None, f"{local_path(work)}: {error}"
                ) from None
        at, number = self._header, 0
        while at + self._size <= len(data) - self._footer:
            yield work + b":%d" % number, data[at : at + self._size]
            at += self._hop
            number += 1


class ExampleReader(Reader):
    """Gives the records of TFRecord files; keys are `name:offset`."""

    kind = "TFRecordReader"

    def __init__(self, name: str, compression: str):
        self._compression = compression
        super().__init__(name)

    def records(self, work: bytes) -> Iterator[Record]:
        offset = 0
        for record in tf_record.records(local_path(work), self._compression):
            yield work + b":%d" % offset, record
            offset += len(record) + 16  # its length and two checksums


def _contents(work: bytes) -> bytes:
    path = local_path(work)
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise file_system.as_error(error, path) from None

"""`Dataset.cache`: the elements of the first whole pass, kept in memory or in files for later ones."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.errors import AlreadyExistsError, DataLossError
from tapeflow.core.files.paths import local_path
from tapeflow.core.files.tf_record import TFRecordWriter, records
from tapeflow.core.files.whole_files import new_file, replace, replace_file, temporary_name
from tapeflow.core.public import boundaries
from tapeflow.data.iteration import state_coding
from tapeflow.data.iteration.passes import Counted, Over, Pass, close_pass
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.record import ELEMENTS, record, same_spec

if TYPE_CHECKING:
    from tapeflow.data.transform.mapped_pass import Mapped


class CachingMethods:
    """Methods of Dataset."""

    def cache(self, filename: str = "", name: str | None = None):
        """Keep the elements of the first whole pass for later ones: in memory, or in files.

        Args:
          filename: how the files' names begin; "" for memory.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.
        """
        return cached(self, filename)


@record("cache", spec=same_spec)
def cached(dataset, filename):
    """Dataset arguments for a dataset that is made once."""
    if hasattr(filename, "numpy"):
        filename = filename.numpy()
    filename = local_path(filename)
    spec = lambda: dataset.element_spec  # noqa: E731
    if filename:
        return "Cache", lambda: _InFiles(dataset, filename), spec, parts_of(dataset).size
    memory = []
    # Rows are in memory already, and visited in the same order on every pass when not shuffled.
    rows = parts_of(dataset).rows
    fixed = rows is not None and rows.held and not rows.seeds
    if fixed:
        return "Cache", parts_of(dataset).start, spec, parts_of(dataset).size, parts_of(dataset).rows
    return "Cache", lambda: _InMemory(dataset, memory), spec, parts_of(dataset).size


cached.node(
    "CacheDataset", "input_dataset: variant, filename: string -> handle: variant", {**ELEMENTS, "metadata": ""},
    touches="files",
)  # fmt: skip
cached.node(
    "CacheDatasetV2", "input_dataset: variant, filename: string, cache: resource -> handle: variant",
    {**ELEMENTS, "metadata": ""}, stateful=True, touches="files", written=False,
)  # fmt: skip


class _InMemory(Pass):
    """Reads what `memory` holds, or fills it."""

    __slots__ = ("_dataset", "_input", "_memory", "_next", "_seen")

    def __init__(self, dataset, memory):
        self._dataset = dataset
        self._memory = memory  # [elements] when they are complete
        self._seen = []
        self._next = 0
        self._input = None if memory else parts_of(dataset).start()

    def __next__(self):
        if self._input is None:
            elements = self._memory[0]
            if self._next >= len(elements):
                raise StopIteration
            self._next += 1
            return elements[self._next - 1]
        try:
            value = next(self._input)
        except StopIteration:
            if not self._memory:
                self._memory.append(self._seen)
            self._input = None
            self._next = len(self._memory[0])
            raise
        self._seen.append(value)
        return value

    def save(self):
        if self._input is None:
            return [None, self._memory[0], self._next]
        return [self._input.save(), self._seen, 0]

    def restore(self, state: Sequence[Any]):
        inner, seen, self._next = state
        if inner is None:
            self._memory[:] = [seen]
            self._input = None
        else:
            self._seen = seen
            self._input = parts_of(self._dataset).start()
            self._input.restore(inner)

    def close(self):
        """Closes what it reads."""
        close_pass(self._input)


def _names(prefix: str):
    return f"{prefix}.index", f"{prefix}.data-00000-of-00001", f"{prefix}_0.lockfile"


class _InFiles(Pass):
    """Reads the files named `prefix`, or writes them: under other names until they are complete."""

    __slots__ = ("__weakref__", "_dataset", "_inner", "_prefix", "_writes")

    def __init__(self, dataset, prefix: str):
        self._dataset = dataset
        self._prefix = prefix
        self._inner = None
        self._writes = False

    def _begin(self, state=None):
        if os.path.exists(_names(self._prefix)[0]):
            self._inner = Counted(lambda: _read(self._prefix))
            return
        source = parts_of(self._dataset).start()
        if state is not None:
            source.restore(state)
        self._inner = _Writing(source, self._prefix)
        self._writes = True

    def __next__(self):
        if self._inner is None:
            self._begin()
        return next(self._inner)

    def save(self):
        if self._inner is None:
            return [None, False]
        return [self._inner.save(), self._writes]

    def restore(self, state):
        inner, writes = state
        self.close()
        self._inner = None
        if inner is None:
            return
        if not writes or os.path.exists(_names(self._prefix)[0]):
            self._begin()
            self._inner.restore(inner if not writes else inner[1])
            return
        # What had been written is made again, so that the files are complete at the end.
        self._begin()
        for _ in range(inner[1]):
            next(self._inner, None)

    def close(self):
        """Takes away files that are not complete."""
        close_pass(self._inner)

    def __del__(self):
        self.close()


def _read(prefix: str):
    index, data, _ = _names(prefix)
    with open(index, "rb") as file:
        count = state_coding.decode(file.read())
    read = 0
    for line in records(data):
        read += 1
        yield state_coding.decode(line)
    if read != count:
        raise DataLossError(None, None, f"{data} holds {read} elements of {count}.")


class _NewFileWriter(TFRecordWriter):
    """Writes records to a file that was not there before."""

    _open = staticmethod(new_file)


class _Writing(Over):
    """Elements, as they are also written to files."""

    __slots__ = ("_count", "_lock", "_prefix", "_temporary", "_writer")

    def __init__(self, values: Mapped, prefix: str):
        super().__init__(values)
        self._prefix = prefix
        self._count = 0
        self._writer = None
        self._temporary = None
        self._lock = None

    def __next__(self):
        if self._lock is None:
            self._open()
        try:
            value = next(self._input)
        except StopIteration:
            self._finish()
            raise
        if self._writer is not None:
            self._writer.write(state_coding.encode(value))
            self._count += 1
        return value

    def _open(self):
        lock = _names(self._prefix)[2]
        try:
            file = new_file(lock)
        except FileExistsError:
            raise AlreadyExistsError(
                None,
                None,
                "There appears to be a concurrent caching iterator running - cache lockfile already exists "
                f"('{lock}'). If you are sure no other running TF computations are using this cache prefix, "
                "delete the lockfile and re-initialize the iterator.",
            ) from None
        try:
            with file:
                file.write(b"Created at: %d" % time.time())
            self._temporary = temporary_name(_names(self._prefix)[1])
            self._writer = _NewFileWriter(self._temporary)
        except OSError:
            os.remove(lock)
            raise
        self._lock = lock

    def _finish(self):
        if self._writer is None:
            return
        self._writer.close()
        index, data, lock = _names(self._prefix)
        replace(self._temporary, data)
        replace_file(index, state_coding.encode(self._count))
        self._writer = None
        os.remove(lock)

    def save(self):
        return [self._input.save(), self._count]

    def close(self):
        if self._writer is not None:
            writer, self._writer = self._writer, None
            with contextlib.suppress(OSError):  # what it could not write is not wanted
                writer.close()
            for name in (self._temporary, self._lock):
                with contextlib.suppress(OSError):
                    os.remove(name)
        super().close()


boundaries(globals())

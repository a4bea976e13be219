"""TensorFlow's checkpoint files, written: tensors into shards of data, and the index that says what is where.

The index is written last, and renamed to its name: until then the checkpoint of before is whole, and from then on the
new one is. Where files of that name are there already, the data go to files of another number of shards.
"""

from __future__ import annotations

import contextlib
import os
import struct
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.checkpoint import slices
from tapeflow.checkpoint.bundle import BundleReader, data_path, index_path
from tapeflow.checkpoint.slices import Part
from tapeflow.checkpoint.table import write_table
from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType, as_dtype
from tapeflow.core.errors import DataLossError, InvalidArgumentError, NotFoundError
from tapeflow.core.files.crc32c import crc32c, mask
from tapeflow.core.files.paths import local_path
from tapeflow.core.files.whole_files import name_file, new_file, replace
from tapeflow.core.files.wire import varint

_VERSION = 1
# What is summed and written at once: the cache has it for both.
_BLOCK = 1 << 18
# Stands behind the prefix in the names of files that are not complete, before the number of the process.
_TEMPORARY = ".temporary-"


def write_bundle(
    prefix: Any,
    tensors: Mapping[str, Any] | Sequence[Mapping[str, Any]],
) -> None:
    """Writes a checkpoint of arrays (of objects of bytes for strings) by name.

    Args:
      tensors: arrays, or lists of `Part`s of one, by name; several dicts make as many shards.

    Raises the operating system's errors, InvalidArgumentError for values that no checkpoint can hold.
    """
    prefix = local_path(prefix)
    shards = [tensors] if isinstance(tensors, Mapping) else list(tensors)
    with _Files(prefix, len(shards)) as files:
        entries: dict[bytes, bytes] = {}
        for shard, own in enumerate(shards):
            with files.open(shard) as file:
                writer = _Shard(file, shard, entries)
                for key in sorted(own, key=str.encode):
                    writer.write(key, own[key])
        files.finish(entries)


def merge_bundles(
    prefixes: Sequence[str], destination: str, delete_old: bool, allow_missing: bool = False
) -> None:
    """Makes one checkpoint of several, whose files are moved, not read; those that are missing are left out if allowed.

    Raises NotFoundError for one that is not there, DataLossError for a damaged one, InvalidArgumentError for a tensor
    that is in two of them.
    """
    prefixes, destination = [local_path(prefix) for prefix in prefixes], local_path(destination)
    if allow_missing:
        prefixes = [prefix for prefix in prefixes if os.path.exists(index_path(prefix))]
    readers = [BundleReader(prefix) for prefix in prefixes]
    moved = [(r, shard) for r in readers for shard in range(r.shards)]
    number = {(id(reader), shard): place for place, (reader, shard) in enumerate(moved)}
    with _Files(destination, len(moved)) as files:
        entries: dict[bytes, bytes] = {}
        for reader in readers:
            for key, entry in reader.raw_entries():
                entry.shard_id = number.get((id(reader), entry.shard_id), 0)
                if key in entries and not entry.slices:
                    raise InvalidArgumentError(
                        None, None, f"Tensor {key!r} is in two checkpoints that are to be one"
                    )
                if key in entries:
                    known = protos.BundleEntryProto.FromString(entries[key])
                    known.slices.extend(entry.slices)
                    entry = known
                entries[key] = entry.SerializeToString(deterministic=True)
        for place, (reader, shard) in enumerate(moved):
            files.take(place, data_path(reader.prefix, shard, reader.shards))
        files.finish(entries)
    for prefix in prefixes if delete_old else ():
        if os.path.abspath(prefix) != os.path.abspath(destination):
            os.unlink(index_path(prefix))
            folder = os.path.dirname(prefix)
            if folder and folder != os.path.dirname(destination) and not os.listdir(folder):
                os.rmdir(folder)


class _Files:
    """The files of a checkpoint in the making: under other names until they are complete."""

    def __init__(self, prefix: str, shards: int):
        self.prefix, self.shards = prefix, shards
        self._mark = f"{prefix}{_TEMPORARY}{os.getpid()}-{uuid.uuid4().hex}"
        self._temporary: dict[int, str] = {}
        _remove_left_over(prefix)

    def __enter__(self) -> _Files:
        return self

    def __exit__(self, *_: Any) -> None:
        for path in (*self._temporary.values(), f"{self._mark}.index"):
            if os.path.exists(path):
                os.unlink(path)

    def open(self, shard: int) -> Any:
        path = self._temporary[shard] = f"{self._mark}.data-{shard}"
        return _Synced(path, like=index_path(self.prefix))

    def take(self, shard: int, path: str) -> None:
        """Lets a file that is there be a shard."""
        self._temporary[shard] = f"{self._mark}.data-{shard}"
        os.replace(path, self._temporary[shard])

    def finish(self, entries: dict[bytes, bytes]) -> None:
        """Gives the files their names, the index last."""
        old = _shards_of(self.prefix)
        count = self.shards + 1 if old == self.shards else self.shards
        header = protos.BundleHeaderProto(num_shards=count)
        header.version.producer = _VERSION
        table = write_table(
            [(b"", header.SerializeToString(deterministic=True)), *sorted(entries.items())]
        )
        temporary = f"{self._mark}.index"
        with _Synced(temporary, like=index_path(self.prefix)) as file:
            file.write(table)
        for shard, path in self._temporary.items():
            replace(path, data_path(self.prefix, shard, count))
        replace(temporary, index_path(self.prefix))
        for shard in range(old):
            path = data_path(self.prefix, shard, old)
            if old != count and os.path.exists(path):
                os.unlink(path)


def _remove_left_over(prefix: str) -> None:
    """Removes what processes that are gone have left of checkpoints of this name."""
    folder, base = os.path.split(prefix)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return
    for name in names:
        rest = name.removeprefix(base + _TEMPORARY)
        if rest != name and not _runs(rest.partition("-")[0]):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, name))


def _runs(number: str) -> bool:
    """Whether there is a process of this number."""
    if not number.isdigit():
        return True
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


class _Synced:
    """A file that is on the disk when it is closed."""

    def __init__(self, path: str, like: str):
        self._path = path
        self._file = new_file(path, like)  # closed by __exit__

    def __enter__(self) -> Any:
        return self._file

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        name_file(error, self._path)
        try:
            if kind is None:
                self._file.flush()
                os.fsync(self._file.fileno())
            self._file.close()
        except OSError as late:
            name_file(late, self._path)
            with contextlib.suppress(OSError):  # it would say the same once more
                self._file.close()
            raise


def _shards_of(prefix: str) -> int:
    """The number of shards of the checkpoint that has this name already; 0 if there is none that can be read."""
    try:
        return BundleReader(prefix).shards
    except (NotFoundError, DataLossError, OSError):
        return 0


class _Shard:
    """A file of data, whose entries go to the index."""

    def __init__(self, file: Any, shard: int, entries: dict[bytes, bytes]):
        self.file, self.shard, self.entries = file, shard, entries
        self.offset = 0

    def write(self, key: str, value: Any) -> None:
        if not isinstance(value, list):
            self._write(key, key.encode(), value)
            return
        whole = protos.BundleEntryProto()
        for part in value:
            if not isinstance(part, Part):
                raise InvalidArgumentError(
                    None, None, f"A checkpoint holds numbers and strings, and {key!r} has {value!r}"
                )
            array = self._write(key, slices.key(key, part.extents), part.value)
            whole.dtype = _dtype(array).as_datatype_enum
            whole.slices.append(slices.message(part.extents))
            shape = part.shape
        for size in shape:
            whole.shape.dim.add(size=size)
        known = self.entries.get(key.encode())
        if known is not None:  # parts in other shards
            whole.slices.extend(protos.BundleEntryProto.FromString(known).slices)
        self.entries[key.encode()] = whole.SerializeToString(deterministic=True)

    def _write(self, name: str, key: bytes, value: Any) -> np.ndarray:
        """Writes one tensor and its entry."""
        array = slices.as_array(value)
        if array.dtype.kind in "OSU":
            text, checksum = _strings(name, array)
            self.file.write(text)
            return self._note(key, array, len(text), checksum)
        data: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b""
        checksum = 0
        for start in range(0, len(data), _BLOCK):
            block = data[start : start + _BLOCK]
            checksum = crc32c(block, checksum)
            self.file.write(block)
        return self._note(key, array, len(data), checksum)

    def _note(self, key: bytes, array: np.ndarray, size: int, checksum: int) -> np.ndarray:
        """Adds the entry of what was written."""
        entry = protos.BundleEntryProto(
            dtype=_dtype(array).as_datatype_enum, shard_id=self.shard, offset=self.offset,
            size=size, crc32c=mask(checksum),
        )  # fmt: skip
        entry.shape.SetInParent()
        for n in array.shape:
            entry.shape.dim.add(size=n)
        self.entries[key] = entry.SerializeToString(deterministic=True)
        self.offset += size
        return array


def _dtype(array: np.ndarray) -> DType:
    return dtypes.string if array.dtype.kind in "OSU" else as_dtype(array.dtype)


def _strings(key: str, array: np.ndarray) -> tuple[bytes, int]:
    """Lengths, their checksum, then all bytes; and the checksum over everything."""
    items = []
    for item in array.reshape(-1).tolist():
        item = item.encode() if isinstance(item, str) else item
        if not isinstance(item, bytes):
            raise InvalidArgumentError(
                None, None, f"A checkpoint holds numbers and strings, and {key!r} has {item!r}"
            )
        items.append(item)
    lengths = b"".join(varint(len(item)) for item in items)
    plain = b"".join(struct.pack("<I" if len(i) < 1 << 32 else "<Q", len(i)) for i in items)
    checksum = crc32c(plain)
    stored = struct.pack("<I", mask(checksum))
    body = b"".join(items)
    return lengths + stored + body, crc32c(body, crc32c(stored, checksum))

"""TensorFlow's checkpoint files: `<prefix>.index` says what is where in `<prefix>.data-00000-of-00001`.

The index is a sorted table: the entry of the empty key is the header, the others describe one tensor each. What
is written goes to temporary names first, the index last, so that a crash never leaves a broken checkpoint
behind a name that worked before.
"""

from __future__ import annotations

import mmap
import os
import struct
import uuid
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.crc32c import crc32c, mask, unmask
from tapeflow.core.dtypes import DType, as_dtype
from tapeflow.core.errors import DataLossError, InvalidArgumentError, NotFoundError
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.saved_model.table import read_table, write_table
from tapeflow.saved_model.wire import decode, encode, read_varint, varint

_SHAPE = {2: ("dim", [{1: ("size", "int"), 2: ("name", "string")}]), 3: ("unknown_rank", "int")}
_HEADER = {
    1: ("num_shards", "int"),
    2: ("endianness", "int"),
    3: ("version", {1: ("producer", "int"), 2: ("min_consumer", "int")}),
}
_EXTENT = {1: ("start", "int"), 2: ("length", "int")}
_ENTRY = {
    1: ("dtype", "int"),
    2: ("shape", _SHAPE),
    3: ("shard_id", "int"),
    4: ("offset", "int"),
    5: ("size", "int"),
    6: ("crc32c", "fixed32"),
    7: ("slices", [{1: ("extent", [_EXTENT])}]),
}
_VERSION = 1


def index_path(prefix: str) -> str:
    """The file of the index of a checkpoint."""
    return f"{prefix}.index"


def data_path(prefix: str, shard: int, shards: int) -> str:
    """The file of a shard of a checkpoint's data."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def write_bundle(prefix: str, tensors: dict[str, Any]) -> None:
    """Writes a checkpoint of arrays (of objects of bytes for strings) by name.

    Raises the operating system's errors, InvalidArgumentError for values that no checkpoint can hold.
    """
    prefix = os.fspath(prefix)
    mark = f"{prefix}.temporary-{uuid.uuid4().hex}"
    final = data_path(prefix, 0, 1), index_path(prefix)
    temporary = f"{mark}.data", f"{mark}.index"
    entries = [(b"", encode({"num_shards": 1, "version": {"producer": _VERSION}}, _HEADER))]
    try:
        with open(temporary[0], "wb") as file:
            offset = 0
            for key in sorted(tensors, key=str.encode):
                size, entry = _write(file, key, tensors[key], offset)
                entries.append((key.encode(), entry))
                offset += size
            file.flush()
            os.fsync(file.fileno())
        with open(temporary[1], "wb") as file:
            file.write(write_table(entries))
            file.flush()
            os.fsync(file.fileno())
        for source, target in zip(temporary, final):
            os.replace(source, target)
    finally:
        for source in temporary:
            if os.path.exists(source):
                os.unlink(source)


def _write(file: Any, key: str, value: Any, offset: int) -> tuple[int, bytes]:
    """Writes one tensor; returns its size and its entry of the index."""
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        dtype: DType = dtypes.string
        data, checksum = _strings(key, array)
        parts: list[Any] = [data]
    else:
        dtype = as_dtype(array.dtype)
        contiguous = np.ascontiguousarray(array)
        parts = [contiguous.reshape(-1).view(np.uint8).data] if contiguous.size else []
        checksum = crc32c(parts[0]) if parts else 0
    size = 0
    for part in parts:
        file.write(part)
        size += len(part)
    entry = {
        "dtype": dtype.as_datatype_enum,
        "shape": {"dim": [{"size": n} for n in array.shape]},
        "offset": offset,
        "size": size,
        "crc32c": mask(checksum),
    }
    return size, encode(entry, _ENTRY)


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


class BundleReader:
    """A checkpoint that is read: names, shapes, dtypes and values.

    Raises NotFoundError where there is none, DataLossError where it is damaged.
    """

    def __init__(self, prefix: str):
        self.prefix = os.fspath(prefix)
        path = index_path(self.prefix)
        try:
            with open(path, "rb") as file:
                content = file.read()
        except (FileNotFoundError, NotADirectoryError):
            raise NotFoundError(
                None,
                None,
                "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
                f"{self.prefix}",
            ) from None
        table = read_table(content, path)
        try:
            header = decode(table.pop(b""), _HEADER)
            self._entries = {key.decode(): decode(value, _ENTRY) for key, value in table.items()
                             if not key.startswith(b"\0")}  # fmt: skip
        except (KeyError, ValueError) as error:
            raise DataLossError(
                None, None, f"The index of the checkpoint {self.prefix} is damaged: {error}"
            ) from None
        if header.get("endianness"):
            raise DataLossError(
                None, None, f"The checkpoint {self.prefix} was written by a big-endian machine"
            )
        self._shards = header.get("num_shards", 0)
        self._maps: dict[int, Any] = {}

    def keys(self) -> list[str]:
        """The names of all tensors."""
        return sorted(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def dtype(self, key: str) -> DType:
        """The dtype of a tensor."""
        return self._dtype(key, self._entry(key))

    def shape(self, key: str) -> TensorShape:
        """The shape of a tensor."""
        return TensorShape(self._sizes(key, self._entry(key)))

    def _entry(self, key: str) -> dict:
        if key not in self._entries:
            raise NotFoundError(None, None, f"Key {key} not found in checkpoint {self.prefix}")
        return self._entries[key]

    def _dtype(self, key: str, entry: dict) -> DType:
        try:
            return as_dtype(entry.get("dtype", 0))
        except TypeError:
            raise self._damaged(key, f"dtype {entry.get('dtype')} is unknown") from None

    def _sizes(self, key: str, entry: dict) -> list[int]:
        sizes = [dim.get("size", 0) for dim in entry.get("shape", {}).get("dim", ())]
        if any(size < 0 for size in sizes):
            raise self._damaged(key, f"its shape is {sizes}")
        return sizes

    def _damaged(self, key: str, what: str) -> DataLossError:
        return DataLossError(None, None, f"Checkpoint {self.prefix}, tensor {key}: {what}")

    def read(self, key: str) -> np.ndarray:
        """The value of a tensor, as an array; strings as objects of bytes."""
        entry = self._entry(key)
        if entry.get("slices"):
            return self._read_slices(key, entry)
        dtype, sizes = self._dtype(key, entry), self._sizes(key, entry)
        data = self._bytes(key, entry)
        count = 1
        for size in sizes:
            count *= size
        if dtype == dtypes.string:
            return self._read_strings(key, entry, data, count).reshape(sizes)
        kind = np.dtype(dtype.as_numpy_dtype)
        if kind == np.dtype(object) or len(data) != count * kind.itemsize:
            raise self._damaged(
                key, f"{len(data)} bytes are no {dtype.name} tensor of shape {sizes}"
            )
        if crc32c(data) != unmask(entry.get("crc32c", 0)):
            raise self._damaged(key, "checksum does not match")
        return np.frombuffer(bytearray(data), kind).reshape(sizes)

    def _bytes(self, key: str, entry: dict) -> memoryview:
        shard, offset, size = (entry.get(name, 0) for name in ("shard_id", "offset", "size"))
        if not 0 <= shard < self._shards or offset < 0 or size < 0:
            raise self._damaged(key, f"it is said to be in shard {shard} at {offset}")
        if size == 0:
            return memoryview(b"")
        data = self._shard(shard)
        if offset + size > len(data):
            raise self._damaged(key, "the data file is too short")
        return data[offset : offset + size]

    def _shard(self, shard: int) -> memoryview:
        if shard not in self._maps:
            path = data_path(self.prefix, shard, self._shards)
            try:
                with open(path, "rb") as file:
                    empty = os.fstat(file.fileno()).st_size == 0
                    mapped = b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except FileNotFoundError:
                raise NotFoundError(None, None, f"{path}; No such file or directory") from None
            self._maps[shard] = memoryview(mapped)
        return self._maps[shard]

    def _read_strings(self, key: str, entry: dict, data: memoryview, count: int) -> np.ndarray:
        try:
            if count > len(data):
                raise ValueError(f"{len(data)} bytes are not {count} strings")
            lengths, at = [], 0
            for _ in range(count):
                length, at = read_varint(data, at)
                lengths.append(length)
            plain = b"".join(struct.pack("<I" if n < 1 << 32 else "<Q", n) for n in lengths)
            checksum = crc32c(plain)
            stored = data[at : at + 4]
            if len(stored) < 4 or unmask(struct.unpack("<I", stored)[0]) != checksum:
                raise ValueError("the checksum of the lengths does not match")
            body = data[at + 4 :]
            if crc32c(body, crc32c(stored, checksum)) != unmask(entry.get("crc32c", 0)):
                raise ValueError("checksum does not match")
            if sum(lengths) != len(body):
                raise ValueError("lengths do not add up")
        except ValueError as error:
            raise self._damaged(key, str(error)) from None
        items, at = np.empty(count, object), 0
        for i, length in enumerate(lengths):
            items[i] = bytes(body[at : at + length])
            at += length
        return items

    def _read_slices(self, key: str, entry: dict) -> np.ndarray:
        raise self._damaged(key, "partitioned variables cannot be read")

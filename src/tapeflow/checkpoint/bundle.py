"""TensorFlow's checkpoint files, read: `<prefix>.index` says what is where in `<prefix>.data-00000-of-00001`.

The index is a sorted table: the entry of the empty key is the header, the others describe one tensor each.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow import _native, protos
from tapeflow.checkpoint import slices
from tapeflow.checkpoint.table import read_table
from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType, as_dtype
from tapeflow.core.errors import DataLossError, InvalidArgumentError, NotFoundError
from tapeflow.core.files.crc32c import crc32c, unmask
from tapeflow.core.files.paths import local_path
from tapeflow.core.files.wire import read_varint
from tapeflow.core.tensor_shape import TensorShape

# A tensor of more bytes than this is taken for damage where its parts do not hold as many.
_LARGEST = 1 << 40


def index_path(prefix: str) -> str:
    """The file of the index of a checkpoint."""
    return f"{prefix}.index"


def data_path(prefix: str, shard: int, shards: int) -> str:
    """The file of a shard of a checkpoint's data."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


class _File:
    """A file that is open for as long as there is this object."""

    def __init__(self, path: str):
        self.number = os.open(path, os.O_RDONLY)
        self.size = os.fstat(self.number).st_size

    def __del__(self) -> None:
        if hasattr(self, "number"):
            os.close(self.number)


class BundleReader:
    """A checkpoint that is read: names, shapes, dtypes and values.

    Attributes:
      shards: how many files of data it has.

    Raises NotFoundError where there is none, DataLossError where it is damaged.
    """

    def __init__(self, prefix: Any):
        self.prefix = local_path(prefix)
        path = index_path(self.prefix)
        try:
            with open(path, "rb") as file:
                content = file.read()
        except (FileNotFoundError, NotADirectoryError):
            if os.path.exists(self.prefix):
                why = "FAILED_PRECONDITION: it is a directory" if os.path.isdir(self.prefix) else "DATA_LOSS"
                raise DataLossError(
                    None,
                    None,
                    f"Unable to open table file {self.prefix}: {why}: perhaps your file is in a different file "
                    "format and you need to use a different restore operator?",
                ) from None
            raise NotFoundError(
                None,
                None,
                "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
                f"{self.prefix}",
            ) from None
        table = read_table(content, path)
        if b"" not in table:
            raise self._bad_index("it has no header")
        header = self._parsed(protos.BundleHeaderProto, table.pop(b""))
        if header.endianness:
            raise DataLossError(
                None, None, f"The checkpoint {self.prefix} was written by a big-endian machine"
            )
        self.shards = header.num_shards
        self._raw = table
        self._entries: dict[str, Any] = {}
        for key, value in table.items():
            if not key.startswith(b"\0"):  # the parts of a tensor
                try:
                    self._entries[key.decode()] = self._parsed(protos.BundleEntryProto, value)
                except UnicodeDecodeError as error:
                    raise self._bad_index(error) from None
        self._files: dict[int, _File] = {}

    def _parsed(self, message: Any, data: bytes) -> Any:
        from google.protobuf.message import DecodeError

        try:
            return message.FromString(data)
        except DecodeError as error:
            raise self._bad_index(error) from None

    def _bad_index(self, what: Any) -> DataLossError:
        return DataLossError(
            None, None, f"The index of the checkpoint {self.prefix} is damaged: {what}"
        )

    def keys(self) -> list[str]:
        """The names of all tensors."""
        return sorted(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def raw_entries(self) -> Iterator[tuple[bytes, Any]]:
        """The keys and messages of all entries, those of parts too."""
        for key, value in self._raw.items():
            yield key, self._parsed(protos.BundleEntryProto, value)

    def dtype(self, key: str) -> DType:
        """The dtype of a tensor."""
        return self._dtype(key, self._entry(key))

    def shape(self, key: str) -> TensorShape:
        """The shape of a tensor."""
        return TensorShape(self._sizes(key, self._entry(key)))

    def _entry(self, key: str) -> Any:
        if key not in self._entries:
            raise NotFoundError(None, None, f"Key {key} not found in checkpoint {self.prefix}")
        return self._entries[key]

    def _dtype(self, key: str, entry: Any) -> DType:
        try:
            return as_dtype(entry.dtype)
        except TypeError:
            raise self._damaged(key, f"dtype {entry.dtype} is unknown") from None

    def _sizes(self, key: str, entry: Any) -> list[int]:
        sizes = [dim.size for dim in entry.shape.dim]
        if any(size < 0 for size in sizes) or len(sizes) > 254:
            raise self._damaged(key, f"its shape is {sizes}")
        return sizes

    def _damaged(self, key: str, what: str) -> DataLossError:
        return DataLossError(None, None, f"Checkpoint {self.prefix}, tensor {key}: {what}")

    def read_tensor(self, key: str) -> Any:
        """The value of a tensor of numbers that is not in parts, in memory of its own; of others None."""
        entry = self._entry(key)
        if entry.slices or self._dtype(key, entry) == dtypes.string:
            return None
        return self._numbers(key, entry)

    def read(self, key: str) -> np.ndarray:
        """The value of a tensor, as an array; strings as objects of bytes."""
        entry = self._entry(key)
        if entry.slices:
            whole = tuple(None for _ in entry.shape.dim)
            return self.read_slice(key, self._sizes(key, entry), whole)
        return self._read(key, entry)

    def read_slice(
        self, key: str, shape: Sequence[int], extents: Sequence[tuple[int, int] | None]
    ) -> np.ndarray:
        """A slice of a tensor, put together of the parts that the checkpoint has.

        Raises InvalidArgumentError for a tensor of another shape, DataLossError where a part is missing.
        """
        entry = self._entry(key)
        sizes = self._sizes(key, entry)
        if list(shape) != sizes:
            raise InvalidArgumentError(
                None, None,
                f"Shape in shape_and_slice spec {list(shape)} does not match the shape stored in checkpoint: {sizes}",
            )  # fmt: skip
        wanted = slices.indices(extents)
        if not entry.slices:
            return np.ascontiguousarray(self._read(key, entry)[wanted])
        dtype = self._dtype(key, entry)
        kind = np.dtype(object if dtype == dtypes.string else dtype.as_numpy_dtype)
        parts = [(slices.of_message(part)) for part in entry.slices]
        stored = 0
        for part in parts:
            raw = self._raw.get(slices.key(key, part))
            if raw is None or len(part) != len(sizes):
                raise self._damaged(key, f"its part {part} is missing")
            stored += self._parsed(protos.BundleEntryProto, raw).size
        count = 1
        for size in sizes:
            count *= size
        if count > max(stored, 1):  # each element takes at least one byte
            raise self._damaged(key, f"its parts do not make a tensor of shape {sizes}")

        def arrays() -> Iterator[tuple[Any, np.ndarray]]:
            for part in parts:
                own = self._parsed(protos.BundleEntryProto, self._raw[slices.key(key, part)])
                yield part, self._read(key, own)

        try:
            return slices.joined(sizes, kind, arrays(), wanted)
        except ValueError as error:
            raise self._damaged(key, str(error)) from None

    def _read(self, key: str, entry: Any) -> np.ndarray:
        if self._dtype(key, entry) == dtypes.variant:
            raise InvalidArgumentError(
                None, None,
                f"{key} in {self.prefix} is of dtype variant, as the states of iterators that TensorFlow has written; "
                "those cannot be read.",
            )  # fmt: skip
        if self._dtype(key, entry) != dtypes.string:
            return np.asarray(self._numbers(key, entry).numpy())  # scalars too are arrays
        sizes = self._sizes(key, entry)
        return self._read_strings(key, entry, math.prod(sizes)).reshape(sizes)

    def _numbers(self, key: str, entry: Any) -> Any:
        """A tensor of what the entry says, if its size and its checksum are right."""
        dtype, sizes = self._dtype(key, entry), self._sizes(key, entry)
        kind, count = np.dtype(dtype.as_numpy_dtype), math.prod(sizes)
        file = self._file(key, entry)
        if kind == np.dtype(object) or entry.size != count * kind.itemsize or count > _LARGEST:
            raise self._damaged(
                key, f"{entry.size} bytes are no {dtype.name} tensor of shape {sizes}"
            )
        try:
            tensor, checksum = _native.read_tensor(file.number, entry.offset, dtype, tuple(sizes))
        except (EOFError, InvalidArgumentError) as error:
            raise self._damaged(key, f"its shape is {sizes}: {error}") from None
        if checksum != unmask(entry.crc32c):
            raise self._damaged(key, "checksum does not match")
        return tensor

    def _bytes(self, key: str, entry: Any) -> memoryview:
        file = self._file(key, entry)
        data = _native.read_tensor(file.number, entry.offset, dtypes.uint8, (entry.size,))[0]
        return memoryview(data.numpy())

    def _file(self, key: str, entry: Any) -> _File:
        """The file that has what the entry says."""
        shard, offset, size = entry.shard_id, entry.offset, entry.size
        if not 0 <= shard < self.shards or offset < 0 or size < 0:
            raise self._damaged(key, f"it is said to be in shard {shard} at {offset}")
        if shard not in self._files:
            path = data_path(self.prefix, shard, self.shards)
            try:
                self._files[shard] = _File(path)
            except FileNotFoundError:
                raise NotFoundError(None, None, f"{path}; No such file or directory") from None
        file = self._files[shard]
        if offset + size > file.size:
            raise self._damaged(key, "the data file is too short")
        return file

    def _read_strings(self, key: str, entry: Any, count: int) -> np.ndarray:
        data = self._bytes(key, entry)
        try:
            if count > len(data):
                raise ValueError(f"{len(data)} bytes are not {count} strings")
            lengths, at = [], 0
            for _ in range(count):
                length, at = read_varint(data, at)  # type: ignore[arg-type]
                lengths.append(length)
            plain = b"".join(struct.pack("<I" if n < 1 << 32 else "<Q", n) for n in lengths)
            checksum = crc32c(plain)
            stored = data[at : at + 4]
            if len(stored) < 4 or unmask(struct.unpack("<I", stored)[0]) != checksum:
                raise ValueError("the checksum of the lengths does not match")
            body = data[at + 4 :]
            if crc32c(body, crc32c(stored, checksum)) != unmask(entry.crc32c):
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

"""Sorted tables of (key, value), the format of LevelDB in which a checkpoint's index is written.

Blocks of entries, whose keys say only where they differ from the key before; each followed by its kind and its
checksum; then an index of blocks, and a footer that says where the index is.
https://github.com/google/leveldb/blob/main/doc/table_format.md
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

from tapeflow.core.errors import DataLossError
from tapeflow.core.files import snappy
from tapeflow.core.files.crc32c import crc32c, mask, unmask
from tapeflow.core.files.wire import read_varint, varint

_MAGIC = 0xDB4775248B80FB57
_FOOTER = 48
_BLOCK = 262144  # what an uncompressed block may grow to
_RESTART = 16  # every so many keys one is written whole


class _Block:
    """Entries on their way into a block."""

    def __init__(self, restart: int):
        self.data = bytearray()
        self._restart, self._restarts = restart, [0]
        self._count, self._last = 0, b""

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self._count < self._restart:
            limit = min(len(key), len(self._last))
            while shared < limit and key[shared] == self._last[shared]:
                shared += 1
        else:
            self._restarts.append(len(self.data))
            self._count = 0
        rest = key[shared:]
        self.data += varint(shared) + varint(len(rest)) + varint(len(value)) + rest + value
        self._last = key
        self._count += 1

    def size(self) -> int:
        return len(self.data) + 4 * (len(self._restarts) + 1)

    def finish(self) -> bytes:
        tail = struct.pack(f"<{len(self._restarts) + 1}I", *self._restarts, len(self._restarts))
        return bytes(self.data) + tail


def write_table(entries: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The table of entries, which must come in the order of their keys."""
    out = bytearray()
    index: list[tuple[bytes, bytes]] = []

    def append(block: bytes) -> bytes:
        handle = varint(len(out)) + varint(len(block))
        kind = b"\0"
        out.extend(block + kind + struct.pack("<I", mask(crc32c(kind, crc32c(block)))))
        return handle

    block, last, closed = _Block(_RESTART), b"", None
    for key, value in entries:
        if closed is not None:  # a short key between the blocks will do for the index
            index.append((_between(last, key), closed))
            closed = None
        block.add(key, value)
        last = key
        if block.size() >= _BLOCK:
            closed, block = append(block.finish()), _Block(_RESTART)
    if closed is None and block.data:
        closed = append(block.finish())
    meta = append(_Block(_RESTART).finish())
    if closed is not None:
        index.append((_after(last), closed))
    top = _Block(1)
    for key, handle in index:
        top.add(key, handle)
    footer = (meta + append(top.finish())).ljust(_FOOTER - 8, b"\0")
    return bytes(out) + footer + struct.pack("<Q", _MAGIC)


def _between(low: bytes, high: bytes) -> bytes:
    """A short key that is not below `low`, and below `high`."""
    limit = min(len(low), len(high))
    at = 0
    while at < limit and low[at] == high[at]:
        at += 1
    if at < limit and low[at] < 255 and low[at] + 1 < high[at]:
        return low[:at] + bytes([low[at] + 1])
    return low


def _after(key: bytes) -> bytes:
    """A short key that is not below `key`."""
    for at, byte in enumerate(key):
        if byte != 255:
            return key[:at] + bytes([byte + 1])
    return key


def read_table(data: bytes, path: str) -> dict[bytes, bytes]:
    """All entries of a table. Raises DataLossError, naming `path`, for anything that is no sound table."""
    try:
        return dict(_entries_of_table(memoryview(data)))
    except (ValueError, struct.error, IndexError) as error:
        raise DataLossError(
            None, None, f"Unable to open table file {path}: not an sstable or damaged: {error}"
        ) from None


def _entries_of_table(data: Any) -> Iterable[tuple[bytes, bytes]]:
    if len(data) < _FOOTER:
        raise ValueError("file is too short to be an sstable")
    footer = data[-_FOOTER:]
    if struct.unpack("<Q", footer[-8:])[0] != _MAGIC:
        raise ValueError("bad magic number")
    at = 0
    for _ in range(2):  # the handle of the index comes second
        start, at = read_varint(footer, at)
        size, at = read_varint(footer, at)
    for _, handle in _entries(_block(data, start, size)):
        offset, at = read_varint(handle, 0)
        length, _ = read_varint(handle, at)
        yield from _entries(_block(data, offset, length))


def _block(data: Any, start: int, size: int) -> Any:
    if start + size + 5 > len(data) - _FOOTER:
        raise ValueError("a block is outside of the file")
    block, trailer = data[start : start + size], data[start + size : start + size + 5]
    if crc32c(trailer[:1], crc32c(block)) != unmask(struct.unpack("<I", trailer[1:])[0]):
        raise ValueError("block checksum mismatch")
    if trailer[0] > 1:
        raise ValueError(f"blocks compressed by method {trailer[0]} cannot be read")
    return snappy.expanded(block) if trailer[0] else block


def _entries(block: Any) -> Iterable[tuple[bytes, bytes]]:
    if len(block) < 4:
        raise ValueError("a block is too short")
    end = len(block) - 4 * (struct.unpack("<I", block[-4:])[0] + 1)
    if end < 0:
        raise ValueError("a block says it has more restarts than it has room for")
    at, key = 0, b""
    while at < end:
        shared, at = read_varint(block, at)
        rest, at = read_varint(block, at)
        size, at = read_varint(block, at)
        if shared > len(key) or rest + size > end - at:
            raise ValueError("an entry is longer than its block")
        key = key[:shared] + bytes(block[at : at + rest])
        yield key, bytes(block[at + rest : at + rest + size])
        at += rest + size

"""Compressed data, expanded within bounds: a small file cannot ask for all memory."""

from __future__ import annotations

import io
import zlib
from typing import Any

from tapeflow.core.errors import DataLossError, ResourceExhaustedError

# What grows more than a hundredfold to more than this is refused. An image may have as many pixels.
LARGEST = 1 << 28
_RATIO = 100
_CHUNK = 1 << 20
# zlib's window bits by the name of the compression; "" takes the header of either.
WINDOW_BITS = {"ZLIB": 15, "GZIP": 31, "": 47}


def expands_too_much(expanded: int, compressed: int) -> bool:
    """Whether so many bytes are too many to come of so few."""
    return expanded > LARGEST and expanded > _RATIO * compressed


def check_expansion(expanded: int, compressed: int, what: str) -> None:
    """Raises ResourceExhaustedError where so many bytes are too many to come of so few."""
    if expands_too_much(expanded, compressed):
        raise ResourceExhaustedError(
            None, None, f"{what} would be {expanded} bytes or more, expanded from {compressed}"
        )


def expanded(data: bytes, compression: str, what: str) -> bytes:
    """The bytes that "ZLIB" or "GZIP" data hold; GZIP data may be several members joined.

    Raises zlib.error or EOFError for damaged data, ResourceExhaustedError for data that expand too much.
    """
    parts, total, left = [], 0, data
    if not data and compression == "ZLIB":
        raise EOFError("there are no data")
    while left:
        inflater = zlib.decompressobj(WINDOW_BITS[compression])
        while not inflater.eof:
            part = inflater.decompress(left, _CHUNK)
            left = inflater.unconsumed_tail
            if not part and not left and not inflater.eof:
                raise EOFError("the compressed data end too early")
            parts.append(part)
            total += len(part)
            check_expansion(total, len(data), what)
        left = inflater.unused_data
        if compression == "ZLIB":
            break
        left = left.lstrip(b"\0")  # padding between members
    return b"".join(parts)


class ExpandedFile(io.RawIOBase):
    """A compressed file that is read as the bytes it holds, a part at a time.

    Args:
      compression: "ZLIB", "GZIP", or "" for either. GZIP files may be several members joined.
      cut_off: whether a file that ends too early is read as far as it goes, as it may still be written.

    Raises DataLossError for damaged bytes.
    """

    def __init__(self, file: Any, path: str, compression: str = "", cut_off: bool = False):
        self._file, self._path, self._cut_off = file, path, cut_off
        self._bits = WINDOW_BITS[compression]
        self._inflater: Any = zlib.decompressobj(self._bits)
        self._consumed = self._produced = 0

    def read(self, size: int = -1) -> bytes:
        """Some bytes, at most `size`; none at the end."""
        if size <= 0:
            raise ValueError("the number of bytes to read must be positive")
        while True:
            data = self._inflater.unused_data if self._inflater.eof else self._inflater.unconsumed_tail
            if not data:
                data = self._file.read(size)
                self._consumed += len(data)
                if not data:
                    if self._inflater.eof or self._cut_off:
                        return b""
                    raise DataLossError(None, None, f"{self._path}: the compressed data ends too early")
            if self._inflater.eof:
                self._inflater = zlib.decompressobj(self._bits)
            try:
                found = self._inflater.decompress(data, size)
            except zlib.error as error:
                raise DataLossError(None, None, f"{self._path}: {error}") from None
            if found:
                return found

    def check(self, held: int) -> None:
        """Raises ResourceExhaustedError where one piece of so many bytes is too much for what was read of the file."""
        check_expansion(held, self._consumed, self._path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fills a buffer, as lines are read that end nobody knows where: the whole file must not expand too much."""
        found = self.read(len(buffer))
        buffer[: len(found)] = found
        self._produced += len(found)
        self.check(self._produced)
        return len(found)

    def close(self) -> None:
        self._file.close()
        super().close()

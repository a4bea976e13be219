"""Snappy, the compression of the blocks of tables: bytes as they are, and copies of what came before.

https://github.com/google/snappy/blob/main/format_description.txt
"""

from __future__ import annotations

from typing import Any

from tapeflow.core.files.wire import read_varint

_MOST = 64  # bytes that a copy makes at most, of two


def expanded(data: Any) -> bytes:
    """The bytes that were compressed. Raises ValueError for what is no such data, before it fills the memory."""
    size, at = read_varint(data, 0)
    if size > _MOST * len(data):
        raise ValueError(f"{len(data)} bytes cannot stand for {size}")
    out = bytearray()
    while at < len(data):
        tag, at = data[at], at + 1
        if tag & 3 == 0:
            length, at = _literal(data, tag >> 2, at)
            if at + length > len(data):
                raise ValueError("compressed bytes are cut off")
            out += data[at : at + length]
            at += length
        else:
            length, offset, at = _copy(data, tag, at)
            if not 0 < offset <= len(out):
                raise ValueError(f"a copy begins {offset} bytes before, of {len(out)}")
            begin = len(out) - offset
            part = bytes(out[begin : begin + length])
            out += (part * (length // len(part) + 1))[:length]
        if len(out) > size:
            raise ValueError(f"compressed bytes stand for more than the {size} that they say")
    if len(out) != size:
        raise ValueError(f"compressed bytes stand for {len(out)}, not for {size}")
    return bytes(out)


def _number(data: Any, at: int, size: int) -> tuple[int, int]:
    if at + size > len(data):
        raise ValueError("compressed bytes are cut off")
    return int.from_bytes(data[at : at + size], "little"), at + size


def _literal(data: Any, short: int, at: int) -> tuple[int, int]:
    """How many bytes follow as they are, and where."""
    if short < 60:
        return short + 1, at
    length, at = _number(data, at, short - 59)
    return length + 1, at


def _copy(data: Any, tag: int, at: int) -> tuple[int, int, int]:
    """How many bytes are copied, from how far before, and where the next tag is."""
    if tag & 3 == 1:
        low, at = _number(data, at, 1)
        return (tag >> 2 & 7) + 4, tag >> 5 << 8 | low, at
    offset, at = _number(data, at, 2 if tag & 3 == 2 else 4)
    return (tag >> 2) + 1, offset, at

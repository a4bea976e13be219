"""CRC-32C (Castagnoli), the checksum of TensorFlow's records, tables and checkpoints."""

from __future__ import annotations

from typing import Any

from tapeflow import _native

_MASK = 0xA282EAD8


def crc32c(data: Any, before: int = 0) -> int:
    """The checksum of a buffer of bytes, going on from `before`, the checksum of what came before it."""
    return _native.crc32c(data, before)


def masked_crc32c(data: Any) -> int:
    """The checksum as TensorFlow stores it: rotated and offset, so that one of data with one in it is sound."""
    return mask(crc32c(data))


def mask(crc: int) -> int:
    """A checksum as it is stored."""
    return (((crc >> 15) | (crc << 17)) + _MASK) & 0xFFFFFFFF


def unmask(stored: int) -> int:
    """A stored checksum as it was computed."""
    rotated = (stored - _MASK) & 0xFFFFFFFF
    return ((rotated >> 17) | (rotated << 15)) & 0xFFFFFFFF

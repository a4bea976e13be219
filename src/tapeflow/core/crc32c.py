"""CRC-32C (Castagnoli), the checksum of TFRecord files and checkpoints, as in RFC 3720, appendix B.4."""

from __future__ import annotations

from functools import cache

import numpy as np

_POLYNOMIAL = 0x82F63B78
_ALL = 0xFFFFFFFF
_LANES = 512


@cache
def _table() -> np.ndarray:
    values = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        values = np.where(values & 1, values >> 1 ^ np.uint32(_POLYNOMIAL), values >> 1)
    return values.astype(np.uint32)


@cache
def _plain_table() -> list[int]:
    return _table().tolist()


def _serial(state: int, data: bytes) -> int:
    table = _plain_table()
    for byte in data:
        state = table[(state ^ byte) & 255] ^ state >> 8
    return state


@cache
def _zeros(length: int) -> list[int]:
    """What `length` zero bytes make of each single bit of the state."""
    columns = [_serial(1 << i, b"\0") for i in range(32)]  # one zero byte
    out = [1 << i for i in range(32)]
    while length:
        if length & 1:
            out = [_times(columns, v) for v in out]
        columns = [_times(columns, v) for v in columns]
        length >>= 1
    return out


def _times(columns: list[int], vector: int) -> int:
    out, i = 0, 0
    while vector:
        if vector & 1:
            out ^= columns[i]
        vector >>= 1
        i += 1
    return out


def crc32c(data: bytes) -> int:
    """The checksum of `data`."""
    chunk = len(data) // _LANES
    if chunk < 16:
        return _serial(_ALL, data) ^ _ALL
    # Equal parts go through the table side by side; the state of each is then carried over those behind it.
    table = _table()
    body = np.frombuffer(data, np.uint8, chunk * _LANES).reshape(_LANES, chunk).T.copy()
    states = np.zeros(_LANES, np.uint32)
    for line in body:
        states = table[(states ^ line) & 255] ^ states >> 8
    carry = _zeros(chunk)
    state = _ALL
    for part in states.tolist():
        state = _times(carry, state) ^ part
    return _serial(state, data[chunk * _LANES :]) ^ _ALL


def masked(data: bytes) -> int:
    """The checksum as files hold it: rotated and shifted, so that checksums of checksums differ."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & _ALL

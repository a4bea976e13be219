"""CRC-32C (Castagnoli), the checksum of TensorFlow's records, tables and checkpoints.

Long inputs are cut into lanes of equal length that NumPy advances together; the checksums of neighbours are
then joined in pairs, since a checksum is linear over GF(2).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

_POLYNOMIAL = 0x82F63B78
_MASK = 0xA282EAD8
_LONG = 512


@functools.cache
def _tables() -> np.ndarray:
    """tables[k][b]: what byte b, with k bytes after it in a word of 8, adds to the checksum."""
    tables = np.zeros([8, 256], np.uint32)
    values: np.ndarray = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        values = (values >> 1) ^ np.where(values & 1, np.uint32(_POLYNOMIAL), np.uint32(0))
    tables[0] = values
    for k in range(1, 8):
        tables[k] = (tables[k - 1] >> 8) ^ values[tables[k - 1] & 255]
    return tables


@functools.cache
def _bytewise() -> list[int]:
    return _tables()[0].tolist()


def crc32c(data: Any, before: int = 0) -> int:
    """The checksum of a buffer of bytes, going on from `before`, the checksum of what came before it."""
    view = memoryview(data).cast("B")
    state = before ^ 0xFFFFFFFF
    if len(view) < _LONG:
        return _short(view, state) ^ 0xFFFFFFFF
    lane = 8 * max(1, min(512, int((len(view) / 8) ** 0.5) // 8))
    lanes = len(view) // lane
    whole = lanes * lane
    joined = _joined(_of_lanes(view[:whole], lanes, lane), lane)
    state = _shifted(np.array([state], np.uint32), whole)[0] ^ joined
    return _short(view[whole:], int(state)) ^ 0xFFFFFFFF


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


def _short(view: memoryview, state: int) -> int:
    table = _bytewise()
    for byte in view:
        state = (state >> 8) ^ table[(state ^ byte) & 255]
    return state


def _of_lanes(view: memoryview, lanes: int, lane: int) -> np.ndarray:
    """The state after each lane, all from state 0."""
    tables = _tables()
    words = np.frombuffer(view, "<u8").reshape(lanes, lane // 8)
    states = np.zeros(lanes, np.uint32)
    chunk = 1 << 16  # lanes at a time, so that what is in work stays in the cache
    for start in range(0, lanes, chunk):
        part = np.ascontiguousarray(words[start : start + chunk].T)
        state = np.zeros(part.shape[1], np.uint32)
        for column in part:
            octets = (column ^ state).view(np.uint8).reshape(-1, 8)
            state = tables[7][octets[:, 0]]
            for k in range(1, 8):
                state ^= tables[7 - k][octets[:, k]]
        states[start : start + chunk] = state
    return states


def _joined(states: np.ndarray, lane: int) -> np.uint32:
    """The state after all lanes, one after the other."""
    while len(states) > 1:
        if len(states) % 2:  # a lane of state 0 in front changes nothing
            states = np.concatenate([np.zeros(1, np.uint32), states])
        states = _shifted(states[::2], lane) ^ states[1::2]
        lane *= 2
    return states[0]


def _shifted(states: np.ndarray, count: int) -> np.ndarray:
    """The states after `count` more bytes of zeros."""
    power = 0
    while count:
        if count & 1:
            tables = _zeros(power)
            parts = [tables[k][(states >> (8 * k)) & 255] for k in range(4)]
            states = parts[0] ^ parts[1] ^ parts[2] ^ parts[3]
        count >>= 1
        power += 1
    return states


@functools.cache
def _zeros(power: int) -> np.ndarray:
    """tables[k][b]: the state after 2**power bytes of zeros from one with byte b at place k, else zeros."""
    values = np.arange(256, dtype=np.uint32)
    states = np.stack([values << (8 * k) for k in range(4)])
    if power == 0:
        return (states >> 8) ^ _tables()[0][states & 255]
    half = _zeros(power - 1)
    first = half.copy()
    parts = [half[k][(first >> (8 * k)) & 255] for k in range(4)]
    return parts[0] ^ parts[1] ^ parts[2] ^ parts[3]

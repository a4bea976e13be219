"""A check of HDF5 files before they are read: libhdf5 never ends on a global heap whose free space is 0 bytes large."""

from __future__ import annotations

import mmap
import os
from typing import Any

_SIGNATURE = b"GCOL\x01\x00\x00\x00"
_HEADER = 16  # of a heap, and of an object in it: numbers, then its size in 8 bytes


def check_heaps(source: Any, path: str):
    """Raises ValueError for a damaged heap. `source` is the path of a file, or a file in memory."""
    if hasattr(source, "getbuffer"):
        _check(source.getvalue(), path)
        return
    with open(source, "rb") as file:
        if os.fstat(file.fileno()).st_size:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                _check(data, path)


def _check(data: Any, path: str):
    start = data.find(_SIGNATURE)
    while start >= 0:
        end = min(start + _number(data, start + 8), len(data))
        at = start + _HEADER
        while at + _HEADER <= end:
            size = _number(data, at + 8)
            is_free_space = data[at : at + 2] == b"\0\0"
            if is_free_space and size < _HEADER:
                raise ValueError(f"{path}: damaged HDF5: a heap at byte {start} has free space of {size} bytes.")
            at += size if is_free_space else _HEADER + -(-size // 8) * 8
        start = data.find(_SIGNATURE, start + 1)


def _number(data: Any, at: int):
    return int.from_bytes(data[at : at + 8], "little")

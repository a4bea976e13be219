"""Records in files, as TensorFlow frames them: length, its checksum, the bytes, their checksum."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from tapeflow.core.errors import DataLossError
from tapeflow.core.files.crc32c import masked_crc32c


def framed(data: bytes) -> bytes:
    """One record as it stands in a file."""
    length = struct.pack("<Q", len(data))
    return b"".join(
        (
            length,
            struct.pack("<I", masked_crc32c(length)),
            data,
            struct.pack("<I", masked_crc32c(data)),
        )
    )


def read_records(file: Any, path: str) -> Iterator[bytes]:
    """The records of a file. Raises DataLossError where one is cut off or damaged."""
    while True:
        header = file.read(12)
        if not header:
            return
        if len(header) < 12:
            raise DataLossError(None, None, f"truncated record in {path}")
        length, checksum = struct.unpack("<QI", header)
        if masked_crc32c(header[:8]) != checksum:
            raise DataLossError(None, None, f"corrupted record in {path}")
        data = _exactly(file, length)
        footer = file.read(4)
        if data is None or len(footer) < 4:
            raise DataLossError(None, None, f"truncated record in {path}")
        if masked_crc32c(data) != struct.unpack("<I", footer)[0]:
            raise DataLossError(None, None, f"corrupted record in {path}")
        yield data


def _exactly(file: Any, length: int) -> bytes | None:
    """That many bytes, or None; a length that lies never makes a large buffer."""
    parts, left = [], length
    while left:
        part = file.read(min(left, 1 << 24))
        if not part:
            return None
        parts.append(part)
        left -= len(part)
    return b"".join(parts)

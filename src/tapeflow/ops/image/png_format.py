"""The PNG format (third edition): files of arrays, and the arrays of files of 16 bits."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from tapeflow.ops.validate import invalid

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def deep_png(contents: bytes) -> np.ndarray | None:
    """The samples of a PNG of 16 bits (uint16), which Pillow would cut to 8; None for another one."""
    if len(contents) < 33 or contents[24] != 16 or contents[28]:
        return None
    width, height, _, kind = struct.unpack(">IIBB", contents[16:26])
    depth = {0: 1, 2: 3, 4: 2, 6: 4}.get(kind)
    parts, at = [], 8
    while at + 8 <= len(contents):
        (length,) = struct.unpack(">I", contents[at : at + 4])
        if contents[at + 4 : at + 8] == b"IDAT":
            parts.append(contents[at + 8 : at + 8 + length])
        at += length + 12
    if depth is None or not 0 < width * height * depth <= 2**28:
        return None
    stride = width * depth * 2
    expander = zlib.decompressobj()
    try:
        data = expander.decompress(b"".join(parts), height * (stride + 1))
    except zlib.error as error:
        raise invalid(f"Invalid PNG data: {error}") from None
    if len(data) < height * (stride + 1):
        raise invalid("Invalid PNG data: it ends too early")
    rows = np.frombuffer(data, np.uint8).reshape(height, stride + 1)
    out = np.zeros((height + 1, stride), np.uint8)
    for y in range(height):
        _unfiltered(int(rows[y, 0]), rows[y, 1:], out[y], out[y + 1], depth * 2)
    return out[1:].copy().view(">u2").astype(np.uint16).reshape(height, width, depth)


def _unfiltered(method: int, line, above, out, step: int) -> None:
    """PNG (third edition), section 9: undo the filter of one line into `out`."""
    if method == 0:
        out[:] = line
    elif method == 2:
        out[:] = line + above
    elif method == 1:
        pixels = line.reshape(-1, step)
        out[:] = np.cumsum(pixels, 0, dtype=np.uint8).reshape(-1)
    else:
        for i in range(len(line)):
            a = int(out[i - step]) if i >= step else 0
            b, c = int(above[i]), int(above[i - step]) if i >= step else 0
            if method == 3:
                guess = (a + b) // 2
            else:
                p = a + b - c
                guess = min((a, b, c), key=lambda v: abs(p - v))
            out[i] = (int(line[i]) + guess) & 255


def png_bytes(array: np.ndarray, compression: int) -> bytes:
    """A PNG file of an array [height, width, channels] of uint8 or uint16."""
    height, width, channels = array.shape
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    deep = array.dtype == np.uint16
    data = np.ascontiguousarray(array.astype(">u2" if deep else np.uint8))
    lines = _filtered(data.view(np.uint8).reshape(height, -1), channels * (2 if deep else 1))

    def chunk(name: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    head = struct.pack(">IIBBBBB", width, height, 16 if deep else 8, kind, 0, 0, 0)
    return (
        SIGNATURE
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(lines, compression))
        + chunk(b"IEND", b"")
    )


def _filtered(rows: np.ndarray, step: int) -> bytes:
    """The lines of a PNG, each under the filter that leaves the smallest numbers (PNG, third edition, 12.7)."""
    a = np.pad(rows, ((0, 0), (step, 0)))[:, : rows.shape[1]].astype(np.int16)
    b = np.pad(rows, ((1, 0), (0, 0)))[:-1].astype(np.int16)
    c = np.pad(rows, ((1, 0), (step, 0)))[:-1, : rows.shape[1]].astype(np.int16)
    far = [np.abs(a + b - c - v) for v in (a, b, c)]
    paeth = np.where((far[0] <= far[1]) & (far[0] <= far[2]), a, np.where(far[1] <= far[2], b, c))
    guesses = [np.zeros_like(a), a, b, (a + b) // 2, paeth]
    left = [(rows - guess).astype(np.uint8) for guess in guesses]
    size = np.stack([np.abs(x.view(np.int8).astype(np.int32)).sum(1) for x in left])
    best = size.argmin(0)
    return b"".join(bytes([k]) + left[k][y].tobytes() for y, k in enumerate(best.tolist()))

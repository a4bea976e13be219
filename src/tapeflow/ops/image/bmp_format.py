"""Pixels of BMP files as TensorFlow reads them: 8, 24 or 32 bits each, without palettes and compression.

The header (https://learn.microsoft.com/windows/win32/gdi/bitmap-storage) has the place of the pixels at byte 10, the
width at 18, the height at 22 (negative where the first row is the uppermost) and the bits of a pixel at 28.
"""

from __future__ import annotations

import struct

import numpy as np

from tapeflow.ops.validate import invalid

_NEEDED = 32
_MOST_BYTES = 1 << 30


def bmp_pixels(data: bytes, channels: int) -> np.ndarray:
    """The pixels, `(height, width, channels)` of uint8; 0 for as many channels as the file has: gray, RGB or RGBA.

    Raises InvalidArgumentError for damaged files and for other kinds of pixels.
    """
    if len(data) < _NEEDED:
        raise invalid(
            f"Incomplete bmp content, requires at least {_NEEDED} bytes to find the header size, width, height, and "
            f"bpp, got {len(data)} bytes"
        )
    start, _, width, height, _, bits = struct.unpack_from("<iIiiHH", data, 10)
    depth, rows = bits // 8, abs(height)
    if depth not in (1, 3, 4):
        raise invalid(f"Number of channels inherent in the image must be 1, 3 or 4, was {depth}")
    if width <= 0:
        raise invalid("Width must be positive")
    if height == 0:
        raise invalid("Height must be nonzero")
    if start < 0:
        raise invalid("header size must be nonnegative")
    if width * rows * max(depth, channels) >= _MOST_BYTES:
        raise invalid("Total possible pixel bytes must be less than 2^30")
    row = -(-depth * width // 4) * 4  # rows begin at multiples of four bytes
    excess = len(data) - start - row * rows
    if excess:
        raise invalid(
            f"Input size should match (header_size + row_size * abs_height) but they differ by {excess}"
        )
    lines = np.frombuffer(data, np.uint8, row * rows, start).reshape(rows, row)
    found = lines[:: 1 if height < 0 else -1, : depth * width].reshape(rows, width, depth)
    color = found if depth == 1 else found[..., 2::-1]
    if channels in (3, 4) and depth == 1:
        color = np.repeat(color, 3, 2)
    if (channels or depth) == 4:
        alpha = found[..., 3:] if depth == 4 else np.full((rows, width, 1), 255, np.uint8)
        color = np.concatenate([color, alpha], 2)
    return np.ascontiguousarray(color)

"""Images as PNG and sounds as WAV, the formats in which summaries hold them."""

from __future__ import annotations

import struct
import zlib

import numpy as np

_COLORS = {1: 0, 2: 4, 3: 2, 4: 6}


def png(image: np.ndarray) -> bytes:
    """(height, width, channels) of uint8 or uint16, 1 to 4 channels, as PNG. Raises ValueError for others."""
    if image.ndim != 3 or image.shape[2] not in _COLORS or image.dtype not in (np.uint8, np.uint16):
        raise ValueError(
            f"An image has shape (height, width, 1 to 4) and dtype uint8 or uint16, got {image.shape} "
            f"of {image.dtype}"
        )
    height, width, channels = image.shape
    rows = image.astype(image.dtype.newbyteorder(">")).reshape(height, -1).view(np.uint8)
    rows = rows.reshape(height, width * channels * image.dtype.itemsize)
    raw = np.concatenate([np.zeros([height, 1], np.uint8), rows], 1).tobytes()
    header = struct.pack(
        ">IIBBBBB", width, height, 8 * image.dtype.itemsize, _COLORS[channels], 0, 0, 0
    )
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(raw)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def wav(sound: np.ndarray, rate: int) -> bytes:
    """(frames, channels) of numbers from -1 to 1 as WAV of 16 bits. Raises ValueError for other shapes."""
    if sound.ndim != 2:
        raise ValueError(f"A sound has shape (frames, channels), got {sound.shape}")
    channels = sound.shape[1]
    if not 0 < rate < 1 << 30 or not 0 < channels < 1 << 15 or rate * channels * 2 >= 1 << 32:
        raise ValueError(f"A sound has a sample rate and channels, got {rate} and {channels}")
    samples = np.clip(np.round(sound * 32768.0), -32768, 32767).astype("<i2").tobytes()
    form = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * 2, channels * 2, 16)
    body = b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", len(samples))
    return b"RIFF" + struct.pack("<I", len(body) + len(samples)) + body + samples


def bytes_of_images(images: np.ndarray) -> np.ndarray:
    """Images as uint8; floats from 0 to 1 become 0 to 255."""
    if images.dtype == np.uint8:
        return images
    if images.dtype.kind == "f" or images.dtype.name == "bfloat16":
        return np.clip(images.astype(np.float32) * 255.5, 0, 255).astype(np.uint8)
    info = np.iinfo(images.dtype)
    return np.clip(images.astype(np.float64) * (256 / (float(info.max) + 1)), 0, 255).astype(
        np.uint8
    )


def scaled_images(images: np.ndarray, bad_color: np.ndarray | None = None) -> np.ndarray:
    """Float images scaled to the whole range of uint8, as summaries of 1.x show them.

    Without negative numbers 0 is black and the largest white; else 0 is 127, and the furthest from it at an
    end. What is not finite gets `bad_color`.
    """
    if images.dtype == np.uint8:
        return images
    out = np.zeros(images.shape, np.uint8)
    bad = np.array([255, 0, 0, 255], np.uint8) if bad_color is None else np.asarray(bad_color)
    for i, image in enumerate(images.astype(np.float32)):
        finite = np.isfinite(image).all(-1)
        good = image[finite]
        low, high = (good.min(), good.max()) if good.size else (0.0, 0.0)
        if low < 0:
            largest = max(abs(low), abs(high))
            scale, offset = (0.0 if largest < 1e-6 else 127.0 / largest), 128.0
        else:
            scale, offset = (0.0 if high < 1e-6 else 255.0 / high), 0.0
        out[i][finite] = (good * scale + offset).astype(np.uint8)
        out[i][~finite] = bad[: image.shape[-1]]
    return out

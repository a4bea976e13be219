"""Bytes of images, read through Pillow, as arrays of uint8."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from tapeflow.core import extras
from tapeflow.ops.image.png_format import SIGNATURE
from tapeflow.ops.validate import invalid, shape_text

_FORMATS = ((b"\xff\xd8\xff", "JPEG"), (SIGNATURE, "PNG"), (b"GIF8", "GIF"), (b"BM", "BMP"))
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


def pillow() -> Any:
    return tuple(extras.load(f"PIL.{name}", "Decoding images and encoding JPEG") for name in ("Image", "ImageFile"))


def format_of(contents: bytes) -> str:
    if not contents:
        raise invalid("Input is empty.")
    for start, name in _FORMATS:
        if contents.startswith(start):
            return name
    if contents[:4] == b"RIFF" and contents[8:12] == b"WEBP":
        return "WEBP"
    raise invalid("Unknown image file format. One of JPEG, PNG, GIF, BMP, WebP required.")


def content_of(contents: Any) -> bytes:
    if np.ndim(contents):
        raise invalid(f"contents must be scalar but got shape{shape_text(np.shape(contents))}")
    return bytes(contents[()] if isinstance(contents, np.ndarray) else contents)


def opened(contents: bytes):
    kind = format_of(contents)
    try:
        # Of this format only: Pillow would try dozens of others, some of which start programs.
        return pillow()[0].open(io.BytesIO(contents), formats=[kind])
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # Pillow's decoders raise whatever broken bytes lead them to
        raise invalid(
            f"Invalid {kind} data, size {len(contents)}: {error}"
        ) from None


def loaded(image: Any, kind: str, recover: bool = False):
    file = pillow()[1]
    before = file.LOAD_TRUNCATED_IMAGES
    try:
        file.LOAD_TRUNCATED_IMAGES = recover
        image.load()
    except MemoryError:
        raise
    except Exception as error:  # as above
        raise invalid(f"Invalid {kind} data: {error}") from None
    finally:
        file.LOAD_TRUNCATED_IMAGES = before
    return image


def pixels(image: Any, channels: int) -> np.ndarray:
    """[height, width, channels] of uint8; as many channels as the file has where `channels` is 0."""
    if not channels:
        bands = 4 if image.mode == "P" and "transparency" in image.info else len(image.getbands())
        channels = max(bands, 3) if image.mode in ("P", "CMYK", "YCbCr") else bands
        channels = 3 if image.mode == "CMYK" else channels
    if image.mode.startswith("I"):  # 16 bits of gray
        image = np.asarray(image) >> 8
        image = pillow()[0].fromarray(image.astype(np.uint8))
    array = np.asarray(image.convert(_MODES[channels]))
    return array.reshape(*array.shape[:2], channels)


def frames(image, channels: int) -> np.ndarray:
    from PIL import ImageSequence

    try:
        return np.stack(
            [pixels(f.convert("RGB"), channels or 3) for f in ImageSequence.Iterator(image)]
        )
    except MemoryError:
        raise
    except Exception as error:  # as above
        raise invalid(f"Invalid GIF data: {error}") from None


def as_contents(value: bytes) -> np.ndarray:
    """Bytes as what a kernel takes and gives: a scalar of them."""
    return np.array(value, object)

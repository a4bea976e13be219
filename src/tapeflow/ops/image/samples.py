"""Small pictures and files of them, from which the samples of the rows of images are made."""

from __future__ import annotations

import struct

import numpy as np

from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.image.files import as_contents
from tapeflow.ops.image.png_format import png_bytes
from tapeflow.ops.table import Sample

# Samples are written here by hand, so that they do not depend on an encoder.
PICTURE = (np.arange(2 * 3 * 3) * 13).astype(np.uint8).reshape(2, 3, 3)
GIF = bytes.fromhex(
    "47494638396101000100800000ffffff00000021f90401000001002c00000000010001000002024401003b"
)
GRAY_JPEG = bytes.fromhex(
    "ffd8ffe000104a46494600010100000100010000ffdb004300100b0c0e0c0a100e0d0e1211101318281a181616183123"
    "251d283a333d3c3933383740485c4e404457453738506d51575f626768673e4d71797064785c656763ffc0000b080001"
    "000101011100ffc40014000100000000000000000000000000000000ffc4001410010000000000000000000000000000"
    "0000ffda0008010100003f003fffd9"
)
WEBP = bytes.fromhex(
    "524946461e000000574542505650384c110000002f000000000750c00216b0ff8188e87f0000"
)


def bmp_bytes(array: np.ndarray) -> bytes:
    """A BMP of 24 bits."""
    height, width, _ = array.shape
    pad = b"\0" * (-width * 3 % 4)
    body = b"".join(row[:, ::-1].tobytes() + pad for row in array[::-1])
    head = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(body), 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + len(body), 0, 0, 54) + head + body


def bad_contents(**attrs):
    good = png_bytes(PICTURE, 6)
    yield Sample(as_contents(b"no image"), **attrs, raises=InvalidArgumentError)
    yield Sample(as_contents(good[:40]), **attrs, raises=InvalidArgumentError)
    yield Sample(np.array([good], object), **attrs, raises=InvalidArgumentError)
    yield Sample(as_contents(b"\xff\xd8\xff\xe0 short"), **attrs, raises=InvalidArgumentError)

"""Images of any format as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, Tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import tensor_function
from tapeflow.ops.image.adjusting import convert_image_dtype
from tapeflow.ops.image.bmp_format import bmp_pixels
from tapeflow.ops.image.files import (
    as_contents,
    content_of,
    format_of,
    frames,
    loaded,
    opened,
    pixels,
)
from tapeflow.ops.image.png_format import deep_png, png_bytes
from tapeflow.ops.image.samples import GIF, PICTURE, bad_contents, bmp_bytes
from tapeflow.ops.signature import dtype
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

SEVERAL = ("JPEG", "PNG", "GIF")


def decoded(
    contents: Any, channels: int, kind: DType, name: str, allowed: Sequence[str], animated: bool = False,
    ratio: int = 1, recover: bool = False,
):
    """The picture that bytes of one of the `allowed` formats are, or all frames of it if `animated`."""
    data = content_of(contents)
    form = format_of(data)
    if form not in allowed:
        own = f"decode_{form.lower()}"
        raise invalid(
            f"Trying to decode {form} format using a wrong op. Use `{own}` or `decode_image` instead. Op used: {name}"
        )
    if channels not in (0, 1, 3, 4) or (form == "JPEG" and channels == 4):
        raise invalid(f"`channels` must be 0, 1, 3 or 4 but got {channels}")
    if form == "BMP":
        if channels == 1:
            raise invalid("`channels` must be 0, 3 or 4 for BMP, but got 1")
        return _scaled(bmp_pixels(data, channels), kind)
    if form == "PNG":
        deep = deep_png(data)
        if deep is not None:
            return _scaled(with_channels(deep, channels), kind, True)
    image = opened(data)
    if form == "GIF":
        found = frames(image, 3)
        return _scaled(found if animated else found[0], kind)
    if ratio > 1 and form == "JPEG":
        size = tuple(-(-n // ratio) for n in image.size)
        image.draft(None, size)
        image = loaded(image, form, recover)
        if image.size != size:
            image = image.resize(size)
    return _scaled(pixels(loaded(image, form, recover), channels), kind, form == "PNG")


def _scaled(array: np.ndarray, kind: DType, png: bool = False) -> np.ndarray:
    """8 or 16 bits as the dtype that was asked for: PNG widens by repeating bits, other formats by shifting."""
    deep = array.dtype == np.uint16
    if kind == dtypes.float32 and png:
        wide = array if deep else array.astype(np.uint16) * np.uint16(257)
        return wide * np.float32(1 / 65535)
    if kind == dtypes.float32:
        return array * np.float32(1 / 255)
    if kind == dtypes.uint16:
        return array if deep else array.astype(np.uint16) * np.uint16(257 if png else 256)
    return (array >> 8).astype(np.uint8) if deep else array


def with_channels(array, channels: int) -> np.ndarray:
    depth = array.shape[2]
    if channels in (0, depth):
        return array
    gray, alpha = array[..., :1], array[..., -1:] if depth in (2, 4) else None
    color = array[..., :3] if depth >= 3 else np.repeat(gray, 3, 2)
    if channels == 1:
        luma = color.astype(np.float64) @ [0.299, 0.587, 0.114]
        return luma.round().astype(np.uint16)[..., None] if depth >= 3 else gray
    if channels == 3:
        return color
    return np.concatenate([color, np.full_like(gray, 65535) if alpha is None else alpha], 2)


def picture_rule(call: ShapeCall):
    return [(None, None, call.attr("channels") or None)]


def _any_picture_rule(call: ShapeCall):
    return [None] if call.attr("expand_animations") else picture_rule(call)


@op("DecodeImage", "contents: string -> image: dtype",
    attrs={"channels": 0, "dtype": dtype(dtypes.uint8), "expand_animations": True},
    ranks="contents: 0",
    shape=_any_picture_rule)  # fmt: skip
def DecodeImage(xp: ModuleType, contents: Array, channels: int, dtype: DType, expand_animations: bool):
    every = (*SEVERAL, "BMP", "WEBP")
    return decoded(contents, channels, dtype, "DecodeImage", every, expand_animations)


@DecodeImage.samples
def _(rng: SampleGenerator):
    yield Sample(as_contents(png_bytes(PICTURE, 6)), expect=PICTURE)
    yield Sample(as_contents(bmp_bytes(PICTURE)), expect=PICTURE)
    white = np.full((1, 1, 1, 3), 255, np.uint8)
    yield Sample(as_contents(GIF), expect=white)
    yield Sample(as_contents(GIF), expand_animations=False, expect=white[0])
    yield Sample(
        as_contents(png_bytes(PICTURE, 6)),
        dtype=dtypes.float32,
        expect=PICTURE.astype(np.float32) / 255,
    )
    yield from bad_contents()


DecodeImage.gradient(None)


@api("image.decode_image", "io.decode_image")
@tensor_function
def decode_image(
    contents: Tensor | bytes, channels: int | None = None, dtype: DTypeLike = dtypes.uint8, name: str | None = None,
    expand_animations: bool = True,
):
    """Decode an image of any of the formats: BMP, GIF, JPEG, PNG, WebP.

    Values are integers of uint8 or uint16, in [0, 1] of a floating dtype, and those of uint16 scaled to the range of
    another integer dtype.

    Args:
      contents: the bytes of the file, a scalar string.
      channels: 1, 3 or 4 for gray, RGB and RGBA; None or 0 for as many as the file has.
      dtype: the dtype of the result.
      name: the name of the operation in a graph.
      expand_animations: whether a GIF has a leading dimension of frames; if not, it is its first frame.

    Returns:
      A tensor `(height, width, channels)`, or with frames `(frames, height, width, channels)`.

    Raises:
      InvalidArgumentError: for bytes that are no image.
    """
    wanted = dtypes.as_dtype(dtype)
    if wanted in (dtypes.uint8, dtypes.uint16, dtypes.float32):
        return DecodeImage(contents, channels or 0, wanted, expand_animations)
    return convert_image_dtype(DecodeImage(contents, channels or 0, dtypes.uint16, expand_animations), wanted)

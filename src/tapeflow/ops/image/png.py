"""PNG as tensors and tensors as PNG."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, IntLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops.image.decoding import SEVERAL, decoded, picture_rule
from tapeflow.ops.image.files import as_contents
from tapeflow.ops.image.png_format import png_bytes
from tapeflow.ops.image.samples import PICTURE, bad_contents, bmp_bytes
from tapeflow.ops.signature import Preferring, dtype
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall


@op("DecodePng", "contents: string -> image: dtype",
    attrs={"channels": 0, "dtype": dtype(dtypes.uint8)}, ranks="contents: 0",
    shape=picture_rule)  # fmt: skip
def DecodePng(xp: ModuleType, contents: Array, channels: int, dtype: DType):
    return decoded(contents, channels, dtype, "DecodePng", SEVERAL)


@DecodePng.samples
def _(rng: SampleGenerator):
    data = as_contents(png_bytes(PICTURE, 6))
    yield Sample(data, expect=PICTURE)
    yield Sample(data, dtype=dtypes.uint16, expect=PICTURE.astype(np.uint16) * 257)
    yield Sample(as_contents(png_bytes(PICTURE[..., :1], 1)), expect=PICTURE[..., :1])
    alpha = np.concatenate([PICTURE, np.full((2, 3, 1), 255, np.uint8)], 2)
    yield Sample(data, channels=4, expect=alpha)
    deep = PICTURE.astype(np.uint16) * 300
    yield Sample(as_contents(png_bytes(deep, 6)), dtype=dtypes.uint16, expect=deep)
    yield Sample(as_contents(png_bytes(deep, 6)), expect=(deep >> 8).astype(np.uint8))
    yield Sample(as_contents(bmp_bytes(PICTURE)), raises=InvalidArgumentError)
    yield Sample(data, channels=5, raises=InvalidArgumentError)
    yield from bad_contents()


def require_picture(image: Any, depths: Sequence[int], rank: int = 3) -> None:
    if image.ndim != rank:
        raise invalid(f"image must be {rank}-dimensional{shape_text(image.shape)}")
    if 0 in image.shape[:2]:
        raise invalid(f"image must not be empty: {shape_text(image.shape)}")
    if image.shape[2] not in depths:
        raise invalid(
            f"image must have {', '.join(map(str, depths))} channels {shape_text(image.shape)}"
        )


def _png_rule(call: ShapeCall):
    shape = call.shape(0)
    return [None if shape is None else shape[:-3]]


@op("EncodePng", "image: T -> contents: string", types={"T": Preferring((dtypes.uint8, dtypes.uint16))},
    attrs={"compression": -1}, ranks="image: 3+", shape=_png_rule)  # fmt: skip
def EncodePng(xp: ModuleType, image: Array, compression: int):
    if not -1 <= compression <= 9:
        raise invalid(f"compression should be in [-1,9], got {compression}")
    if image.ndim < 3:
        raise invalid(f"images must have at least rank 3, got {shape_text(image.shape)}")
    out = np.empty(image.shape[:-3], object)
    for at in np.ndindex(*out.shape):
        require_picture(image[at], (1, 2, 3, 4))
        out[at] = png_bytes(image[at], compression)
    return out


@EncodePng.samples
def _(rng: SampleGenerator):
    yield Sample(PICTURE, compression=3, expect=as_contents(png_bytes(PICTURE, 3)))
    yield Sample(PICTURE, compression=10, raises=InvalidArgumentError)
    yield Sample(PICTURE[0], raises=InvalidArgumentError)
    yield Sample(PICTURE[:0], raises=InvalidArgumentError)
    yield Sample(np.zeros((2, 2, 5), np.uint8), raises=InvalidArgumentError)


DecodePng.gradient(None)
EncodePng.gradient(None)


@api("image.decode_png", "io.decode_png")
@tensor_function
def decode_png(contents: TensorLike, channels: IntLike = 0, dtype: DTypeLike = dtypes.uint8, name: str | None = None):
    """Decode a PNG.

    Args:
      contents: the bytes of the file, a scalar string.
      channels: 1, 3 or 4 for gray, RGB and RGBA; 0 for as many as the file has.
      dtype: uint8 or uint16.
      name: the name of the operation in a graph.

    Returns:
      A tensor `(height, width, channels)`.

    Raises:
      InvalidArgumentError: for bytes that are no PNG.
    """
    return DecodePng(contents, channels, dtype)


@api("image.encode_png", "io.encode_png")
@tensor_function
def encode_png(image: TensorLike, compression: int = -1, name: str | None = None):
    """Encode images as PNG.

    Args:
      image: a uint8 or uint16 tensor `[..., height, width, channels]` with 1 to 4 channels.
      compression: 0 for none to 9 for the smallest file; -1 for a middle one.
      name: the name of the operation in a graph.

    Returns:
      The bytes of the files, strings `[...]`.

    Raises:
      InvalidArgumentError: for another level, and images without pixels.

    >>> image = tf.constant([[[7], [9]]], tf.uint8)
    >>> print(tf.io.decode_png(tf.io.encode_png(image)).numpy()[:, :, 0])
    [[7 9]]
    """
    image = convert_to_tensor(image, None if hasattr(image, "dtype") else dtypes.uint8)
    return EncodePng(image, compression)

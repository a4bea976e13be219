"""GIF as tensors of frames."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.image.decoding import SEVERAL, decoded
from tapeflow.ops.image.files import as_contents, content_of, format_of, frames, opened
from tapeflow.ops.image.png_format import png_bytes
from tapeflow.ops.image.samples import GIF, PICTURE, bad_contents
from tapeflow.ops.table import Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


@op("DecodeGif", "contents: string -> image: uint8", ranks="contents: 0",
    shape=shapes.fixed((None, None, None, 3)))
def DecodeGif(xp: ModuleType, contents: Array):
    data = content_of(contents)
    form = format_of(data)
    if form == "GIF":
        return frames(opened(data), 3)
    return decoded(data, 3, dtypes.uint8, "DecodeGif", SEVERAL)[None]


@DecodeGif.samples
def _(rng: SampleGenerator):
    yield Sample(as_contents(GIF), expect=np.array([[[[255, 255, 255]]]], np.uint8))
    yield Sample(as_contents(png_bytes(PICTURE, 6)), expect=PICTURE[None])
    yield Sample(as_contents(GIF[:20]), raises=InvalidArgumentError)
    yield from bad_contents()


DecodeGif.gradient(None)


@api("image.decode_gif", "io.decode_gif")
@tensor_function
def decode_gif(contents: TensorLike, name: str | None = None):
    """All frames of a GIF, uint8 `[frames, height, width, 3]`."""
    return DecodeGif(contents)

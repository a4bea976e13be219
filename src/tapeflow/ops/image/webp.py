"""WebP as tensors."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, IntLike, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.public import tensor_function
from tapeflow.ops.image.decoding import decoded
from tapeflow.ops.image.files import as_contents, content_of, format_of
from tapeflow.ops.image.samples import WEBP, bad_contents
from tapeflow.ops.signature import dtype
from tapeflow.ops.table import Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


@op("DecodeWebP", "contents: string -> image: dtype",
    attrs={"channels": 0, "dtype": dtype(dtypes.uint8)}, ranks="contents: 0",
    shape=lambda call: [(None, None, None, call.attr("channels") or None)])  # fmt: skip
def DecodeWebP(xp: ModuleType, contents: Array, channels: int, dtype: DType):
    # PNG and JPEG are recognised, and have no dimension of frames.
    image = decoded(contents, channels, dtype, "DecodeWebP", ("WEBP", "PNG", "JPEG"))
    return image[None] if format_of(content_of(contents)) == "WEBP" else image


@DecodeWebP.samples
def _(rng: SampleGenerator):
    gray = np.array([[[[128, 128, 128]]]], np.uint8)
    yield Sample(as_contents(WEBP), expect=gray)
    yield from bad_contents()


DecodeWebP.gradient(None)


@api("image.decode_webp", "io.decode_webp")
@tensor_function
def decode_webp(
    contents: TensorLike, channels: IntLike = 0, dtype: DTypeLike = dtypes.uint8, name: str | None = None
):
    """Decode the first frame of a WebP.

    Args:
      contents: the bytes of the file, a scalar string.
      channels: 3 or 4 for RGB and RGBA; 0 for as many as the file has.
      dtype: uint8.
      name: the name of the operation in a graph.

    Returns:
      A tensor `(1, height, width, channels)`.
    """
    return DecodeWebP(contents, channels, dtype)

"""BMP as tensors."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, IntLike, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops.image.decoding import decoded, picture_rule
from tapeflow.ops.image.files import as_contents
from tapeflow.ops.image.samples import PICTURE, bad_contents, bmp_bytes
from tapeflow.ops.table import Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


@op("DecodeBmp", "contents: string -> image: uint8", attrs={"channels": 0}, ranks="contents: 0",
    shape=picture_rule)
def DecodeBmp(xp: ModuleType, contents: Array, channels: int):
    return decoded(contents, channels, dtypes.uint8, "DecodeBmp", ("BMP",))


@DecodeBmp.samples
def _(rng: SampleGenerator):
    yield Sample(as_contents(bmp_bytes(PICTURE)), expect=PICTURE)
    yield Sample(as_contents(bmp_bytes(PICTURE)), channels=1, raises=InvalidArgumentError)
    alpha = np.concatenate([PICTURE, np.full_like(PICTURE[..., :1], 255)], 2)
    yield Sample(as_contents(bmp_bytes(PICTURE)), channels=4, expect=alpha)
    yield Sample(as_contents(bmp_bytes(PICTURE)[:30]), raises=InvalidArgumentError)
    yield Sample(as_contents(bmp_bytes(PICTURE)[:-1]), raises=InvalidArgumentError)
    yield from bad_contents()


DecodeBmp.gradient(None)


@api("image.decode_bmp", "io.decode_bmp")
@tensor_function
def decode_bmp(contents: TensorLike, channels: IntLike = 0, name: str | None = None):
    """Decode a BMP.

    Args:
      contents: the bytes of the file, a scalar string.
      channels: 3 or 4 for RGB and RGBA; 0 for as many as the file has, of which gray has 1.
      name: the name of the operation in a graph.

    Returns:
      A uint8 tensor `(height, width, channels)`.
    """
    return DecodeBmp(contents, channels)

"""Images in other colour spaces: grey, luma and chroma."""

from __future__ import annotations

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import tensor_function
from tapeflow.ops.array.construction import ones
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.sizes import Rank
from tapeflow.ops.array.tiling import tile
from tapeflow.ops.image.adjusting import convert_image_dtype
from tapeflow.ops.linalg.tensordot import tensordot


@api("image.rgb_to_grayscale")
@tensor_function
def rgb_to_grayscale(images: TensorLike, name: str | None = None):
    """The luma of RGB images `[..., 3]`, as `[..., 1]` of the same dtype (ITU-R BT.601)."""
    images = convert_to_tensor(images)
    wide = convert_image_dtype(images, dtypes.float32)
    gray = tensordot(wide, np.array([0.2989, 0.5870, 0.1140], np.float32), [[-1], [-1]])
    return convert_image_dtype(expand_dims(gray, -1), images.dtype)


@api("image.grayscale_to_rgb")
@tensor_function
def grayscale_to_rgb(images: TensorLike, name: str | None = None):
    """Images `[..., 1]` with their channel three times. Raises ValueError for another number of channels."""
    images = convert_to_tensor(images)
    rank = images.shape.rank
    if rank is not None and rank < 2:
        raise ValueError("A grayscale image must be at least two-dimensional.")
    if rank is not None and images.shape[-1] not in (1, None):
        raise ValueError("Last dimension of a grayscale image should be size 1.")
    if rank is None:
        return tile(images, concat([ones([Rank(images) - 1], dtypes.int32), [3]], 0))
    return tile(images, [1] * (rank - 1) + [3])


_YIQ = np.array([[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617],
                 [0.114, -0.32134392, 0.31119955]])  # fmt: skip
_FROM_YIQ = np.array([[1, 1, 1], [0.95598634, -0.27201283, -1.10674021],
                      [0.6208248, -0.64720424, 1.70423049]])  # fmt: skip
_YUV = np.array([[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512],
                 [0.114, 0.43601035, -0.10001026]])  # fmt: skip
_FROM_YUV = np.array([[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]])


def _mixed(images: TensorLike, matrix):
    images = convert_to_tensor(images)
    return tensordot(images, convert_to_tensor(matrix, images.dtype), 1)


@api("image.rgb_to_yiq")
@tensor_function
def rgb_to_yiq(images: TensorLike):
    """Luma and the chroma pair I, Q (NTSC) of RGB images `[..., 3]` of floats."""
    return _mixed(images, _YIQ)


@api("image.yiq_to_rgb")
@tensor_function
def yiq_to_rgb(images: TensorLike):
    """The inverse of `rgb_to_yiq`."""
    return _mixed(images, _FROM_YIQ)


@api("image.rgb_to_yuv")
@tensor_function
def rgb_to_yuv(images: TensorLike):
    """Luma and the chroma pair U, V (PAL) of RGB images `[..., 3]` of floats."""
    return _mixed(images, _YUV)


@api("image.yuv_to_rgb")
@tensor_function
def yuv_to_rgb(images: TensorLike):
    """The inverse of `rgb_to_yuv`."""
    return _mixed(images, _FROM_YUV)

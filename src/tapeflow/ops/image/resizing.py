"""Images in another size, by any method, with or without their aspect ratio."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import IntLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public, tensor_function
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.graph_scope import graph_scope
from tapeflow.ops.image.geometry import bounds, padded
from tapeflow.ops.image.resize.area import ResizeArea
from tapeflow.ops.image.resize.bicubic import ResizeBicubic
from tapeflow.ops.image.resize.bilinear import ResizeBilinear
from tapeflow.ops.image.resize.nearest import ResizeNearestNeighbor
from tapeflow.ops.image.resize.scale_and_translate import ScaleAndTranslate
from tapeflow.ops.image.shape import as_batch, as_images, require, unbatched
from tapeflow.ops.math import arithmetic, casting
from tapeflow.ops.math.rounding import floor
from tapeflow.ops.math.rounding import round as round_
from tapeflow.ops.static import as_shape, sizes_of, static_value

# Sizes


@api(v2="image.ResizeMethod")
class ResizeMethod:
    """How `resize` makes pixels of pixels."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


@api(v1="image.ResizeMethod")
class ResizeMethodV1:
    """`ResizeMethod` of 1.x."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


def _whole(size):
    """`size` as an int32 tensor. Raises ValueError for what is none."""
    try:
        return convert_to_tensor(size, dtypes.int32)
    except TypeError as error:
        raise ValueError(f"'size' must be a 1-D int32 Tensor, got {size}: {error}") from None


def _size_of(size: TensorLike):
    """The argument `size` as a pair of ints, or as an int32 vector only known when it runs."""
    known = static_value(size) if not isinstance(size, (list, tuple)) else None
    if known is None and isinstance(size, (list, tuple)):
        values = [static_value(v) for v in size]
        known = None if any(v is None for v in values) else np.array(values)
    if known is None:
        tensor = _whole(size)
        if not tensor.shape.is_compatible_with([2]):
            raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
        return tensor
    if np.ndim(known) > 1 or (known.dtype.kind not in "iu"):
        _whole(size)
    if known.shape != (2,):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    return known.astype(np.int32)


def _within(image, size):
    """`size` made smaller in one dimension, so that the proportions of the image are kept."""
    _, rows, columns, _ = sizes_of(image)
    if isinstance(size, np.ndarray) and isinstance(rows, int) and isinstance(columns, int):
        factor = min(
            np.float32(size[0]) / np.float32(rows), np.float32(size[1]) / np.float32(columns)
        )
        return np.array([int(np.rint(factor * np.float32(n))) for n in (rows, columns)], np.int32)
    sizes = casting.cast(Shape(image)[1:3], dtypes.float32)
    factors = casting.cast(size, dtypes.float32) / sizes
    factor = arithmetic.minimum(factors[0], factors[1])
    return casting.cast(round_(factor * sizes), dtypes.int32)


def _resize(
    images: Any, size: Any, resizer: Callable[..., Any], preserve_aspect_ratio: bool, keep_if_same: bool = False
):
    images = convert_to_tensor(images)
    if images.shape.rank is None:
        raise ValueError("'images' contains no shape.")
    if images.shape.rank not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    images, single = as_batch(images)
    size = _size_of(size)
    if preserve_aspect_ratio:
        size = _within(images, size)
    known = keep_if_same and isinstance(size, np.ndarray)
    if known and images.shape.as_list()[1:3] == size.tolist():
        return unbatched(images, single)
    return unbatched(resizer(images, size), single)


_SCALED = {
    "lanczos3": "lanczos3", "lanczos5": "lanczos5", "gaussian": "gaussian", "mitchellcubic": "mitchellcubic",
}  # fmt: skip
_SMOOTHED = {"bilinear": "triangle", "bicubic": "keyscubic"}


def _scaled(kernel: str, antialias: bool):
    def resizer(images: TensorLike, size):
        old = casting.cast(Shape(images)[1:3], dtypes.float32)
        scale = casting.cast(size, dtypes.float32) / old
        return ScaleAndTranslate(images, size, scale, np.zeros(2, np.float32), kernel, antialias)

    return resizer


@api(v2="image.resize")
@tensor_function
def resize(
    images: TensorLike, size: TensorLike, method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False, antialias: bool = False, name: str | None = None,
):
    """Resize images to `[height, width]`.

    Args:
      images: an image `(height, width, channels)`, or a batch of these.
      size: the new height and width.
      method: a `ResizeMethod` or its name: "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5",
        "gaussian" or "mitchellcubic".
      preserve_aspect_ratio: whether the size is a bound that one of height and width meets, the image keeping its
        proportions.
      antialias: whether the kernel grows with the pixels of a smaller result; not for "nearest" and "area".
      name: the name of the operation in a graph.

    Returns:
      A float32 tensor; of the dtype of the images for "nearest".

    Raises:
      ValueError: for another rank, size or method.

    >>> image = tf.constant([[[0.0], [4.0]]])
    >>> print(tf.image.resize(image, [1, 4]).numpy()[0, :, 0])
    [0. 1. 3. 4.]
    >>> print(tf.image.resize(image, [1, 4], method="nearest").numpy()[0, :, 0])
    [0. 0. 4. 4.]
    """
    if method in _SCALED:
        resizer = _scaled(_SCALED[method], antialias)
    elif antialias and method in _SMOOTHED:
        resizer = _scaled(_SMOOTHED[method], True)
    elif method == "bilinear":
        resizer = lambda x, s: ResizeBilinear(x, s, half_pixel_centers=True)  # noqa: E731
    elif method == "bicubic":
        resizer = lambda x, s: ResizeBicubic(x, s, half_pixel_centers=True)  # noqa: E731
    elif method == "nearest":
        resizer = lambda x, s: ResizeNearestNeighbor(x, s, half_pixel_centers=True)  # noqa: E731
    elif method == "area":
        resizer = ResizeArea
    else:
        raise ValueError(f"Resize method is not implemented: {method}")
    with graph_scope("resize"):
        return _resize(images, size, resizer, preserve_aspect_ratio)


_ROWS_V1 = (ResizeBilinear, ResizeNearestNeighbor, ResizeBicubic, ResizeArea)
_NAMES_V1 = {"bilinear": 0, "nearest": 1, "bicubic": 2, "area": 3}


@api(v1=("image.resize", "image.resize_images"))
@public
def resize_v1(
    images: TensorLike, size, method=ResizeMethodV1.BILINEAR, align_corners: bool = False,
    preserve_aspect_ratio: bool = False, name: str | None = None,
):
    """`resize` of 1.x: pixels are points, at their upper left corners.

    Args:
      images: a batch `[batch, height, width, channels]` or one image.
      size: an int32 vector, the new height and width.
      method: a constant of `tf.compat.v1.image.ResizeMethod`.
      align_corners: whether the centers of the corner pixels stay in place.
      preserve_aspect_ratio: whether `size` is only a bound.
      name: a name for the operation (optional).
    """
    number = _NAMES_V1.get(method, method)
    if number not in range(4):
        raise ValueError(f"Resize method is not implemented: {method}")
    row = _ROWS_V1[number]
    with graph_scope("resize"):
        return _resize(
            images, size, lambda x, s: row(x, s, align_corners), preserve_aspect_ratio, True
        )


@api(v1="image.resize_bilinear")
@public
def resize_bilinear(
    images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None,
    half_pixel_centers: bool = False,
):
    """A batch of images in the size `[height, width]`, each pixel interpolated from four; float32.

    Args:
      images: a batch `[batch, height, width, channels]` or one image.
      size: an int32 vector, the new height and width.
      align_corners: whether the centers of the corner pixels stay in place.
      name: a name for the operation (optional).
      half_pixel_centers: whether pixels are squares with a center, not points.
    """
    return ResizeBilinear(images, size, align_corners, half_pixel_centers)


@api(v1="image.resize_nearest_neighbor")
@public
def resize_nearest_neighbor(
    images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None,
    half_pixel_centers: bool = False,
):
    """A batch of images in the size `[height, width]`, each pixel the nearest one.

    Args:
      images: a batch `[batch, height, width, channels]` or one image.
      size: an int32 vector, the new height and width.
      align_corners: whether the centers of the corner pixels stay in place.
      name: a name for the operation (optional).
      half_pixel_centers: whether pixels are squares with a center, not points.
    """
    return ResizeNearestNeighbor(images, size, align_corners, half_pixel_centers)


@api(v1="image.resize_bicubic")
@public
def resize_bicubic(
    images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None,
    half_pixel_centers: bool = False,
):
    """A batch of images in the size `[height, width]`, each pixel interpolated from sixteen; float32.

    Args:
      images: a batch `[batch, height, width, channels]` or one image.
      size: an int32 vector, the new height and width.
      align_corners: whether the centers of the corner pixels stay in place.
      name: a name for the operation (optional).
      half_pixel_centers: whether pixels are squares with a center, not points.
    """
    return ResizeBicubic(images, size, align_corners, half_pixel_centers)


@api(v1="image.resize_area")
@public
def resize_area(images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None):
    """A batch of images in the size `[height, width]`, each pixel the mean of what it covers; float32.

    Args:
      images: a batch `[batch, height, width, channels]` or one image.
      size: an int32 vector, the new height and width.
      align_corners: whether the centers of the corner pixels stay in place.
      name: a name for the operation (optional).
    """
    return ResizeArea(images, size, align_corners)


def _resize_with_pad(image, height, width, resizer):
    image, single = as_batch(as_images(image))
    height, width = bounds(height, width)
    image = require(
        image,
        (width > 0, "target_width must be > 0."),
        (height > 0, "target_height must be > 0."),
    )
    _, rows, columns, _ = sizes_of(image)
    sizes = [casting.cast(n, dtypes.float64) for n in (rows, columns, height, width)]
    ratio = arithmetic.maximum(sizes[0] / sizes[2], sizes[1] / sizes[3])
    inner = [casting.cast(n / ratio, dtypes.int32) for n in sizes[:2]]
    margins = [floor((sizes[2 + i] - sizes[i] / ratio) / 2) for i in range(2)]
    margins = [arithmetic.maximum(0, casting.cast(m, dtypes.int32)) for m in margins]
    known = [static_value(v) for v in (*inner, *margins)]
    if all(v is not None for v in known):
        inner, margins = [int(v) for v in known[:2]], [int(v) for v in known[2:]]
    resized = resizer(image, as_shape(inner) if isinstance(inner[0], int) else inner)
    return unbatched(padded(resized, *margins, height, width), single)


@api(v2="image.resize_with_pad")
@tensor_function
def resize_with_pad(
    image: TensorLike, target_height, target_width: IntLike, method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
):
    """Resize images in proportion to fit into a size, and pad them evenly with zeros to it.

    Args:
      image: an image `(height, width, channels)`, or a batch of these.
      target_height: the rows of the result.
      target_width: the columns of the result.
      method: as that of `resize`.
      antialias: as that of `resize`.

    Returns:
      A float32 tensor; of the dtype of the image for "nearest".
    """
    return _resize_with_pad(image, target_height, target_width,
                            lambda x, s: resize(x, s, method, antialias=antialias))  # fmt: skip


@api(v1="image.resize_image_with_pad")
@public
def resize_with_pad_v1(
    image: TensorLike, target_height: IntLike, target_width: IntLike, method=ResizeMethodV1.BILINEAR,
    align_corners: bool = False,
):
    """`resize_with_pad` of 1.x.

    Args:
      image: an image, or a batch of images.
      target_height: the height of the result.
      target_width: the width of the result.
      method: a constant of `tf.compat.v1.image.ResizeMethod`.
      align_corners: whether the centers of the corner pixels stay in place.
    """
    return _resize_with_pad(image, target_height, target_width,
                            lambda x, s: resize_v1(x, s, method, align_corners))  # fmt: skip

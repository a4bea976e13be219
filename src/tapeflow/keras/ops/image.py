"""`keras.ops.image`: images in another size, place, color space, or cut into patches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.public import public_names
from tapeflow.keras import settings
from tapeflow.keras.layers.convolution_arithmetic import normalize_tuple
from tapeflow.keras.ops import image_warps
from tapeflow.keras.ops.conversion import (
    axis_of,
    batch_of_images,
    checked_choice,
    floating,
    operation,
    promoted,
    static_rank,
    tensor,
)
from tapeflow.keras.ops.convolution import conv
from tapeflow.keras.ops.image_warps import *  # noqa: F403
from tapeflow.ops.array.construction import ones_like as tf_ones_like
from tapeflow.ops.array.construction import zeros_like as tf_zeros_like
from tapeflow.ops.array.layout import expand_dims as tf_expand_dims
from tapeflow.ops.array.layout import reshape as tf_reshape
from tapeflow.ops.array.layout import squeeze as tf_squeeze
from tapeflow.ops.array.padding import pad as tf_pad
from tapeflow.ops.array.ranges import range as tf_range
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.array.transposing import transpose as tf_transpose
from tapeflow.ops.image.color import hsv_to_rgb as tf_hsv_to_rgb
from tapeflow.ops.image.color import rgb_to_hsv as tf_rgb_to_hsv
from tapeflow.ops.image.color_spaces import rgb_to_grayscale as tf_rgb_to_grayscale
from tapeflow.ops.image.quality import sobel_edges as tf_sobel_edges
from tapeflow.ops.image.quality import ssim as tf_ssim
from tapeflow.ops.image.resizing import resize as tf_resize
from tapeflow.ops.linalg.tensordot import tensordot as tf_tensordot
from tapeflow.ops.math.arithmetic import maximum as tf_maximum
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.choice import where as tf_where
from tapeflow.ops.math.clip import clip_by_value as tf_clip_by_value
from tapeflow.ops.math.elementwise import abs as tf_abs
from tapeflow.ops.math.logic import logical_and as tf_logical_and
from tapeflow.ops.math.reductions import reduce_max as tf_reduce_max
from tapeflow.ops.math.reductions import reduce_min as tf_reduce_min
from tapeflow.ops.math.reductions import reduce_sum as tf_reduce_sum
from tapeflow.ops.math.rounding import round as tf_round
from tapeflow.ops.math.trigonometric import sin as tf_sin

_INTERPOLATIONS = ("bilinear", "nearest", "lanczos3", "lanczos5", "bicubic", "area")


@operation
def rgb_to_grayscale(images: TensorLike, data_format: str | None = None):
    """Return the brightness of pixels as one channel."""
    x, back = batch_of_images(images, data_format)
    return back(tf_rgb_to_grayscale(x))


@operation
def rgb_to_hsv(images: TensorLike, data_format: str | None = None):
    """Return hue, saturation and value of pixels given as red, green and blue."""
    x, back = batch_of_images(_of_floats(images), data_format)
    return back(tf_rgb_to_hsv(x))


@operation
def hsv_to_rgb(images: TensorLike, data_format: str | None = None):
    """Return red, green and blue of pixels given as hue, saturation and value."""
    x, back = batch_of_images(_of_floats(images), data_format)
    return back(tf_hsv_to_rgb(x))


def _of_floats(images):
    images = tensor(images)
    if not images.dtype.is_floating:
        raise ValueError(f"Invalid images dtype: expected float dtype. Received: images.dtype={images.dtype.name}")
    return images


@operation
def sobel_edges(images: TensorLike, data_format: str | None = None):
    """Return the changes of images along their heights and widths, as a last axis."""
    images = tensor(images)
    if settings.normalize_data_format(data_format) == "channels_last":
        return tf_sobel_edges(images)
    return tf_transpose(tf_sobel_edges(tf_transpose(images, [0, 2, 3, 1])), [0, 3, 1, 2, 4])


@operation
def ssim(
    image1, image2, max_val: float = 1.0, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01,
    k2: float = 0.03, data_format: str | None = None,
):
    """Return the structural similarity of images."""
    dtype = tensor(image1).dtype
    first, second = (batch_of_images(floating(image), data_format)[0] for image in (image1, image2))
    alike = tf_cast(tf_ssim(first, second, max_val, filter_size, filter_sigma, k1, k2), dtype)
    return tf_squeeze(alike, [0]) if static_rank(tensor(image1)) == 3 else alike


@operation
def resize(
    images: TensorLike, size, interpolation: str = "bilinear", antialias: bool = False,
    crop_to_aspect_ratio: bool = False, pad_to_aspect_ratio: bool = False, fill_mode: str = "constant",
    fill_value: float = 0.0, data_format: str | None = None,
):  # fmt: skip
    """Return images in another size.

    Args:
      size: (height, width).
      interpolation: "bilinear", "nearest", "bicubic", "lanczos3", "lanczos5" or "area".
      antialias: whether to smooth where the images become smaller.
      crop_to_aspect_ratio: whether to cut the images to the shape of the target first.
      pad_to_aspect_ratio: whether to fill the images up to the shape of the target first.
      fill_mode: how to fill up; only "constant".
    """
    checked_choice(interpolation, "interpolation", _INTERPOLATIONS)
    if fill_mode != "constant":
        raise ValueError(f"Invalid value for argument `fill_mode`. Only 'constant' is supported, got {fill_mode!r}")
    if pad_to_aspect_ratio and crop_to_aspect_ratio:
        raise ValueError("Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`.")
    if len(size) != 2:
        raise ValueError(f"Argument `size` must be a tuple of two elements (height, width). Received: size={size}")
    x, back = batch_of_images(images, data_format)
    height, width = size
    have = [tf_shape(x)[i] if x.shape[i] is None else x.shape[i] for i in (1, 2)]
    if crop_to_aspect_ratio:
        tall, wide = _cut(have[0], have[1] * height, width), _cut(have[1], have[0] * width, height)
        top, left = (have[0] - tall) // 2, (have[1] - wide) // 2
        x = x[:, top : top + tall, left : left + wide]
    elif pad_to_aspect_ratio:
        top = (tf_maximum(have[0], _share(have[1] * height, width)) - have[0]) // 2
        left = (tf_maximum(have[1], _share(have[0] * width, height)) - have[1]) // 2
        x = tf_pad(x, [[0, 0], [top, top], [left, left], [0, 0]], constant_values=tf_cast(fill_value, x.dtype))
    dtype = x.dtype
    resized = tf_resize(x, size, method=interpolation, antialias=antialias)
    if dtype.is_integer and resized.dtype != dtype:
        resized = tf_clip_by_value(tf_round(resized), tf_cast(dtype.min, "float32"), tf_cast(dtype.max, "float32"))
    return back(tf_cast(resized, dtype))


def _share(part, whole):
    return tf_cast(tf_cast(part, "float32") / whole, "int32")


def _cut(have, part, whole):
    return tf_clip_by_value(_share(part, whole), 1, have)


def _patches(x, rank: int, size, strides, dilation_rate, padding, data_format: str | None):
    size = normalize_tuple(size, rank, "size")
    strides = size if strides is None else normalize_tuple(strides, rank, "strides")
    x, back = batch_of_images(x, data_format, rank)
    channels = x.shape[-1]
    count = channels * math.prod(size)
    kernel = tf_reshape(_unit(count, x.dtype), [*size, channels, count])
    return back(conv(x, kernel, strides, padding, "channels_last", dilation_rate))


def _unit(n: int, dtype: DType):
    steps = tf_range(n)
    return tf_cast(tf_expand_dims(steps, 0) == tf_expand_dims(steps, 1), dtype)


@operation
def extract_patches(
    images: TensorLike, size: int | Sequence[int], strides: int | Sequence[int] | None = None,
    dilation_rate: int | Sequence[int] = 1, padding: str = "valid", data_format: str | None = None,
):
    """Return the patches of images as channels, each pixel by pixel."""
    rank = len(size) if isinstance(size, (tuple, list)) else 2
    return _patches(images, rank, size, strides, dilation_rate, padding, data_format)


@operation
def extract_patches_3d(
    volumes, size: int | Sequence[int], strides: int | Sequence[int] | None = None,
    dilation_rate: int | Sequence[int] = 1, padding: str = "valid", data_format: str | None = None,
):
    """Return the patches of volumes as channels."""
    return _patches(volumes, 3, size, strides, dilation_rate, padding, data_format)


def _sizes(images, data_format: str | None):
    """Images, their height and width, and their axes."""
    images = tensor(images)
    if static_rank(images) not in (3, 4):
        raise ValueError(f"Invalid images rank: expected rank 3 (single image) or rank 4 (batch of images). "
                         f"Received: images.shape={images.shape}")  # fmt: skip
    last = settings.normalize_data_format(data_format) == "channels_last"
    axes = [images.shape.rank - 3 + i for i in ((0, 1) if last else (1, 2))]
    return images, [tf_shape(images)[i] if images.shape[i] is None else images.shape[i] for i in axes], axes


def _two_of(before, after, target, have, names: Sequence[str], cut):
    """What to add or cut before and after, of which one of three numbers is left out."""
    if sum(value is None for value in (before, after, target)) != 1:
        raise ValueError(f"Must specify exactly two of {names}. Received: {before}, {after}, {target}")
    change = None if target is None else (have - target if cut else target - have)
    before = change - after if before is None else before
    after = change - before if after is None else after
    if min(value for value in (before, after, 0) if isinstance(value, int)) < 0:
        raise ValueError(f"{names[0]} and {names[1]} must be >= 0. Received: {before} and {after}")
    return before, after


@operation
def pad_images(
    images: Any, top_padding=None, left_padding=None, bottom_padding=None, right_padding=None, target_height=None,
    target_width=None, data_format: str | None = None,
):  # fmt: skip
    """Return images with zeros around them; two of the paddings and the target are given for each axis."""
    images, (height, width), axes = _sizes(images, data_format)
    around = [[0, 0] for _ in range(images.shape.rank)]
    around[axes[0]] = _two_of(top_padding, bottom_padding, target_height, height,
                              ("top_padding", "bottom_padding", "target_height"), False)  # fmt: skip
    around[axes[1]] = _two_of(left_padding, right_padding, target_width, width,
                              ("left_padding", "right_padding", "target_width"), False)  # fmt: skip
    return tf_pad(images, around)


@operation
def crop_images(
    images: Any, top_cropping=None, left_cropping=None, bottom_cropping=None, right_cropping=None, target_height=None,
    target_width=None, data_format: str | None = None,
):  # fmt: skip
    """Return images cut on their sides; two of the croppings and the target are given for each axis."""
    images, (height, width), axes = _sizes(images, data_format)
    part = [slice(None)] * images.shape.rank
    top, bottom = _two_of(top_cropping, bottom_cropping, target_height, height,
                          ("top_cropping", "bottom_cropping", "target_height"), True)  # fmt: skip
    left, right = _two_of(left_cropping, right_cropping, target_width, width,
                          ("left_cropping", "right_cropping", "target_width"), True)  # fmt: skip
    part[axes[0]], part[axes[1]] = slice(top, height - bottom), slice(left, width - right)
    return images[tuple(part)]


def _cubic(x: Tensor):
    near = ((1.5 * x - 2.5) * x) * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return tf_where(x >= 2, tf_zeros_like(x), tf_where(x >= 1, far, near))


def _lanczos(radius: float):
    def kernel(x: Tensor):
        safe = tf_where(x > 1e-3, x, tf_ones_like(x))
        y = radius * tf_sin(math.pi * safe) * tf_sin(math.pi * safe / radius) / (math.pi * safe) ** 2
        return tf_where(x > radius, tf_zeros_like(x), tf_where(x > 1e-3, y, tf_ones_like(x)))

    return kernel


def _triangle(x: Tensor):
    return tf_maximum(tf_zeros_like(x), 1 - x)


_KERNELS = {
    **dict.fromkeys(("linear", "bilinear", "trilinear"), _triangle),
    **dict.fromkeys(("cubic", "bicubic", "tricubic"), _cubic),
    "lanczos3": _lanczos(3.0), "lanczos5": _lanczos(5.0),
}  # fmt: skip


@operation
def scale_and_translate(images, output_shape, scale, translation, spatial_dims, method, antialias=True):
    """Return images scaled and moved along some axes.

    Args:
      output_shape: the shape of the result.
      scale: the factor for each axis of `spatial_dims`.
      translation: how far each is moved, in pixels of the result.
      spatial_dims: the axes.
      method: "linear", "cubic", "lanczos3" or "lanczos5".
      antialias: whether to smooth where the images become smaller.
    """
    checked_choice(method, "method", tuple(_KERNELS))
    images = tensor(images)
    scale, translation = promoted(tensor(scale), tensor(translation))
    x = tf_cast(images, "float32") if images.dtype.is_integer else images
    for i, axis in enumerate(spatial_dims):
        axis = axis_of(axis, static_rank(x))
        weights = _weights(tf_shape(x)[axis], output_shape[axis], scale[i], translation[i], _KERNELS[method], antialias)
        x = tf_tensordot(x, tf_cast(weights, x.dtype), [[axis], [0]])
        rank = x.shape.rank
        x = tf_transpose(x, [*range(axis), rank - 1, *range(axis, rank - 1)])
    if images.dtype.is_integer and len(spatial_dims):
        least, greatest = (tf_cast(reduce(images), "float32") for reduce in (tf_reduce_min, tf_reduce_max))
        x = tf_clip_by_value(tf_round(x), least, greatest)
    return tf_cast(x, images.dtype)


def _weights(size, target, scale, translation, kernel, antialias: bool):
    """How much each pixel (rows) counts for each one of the result (columns)."""
    dtype = scale.dtype
    at = (tf_cast(tf_range(target), dtype) + 0.5 - translation) / scale - 0.5
    width = tf_maximum(1 / scale, tf_cast(1, dtype)) if antialias else tf_cast(1, dtype)
    weights = kernel(tf_abs(at - tf_expand_dims(tf_cast(tf_range(size), dtype), 1)) / width)
    total = tf_reduce_sum(weights, 0, True)
    some = tf_abs(total) > 1000 * 1.1920929e-07
    weights = tf_where(some, weights / tf_where(some, total, tf_ones_like(total)), tf_zeros_like(weights))
    inside = tf_logical_and(at >= -0.5, at <= tf_cast(size, dtype) - 0.5)
    return tf_where(inside, weights, tf_zeros_like(weights))


__all__ = [*public_names(globals()), *image_warps.__all__]

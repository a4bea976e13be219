"""Images as arrays, arrays as images, and images in files."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import extras
from tapeflow.core.annotations import PathLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.files.paths import local_path
from tapeflow.core.public import boundaries
from tapeflow.keras import settings
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.image.resizing import resize
from tapeflow.ops.math.arithmetic import maximum, minimum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.static import sizes_of

INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos")


def pillow():
    """The library for images. Raises ImportError, saying what needs it, where it is not installed."""
    return extras.load("PIL.Image", "Could not import PIL.Image. The use of images")


def _format(data_format: str | None):
    data_format = settings.image_data_format() if data_format is None else data_format
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid data_format: {data_format}")
    return data_format


def array_to_img(x, data_format: str | None = None, scale: bool = True, dtype=None):
    """Make a Pillow image of an array.

    Args:
      x: an array of 3 axes, with 1, 3 or 4 channels.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      scale: whether values are stretched to 0..255.
      dtype: of the computation; None for `keras.config.floatx()`.

    Returns:
      A Pillow image.

    Raises:
      ValueError: for other shapes.
      ImportError: without Pillow.
    """
    image = pillow()
    x = np.asarray(x, dtype=dtype or settings.floatx())
    if x.ndim != 3:
        raise ValueError(
            f"Expected image array to have rank 3 (single image). Got array with shape: {x.shape}"
        )
    if _format(data_format) == "channels_first":
        x = x.transpose(1, 2, 0)
    if scale:
        x = x - np.min(x)
        most = np.max(x)
        x = (x / most if most != 0 else x) * 255
    channels = x.shape[2]
    if channels == 4:
        return image.fromarray(x.astype("uint8"), "RGBA")
    if channels == 3:
        return image.fromarray(x.astype("uint8"), "RGB")
    if channels == 1:
        if np.max(x) > 255:
            return image.fromarray(x[:, :, 0].astype("int32"), "I")
        return image.fromarray(x[:, :, 0].astype("uint8"), "L")
    raise ValueError(f"Unsupported channel number: {channels}")


def img_to_array(img, data_format: str | None = None, dtype=None):
    """Make an array of a Pillow image.

    Args:
      img: the image.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      dtype: the dtype of the array; None for `keras.config.floatx()`.

    Returns:
      An array of 3 axes.

    Raises:
      ValueError: for other shapes.
    """
    x = np.asarray(img, dtype=dtype or settings.floatx())
    first = _format(data_format) == "channels_first"
    if x.ndim == 3:
        return x.transpose(2, 0, 1) if first else x
    if x.ndim == 2:
        return x[None] if first else x[..., None]
    raise ValueError(f"Unsupported image shape: {x.shape}")


def save_img(
    path: PathLike, x: np.ndarray, data_format: str | None = None, file_format=None, scale: bool = True, **kwargs,
):
    """Write an array as an image file.

    Args:
      path: the file.
      x: an array of 3 axes.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      file_format: the format, as Pillow names it; None for that of the name.
      scale: whether values are stretched to 0..255.
      **kwargs: further arguments of `Image.save` of Pillow.
    """
    img = array_to_img(x, data_format=data_format, scale=scale)
    if img.mode == "RGBA" and file_format in ("jpg", "jpeg"):
        warnings.warn(
            "The JPG format does not support RGBA images, converting to RGB.", stacklevel=2
        )
        img = img.convert("RGB")
    img.save(path, format=file_format, **kwargs)


def load_img(
    path: Any, color_mode: str = "rgb", target_size: Sequence[int] | None = None, interpolation: str = "nearest",
    keep_aspect_ratio: bool = False,
):
    """Read an image file.

    Args:
      path: the file, or its bytes in a BytesIO.
      color_mode: "rgb", "rgba" or "grayscale".
      target_size: (height, width) to resize to; None for no change.
      interpolation: "nearest", "bilinear", "bicubic", "hamming", "box" or "lanczos".
      keep_aspect_ratio: whether the image is cut to the shape of the target, instead of being distorted.

    Returns:
      A Pillow image.

    Raises:
      ValueError: for an unknown mode or interpolation.
      ImportError: without Pillow.
    """
    image = pillow()
    if isinstance(path, io.BytesIO):
        img = image.open(path)
    else:
        with open(local_path(path), "rb") as file:
            img = image.open(io.BytesIO(file.read()))
    modes = {"grayscale": "L", "rgba": "RGBA", "rgb": "RGB"}
    if color_mode not in modes:
        raise ValueError('color_mode must be "grayscale", "rgb", or "rgba"')
    if color_mode != "grayscale" or img.mode not in ("L", "I;16", "I"):
        if img.mode != modes[color_mode]:
            img = img.convert(modes[color_mode])
    if target_size is None:
        return img
    size = (target_size[1], target_size[0])
    if img.size == size:
        return img
    if interpolation not in INTERPOLATIONS:
        raise ValueError(
            f"Invalid interpolation method {interpolation} specified. Supported methods are "
            f"{', '.join(INTERPOLATIONS)}"
        )
    how = getattr(image.Resampling, interpolation.upper())
    if keep_aspect_ratio:
        width, height = img.size
        wide = min(width, int(height * size[0] / size[1]))
        high = min(height, int(width * size[1] / size[0]))
        left, top = (width - wide) // 2, (height - high) // 2
        return img.resize(size, how, box=[left, top, left + wide, top + high])
    return img.resize(size, how)


def _clipped(numerator: int, denominator: int, most: int):
    """numerator / denominator as a size from 1 to `most`, which may be tensors."""
    if isinstance(numerator, int) and isinstance(most, int):
        return max(1, min(most, int(numerator / denominator)))
    return maximum(1, minimum(most, cast(cast(numerator, "float32") / denominator, "int32")))


def smart_resize(
    x: np.ndarray, size: Sequence[int], interpolation: str = "bilinear", data_format: str = "channels_last", **kwargs
):
    """Resize images without distortion: they are cut to the shape of the target first.

    Args:
      x: an image `(height, width, channels)`, or a batch, an array or a tensor.
      size: (height, width).
      interpolation: a method of `tf.image.resize`.
      data_format: "channels_last" or "channels_first".
      **kwargs: `backend_module`, which changes nothing.

    Returns:
      An array of an array, a tensor of a tensor.

    Raises:
      ValueError: for other shapes or sizes.

    >>> print(tf.keras.preprocessing.image.smart_resize(np.ones([4, 8, 3]), (2, 2)).shape)
    (2, 2, 3)
    """
    kwargs.pop("backend_module", None)
    if kwargs:
        raise TypeError(f"smart_resize() got unexpected keyword arguments: {list(kwargs)}")
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError(f"Unknown data_format: {data_format}")
    if len(size) != 2:
        raise ValueError(f"Expected `size` to be a tuple of 2 integers, but got: {size}.")
    images = convert_to_tensor(x)
    rank = images.shape.rank
    if rank is None or rank not in (3, 4):
        raise ValueError(
            "Expected an image array with shape `(height, width, channels)`, or `(batch_size, "
            f"height, width, channels)`, but got input with incorrect rank, of shape {images.shape}."
        )
    first = data_format == "channels_first"
    if first:
        images = transpose(images, [*range(rank - 3), rank - 2, rank - 1, rank - 3])
    height, width = sizes_of(images)[-3:-1]
    high = _clipped(width * size[0], size[1], height)
    wide = _clipped(height * size[1], size[0], width)
    top, left = (height - high) // 2, (width - wide) // 2
    images = images[..., top : top + high, left : left + wide, :]
    resized = cast(resize(images, size, method=interpolation), images.dtype)
    if first:
        resized = transpose(resized, [*range(rank - 3), rank - 1, rank - 3, rank - 2])
    return resized.numpy() if isinstance(x, np.ndarray) else resized


boundaries(globals())

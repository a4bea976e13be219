"""`keras.backend`: pooling, padding and resizing of images, steps and volumes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, computes_tensors
from tapeflow.keras.backend.convolutions import (
    LAYOUTS,
    channels_last,
    format_of,
    in_format,
    padding_name,
)
from tapeflow.ops.array.padding import pad
from tapeflow.ops.array.tiling import repeat
from tapeflow.ops.convolution.pool_functions import avg_pool, max_pool
from tapeflow.ops.image.resizing import resize
from tapeflow.ops.math.casting import cast
from tapeflow.ops.static import as_shape, sizes_of


def _pool(x, pool_size, strides, padding, data_format: str | None, pool_mode, rank: int):
    data_format = format_of(data_format)
    for what, value in (("pool_size", pool_size), ("strides", strides)):
        if len(value) != rank:
            raise ValueError(f"`{what}` must be a tuple of {rank} integers.")
    functions = {"max": max_pool, "avg": avg_pool}
    if pool_mode not in functions:
        raise ValueError(f"Invalid pooling mode: {pool_mode}")
    x = channels_last(convert_to_tensor(x), data_format)
    outputs = functions[pool_mode](
        x, (1, *pool_size, 1), (1, *strides, 1), padding_name(padding), LAYOUTS[rank]
    )
    return in_format(outputs, data_format)


@computes_tensors
def pool2d(
    x: TensorLike, pool_size: int | Sequence[int], strides: int | Sequence[int] = (1, 1), padding: str = "valid",
    data_format: str | None = None, pool_mode: str = "max",
):
    """Reduce windows of images to their largest value or their mean.

    Args:
      x: a tensor `(batch, rows, columns, channels)`, or with the channels first.
      pool_size: the sizes of the window, 2 integers.
      strides: how far it moves along each axis, 2 integers.
      padding: "valid" for whole windows alone, or "same" for padding with zeros.
      data_format: "channels_last" or "channels_first"; None for `keras.config.image_data_format()`.
      pool_mode: "max" or "avg".

    Returns:
      A tensor.

    Raises:
      ValueError: for an unknown padding, format or mode, and other numbers of integers.
    """
    return _pool(x, pool_size, strides, padding, data_format, pool_mode, 2)


@computes_tensors
def pool3d(
    x: TensorLike, pool_size: int | Sequence[int], strides: int | Sequence[int] = (1, 1, 1), padding: str = "valid",
    data_format: str | None = None, pool_mode: str = "max",
):
    """Reduce windows of volumes to their largest value or their mean.

    Args:
      x: a tensor `(batch, depth, rows, columns, channels)`, or with the channels first.
      pool_size: the sizes of the window, 3 integers.
      strides: how far it moves along each axis, 3 integers.
      padding: "valid" for whole windows alone, or "same" for padding with zeros.
      data_format: "channels_last" or "channels_first"; None for `keras.config.image_data_format()`.
      pool_mode: "max" or "avg".

    Returns:
      A tensor.

    Raises:
      ValueError: for an unknown padding, format or mode, and other numbers of integers.
    """
    return _pool(x, pool_size, strides, padding, data_format, pool_mode, 3)


@computes_tensors
def temporal_padding(x: TensorLike, padding=(1, 1)):
    """Add steps of zeros before and after sequences.

    Args:
      x: a tensor `(batch, steps, features)`.
      padding: how many before and after.

    Returns:
      A tensor.
    """
    return pad(x, [[0, 0], [padding[0], padding[1]], [0, 0]])


def _pad_space(x, padding, data_format: str | None, rank: int):
    data_format = format_of(data_format)
    if len(padding) != rank or any(len(pair) != 2 for pair in padding):
        raise ValueError(f"`padding` must be {rank} pairs of integers. Received: {padding}")
    space = [list(pair) for pair in padding]
    around = (
        [[0, 0], [0, 0], *space] if data_format == "channels_first" else [[0, 0], *space, [0, 0]]
    )
    return pad(x, around)


@computes_tensors
def spatial_2d_padding(x: TensorLike, padding=((1, 1), (1, 1)), data_format: str | None = None):
    """Add rows and columns of zeros around images.

    Args:
      x: a tensor `(batch, rows, columns, channels)`, or with the channels first.
      padding: `((top, bottom), (left, right))`.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.

    Returns:
      A tensor.

    Raises:
      ValueError: for an unknown format and another padding.
    """
    return _pad_space(x, padding, data_format, 2)


@computes_tensors
def spatial_3d_padding(x: TensorLike, padding=((1, 1), (1, 1), (1, 1)), data_format: str | None = None):
    """Add planes of zeros around volumes.

    Args:
      x: a tensor `(batch, depth, rows, columns, channels)`, or with the channels first.
      padding: three pairs `(before, after)`.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.

    Returns:
      A tensor.

    Raises:
      ValueError: for an unknown format and another padding.
    """
    return _pad_space(x, padding, data_format, 3)


@computes_tensors
def resize_images(x: Any, height_factor, width_factor, data_format: str, interpolation: str = "nearest"):
    """Enlarge images by whole numbers.

    Args:
      x: a tensor `(batch, rows, columns, channels)`, or with the channels first.
      height_factor: the factor of the rows.
      width_factor: the factor of the columns.
      data_format: "channels_last" or "channels_first".
      interpolation: "nearest", "bilinear", "area", "bicubic", "gaussian", "lanczos3", "lanczos5" or "mitchellcubic".

    Returns:
      A tensor.

    Raises:
      ValueError: for an unknown format or interpolation.
    """
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid `data_format` argument: {data_format}")
    if interpolation not in ("nearest", "bilinear", "area", "bicubic", "gaussian", "lanczos3", "lanczos5",
                             "mitchellcubic"):  # fmt: skip
        raise ValueError('interpolation should be one of "nearest" or "bilinear".')
    x = channels_last(convert_to_tensor(x), data_format)
    if interpolation == "nearest":
        x = repeat(repeat(x, height_factor, axis=1), width_factor, axis=2)
    else:
        _, height, width, _ = sizes_of(x)
        x = cast(
            resize(x, as_shape([height * height_factor, width * width_factor]), interpolation),
            x.dtype,
        )
    return in_format(x, data_format)


@computes_tensors
def resize_volumes(x: TensorLike, depth_factor, height_factor, width_factor, data_format: str):
    """Enlarge volumes by whole numbers, repeating their elements.

    Args:
      x: a tensor `(batch, depth, rows, columns, channels)`, or with the channels first.
      depth_factor: the factor of the depth.
      height_factor: the factor of the rows.
      width_factor: the factor of the columns.
      data_format: "channels_last" or "channels_first".

    Returns:
      A tensor.

    Raises:
      ValueError: for an unknown format.
    """
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid data_format: {data_format}")
    start = 2 if data_format == "channels_first" else 1
    for axis, factor in enumerate((depth_factor, height_factor, width_factor), start):
        x = repeat(x, factor, axis=axis)
    return x


boundaries(globals())

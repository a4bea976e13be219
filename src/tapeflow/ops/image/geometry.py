"""Images turned, mirrored, cropped and padded."""

from __future__ import annotations

import numpy as np

from tapeflow.api import api
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import IntLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import tensor_function
from tapeflow.ops.array.padding import Pad
from tapeflow.ops.array.reorder import reverse
from tapeflow.ops.array.transposing import Transpose
from tapeflow.ops.control import flow as control
from tapeflow.ops.graph_scope import graph_scope, in_scope
from tapeflow.ops.image.shape import as_batch, as_filled_batch, as_images, require, unbatched
from tapeflow.ops.indexing.slicing import Slice
from tapeflow.ops.math import arithmetic, casting, division
from tapeflow.ops.static import as_shape, sizes_of, static_value


def _flipped(image, axis: int):
    """`image` mirrored along `axis` of a single image."""
    image = as_images(image)
    rank = image.shape.rank
    if rank is None:
        image, _ = as_batch(image)
        return unbatched(reverse(image, [axis + 1]), True)
    if rank not in (3, 4):
        raise ValueError(f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    return reverse(image, [axis + rank - 3])


@api("image.flip_left_right")
@tensor_function
@in_scope("flip_left_right")
def flip_left_right(image: TensorLike):
    """Mirror images along their width.

    Args:
      image: an image `(height, width, channels)`, or a batch of these.

    Returns:
      A tensor of the shape and dtype of the image.

    >>> print(tf.image.flip_left_right(tf.constant([[[1], [2]]])).numpy()[:, :, 0])
    [[2 1]]
    """
    return _flipped(image, 1)


@api("image.flip_up_down")
@tensor_function
@in_scope("flip_up_down")
def flip_up_down(image: TensorLike):
    """Images of 3 or 4 dimensions, mirrored along their height."""
    return _flipped(image, 0)


@api("image.transpose", v1="image.transpose_image")
@tensor_function
def transpose(image: TensorLike, name: str | None = None):
    """Images of 3 or 4 dimensions with height and width exchanged."""
    with graph_scope("transpose"):
        image, single = as_batch(as_images(image))
        return unbatched(Transpose(image, [0, 2, 1, 3]), single)


@api("image.rot90")
@tensor_function
def rot90(image: TensorLike, k: TensorLike = 1, name: str | None = None):
    """Turn images counter-clockwise by 90 degrees, `k` times.

    Args:
      image: an image `(height, width, channels)`, or a batch of these.
      k: how often; an integer or a scalar tensor.
      name: the name of the operation in a graph.

    Returns:
      A tensor of the rank and dtype of the image.

    >>> print(tf.image.rot90(tf.constant([[[1], [2]], [[3], [4]]])).numpy()[:, :, 0])
    [[2 4]
     [1 3]]
    """
    image, single = as_batch(as_images(image))
    turns = [
        lambda: image,
        lambda: reverse(Transpose(image, [0, 2, 1, 3]), [1]),
        lambda: reverse(image, [1, 2]),
        lambda: Transpose(reverse(image, [1]), [0, 2, 1, 3]),
    ]
    known = static_value(k)
    if known is not None:
        if known.ndim:
            raise ValueError(f"k must be a scalar, got shape {known.shape}")
        return unbatched(turns[int(known) % 4](), single)
    turn = casting.cast(division.floormod(k, 4), dtypes.int32)
    return unbatched(control.switch_case(turn, turns), single)


# Crops and pads


def _int(value):
    """An integer argument: as an int where it is one, else as a tensor."""
    if isinstance(value, (int, np.integer)):
        return int(value)
    return value if hasattr(value, "dtype") else int(value)


def _cropped(image: TensorLike, top, left, height: int, width: int):
    sizes = sizes_of(image)
    _, rows, columns, _ = sizes
    image = require(
        image,
        (left >= 0, "offset_width must be >= 0."),
        (top >= 0, "offset_height must be >= 0."),
        (width > 0, "target_width must be > 0."),
        (height > 0, "target_height must be > 0."),
        (columns >= width + left, "width must be >= target + offset."),
        (rows >= height + top, "height must be >= target + offset."),
    )
    return Slice(image, as_shape([0, top, left, 0]), as_shape([sizes[0], height, width, sizes[3]]))


def padded(image, top, left, height: int, width: int):
    _, rows, columns, _ = sizes_of(image)
    below, right = height - top - rows, width - left - columns
    image = require(
        image,
        (top >= 0, "offset_height must be >= 0"),
        (left >= 0, "offset_width must be >= 0"),
        (right >= 0, "width must be <= target - offset"),
        (below >= 0, "height must be <= target - offset"),
    )
    if all(isinstance(v, int) and v == 0 for v in (top, left, below, right)):
        return image
    amounts = [as_shape(pair) for pair in ([0, 0], [top, below], [left, right], [0, 0])]
    out = Pad(image, np.stack(amounts) if all_plain(amounts) else convert_to_tensor(amounts))
    batch, _, _, depth = image.shape.as_list()
    sizes = [n if isinstance(n, int) else None for n in (height, width)]
    if context.current_graph() is not None:
        out.set_shape([batch, *sizes, depth])
    return out


def all_plain(values) -> bool:
    return all(isinstance(v, np.ndarray) for v in values)


def bounds(*values):
    return [_int(v) for v in values]


@api("image.crop_to_bounding_box")
@tensor_function
@in_scope("crop_to_bounding_box")
def crop_to_bounding_box(
    image: TensorLike, offset_height, offset_width, target_height: IntLike, target_width: IntLike
):
    """Cut a box out of images.

    Args:
      image: an image `(height, width, channels)`, or a batch of these.
      offset_height: the first row of the box.
      offset_width: its first column.
      target_height: how many rows it has.
      target_width: how many columns it has.

    Returns:
      The box, a tensor of the rank and dtype of the image.

    Raises:
      ValueError: for a box that is not inside of the image.
    """
    image, single = as_filled_batch(image)
    return unbatched(
        _cropped(image, *bounds(offset_height, offset_width, target_height, target_width)), single
    )


@api("image.pad_to_bounding_box")
@tensor_function
@in_scope("pad_to_bounding_box")
def pad_to_bounding_box(
    image: TensorLike, offset_height, offset_width, target_height: IntLike, target_width: IntLike
):
    """Set images into zeros of a larger size.

    Args:
      image: an image `(height, width, channels)`, or a batch of these.
      offset_height: how many rows of zeros are above the image.
      offset_width: how many columns of zeros are on its left.
      target_height: the rows of the result.
      target_width: the columns of the result.

    Returns:
      A tensor of the rank and dtype of the image.

    Raises:
      ValueError: for a target that does not hold the image.
    """
    image, single = as_filled_batch(image)
    return unbatched(
        padded(image, *bounds(offset_height, offset_width, target_height, target_width)), single
    )


def _least(a, b):
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else arithmetic.minimum(a, b)


def _most(a, b):
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else arithmetic.maximum(a, b)


def _half(value):
    return value // 2


@api("image.resize_with_crop_or_pad", v1="image.resize_image_with_crop_or_pad")
@tensor_function
@in_scope("resize_image_with_crop_or_pad")
def resize_with_crop_or_pad(image: TensorLike, target_height, target_width):
    """Cut images or pad them with zeros, evenly on both sides, to a size.

    Args:
      image: an image `(height, width, channels)`, or a batch of these.
      target_height: the rows of the result.
      target_width: the columns of the result.

    Returns:
      A tensor of the rank and dtype of the image.

    Raises:
      ValueError: for a target that is not positive.

    >>> print(tf.image.resize_with_crop_or_pad(tf.ones([2, 6, 1]), 4, 4).numpy()[:, :, 0])
    [[0. 0. 0. 0.]
     [1. 1. 1. 1.]
     [1. 1. 1. 1.]
     [0. 0. 0. 0.]]
    """
    image, single = as_filled_batch(image)
    height, width = bounds(target_height, target_width)
    image = require(
        image,
        (width > 0, "target_width must be > 0."),
        (height > 0, "target_height must be > 0."),
    )
    _, rows, columns, _ = sizes_of(image)
    extra_rows, extra_columns = height - rows, width - columns
    image = _cropped(
        image,
        _most(_half(0 - extra_rows), 0),
        _most(_half(0 - extra_columns), 0),
        _least(height, rows),
        _least(width, columns),
    )
    top, left = _most(_half(extra_rows), 0), _most(_half(extra_columns), 0)
    return unbatched(padded(image, top, left, height, width), single)


@api("image.central_crop")
@tensor_function
@in_scope("central_crop")
def central_crop(image: TensorLike, central_fraction):
    """Cut out the middle of images.

    Args:
      image: an image `(height, width, channels)`, or a batch of these.
      central_fraction: the part of the height and of the width that is kept, above 0, at most 1.

    Returns:
      A tensor of the rank and dtype of the image.

    Raises:
      ValueError: for a fraction out of range.

    >>> print(tf.image.central_crop(tf.ones([8, 8, 3]), 0.5).shape)
    (4, 4, 3)
    """
    known = static_value(central_fraction)
    if known is not None and not 0.0 < known <= 1.0:
        raise ValueError("central_fraction must be within (0, 1]")
    image = as_images(image)
    if known is not None and float(known) == 1.0:
        return image
    image, single = as_batch(image)
    n, rows, columns, depth = sizes_of(image)
    fraction = float(known) if known is not None else casting.cast(central_fraction, dtypes.float64)

    def start(size):
        if isinstance(size, int) and isinstance(fraction, float):
            return int((size - size * fraction) / 2)
        size = casting.cast(size, dtypes.float64)
        return casting.cast((size - size * fraction) / 2, dtypes.int32)

    top, left = start(rows), start(columns)
    inner = [n, rows - top * 2, columns - left * 2, depth]
    return unbatched(Slice(image, as_shape([0, top, left, 0]), as_shape(inner)), single)

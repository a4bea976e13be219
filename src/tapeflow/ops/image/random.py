"""Images changed at random, as training wants them: mirrored, brighter, of another contrast, hue or saturation."""

from __future__ import annotations

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import FloatLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import tensor_function
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.reorder import reverse
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.control.assert_op import Assert
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.graph_scope import in_scope
from tapeflow.ops.image.adjusting import (
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_saturation,
)
from tapeflow.ops.image.jpeg import adjust_jpeg_quality
from tapeflow.ops.image.shape import as_batch, as_images, unbatched
from tapeflow.ops.indexing.slicing import Slice
from tapeflow.ops.math import division
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.reductions import reduce_all
from tapeflow.ops.random import functions, stateless_functions
from tapeflow.ops.static import as_shape, sizes_of, static_value


def _flipped(image: TensorLike, axis: int, draw):
    """Each image mirrored with even odds; `draw(shape)` gives uniform numbers."""
    image, single = as_batch(as_images(image))
    if single:
        mirrored = draw([]) < 0.5
    else:
        chance = draw(as_shape([sizes_of(image)[0]]))
        mirrored = Reshape(chance, [-1, 1, 1, 1]) > 0.5
    return unbatched(where(mirrored, reverse(image, [axis + 1]), image), single)


@api("image.random_flip_left_right")
@tensor_function
@in_scope("random_flip_left_right")
def random_flip_left_right(image: TensorLike, seed: int | None = None):
    """Mirror each image along its width with even odds.

    Args:
      image: an image `(height, width, channels)`, or a batch of these.
      seed: an integer, with which and the global seed the numbers repeat; None for other numbers each time.

    Returns:
      A tensor of the shape and dtype of the image.
    """
    return _flipped(image, 1, lambda shape: functions.uniform(shape, 0, 1.0, seed=seed))


@api("image.random_flip_up_down")
@tensor_function
@in_scope("random_flip_up_down")
def random_flip_up_down(image: TensorLike, seed: int | None = None):
    """Mirror each image along its height with even odds.

    Args:
      image: an image `(height, width, channels)`, or a batch of these.
      seed: an integer, with which and the global seed the numbers repeat; None for other numbers each time.

    Returns:
      A tensor of the shape and dtype of the image.
    """
    return _flipped(image, 0, lambda shape: functions.uniform(shape, 0, 1.0, seed=seed))


@api(v2="image.stateless_random_flip_left_right")
@tensor_function
@in_scope("stateless_random_flip_left_right")
def stateless_random_flip_left_right(image: TensorLike, seed: TensorLike):
    """Mirror each image along its width with even odds, which depend on the seed only.

    Args:
      image: an image `(height, width, channels)`, or a batch of these.
      seed: two integers, an int32 or int64 tensor; the same numbers for the same seed.

    Returns:
      A tensor of the shape and dtype of the image.
    """
    return _flipped(image, 1, lambda shape: stateless_functions.stateless_uniform(shape, seed))


@api(v2="image.stateless_random_flip_up_down")
@tensor_function
@in_scope("stateless_random_flip_up_down")
def stateless_random_flip_up_down(image: TensorLike, seed: TensorLike):
    """Mirror each image along its height with even odds, which depend on the seed only.

    Args:
      image: an image `(height, width, channels)`, or a batch of these.
      seed: two integers, an int32 or int64 tensor; the same numbers for the same seed.

    Returns:
      A tensor of the shape and dtype of the image.
    """
    return _flipped(image, 0, lambda shape: stateless_functions.stateless_uniform(shape, seed))


def _between(low, high, seed: int):
    return functions.uniform([], low, high, seed=seed)


def _stateless_between(low, high, seed: TensorLike):
    return stateless_functions.stateless_uniform([], seed, low, high)


def _known(value):
    return value if isinstance(value, (int, float)) else static_value(value)


def _delta(draw, most, seed, limit=None):
    known = _known(most)
    if known is not None:
        if limit is not None and known > limit:
            raise ValueError(f"max_delta must be <= {limit}.")
        if known < 0:
            raise ValueError("max_delta must be non-negative.")
    return draw(-most, most, seed)


def _factor(draw, lower, upper, seed):
    low, high = _known(lower), _known(upper)
    if low is not None and high is not None and high <= low:
        raise ValueError("upper must be > lower.")
    if low is not None and low < 0:
        raise ValueError("lower must be non-negative.")
    return draw(lower, upper, seed)


@api("image.random_brightness")
@tensor_function
def random_brightness(image: TensorLike, max_delta: FloatLike, seed: int | None = None):
    """Change the brightness by a random number of [-max_delta, max_delta), as `adjust_brightness`.

    Args:
      image: images of any shape.
      max_delta: the largest change, at least 0.
      seed: an integer, with which and the global seed the numbers repeat; None for other numbers each time.

    Returns:
      A tensor of the shape and dtype of the image.

    Raises:
      ValueError: for a negative one.
    """
    return adjust_brightness(image, _delta(_between, max_delta, seed))


@api(v2="image.stateless_random_brightness")
@tensor_function
def stateless_random_brightness(image: TensorLike, max_delta: FloatLike, seed: TensorLike):
    """Change the brightness by a number of [-max_delta, max_delta) that depends on the seed only.

    Args:
      image: images of any shape.
      max_delta: the largest change, at least 0.
      seed: two integers, an int32 or int64 tensor; the same numbers for the same seed.

    Returns:
      A tensor of the shape and dtype of the image.

    Raises:
      ValueError: for a negative one.
    """
    return adjust_brightness(image, _delta(_stateless_between, max_delta, seed))


@api("image.random_contrast")
@tensor_function
def random_contrast(image: TensorLike, lower: TensorLike, upper: TensorLike, seed: int | None = None):
    """Change the contrast by a random factor of [lower, upper), as `adjust_contrast`.

    Args:
      image: images `[..., height, width, channels]`.
      lower: the least factor, at least 0.
      upper: the bound of the factor, above it.
      seed: an integer, with which and the global seed the numbers repeat; None for other numbers each time.

    Returns:
      A tensor of the shape and dtype of the image.

    Raises:
      ValueError: for no such range.
    """
    return adjust_contrast(image, _factor(_between, lower, upper, seed))


@api(v2="image.stateless_random_contrast")
@tensor_function
def stateless_random_contrast(image: TensorLike, lower: TensorLike, upper: TensorLike, seed: TensorLike):
    """Change the contrast by a factor of [lower, upper) that depends on the seed only.

    Args:
      image: images `[..., height, width, channels]`.
      lower: the least factor, at least 0.
      upper: the bound of the factor, above it.
      seed: two integers, an int32 or int64 tensor; the same numbers for the same seed.

    Returns:
      A tensor of the shape and dtype of the image.

    Raises:
      ValueError: for no such range.
    """
    return adjust_contrast(image, _factor(_stateless_between, lower, upper, seed))


@api("image.random_hue")
@tensor_function
def random_hue(image: TensorLike, max_delta: FloatLike, seed: int | None = None):
    """Turn the hue by a random part of the colour circle of [-max_delta, max_delta), as `adjust_hue`.

    Args:
      image: RGB images `[..., 3]`.
      max_delta: the largest change, from 0 to 0.5.
      seed: an integer, with which and the global seed the numbers repeat; None for other numbers each time.

    Returns:
      A tensor of the shape and dtype of the image.

    Raises:
      ValueError: for a number out of range.
    """
    return adjust_hue(image, _delta(_between, max_delta, seed, 0.5))


@api(v2="image.stateless_random_hue")
@tensor_function
def stateless_random_hue(image: TensorLike, max_delta: FloatLike, seed: TensorLike):
    """Turn the hue by a part of the colour circle of [-max_delta, max_delta) that depends on the seed only.

    Args:
      image: RGB images `[..., 3]`.
      max_delta: the largest change, from 0 to 0.5.
      seed: two integers, an int32 or int64 tensor; the same numbers for the same seed.

    Returns:
      A tensor of the shape and dtype of the image.

    Raises:
      ValueError: for a number out of range.
    """
    return adjust_hue(image, _delta(_stateless_between, max_delta, seed, 0.5))


@api("image.random_saturation")
@tensor_function
def random_saturation(image: TensorLike, lower: TensorLike, upper: TensorLike, seed: int | None = None):
    """Change the saturation by a random factor of [lower, upper), as `adjust_saturation`.

    Args:
      image: RGB images `[..., 3]`.
      lower: the least factor, at least 0.
      upper: the bound of the factor, above it.
      seed: an integer, with which and the global seed the numbers repeat; None for other numbers each time.

    Returns:
      A tensor of the shape and dtype of the image.

    Raises:
      ValueError: for no such range.
    """
    return adjust_saturation(image, _factor(_between, lower, upper, seed))


@api(v2="image.stateless_random_saturation")
@tensor_function
def stateless_random_saturation(
    image: TensorLike, lower: TensorLike, upper: TensorLike, seed: TensorLike | None = None
):
    """Change the saturation by a factor of [lower, upper) that depends on the seed only.

    Args:
      image: RGB images `[..., 3]`.
      lower: the least factor, at least 0.
      upper: the bound of the factor, above it.
      seed: two integers, an int32 or int64 tensor; the same numbers for the same seed.

    Returns:
      A tensor of the shape and dtype of the image.

    Raises:
      ValueError: for no such range.
    """
    return adjust_saturation(image, _factor(_stateless_between, lower, upper, seed))


def _jpeg(draw, image: TensorLike, lowest, highest, seed):
    if lowest < 0 or highest < 0 or lowest > 100 or highest > 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if lowest >= highest:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    return adjust_jpeg_quality(image, draw(lowest, highest, seed))


@api("image.random_jpeg_quality")
@tensor_function
def random_jpeg_quality(image: TensorLike, min_jpeg_quality, max_jpeg_quality, seed: int | None = None):
    """Encode images as JPEG of a random quality, and decode them again, as `adjust_jpeg_quality`.

    Args:
      image: an image `(height, width, 3)`, or a batch of these.
      min_jpeg_quality: the lowest quality, from 0 to 100.
      max_jpeg_quality: the bound of the quality, above it.
      seed: an integer, with which and the global seed the numbers repeat; None for other numbers each time.

    Returns:
      A tensor of the shape and dtype of the image.

    Raises:
      ValueError: for no such range.
    """
    return _jpeg(lambda low, high, s: functions.uniform([], low, high, dtypes.int32, s), image,
                 min_jpeg_quality, max_jpeg_quality, seed)  # fmt: skip


@api(v2="image.stateless_random_jpeg_quality")
@tensor_function
def stateless_random_jpeg_quality(image: TensorLike, min_jpeg_quality, max_jpeg_quality, seed: TensorLike):
    """Encode images as JPEG of a quality that depends on the seed only, and decode them again.

    Args:
      image: an image `(height, width, 3)`, or a batch of these.
      min_jpeg_quality: the lowest quality, from 0 to 100.
      max_jpeg_quality: the bound of the quality, above it.
      seed: two integers, an int32 or int64 tensor; the same numbers for the same seed.

    Returns:
      A tensor of the shape and dtype of the image.

    Raises:
      ValueError: for no such range.
    """

    def draw(low, high, seed: int):
        return stateless_functions.stateless_uniform([], seed, low, high, dtypes.int32)

    return _jpeg(draw, image, min_jpeg_quality, max_jpeg_quality, seed)


@api(v2="image.stateless_random_crop")
@tensor_function
def stateless_random_crop(value: TensorLike, size: TensorLike, seed: TensorLike, name: str | None = None):
    """Cut a window out of a tensor, at a place that depends on the seed only.

    Args:
      value: a tensor.
      size: the shape of the window, an integer for each axis.
      seed: two integers, an int32 or int64 tensor; the same numbers for the same seed.
      name: the name of the operation in a graph.

    Returns:
      The window, a tensor of the dtype of `value`.

    Raises:
      InvalidArgumentError: for a size that does not fit.
    """
    value = convert_to_tensor(value)
    size = convert_to_tensor(size, dtype_hint=dtypes.int32)
    shape = cast(Shape(value), size.dtype)
    check = Assert(reduce_all(shape >= size), ["Need value.shape >= size, got ", shape, size])
    with control_dependencies([] if check is None else [check]):
        limit = shape - size + 1
        drawn = stateless_functions.stateless_uniform(
            Shape(shape), seed, 0, size.dtype.max, dtype=size.dtype
        )
        return Slice(value, division.floormod(drawn, limit), size)

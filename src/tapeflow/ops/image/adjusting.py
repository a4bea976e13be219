"""Brightness, contrast, gamma, hue and saturation, adjusted; images as another dtype."""

from __future__ import annotations

from typing import Any

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.core.public import tensor_function
from tapeflow.ops.array.rows import identity
from tapeflow.ops.control.assert_op import Assert
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.graph_scope import in_scope
from tapeflow.ops.image.color import AdjustContrastv2, AdjustHue, AdjustSaturation
from tapeflow.ops.image.shape import as_images
from tapeflow.ops.math import arithmetic, division, reductions
from tapeflow.ops.math.casting import Cast, cast, saturate_cast
from tapeflow.ops.static import product, sizes_of, static_value


@api("image.convert_image_dtype")
@tensor_function
def convert_image_dtype(image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None):
    """Convert images to another dtype, scaled: floating point stands for [0, 1], integers for [0, their maximum].

    Args:
      image: images of any shape.
      dtype: the dtype, or its name.
      saturate: whether values that do not fit become the nearest that do.
      name: the name of the operation in a graph.

    Returns:
      A tensor of the shape of the image.

    Raises:
      AttributeError: for a dtype that is no number.

    >>> print(tf.image.convert_image_dtype(tf.constant([0, 255], tf.uint8), tf.float32).numpy())
    [0. 1.]
    """
    image, dtype = convert_to_tensor(image), dtypes.as_dtype(dtype)
    if not (dtype.is_floating or dtype.is_integer):
        raise AttributeError("dtype must be either floating point or integer")
    if dtype == image.dtype:
        return identity(image)
    converted = saturate_cast if saturate else cast
    if image.dtype.is_integer and dtype.is_integer:
        top_in, top_out = int(image.dtype.max), int(dtype.max)
        if top_in > top_out:
            step = (top_in + 1) // (top_out + 1)
            return converted(division.floordiv(image, step), dtype)
        return converted(image, dtype) * ((top_out + 1) // (top_in + 1))
    if image.dtype.is_floating and dtype.is_floating:
        return Cast(image, dtype)
    if image.dtype.is_integer:
        return Cast(image, dtype) * (1.0 / image.dtype.max)
    return converted(image * (dtype.max + 0.5), dtype)


def in_floats(change, image: TensorLike, kept=(dtypes.float16, dtypes.float32)):
    """`change(image)` made in float32 on [0, 1] unless the image has a dtype of `kept`; converted back."""
    image = convert_to_tensor(image)
    if image.dtype in kept:
        return change(image)
    return convert_image_dtype(
        change(convert_image_dtype(image, dtypes.float32)), image.dtype, saturate=True
    )


@api("image.adjust_brightness")
@tensor_function
@in_scope("adjust_brightness")
def adjust_brightness(image: TensorLike, delta: TensorLike):
    """Add a number to all values of images.

    Images of integers are taken for [0, 1] in between, so that `delta` means the same for all dtypes.

    Args:
      image: images of any shape.
      delta: what is added, from -1 to 1.

    Returns:
      A tensor of the shape and dtype of the image.

    >>> print(tf.image.adjust_brightness(tf.constant([[[0.25]]]), 0.5).numpy())
    [[[0.75]]]
    """
    return in_floats(lambda x: x + cast(delta, x.dtype), image)


@api("image.adjust_contrast")
@tensor_function
@in_scope("adjust_contrast")
def adjust_contrast(images: TensorLike, contrast_factor):
    """Multiply the distance of values from the mean of their channel, of each image.

    Args:
      images: images `[..., height, width, channels]`.
      contrast_factor: the factor; 1 for no change.

    Returns:
      A tensor of the shape and dtype of the images.

    >>> print(tf.image.adjust_contrast(tf.constant([[[1.0], [3.0]]]), 2.0).numpy().ravel())
    [0. 4.]
    """
    return in_floats(lambda x: AdjustContrastv2(x, contrast_factor), as_images(images))


@api("image.adjust_gamma")
@tensor_function
@in_scope("adjust_gamma")
def adjust_gamma(image: TensorLike, gamma: Any = 1, gain: int = 1):
    """Compute `gain * image ** gamma`, the image being taken for [0, 1] if it is of integers.

    Args:
      image: images of any shape.
      gamma: the exponent, at least 0.
      gain: the factor.

    Returns:
      A tensor of the shape and dtype of the image.

    Raises:
      ValueError: for a negative gamma.
      InvalidArgumentError: for one that is a tensor.
    """
    text = "Gamma should be a non-negative real number."
    if is_tensor(gamma):
        check = Assert(gamma >= 0, [text])
        with control_dependencies([] if check is None else [check]):
            gamma = identity(gamma)
    elif gamma < 0:
        raise ValueError(text)
    return in_floats(lambda x: gain * x**gamma, image)


@api("image.adjust_hue")
@tensor_function
def adjust_hue(image: TensorLike, delta: TensorLike, name: str | None = None):
    """Turn the hue of RGB images.

    Args:
      image: images `[..., 3]`; those of integers are taken for [0, 1].
      delta: the part of the colour circle, from -1 to 1.
      name: the name of the operation in a graph.

    Returns:
      A tensor of the shape and dtype of the image.

    Raises:
      ValueError: for a `delta` out of range.
    """
    known = static_value(delta)
    if known is not None and known.ndim == 0 and not -1 <= known <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")
    return in_floats(lambda x: AdjustHue(x, delta), image)


@api("image.adjust_saturation")
@tensor_function
def adjust_saturation(image: TensorLike, saturation_factor, name: str | None = None):
    """Multiply the saturation of RGB images.

    Args:
      image: images `[..., 3]`; those of integers are taken for [0, 1].
      saturation_factor: the factor: 0 for gray, 1 for no change.
      name: the name of the operation in a graph.

    Returns:
      A tensor of the shape and dtype of the image.
    """
    return in_floats(lambda x: AdjustSaturation(x, saturation_factor), image)


@api("image.per_image_standardization")
@tensor_function
@in_scope("per_image_standardization")
def per_image_standardization(image: Any):
    """Images `[..., height, width, channels]` of mean 0 and variance 1 each, as float32; uniform ones become 0."""
    image = as_images(image)
    image = cast(image, dtypes.float32)
    count = product(sizes_of(image)[-3:])
    axes = [-3, -2, -1]
    mean = reductions.reduce_mean(image, axis=axes, keepdims=True)
    deviation = reductions.reduce_std(image, axis=axes, keepdims=True)
    count = cast(convert_to_tensor(count), image.dtype)
    return (image - mean) / arithmetic.maximum(deviation, count**-0.5)

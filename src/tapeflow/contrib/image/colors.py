"""Hue, saturation and value of colors changed in YIQ space, where hue is an angle about the axis of luma."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tapeflow.compat.v1 as tf
from tapeflow.core.annotations import FloatLike, TensorLike

if TYPE_CHECKING:
    import numpy as np

_TO_YIQ = ((0.299, 0.587, 0.114), (0.596, -0.274, -0.322), (0.211, -0.523, 0.312))
_TO_RGB = ((1.0, 0.95617069, 0.62143257), (1.0, -0.2726886, -0.64681324), (1.0, -1.103744, 1.70062309))


def _turn(delta_hue: TensorLike, scale_saturation: TensorLike, scale_value: TensorLike):
    """The matrix that acts on columns of RGB."""
    hue, saturation, value = (
        tf.cast(tf.convert_to_tensor(v), tf.float32) for v in (delta_hue, scale_saturation, scale_value)
    )
    chroma = value * saturation
    u, w, zero = chroma * tf.cos(hue), chroma * tf.sin(hue), tf.zeros_like(value)
    middle = tf.reshape(tf.stack([value, zero, zero, zero, u, -w, zero, w, u]), [3, 3])
    return tf.matmul(_TO_RGB, tf.matmul(middle, _TO_YIQ))


def adjust_hsv_in_yiq(
    image, delta_hue: FloatLike = 0, scale_saturation: FloatLike = 1, scale_value: FloatLike = 1,
    name: str | None = None,
):
    """RGB images with hue turned by `delta_hue` radians, saturation and value scaled, in their own dtype.

    Args:
      image: [..., height, width, 3].
      delta_hue: a scalar, as are the factors `scale_saturation` and `scale_value`.

    Raises ValueError for images of another rank, InvalidArgumentError for another depth.
    """
    with tf.name_scope(name, "adjust_hsv_in_yiq", [image]):
        image = tf.convert_to_tensor(image, name="image")
        rank, depth = image.shape.ndims, image.shape.as_list()[-1] if image.shape.ndims else None
        if rank is not None and rank < 3:
            raise ValueError(f"Shape must be at least rank 3 but is rank {rank}")
        if depth is not None and depth != 3:
            raise tf.errors.InvalidArgumentError(
                None, None, f"input must have 3 channels but instead has {depth} channels."
            )
        colors = tf.image.convert_image_dtype(image, tf.float32)
        matrix = _turn(delta_hue, scale_saturation, scale_value)
        flat = tf.matmul(tf.reshape(colors, [-1, 3]), matrix, transpose_b=True)
        changed = tf.reshape(flat, tf.shape(image))
        changed.set_shape(image.shape)
        return tf.image.convert_image_dtype(changed, image.dtype)


def random_hsv_in_yiq(
    image: np.ndarray, max_delta_hue: float = 0, lower_saturation: float = 1, upper_saturation: float = 1,
    lower_value: float = 1, upper_value: float = 1, seed: int | None = None,
):
    """`adjust_hsv_in_yiq` by random amounts.

    Args:
      image: [..., height, width, 3].
      max_delta_hue: hue is turned by up to so many radians in either direction.
      lower_saturation, upper_saturation: bounds of the factor of saturation.
      lower_value, upper_value: bounds of the factor of value.
      seed: of this op's random numbers.

    Raises ValueError for a bound that is negative or above its upper one.
    """
    if max_delta_hue < 0:
        raise ValueError("max_delta must be non-negative.")
    bounds = {"saturation": (lower_saturation, upper_saturation), "value": (lower_value, upper_value)}
    for what, (lower, upper) in bounds.items():
        if lower < 0:
            raise ValueError(f"lower_{what} must be non-negative.")
        if lower > upper:
            raise ValueError(f"lower_{what} must be < upper_{what}.")

    def drawn(lower: TensorLike, upper: TensorLike):
        return lower if lower == upper else tf.random_uniform([], lower, upper, seed=seed)

    hue = drawn(-max_delta_hue, max_delta_hue) if max_delta_hue else 0
    return adjust_hsv_in_yiq(image, hue, *(drawn(*pair) for pair in bounds.values()))

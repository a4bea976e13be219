"""Images rotated, shifted, and under any projective transform.

A transform is a row of eight numbers a0 a1 a2 b0 b1 b2 c0 c1, which sends a place (x, y) of the result to the place
((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) of the image, with k = c0 x + c1 y + 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tapeflow.compat.v1 as tf
from tapeflow.core.annotations import TensorLike

if TYPE_CHECKING:
    import numpy as np

_DTYPES = (tf.uint8, tf.int32, tf.int64, tf.float16, tf.float32, tf.float64)


def _batch(images):
    """(images as a tensor of rank 4, what undoes that)."""
    images = tf.convert_to_tensor(images, name="images")
    if images.dtype.base_dtype not in _DTYPES:
        raise TypeError(f"Invalid dtype {images.dtype}.")
    rank = images.shape.ndims
    if rank is None:
        raise TypeError("image_or_images rank must be statically known")
    if rank == 2:
        return images[None, :, :, None], lambda out: out[0, :, :, 0]
    if rank == 3:
        return images[None], lambda out: out[0]
    if rank == 4:
        return images, lambda out: out
    raise TypeError("Images should have rank between 2 and 4.")


def rotate(
    images: np.ndarray, angles: Sequence[float] | float, interpolation: str = "NEAREST", name: str | None = None
):
    """Images turned counterclockwise about their centers; what comes from outside is 0.

    Args:
      images: [height, width], [height, width, channels] or [batch, height, width, channels], of uint8, int32, int64 or
        a floating dtype.
      angles: in radians, one or one for each image.
      interpolation: "NEAREST" or "BILINEAR".

    Raises TypeError for another dtype or rank.
    """
    with tf.name_scope(name, "rotate"):
        batch, undone = _batch(images)
        sizes = tf.cast(tf.shape(batch)[1:3], tf.float32)
        transforms = angles_to_projective_transforms(angles, sizes[:1], sizes[1:])
        return undone(transform(batch, transforms, interpolation=interpolation))


def translate(
    images: TensorLike, translations: Sequence[Any] | float, interpolation: str = "NEAREST", name: str | None = None
):
    """Images shifted by [dx, dy]; what comes from outside is 0.

    Args:
      images: as for `rotate`.
      translations: [2], or [batch, 2] for a shift of each image.
      interpolation: "NEAREST" or "BILINEAR".
    """
    with tf.name_scope(name, "translate"):
        transforms = translations_to_projective_transforms(translations)
        return transform(images, transforms, interpolation=interpolation)


def angles_to_projective_transforms(angles: Any, image_height: Any, image_width: Any, name: str | None = None):
    """The transforms [count, 8] that turn images of a size by `angles`, a scalar or vector of radians.

    Raises TypeError for angles of a higher rank.
    """
    with tf.name_scope(name, "angles_to_projective_transforms"):
        angles = tf.convert_to_tensor(angles, tf.float32, name="angles")
        if angles.shape.ndims not in (0, 1):
            raise TypeError("Angles should have rank 0 or 1.")
        angles = tf.reshape(angles, [-1])
        cos, sin = tf.cos(angles), tf.sin(angles)
        right, bottom = image_width - 1, image_height - 1
        x = (right - (cos * right - sin * bottom)) / 2.0
        y = (bottom - (sin * right + cos * bottom)) / 2.0
        zeros = tf.zeros_like(angles)
        return tf.stack([cos, -sin, x, sin, cos, y, zeros, zeros], 1)


def translations_to_projective_transforms(translations: Sequence[Any] | float, name: str | None = None):
    """The transforms [count, 8] that shift images by `translations`: [dx, dy], or [count, 2].

    Raises TypeError for another rank.
    """
    with tf.name_scope(name, "translations_to_projective_transforms"):
        shifts = tf.convert_to_tensor(translations, tf.float32, name="translations")
        if shifts.shape.ndims is None:
            raise TypeError("translation_or_translations rank must be statically known")
        if shifts.shape.ndims not in (1, 2):
            raise TypeError("Translations should have rank 1 or 2.")
        shifts = shifts[None] if shifts.shape.ndims == 1 else shifts
        x, y = -shifts[:, 0], -shifts[:, 1]
        zeros, ones = tf.zeros_like(x), tf.ones_like(x)
        return tf.stack([ones, zeros, x, zeros, ones, y, zeros, zeros], 1)


def transform(
    images: TensorLike, transforms: Any, interpolation: str = "NEAREST", output_shape=None, name: str | None = None
):
    """Images under projective transforms; what comes from outside is 0.

    Args:
      images: as for `rotate`.
      transforms: [8], or [batch, 8] for a transform of each image.
      interpolation: "NEAREST" or "BILINEAR".
      output_shape: height and width of the result; None: those of the images.

    Raises TypeError for another dtype or rank, ValueError for a size that has not two elements.
    """
    with tf.name_scope(name, "transform"):
        batch, undone = _batch(images)
        transforms = tf.convert_to_tensor(transforms, tf.float32, name="transforms")
        if output_shape is None:
            known = batch.shape.as_list()[1:3]
            output_shape = tf.shape(batch)[1:3] if None in known else known
        output_shape = tf.convert_to_tensor(output_shape, tf.int32, name="output_shape")
        if not output_shape.shape.is_compatible_with([2]):
            raise ValueError("output_shape must be a 1-D Tensor of 2 elements: new_height, new_width")
        rank = transforms.shape.ndims
        if rank is None:
            raise TypeError("transform_or_transforms rank must be statically known")
        if rank not in (1, 2):
            raise TypeError("Transforms should have rank 1 or 2.")
        out = tf.raw_ops.ImageProjectiveTransformV2(
            images=batch,
            transforms=transforms[None] if rank == 1 else transforms,
            output_shape=output_shape,
            interpolation=interpolation.upper(),
        )
        return undone(out)


def compose_transforms(*transforms):
    """One transform [count, 8] for several, each [8] or [count, 8], applied to an image one after the other."""
    if not transforms:
        raise AssertionError("transforms cannot be empty")
    with tf.name_scope("compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for each in transforms[1:]:
            composed = tf.matmul(composed, flat_transforms_to_matrices(each))
        return matrices_to_flat_transforms(composed)


def flat_transforms_to_matrices(transforms: Any):
    """Transforms [8] or [count, 8] as matrices [count, 3, 3] of homogeneous coordinates.

    Raises ValueError for another rank.
    """
    with tf.name_scope("flat_transforms_to_matrices"):
        transforms = tf.convert_to_tensor(transforms, name="transforms")
        if transforms.shape.ndims not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {transforms}")
        transforms = tf.reshape(transforms, [-1, 8])
        ones = tf.ones([tf.shape(transforms)[0], 1], transforms.dtype)
        return tf.reshape(tf.concat([transforms, ones], 1), [-1, 3, 3])


def matrices_to_flat_transforms(transform_matrices: TensorLike):
    """Matrices [3, 3] or [count, 3, 3] of homogeneous coordinates as transforms [count, 8].

    Raises ValueError for another rank.
    """
    with tf.name_scope("matrices_to_flat_transforms"):
        matrices = tf.convert_to_tensor(transform_matrices, name="transform_matrices")
        if matrices.shape.ndims not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {matrices}")
        flat = tf.reshape(matrices, [-1, 9])
        return (flat / flat[:, 8:9])[:, :8]

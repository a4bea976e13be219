"""`tf.contrib.resampler`: images read at any points, differentiable in the images and in the points."""

from __future__ import annotations

from typing import Any

import tapeflow.compat.v1 as tf
from tapeflow.core.annotations import Tensor

__all__ = ["resampler"]


def _checked(data: Any, warp: Any):
    """Raise for shapes that are known to be wrong."""
    if data.shape.ndims not in (None, 4):
        raise tf.errors.UnimplementedError(
            None, None, "Only bilinear interpolation is currently supported. The input data shape must be "
            f"[batch_size, data_height, data_width, data_channels], but is: {data.shape}",
        )  # fmt: skip
    if warp.shape.ndims is None:
        return
    sizes = warp.shape.as_list()
    if len(sizes) < 2 or sizes[-1] not in (None, 2):
        raise tf.errors.UnimplementedError(
            None, None, "Only bilinear interpolation is supported, warping coordinates must be 2D; warp shape last "
            f"entry should be 2, but shape vector is: {warp.shape}",
        )  # fmt: skip
    if data.shape.ndims == 4 and not data.shape[:1].is_compatible_with(warp.shape[:1]):
        raise tf.errors.InvalidArgumentError(
            None, None, "Batch size of data and warp tensor must be the same, but input shapes are: "
            f"{data.shape}, {warp.shape}",
        )  # fmt: skip


def resampler(data: Any, warp: Any, name: str = "resampler"):
    """The values of images between their pixels, interpolated bilinearly; images are surrounded by zeros.

    Args:
      data: [batch, height, width, channels], of a floating dtype.
      warp: [batch, ..., 2] points (x, y), of the same dtype.

    Returns:
      [batch, ..., channels].

    Raises UnimplementedError or InvalidArgumentError for other shapes.
    """
    with tf.name_scope(name, "resampler", [data, warp]):
        data = tf.convert_to_tensor(data, name="data")
        warp = tf.convert_to_tensor(warp, name="warp")
        _checked(data, warp)
        batch, height, width, channels = tf.unstack(tf.shape(data))
        points = tf.reshape(warp, [batch, -1, 2])
        x, y = points[..., 0], points[..., 1]
        wide, high = tf.cast(width, data.dtype), tf.cast(height, data.dtype)
        near = tf.logical_and(tf.logical_and(x > -1, y > -1), tf.logical_and(x < wide, y < high))
        x, y = (tf.where(near, v, tf.zeros_like(v)) for v in (x, y))
        low_x, low_y = tf.floor(x), tf.floor(y)
        images = tf.pad(data, [[0, 0], [1, 1], [1, 1], [0, 0]])
        flat = tf.reshape(images, [-1, channels])
        first = tf.range(batch)[:, None] * (height + 2) * (width + 2)
        place = first + (tf.cast(low_y, tf.int32) + 1) * (width + 2) + tf.cast(low_x, tf.int32) + 1
        right, below = (x - low_x)[..., None], (y - low_y)[..., None]

        def row(start: Tensor):
            return (1 - right) * tf.gather(flat, start) + right * tf.gather(flat, start + 1)

        out = (1 - below) * row(place) + below * row(place + width + 2)
        out = out * tf.cast(near, data.dtype)[..., None]
        out = tf.reshape(out, tf.concat([tf.shape(warp)[:-1], [channels]], 0))
        if warp.shape.ndims is not None:
            out.set_shape(warp.shape[:-1].concatenate(data.shape[-1:]))
        return out

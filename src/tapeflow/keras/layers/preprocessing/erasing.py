"""Random rectangles of images that are filled with other values."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.keras.layers.preprocessing.color import ColorLayer
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.ranges import range as range_of
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.elementwise import exp, sqrt
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.static import sizes_of


class RandomErasing(ColorLayer):
    """Fills a random rectangle of some images with a value, or with noise where there is none, while training.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      factor: the bounds of the probability that an image is changed, from 0 to 1, or one number for 0 and itself.
      scale: the bounds of the rectangle's part of the area, from 0 to 1.
      fill_value: the value of the rectangle; None for noise.
      value_range: the lowest and the highest value of a pixel.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    def __init__(
        self, factor: Sequence[float] | float = 1.0, scale: Sequence[float] = (0.02, 0.33), fill_value=None,
        value_range: Sequence[int] = (0, 255), seed: int | None = None, data_format: str | None = None,
        **kwargs,
    ):
        super().__init__(value_range, seed, factor=factor, data_format=data_format, **kwargs)
        self.scale = self._range_of(scale, "scale", (0.0, 1.0))
        self.fill_value = fill_value

    def get_random_transformation(self, data, training=True, seed=None):
        """Which images, and the rectangles: edges of shape (batch, 1, 1, 1)."""
        if not training:
            return None
        images = data["images"]
        _, height, width, _ = sizes_of(images)
        area = self._per_image(images, *self.scale, seed) * float(height * width)
        ratio = self._per_image(images, math.log(0.3), math.log(3.3), seed)

        ratio = exp(ratio)
        tall, wide = sqrt(area * ratio), sqrt(area / ratio)
        top = self._per_image(images, 0.0, 1.0, seed) * (float(height) - tall)
        left = self._per_image(images, 0.0, 1.0, seed) * (float(width) - wide)
        chosen = self._per_image(images, 0.0, 1.0, seed) < self._draw(images, seed)
        return {"chosen": chosen, "edges": (top, top + tall, left, left + wide), "seed": seed}

    def transform_images(self, images, transformation=None, training: bool | Tensor = True):
        """The images, parts of some erased."""
        if not training:
            return images

        top, bottom, left, right = transformation["edges"]
        inside = logical_and(transformation["chosen"], rectangle(images, top, bottom, left, right))
        if self.fill_value is None:
            low, high = (float(x) for x in self.value_range)
            value = cast(
                self._uniform(sizes_of(images), low, high, transformation["seed"]), images.dtype
            )
        else:
            value = cast(self.fill_value, images.dtype) + zeros_like(images)
        return where(inside, value, images)

    def get_config(self):
        return {
            **super().get_config(),
            "scale": self.scale,
            "fill_value": self.fill_value,
            "data_format": self.data_format,
        }


def rectangle(images: TensorLike, top, bottom: TensorLike, left: TensorLike, right: TensorLike):
    """Which pixels are inside edges that are given per image: (batch, height, width, 1)."""
    _, height, width, _ = sizes_of(images)
    rows = reshape(cast(range_of(height), top.dtype), [1, -1, 1, 1])
    columns = reshape(cast(range_of(width), top.dtype), [1, 1, -1, 1])
    return logical_and(
        logical_and(rows >= top, rows < bottom), logical_and(columns >= left, columns < right)
    )

"""Random turns, shifts, zooms, shears and changes of perspective of images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.keras.layers.preprocessing.base import newer
from tapeflow.keras.layers.preprocessing.geometry import check_filling
from tapeflow.keras.layers.preprocessing.image_base import GeometricLayer
from tapeflow.keras.layers.preprocessing.sampling import (
    float_of,
    move_points,
    project,
)
from tapeflow.ops.array.construction import ones_like, zeros_like
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.math.arithmetic import maximum, minimum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.trigonometric import cos, sin
from tapeflow.ops.random.functions import uniform
from tapeflow.ops.static import sizes_of


class _Projected(GeometricLayer):
    """A layer that moves pixels by a matrix per image."""

    supports_jit = False

    def __init__(
        self, fill_mode: str = "reflect", interpolation: str = "bilinear", fill_value: float = 0.0, **kwargs
    ):
        check_filling(fill_mode, interpolation)
        super().__init__(**kwargs)
        self.fill_mode, self.interpolation, self.fill_value = fill_mode, interpolation, fill_value

    def _matrices(self, batch, height: int, width: int, seed: int):
        """a0 a1 a2 b0 b1 b2, each (batch, 1), of the map from output to input."""
        return ()

    def get_random_transformation(self, data: dict[str, Any], training: bool | Tensor = True, seed=None):
        """The matrices, (batch, 8)."""
        if not training:
            return None
        batch, height, width, _ = sizes_of(data["images"])
        parts = self._matrices(batch, float_of(height), float_of(width), seed)
        parts = [cast(part, dtypes.float32) for part in parts]
        zero = zeros_like(parts[0])
        parts += [zero] * (8 - len(parts))
        return {"matrices": concat([part + zero for part in parts], 1)}

    def _move(self, images: Tensor, transformation: dict[str, Any], nearest: bool = False):
        interpolation = "nearest" if nearest else self.interpolation
        return project(
            images, transformation["matrices"], interpolation, self.fill_mode, self.fill_value
        )

    def _move_points(self, x: Tensor, y: Tensor, transformation: dict[str, Any]):
        return move_points(x, y, transformation["matrices"])

    def get_transformed_x_y(self, x: Tensor, y, transform):
        """Where the map, (batch, 8), takes points from."""
        a0, a1, a2, b0, b1, b2, c0, c1 = (transform[..., i : i + 1] for i in range(8))
        k = c0 * x + c1 * y + 1.0
        return (a0 * x + a1 * y + a2) / k, (b0 * x + b1 * y + b2) / k

    def _draw(self, batch: int, bounds: Sequence[float], seed: int | None):
        return uniform([batch, 1], bounds[0], bounds[1], dtypes.float32, seed=self._own_seed(seed))

    def get_config(self):
        return {
            **super().get_config(),
            "fill_mode": self.fill_mode,
            "interpolation": self.interpolation,
            "fill_value": self.fill_value,
            **newer(data_format=self.data_format),
        }


class RandomRotation(_Projected):
    """Turns each image around its middle by a random angle, while training.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Input shape: `(rows, columns, channels)`, or a batch of these; also the output shape.

    Args:
      factor: the bounds of the angle as parts of a full turn; one number for the negative of it and itself.
      fill_mode: what is beyond the edges: "reflect", "wrap", "nearest" (the edge's pixel) or "constant".
      interpolation: "bilinear" or "nearest".
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      fill_value: the value beyond the edges for "constant".
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.

    Raises:
      NotImplementedError: for an unknown `fill_mode` or `interpolation`.
    """

    _bounds = (-math.inf, math.inf)

    def __init__(
        self, factor: Sequence[float] | float, fill_mode: str = "reflect", interpolation: str = "bilinear",
        seed: int | None = None, fill_value: float = 0.0, data_format: str | None = None, **kwargs,
    ):
        super().__init__(
            fill_mode, interpolation, fill_value, factor=factor, data_format=data_format, **kwargs
        )
        self.seed = seed

    def _matrices(self, batch: int, height: float, width: float, seed: int | None):
        angle = self._draw(batch, self.factor, seed) * (2.0 * math.pi)
        c, s = cos(angle), sin(angle)
        x0 = ((width - 1.0) - (c * (width - 1.0) - s * (height - 1.0))) / 2.0
        y0 = ((height - 1.0) - (s * (width - 1.0) + c * (height - 1.0))) / 2.0
        return c, -s, x0, s, c, y0


class RandomTranslation(_Projected):
    """Shifts each image by random parts of its height and width, while training.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      height_factor: the bounds of the shift down as parts of the height, from -1 to 1; one number for the negative of
        it and itself.
      width_factor: the bounds of the shift to the right as parts of the width, likewise.
      fill_mode: what is beyond the edges: "reflect", "wrap", "nearest" (the edge's pixel) or "constant".
      interpolation: "bilinear" or "nearest".
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      fill_value: the value beyond the edges for "constant".
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    def __init__(
        self, height_factor: Sequence[float] | float, width_factor: Sequence[float] | float,
        fill_mode: str = "reflect", interpolation: str = "bilinear", seed: int | None = None,
        fill_value: float = 0.0, data_format: str | None = None, **kwargs,
    ):
        super().__init__(fill_mode, interpolation, fill_value, data_format=data_format, **kwargs)
        self.height_factor, self.width_factor, self.seed = height_factor, width_factor, seed
        self.height_lower, self.height_upper = self._range_of(height_factor, "height_factor")
        self.width_lower, self.width_upper = self._range_of(width_factor, "width_factor")

    def _matrices(self, batch: int, height: float, width: float, seed: int | None):
        down = self._draw(batch, (self.height_lower, self.height_upper), seed) * height
        right = self._draw(batch, (self.width_lower, self.width_upper), seed) * width
        one, zero = ones_like(down), zeros_like(down)
        return one, zero, -right, zero, one, -down

    def get_shifted_bbox(self, bounding_boxes, w_shift_factor, h_shift_factor):
        """Boxes moved against the shifts."""
        boxes = bounding_boxes["boxes"]
        shift = concat([w_shift_factor, h_shift_factor] * 2, -1)
        return {**bounding_boxes, "boxes": boxes - cast(shift, boxes.dtype)}

    def get_config(self):
        return {
            **super().get_config(),
            "height_factor": self.height_factor,
            "width_factor": self.width_factor,
        }


class RandomZoom(_Projected):
    """Zooms each image by random factors, while training.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      height_factor: the bounds of the change as parts of the height: positive numbers zoom out, negative ones in; one
        number for the negative of it and itself.
      width_factor: the same for the width; None keeps the aspect ratio.
      fill_mode: what is beyond the edges: "reflect", "wrap", "nearest" (the edge's pixel) or "constant".
      interpolation: "bilinear" or "nearest".
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      fill_value: the value beyond the edges for "constant".
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    def __init__(
        self, height_factor: float, width_factor: float | None = None, fill_mode: str = "reflect",
        interpolation: str = "bilinear", seed: int | None = None, fill_value: float = 0.0,
        data_format: str | None = None, **kwargs,
    ):
        super().__init__(fill_mode, interpolation, fill_value, data_format=data_format, **kwargs)
        self.height_factor, self.width_factor, self.seed = height_factor, width_factor, seed
        self.height_lower, self.height_upper = self._range_of(height_factor, "height_factor")
        if width_factor is not None:
            self.width_lower, self.width_upper = self._range_of(width_factor, "width_factor")

    def _matrices(self, batch: int, height: float, width: float, seed: int | None):
        tall = self._draw(batch, (1.0 + self.height_lower, 1.0 + self.height_upper), seed)
        wide = tall
        if self.width_factor is not None:
            wide = self._draw(batch, (1.0 + self.width_lower, 1.0 + self.width_upper), seed)
        zero = zeros_like(tall)
        x0, y0 = (width - 1.0) / 2.0 * (1.0 - wide), (height - 1.0) / 2.0 * (1.0 - tall)
        return wide, zero, x0, zero, tall, y0

    def get_clipped_bbox(self, bounding_boxes, h_end, h_start, w_end, w_start):
        """Boxes cut to a window, in the coordinates of the window."""
        x0, y0, x1, y1 = split(bounding_boxes["boxes"], 4, axis=-1)

        def cut(x: Tensor, low, high):
            return minimum(maximum(x, low), high) - low

        parts = [
            cut(x0, w_start, w_end), cut(y0, h_start, h_end), cut(x1, w_start, w_end),
            cut(y1, h_start, h_end),
        ]  # fmt: skip
        return {**bounding_boxes, "boxes": concat(parts, -1)}

    def get_config(self):
        return {
            **super().get_config(),
            "height_factor": self.height_factor,
            "width_factor": self.width_factor,
        }


class RandomShear(_Projected):
    """Slants images along x and y by random factors, while training.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      x_factor: the bounds of the slant along x, from 0 to 1; one number for 0 and itself.
      y_factor: the bounds of the slant along y, likewise.
      interpolation: "bilinear" or "nearest".
      fill_mode: what is beyond the edges: "reflect", "wrap", "nearest" or "constant".
      fill_value: the value beyond the edges for "constant".
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    _lower = 0.0

    def __init__(
        self, x_factor: Sequence[float] | float = 0.0, y_factor: Sequence[float] | float = 0.0,
        interpolation: str = "bilinear", fill_mode: str = "reflect", fill_value: float = 0.0,
        data_format: str | None = None, seed: int | None = None, **kwargs,
    ):
        super().__init__(fill_mode, interpolation, fill_value, data_format=data_format, **kwargs)
        self.x_factor = self._range_of(x_factor, "x_factor", (0.0, 1.0))
        self.y_factor = self._range_of(y_factor, "y_factor", (0.0, 1.0))
        self.seed = seed

    def _matrices(self, batch: int, height: float, width: float, seed: int | None):
        sign = where(self._draw(batch, (-1.0, 1.0), seed) >= 0.0, 1.0, -1.0)
        x = self._draw(batch, self.x_factor, seed) * sign
        y = self._draw(batch, self.y_factor, seed) * sign
        one, zero = ones_like(x), zeros_like(x)
        return one, x, zero, y, one, zero

    get_shifted_bbox = RandomTranslation.get_shifted_bbox

    def get_config(self):
        return {**super().get_config(), "x_factor": self.x_factor, "y_factor": self.y_factor}


class RandomPerspective(_Projected):
    """Changes the perspective of some images at random while training, as if seen from another side.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      factor: the bounds of the probability that an image is changed, from 0 to 1, or one number for 0 and itself.
      scale: the strength of the change, 0 for none.
      interpolation: "bilinear" or "nearest".
      fill_value: the value beyond the edges.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    _lower = 0.0

    def __init__(
        self, factor: Sequence[float] | float = 1.0, scale: float = 1.0, interpolation: str = "bilinear",
        fill_value: float = 0.0, seed: int | None = None, data_format: str | None = None, **kwargs,
    ):
        kwargs.pop("fill_mode", None)
        super().__init__(
            "constant", interpolation, fill_value, factor=factor, data_format=data_format, **kwargs
        )
        self.scale, self.seed = scale, seed

    def _set_factor(self, factor: Sequence[float] | float):
        self.factor = self._range_of(factor, "factor", (0.0, 1.0))

    def _matrices(self, batch: int, height: float, width: float, seed: int | None):
        chosen = self._draw(batch, (0.0, 1.0), seed) < self._draw(batch, self.factor, seed)

        def draw(limit: float):
            value = self._draw(batch, (-0.25 * self.scale, 0.25 * self.scale), seed) * limit
            return where(chosen, value, zeros_like(value))

        one = ones_like(draw(1.0))
        a1, b0 = draw(1.0), draw(1.0)
        a2, b2 = draw(width) * 0.5, draw(height) * 0.5
        return one, a1, a2, b0, one, b2, draw(1.0 / width), draw(1.0 / height)

    def get_config(self):
        config = super().get_config()
        config.pop("fill_mode")
        return {**config, "scale": self.scale}

"""Changes of the levels of pixels: posterization, solarization, and contrast spread over an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.keras.layers.preprocessing.color import ColorLayer, HSVLayer
from tapeflow.keras.layers.preprocessing.histograms import equalized, locally_equalized
from tapeflow.ops.array.construction import fill, zeros_like
from tapeflow.ops.math.bitwise import left_shift, right_shift
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.reductions import reduce_max, reduce_min
from tapeflow.ops.random.functions import uniform
from tapeflow.ops.static import sizes_of


class RandomPosterization(HSVLayer):
    """Keeps a random number of the highest bits of each value, while training.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      factor: the number of bits, an integer from 1 to 8, or a pair of bounds.
      value_range: the lowest and the highest value of a pixel.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.

    Raises:
      ValueError: for other numbers.
    """

    _bounds = (1, 8)

    def _set_factor(self, factor):
        low, high = self._bounds
        pair = tuple(factor) if isinstance(factor, (tuple, list)) else (factor, factor)
        if not all(isinstance(x, int) and low <= x <= high for x in pair):
            raise ValueError(
                "The `factor` argument should be a number (or a list of two numbers) in the range "
                f"[{low}, {high}]. Received: factor={factor}"
            )
        self.factor = pair

    def _draw(self, images: Tensor, seed: int):
        shape = [sizes_of(images)[0], 1, 1, 1]
        low, high = self.factor
        if low == high:
            return fill(shape, high)
        return uniform(shape, low, high, dtypes.int32, seed=self._own_seed(seed))

    def _change(self, images: Tensor, factor: Tensor):
        shift = cast(8 - cast(factor, dtypes.int32), dtypes.uint8)
        values = cast(self._scaled(images, self.value_range, (0, 255)), dtypes.uint8)
        shift = shift + zeros_like(values)
        values = left_shift(right_shift(values, shift), shift)
        return self._scaled(cast(values, images.dtype), (0, 255), self.value_range)


class Solarization(ColorLayer):
    """Adds a random number to the values and inverts those above a random threshold, while training.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      addition_factor: the bounds of what is added, as parts of 255, from 0 to 1; one number for 0 and itself.
      threshold_factor: the bounds of the threshold, as parts of 255, from 0 to 1; one number for 0 and itself.
      value_range: the lowest and the highest value of a pixel.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    def __init__(
        self, addition_factor: Sequence[float] | float = 0.0, threshold_factor=0.0,
        value_range: Sequence[int] = (0, 255), seed: int | None = None, **kwargs,
    ):
        super().__init__(value_range, seed, **kwargs)
        self.addition_factor = self._pair(addition_factor, "addition_factor")
        self.threshold_factor = self._pair(threshold_factor, "threshold_factor")

    def _pair(self, factor: Sequence[float] | float, name: str):
        return self._range_of(factor, name, (0.0, 1.0))

    def get_random_transformation(
        self, data: dict[str, Any], training: bool | Tensor = True, seed: int | None = None
    ):
        """What is added, and the threshold, for each image."""
        if not training:
            return None
        return {
            name: self._per_image(data["images"], low, high * 255.0, seed)
            for name, (low, high) in (
                ("additions", self.addition_factor), ("thresholds", self.threshold_factor)
            )
        }  # fmt: skip

    def transform_images(
        self, images: TensorLike, transformation: dict[str, Any] | None = None, training: bool | Tensor = True
    ):
        """The images, changed."""
        if not training or transformation is None:
            return images
        values = self._scaled(images, self.value_range, (0, 255))
        values = clip_by_value(values + cast(transformation["additions"], values.dtype), 0.0, 255.0)
        below = values < cast(transformation["thresholds"], values.dtype)
        return self._scaled(where(below, values, 255.0 - values), (0, 255), self.value_range)

    def get_config(self):
        return {
            **super().get_config(),
            "addition_factor": self.addition_factor,
            "threshold_factor": self.threshold_factor,
        }


class AutoContrast(ColorLayer):
    """Stretches the values of each channel over the whole range.

    Input shape: `(rows, columns, channels)`, or a batch of these; also the output shape.

    Args:
      value_range: the lowest and the highest value of a pixel.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    def __init__(self, value_range: Sequence[int] = (0, 255), **kwargs):
        super().__init__(value_range, **kwargs)

    def get_random_transformation(
        self, data: dict[str, Any], training: bool | Tensor = True, seed: int | None = None
    ):
        """Nothing: the values decide."""

    def transform_images(self, images: TensorLike, transformation=None, training: bool | Tensor = True):
        """The images, stretched."""
        values = self._scaled(images, self.value_range, (0, 255))
        low = reduce_min(values, axis=[1, 2], keepdims=True)
        high = reduce_max(values, axis=[1, 2], keepdims=True)
        flat = high <= low
        scale = 255.0 / where(flat, high - low + 1.0, high - low)
        stretched = clip_by_value(values * scale - low * scale, 0.0, 255.0)
        return self._scaled(where(flat, values, stretched), (0, 255), self.value_range)

    def get_config(self):
        config = super().get_config()
        config.pop("seed", None)
        return config


class Equalization(ColorLayer):
    """Spreads the values of each channel so that all are about equally frequent, while training.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Input shape: `(rows, columns, channels)`, or a batch of these; also the output shape.

    Args:
      value_range: the lowest and the highest value of a pixel.
      bins: the number of bins of the histogram.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    def __init__(
        self, value_range: Sequence[int] = (0, 255), bins: int = 256, data_format: str | None = None, **kwargs
    ):
        super().__init__(value_range, data_format=data_format, **kwargs)
        self.bins = bins

    def get_random_transformation(
        self, data: dict[str, Any], training: bool | Tensor = True, seed: int | None = None
    ):
        """Nothing: the values decide."""

    def transform_images(self, images: TensorLike, transformation=None, training: bool | Tensor = True):
        """The images, equalized."""
        if not training:
            return images
        return equalized(convert_to_tensor(images), self.value_range, self.bins)

    def get_config(self):
        config = {**super().get_config(), "bins": self.bins, "data_format": self.data_format}
        config.pop("seed", None)
        return config


class ContrastLimitedAdaptiveHistogramEqualization(ColorLayer):
    """Equalizes each part of a grid of the images by itself, the frequencies limited by `clip_limit`.

    Input shape: `(rows, columns, channels)`, or a batch of these; also the output shape.

    Args:
      value_range: the lowest and the highest value of a pixel.
      clip_limit: how much more often than on average a value may count before it is clipped.
      tile_grid_size: the number of parts along rows and columns.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    def __init__(
        self, value_range=(0, 255), clip_limit: float = 4.0, tile_grid_size=(8, 8),
        data_format: str | None = None, **kwargs,
    ):
        super().__init__(value_range, data_format=data_format, **kwargs)
        self.clip_limit, self.tile_grid_size = clip_limit, tuple(tile_grid_size)

    def get_random_transformation(self, data, training: bool | Tensor = True, seed: int | None = None):
        """Nothing: the values decide."""

    def transform_images(self, images, transformation=None, training: bool | Tensor = True):
        """The images, equalized, whether training or not."""
        values = self._scaled(images, self.value_range, (0, 255))
        values = locally_equalized(values, self.clip_limit, self.tile_grid_size)
        return self._scaled(values, (0, 255), self.value_range)

    def get_config(self):
        config = {
            **super().get_config(),
            "clip_limit": self.clip_limit,
            "tile_grid_size": self.tile_grid_size,
            "data_format": self.data_format,
        }
        config.pop("seed", None)
        return config

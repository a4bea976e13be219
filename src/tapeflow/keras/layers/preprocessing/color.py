"""Random changes of the values of pixels: brightness, contrast, hue, saturation and the like."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.release import keras_2
from tapeflow.keras.layers.preprocessing.histograms import equalized, locally_equalized
from tapeflow.keras.layers.preprocessing.image_base import ImageLayer
from tapeflow.ops.array.construction import fill, zeros_like
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.ranges import range as range_of
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.array.tiling import tile
from tapeflow.ops.convolution.depthwise_functions import depthwise_conv2d
from tapeflow.ops.image.color import hsv_to_rgb, rgb_to_hsv
from tapeflow.ops.image.color_spaces import rgb_to_grayscale
from tapeflow.ops.math.bitwise import left_shift, right_shift
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.elementwise import exp, sqrt
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.math.reductions import reduce_max, reduce_mean, reduce_min, reduce_sum
from tapeflow.ops.random.functions import uniform
from tapeflow.ops.static import sizes_of


class _ColorLayer(ImageLayer):
    """A layer that draws one number per image, the factor, and changes the values by it."""

    _bounds = (0.0, 1.0)

    def __init__(self, value_range: Sequence[int] = (0, 255), seed: int | None = None, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(value_range, (tuple, list)) or len(value_range) != 2:
            raise ValueError(
                "The `value_range` argument should be a list of two numbers. Received: "
                f"value_range={value_range}"
            )
        self.value_range, self.seed = tuple(value_range), seed

    def _draw(self, images, seed):
        return self._per_image(images, *self.factor, seed)

    def get_random_transformation(self, data: dict[str, Any], training: bool | Tensor = True, seed=None):
        """The factor of each image."""
        return {"factor": self._draw(data["images"], seed)} if training else None

    def _change(self, images, factor):
        """The images, changed by the factors."""
        return images

    def transform_images(self, images, transformation=None, training: bool | Tensor = True):
        """The images, changed."""
        if not training:
            return images
        factor = cast(transformation["factor"], images.dtype)
        return self._change(images, factor)

    def _clip(self, images: Tensor):
        return clip_by_value(images, float(self.value_range[0]), float(self.value_range[1]))

    def _scaled(self, images, source: Sequence[int], target: Sequence[int]):
        """Values of one range in another one."""
        low, high = (float(x) for x in source)
        new_low, new_high = (float(x) for x in target)
        if (low, high) == (new_low, new_high):
            return images
        return (images - low) / (high - low) * (new_high - new_low) + new_low


class RandomBrightness(_ColorLayer):
    """Adds a random part of the range of values to each image, while training; results stay within the range.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Input shape: `(rows, columns, channels)`, or a batch of these; also the output shape.

    Args:
      factor: the bounds of the part, from -1 to 1; one number for the negative of it and itself.
      value_range: the lowest and the highest value of a pixel.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.

    Raises:
      ValueError: for a factor out of these bounds.

    >>> layer = tf.keras.layers.RandomBrightness((0.5, 0.5), value_range=(0, 1))
    >>> print(layer(tf.zeros([1, 1, 3]), training=True).numpy())
    [[[0.5 0.5 0.5]]]
    """

    _bounds = (-1.0, 1.0)

    def __init__(
        self, factor: Sequence[float] | float, value_range: Sequence[int] = (0, 255), seed: int | None = None,
        **kwargs,
    ):
        super().__init__(value_range, seed, factor=factor, **kwargs)

    def _change(self, images: Tensor, factor: Tensor):
        low, high = self.value_range
        return self._clip(images + factor * float(high - low))


class RandomContrast(_ColorLayer):
    """Multiplies the distance of values to the mean of their channel by a random factor, while training.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Input shape: `(rows, columns, channels)`, or a batch of these; also the output shape.

    Args:
      factor: a pair (lower, upper) for factors in [1 - lower, 1 + upper], each from 0 to 1; or one number for both.
      value_range: the lowest and the highest value of a pixel.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.

    Raises:
      ValueError: for a factor out of these bounds.
    """

    def __init__(
        self, factor: Sequence[float] | float, value_range: Sequence[int] = (0, 255), seed: int | None = None,
        **kwargs,
    ):
        super().__init__(value_range, seed, **kwargs)
        pair = tuple(factor) if isinstance(factor, (tuple, list)) else (factor, factor)
        if not all(0.0 <= x <= 1.0 for x in pair):
            raise ValueError(
                "The `factor` argument should be a number (or a list of two numbers) in the range "
                f"[0.0, 1.0]. Received: factor={factor}"
            )
        self.factor = pair

    def get_config(self):
        config = super().get_config()
        return {key: value for key, value in config.items() if key != "value_range" or not keras_2()}

    def _draw(self, images: Tensor, seed: int):
        return self._per_image(images, 1.0 - self.factor[0], 1.0 + self.factor[1], seed)

    def _change(self, images: Tensor, factor: Tensor):
        mean = reduce_mean(cast(images, dtypes.float32), axis=[1, 2], keepdims=True)
        mean = cast(mean, images.dtype)
        return self._clip((images - mean) * factor + mean)


class _HSVLayer(_ColorLayer):
    def __init__(
        self, factor: Sequence[float] | float, value_range: Sequence[int] = (0, 255),
        data_format: str | None = None, seed: int | None = None, **kwargs,
    ):
        super().__init__(value_range, seed, factor=factor, data_format=data_format, **kwargs)

    def get_config(self):
        return {**super().get_config(), "data_format": self.data_format}


class RandomHue(_HSVLayer):
    """Turns the hue of each image by a random part of half a circle, in either direction, while training.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      factor: the bounds of that part, from 0 to 1; one number for 0 and itself.
      value_range: the lowest and the highest value of a pixel.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    def _draw(self, images: Tensor, seed: int):
        sign = where(self._per_image(images, 0.0, 1.0, seed) > 0.5, -1.0, 1.0)
        return cast(sign, images.dtype) * cast(super()._draw(images, seed), images.dtype) * 0.5

    def _change(self, images: Tensor, factor: Tensor):
        hsv = rgb_to_hsv(self._scaled(images, self.value_range, (0, 1)))
        hue = hsv[..., 0] + factor[..., 0]
        hue = where(hue > 1.0, hue - 1.0, hue)
        hue = where(hue < 0.0, hue + 1.0, hue)
        rgb = hsv_to_rgb(stack([hue, hsv[..., 1], hsv[..., 2]], -1))
        return self._scaled(clip_by_value(rgb, 0.0, 1.0), (0, 1), self.value_range)


class RandomSaturation(_HSVLayer):
    """Scales the saturation of each image, while training: a factor below 0.5 makes it smaller, one above larger.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      factor: the bounds of the factor, from 0 (gray) to 1 (fully saturated); one number for its negative
        and itself, as in Keras, where numbers below 0 are gray.
      value_range: the lowest and the highest value of a pixel.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    _bounds = (-1.0, 1.0)

    def _draw(self, images: Tensor, seed: int):
        factor = super()._draw(images, seed)
        return factor / (1.0 - factor + 1e-7)

    def _change(self, images: Tensor, factor: Tensor):
        hsv = rgb_to_hsv(images)
        saturation = self._clip(hsv[..., 1] * factor[..., 0])
        return hsv_to_rgb(stack([hsv[..., 0], saturation, hsv[..., 2]], -1))


class RandomColorDegeneration(_HSVLayer):
    """Mixes each image with its gray version, while training.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      factor: the bounds of the gray version's share, from -1 to 1; one number for its negative and itself.
      value_range: the lowest and the highest value of a pixel.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    _bounds = (-1.0, 1.0)

    def _change(self, images: Tensor, factor: Tensor):
        return self._clip(images + factor * (rgb_to_grayscale(images) - images))


class RandomSharpness(_HSVLayer):
    """Mixes each image with a smoothed version, while training: it is blurred below 0.5, and sharpened above.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      factor: the bounds of the share, from 0 to 1; one number for 0 and itself.
      value_range: the lowest and the highest value of a pixel.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    def _change(self, images: Tensor, factor: Tensor):
        channels = images.shape.as_list()[-1]
        a, b = 1.0 / 13.0, 5.0 / 13.0
        kernel = cast([[a, a, a], [a, b, a], [a, a, a]], images.dtype)
        kernel = tile(reshape(kernel, [3, 3, 1, 1]), [1, 1, channels, 1])
        smooth = depthwise_conv2d(images, kernel, [1, 1, 1, 1], "SAME")
        return self._clip(images + (1.0 - factor * 2.0) * (smooth - images))


class RandomPosterization(_HSVLayer):
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


class RandomGrayscale(_ColorLayer):
    """Makes some images gray, while training; they keep their three channels.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      factor: the probability that an image becomes gray, from 0 to 1.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.

    Raises:
      ValueError: for a factor outside of 0 to 1.
    """

    def __init__(
        self, factor: float = 0.5, data_format: str | None = None, seed: int | None = None, **kwargs
    ):
        super().__init__(seed=seed, data_format=data_format, **kwargs)
        if not isinstance(factor, (int, float)) or not 0 <= factor <= 1:
            raise ValueError(f"`factor` should be between 0 and 1. Received: factor={factor}")
        self.factor = factor

    def _draw(self, images: Tensor, seed: int):
        return self._per_image(images, 0.0, 1.0, seed)

    def _change(self, images: Tensor, factor: Tensor):
        return where(factor < self.factor, rgb_to_grayscale(images) + zeros_like(images), images)

    def get_config(self):
        config = super().get_config()
        config.pop("value_range")
        return {**config, "data_format": self.data_format}


class RandomInvert(_ColorLayer):
    """Inverts the values of some images, while training: upper bound - x.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      factor: the bounds of the probability that an image is inverted, from 0 to 1, or one number for 0 and itself.
      value_range: the lowest and the highest value of a pixel.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    def __init__(
        self, factor: Sequence[float] | float = 1.0, value_range: Sequence[int] = (0, 255),
        seed: int | None = None, data_format: str | None = None, **kwargs,
    ):
        super().__init__(value_range, seed, factor=factor, data_format=data_format, **kwargs)

    def _draw(self, images: Tensor, seed: int):
        chance = super()._draw(images, seed)
        return cast(self._per_image(images, 0.0, 1.0, seed) < chance, images.dtype)

    def _change(self, images: Tensor, factor: Tensor):
        return where(factor > 0.5, float(self.value_range[1]) - images, images)


class Solarization(_ColorLayer):
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


class AutoContrast(_ColorLayer):
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


class Equalization(_ColorLayer):
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


class ContrastLimitedAdaptiveHistogramEqualization(_ColorLayer):
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


class RandomColorJitter(_ColorLayer):
    """Random brightness, contrast, saturation and hue, one after the other, while training.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      value_range: the lowest and the highest value of a pixel.
      brightness_factor: the `factor` of `RandomBrightness`; None to leave the step out.
      contrast_factor: the `factor` of `RandomContrast`; None to leave the step out.
      saturation_factor: the `factor` of `RandomSaturation`; None to leave the step out.
      hue_factor: the `factor` of `RandomHue`; None to leave the step out.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    def __init__(
        self, value_range: Sequence[int] = (0, 255), brightness_factor: float | None = None,
        contrast_factor: float | None = None, saturation_factor=None, hue_factor: float | None = None,
        seed: int | None = None, data_format: str | None = None, **kwargs,
    ):
        super().__init__(value_range, seed, data_format=data_format, **kwargs)
        self.brightness_factor, self.contrast_factor = brightness_factor, contrast_factor
        self.saturation_factor, self.hue_factor = saturation_factor, hue_factor
        own = {"value_range": value_range, "seed": seed, "dtype": self.dtype}
        self.__dict__["_steps"] = [
            kind(factor, **own)
            for kind, factor in (
                (RandomBrightness, brightness_factor),
                (RandomContrast, contrast_factor),
                (RandomSaturation, saturation_factor),
                (RandomHue, hue_factor),
            )
            if factor is not None
        ]

    def get_random_transformation(self, data, training=True, seed=None):
        """What each step draws."""
        return [step.get_random_transformation(data, training, seed) for step in self._steps]

    def transform_images(self, images, transformation=None, training=True):
        """The images, changed."""
        for step, change in zip(self._steps, transformation):
            images = step.transform_images(images, change, training)
        return images

    def get_config(self):
        return {
            **super().get_config(),
            "brightness_factor": self.brightness_factor,
            "contrast_factor": self.contrast_factor,
            "saturation_factor": self.saturation_factor,
            "hue_factor": self.hue_factor,
            "data_format": self.data_format,
        }


class RandomGaussianBlur(_ColorLayer):
    """Blurs some images by a bell curve of random width, while training.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      factor: the bounds of the probability that an image is blurred, from 0 to 1, or one number for 0 and itself.
      kernel_size: height and width of the window in pixels, or one number for both.
      sigma: the bounds of the curve's standard deviation in pixels, or one number for 0 and itself.
      value_range: the lowest and the highest value of a pixel.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.

    Raises:
      ValueError: for windows below 1 and negative deviations.
    """

    def __init__(
        self, factor: Sequence[float] | float = 1.0, kernel_size: Sequence[int] | int = 3,
        sigma: Sequence[float] | float = 1.0, value_range: Sequence[int] = (0, 255),
        data_format: str | None = None, seed: int | None = None, **kwargs,
    ):
        super().__init__(value_range, seed, factor=factor, data_format=data_format, **kwargs)
        size = (kernel_size,) * 2 if isinstance(kernel_size, int) else tuple(kernel_size)
        self.kernel_size = size
        self.sigma = (0.0, float(sigma)) if isinstance(sigma, (int, float)) else tuple(sigma)
        if self.sigma[0] < 0 or min(size) < 1:
            raise ValueError(
                f"`kernel_size` and `sigma` should not be negative. Received: kernel_size={kernel_size}, "
                f"sigma={sigma}"
            )

    def get_random_transformation(self, data: dict[str, Any], training: bool | Tensor = True, seed=None):
        """Which images are blurred, and by which kernel."""
        if not training:
            return None
        images = data["images"]
        chosen = self._per_image(images, 0.0, 1.0, seed) < self._draw(images, seed)
        width = self._uniform([], max(self.sigma[0], 1e-3), max(self.sigma[1], 2e-3), seed)
        return {"chosen": chosen, "sigma": width}

    def transform_images(self, images, transformation=None, training: bool | Tensor = True):
        """The images, some of them blurred."""
        if not training:
            return images

        def curve(size: int):
            x = cast(range_of(size), dtypes.float32) - (size - 1) / 2.0
            y = exp(-0.5 * (x / cast(transformation["sigma"], dtypes.float32)) ** 2)
            return y / reduce_sum(y)

        height, width = (curve(size) for size in self.kernel_size)
        kernel = reshape(height, [-1, 1, 1, 1]) * reshape(width, [1, -1, 1, 1])
        kernel = tile(cast(kernel, images.dtype), [1, 1, images.shape.as_list()[-1], 1])
        blurred = depthwise_conv2d(images, kernel, [1, 1, 1, 1], "SAME")
        return self._clip(where(transformation["chosen"], blurred, images))

    def get_config(self):
        return {
            **super().get_config(),
            "kernel_size": self.kernel_size,
            "sigma": self.sigma,
            "data_format": self.data_format,
        }


class RandomErasing(_ColorLayer):
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

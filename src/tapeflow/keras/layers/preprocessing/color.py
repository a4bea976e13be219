"""Random changes of the values of pixels: brightness, contrast, hue, saturation and the like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.release import keras_2
from tapeflow.keras.layers.preprocessing.image_base import ImageLayer
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.image.color import hsv_to_rgb, rgb_to_hsv
from tapeflow.ops.image.color_spaces import rgb_to_grayscale
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.reductions import reduce_mean


class ColorLayer(ImageLayer):
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


class RandomBrightness(ColorLayer):
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


class RandomContrast(ColorLayer):
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


class HSVLayer(ColorLayer):
    def __init__(
        self, factor: Sequence[float] | float, value_range: Sequence[int] = (0, 255),
        data_format: str | None = None, seed: int | None = None, **kwargs,
    ):
        super().__init__(value_range, seed, factor=factor, data_format=data_format, **kwargs)

    def get_config(self):
        return {**super().get_config(), "data_format": self.data_format}


class RandomHue(HSVLayer):
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


class RandomSaturation(HSVLayer):
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


class RandomColorDegeneration(HSVLayer):
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


class RandomGrayscale(ColorLayer):
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


class RandomInvert(ColorLayer):
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


class RandomColorJitter(ColorLayer):
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

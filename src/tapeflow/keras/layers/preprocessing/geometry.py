"""Random changes of where pixels are: flips, crops, shifts, turns, zooms and other maps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.layers.preprocessing.base import newer
from tapeflow.keras.layers.preprocessing.image_base import GeometricLayer, ImageLayer
from tapeflow.keras.layers.preprocessing.sampling import (
    float_of,
    grid,
    sample,
    stack_sizes,
)
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.reorder import reverse
from tapeflow.ops.image.resizing import resize
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.random.functions import uniform
from tapeflow.ops.static import sizes_of

_FILL_MODES = ("reflect", "wrap", "constant", "nearest")
_INTERPOLATIONS = ("nearest", "bilinear")


def check_filling(fill_mode: str, interpolation: str, fill_modes: Sequence[str] = _FILL_MODES):
    """Raises NotImplementedError for fill modes and interpolations that there are not."""
    if fill_mode not in fill_modes:
        raise NotImplementedError(f"Unknown `fill_mode` {fill_mode}. Expected of one {fill_modes}.")
    if interpolation not in _INTERPOLATIONS:
        raise NotImplementedError(
            f"Unknown `interpolation` {interpolation}. Expected of one {_INTERPOLATIONS}."
        )


class RandomFlip(GeometricLayer):
    """Flips half of the images while training; boxes and masks in the inputs follow.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Input shape: `(rows, columns, channels)`, or a batch of these; also the output shape.

    Args:
      mode: "horizontal" (left to right), "vertical", or "horizontal_and_vertical", where each axis is drawn for
        itself.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.

    Raises:
      ValueError: for another mode.
    """

    def __init__(
        self, mode: str = "horizontal_and_vertical", seed: int | None = None, data_format: str | None = None,
        **kwargs,
    ):
        super().__init__(data_format=data_format, **kwargs)
        if mode not in ("horizontal", "vertical", "horizontal_and_vertical"):
            raise ValueError(
                "`mode` must be one of 'horizontal', 'vertical', 'horizontal_and_vertical'. Received: "
                f"mode={mode}"
            )
        self.mode, self.seed = mode, seed

    def get_random_transformation(
        self, data: dict[str, Any], training: bool | Tensor = True, seed: int | None = None
    ):
        """Whether each image is flipped, by axis."""
        if not training:
            return None
        draw = (
            self._per_image(data["images"], 0.0, 1.0, seed),
            self._per_image(data["images"], 0.0, 1.0, seed),
        )
        return {
            name: x > 0.5 for name, x in zip(("horizontal", "vertical"), draw) if name in self.mode
        }

    def _move(self, images: Tensor, transformation: dict[str, Any], nearest: bool = False):
        for name, axis in (("horizontal", 2), ("vertical", 1)):
            if name in transformation:
                images = where(transformation[name], reverse(images, [axis]), images)
        return images

    def _move_points(self, x, y, transformation):
        _, height, width, _ = self._sizes
        if "horizontal" in transformation:
            x = where(transformation["horizontal"][:, :, 0, 0], float_of(width) - x, x)
        if "vertical" in transformation:
            y = where(transformation["vertical"][:, :, 0, 0], float_of(height) - y, y)
        return x, y

    def get_config(self):
        return {**super().get_config(), "mode": self.mode}


class RandomElasticTransform(GeometricLayer):
    """Moves the pixels of some images by a smooth random field, while training.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      factor: the bounds of the probability that an image is changed, from 0 to 1, or one number for 0 and itself.
      scale: the strength of the field, 0 for none.
      interpolation: "bilinear" or "nearest".
      fill_mode: what is beyond the edges: "reflect", "wrap", "nearest" or "constant".
      fill_value: the value beyond the edges for "constant".
      value_range: the lowest and the highest value of a pixel.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    _lower = 0.0
    _bounds = (0.0, 1.0)

    def __init__(
        self, factor: Sequence[float] | float = 1.0, scale: float = 1.0, interpolation: str = "bilinear",
        fill_mode: str = "reflect", fill_value: float = 0.0, value_range: Sequence[int] = (0, 255),
        seed: int | None = None, data_format: str | None = None, **kwargs,
    ):
        check_filling(fill_mode, interpolation)
        super().__init__(factor=factor, data_format=data_format, **kwargs)
        self.scale, self.interpolation = scale, interpolation
        self.fill_mode, self.fill_value = fill_mode, fill_value
        self.value_range, self.seed = value_range, seed

    def get_elastic_transform_params(self, height: int, width: int, factor: float):
        """The strength and the width of the field for images of a size."""
        alpha = (factor * 2.0 * min(height, width) * 0.05, factor * 2.0 * min(height, width) * 0.05)
        sigma = (factor * min(height, width) * 0.05,) * 2
        return alpha, sigma

    def get_random_transformation(self, data, training=True, seed=None):
        """Displacements, (batch, height * width) for x and y."""
        if not training:
            return None
        batch, height, width, _ = sizes_of(data["images"])
        coarse = [max(2, int(n) // 8) if isinstance(n, int) else 4 for n in (height, width)]
        chosen = self._uniform([batch, 1, 1, 1], 0.0, 1.0, seed) < self._uniform(
            [batch, 1, 1, 1], *self.factor, seed
        )
        field = self._uniform([batch, *coarse, 2], -1.0, 1.0, seed) * self.scale
        field = field * (0.05 * 2.0 * float_of(height))
        field = resize(field, stack_sizes(height, width), "bicubic")
        field = where(chosen, field, zeros_like(field))
        return {"field": field}

    def _move(self, images: Tensor, transformation: dict[str, Any], nearest: bool = False):
        batch, height, width, _ = sizes_of(images)
        xs, ys = grid(height, width)
        field = reshape(transformation["field"], stack_sizes(batch, height * width, 2))
        return sample(
            images, xs + field[..., 0], ys + field[..., 1],
            "nearest" if nearest else self.interpolation, self.fill_mode, self.fill_value,
        )  # fmt: skip

    def get_config(self):
        return {
            **super().get_config(),
            "scale": self.scale,
            "interpolation": self.interpolation,
            "fill_mode": self.fill_mode,
            "fill_value": self.fill_value,
            **newer(data_format=self.data_format),
        }


class RandomCrop(ImageLayer):
    """Cuts a window out of images at a random place, while training.

    Smaller images are resized, cut to the same aspect ratio before. A call on its own counts as training; with
    `training=False` the images are returned as they are, or, in Keras 2, all are resized so.

    Input shape: `(rows, columns, channels)`, or a batch of these, with known rows and columns.
    Output shape: `(height, width, channels)`, or a batch of these.

    Args:
      height: the rows of the window.
      width: the columns of the window.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      name: the name of the layer.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.

    >>> layer = tf.keras.layers.RandomCrop(2, 3)
    >>> print(layer(tf.zeros([4, 8, 8, 3]), training=True).shape)
    (4, 2, 3, 3)
    """

    supports_jit = False

    def __init__(
        self, height: int, width: int, seed: int | None = None, data_format: str | None = None,
        name: str | None = None, **kwargs,
    ):
        super().__init__(name=name, data_format=data_format, **kwargs)
        self.height, self.width, self.seed = height, width, seed

    def get_random_transformation(
        self, data: dict[str, Any], training: bool | Tensor = True, seed: int | None = None
    ):
        """Where the window begins."""
        _, height, width, _ = sizes_of(data["images"])
        if not isinstance(height, int) or not isinstance(width, int):
            raise ValueError(
                "RandomCrop requires the input to have a fully defined height and width. Received: "
                f"images.shape={data['images'].shape}"
            )
        if training and height > self.height and width > self.width:
            own = self._own_seed(seed)
            return tuple(
                uniform([], 0, limit + 1, dtypes.int32, seed=own)
                for limit in (height - self.height, width - self.width)
            )
        tall, wide = self._largest(height, width)
        return int((height - tall) / 2), int((width - wide) / 2)

    def _largest(self, height: int, width: int) -> tuple[int, int]:
        """The size of the largest window of the same aspect ratio."""
        tall = max(min(height, int(width * self.height / self.width)), 1)
        return tall, max(min(width, int(height * self.width / self.height)), 1)

    def _cut(self, images, transformation: Sequence[Tensor], method: str):
        top, left = transformation
        cut = images[:, top : top + self.height, left : left + self.width, :]
        if cut.shape.as_list()[1:3] == [self.height, self.width]:
            return cut
        small = any(
            isinstance(n, int) and n < want
            for n, want in zip(sizes_of(images)[1:3], (self.height, self.width))
        )
        if small:
            return cast(resize(cut, [self.height, self.width], method), images.dtype)
        sizes = images.shape.as_list()
        cut.set_shape([sizes[0], self.height, self.width, sizes[-1]])
        return cut

    def transform_images(
        self, images: TensorLike, transformation: Sequence[Tensor], training: bool | Tensor = True
    ):
        """The windows of the images."""
        if training:
            return self._cut(images, transformation, "bilinear")
        if not keras_2():
            return images
        whole = convert_to_tensor(images)
        (top, left), (tall, wide) = transformation, self._largest(*sizes_of(whole)[1:3])
        middle = whole[:, top : top + tall, left : left + wide, :]
        return cast(resize(middle, [self.height, self.width]), whole.dtype)

    def transform_segmentation_masks(
        self, segmentation_masks, transformation, training: bool | Tensor = True
    ):
        """The same windows of the masks."""
        return (
            self._cut(segmentation_masks, transformation, "nearest")
            if training
            else segmentation_masks
        )

    def compute_output_shape(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()
        place = slice(-2, None) if self.data_format == "channels_first" else slice(-3, -1)
        sizes[place] = [self.height, self.width]
        return TensorShape(sizes)

    def get_config(self):
        return {
            **super().get_config(),
            "height": self.height,
            "width": self.width,
            **newer(data_format=self.data_format),
        }


class _RandomSize(ImageLayer):
    """One side of images scaled by a random factor."""

    _bounds = (-1.0, math.inf)
    _axis = 1
    _keras_module = "keras._legacy.layers"

    def __init__(self, factor, interpolation: str = "bilinear", seed: int | None = None, **kwargs):
        super().__init__(factor=factor, **kwargs)
        self.interpolation, self.seed = interpolation, seed
        side = "height" if self._axis == 1 else "width"
        bounds = factor if isinstance(factor, (tuple, list)) else (-factor, factor)
        self.__dict__.update({f"{side}_lower": bounds[0], f"{side}_upper": bounds[1]})

    def get_random_transformation(
        self, data: dict[str, Any], training: bool | Tensor = True, seed: int | None = None
    ):
        """The new height and width."""
        sizes = list(sizes_of(data["images"])[1:3])
        if training:
            scale = self._uniform([], 1.0 + self.factor[0], 1.0 + self.factor[1], seed)
            place = self._axis - 1
            sizes[place] = cast(float_of(sizes[place]) * cast(scale, dtypes.float32), dtypes.int32)
        return sizes

    def transform_images(self, images, transformation: Sequence[TensorLike], training: bool | Tensor = True):
        """The images in their new size."""
        if not training:
            return images
        resized = resize(images, stack_sizes(*transformation), self.interpolation)
        return cast(resized, images.dtype)

    def compute_output_shape(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()
        sizes[len(sizes) - 4 + self._axis] = None
        return TensorShape(sizes)

    def get_config(self):
        return {**super().get_config(), "interpolation": self.interpolation}


class RandomHeight(_RandomSize):
    """Resizes batches of images to a random height while training; a layer of Keras 2.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      factor: the bounds of the change as parts of the height, at least -1; one number for the negative of it and
        itself.
      interpolation: "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian" or "mitchellcubic".
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """


class RandomWidth(_RandomSize):
    """Resizes batches of images to a random width while training; a layer of Keras 2.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      factor: the bounds of the change as parts of the width, at least -1; one number for the negative of it and
        itself.
      interpolation: "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian" or "mitchellcubic".
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    _axis = 2

"""Images brought to a size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.layers.preprocessing.base import newer
from tapeflow.keras.layers.preprocessing.image_base import ImageLayer
from tapeflow.ops.array.padding import pad
from tapeflow.ops.image.resizing import resize
from tapeflow.ops.math.casting import cast
from tapeflow.ops.static import sizes_of

_INTERPOLATIONS = (
    "bilinear",
    "nearest",
    "bicubic",
    "lanczos3",
    "lanczos5",
    "area",
    "gaussian",
    "mitchellcubic",
)


def _targeted(self, input_shape: Sequence[Any]):
    sizes = TensorShape(input_shape).as_list()
    place = slice(-2, None) if self.data_format == "channels_first" else slice(-3, -1)
    sizes[place] = [self.height, self.width]
    return TensorShape(sizes)


def crop_like(images: Tensor, height: int, width: int):
    """The largest window in the middle of images that has the shape of (height, width)."""
    _, have_height, have_width, _ = sizes_of(images)
    tall = min(have_height, int(have_width * height / width))
    wide = min(have_width, int(have_height * width / height))
    top, left = int((have_height - tall) / 2), int((have_width - wide) / 2)
    return images[:, top : top + tall, left : left + wide, :]


class Resizing(ImageLayer):
    """Resizes images to `(height, width)`; also outside of training.

    Input shape: `(rows, columns, channels)`, or a batch of these.
    Output shape: `(height, width, channels)`, or a batch of these.

    Args:
      height: the new number of rows.
      width: the new number of columns.
      interpolation: "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian" or "mitchellcubic".
      crop_to_aspect_ratio: cut the images to the shape of the target first, instead of distorting them.
      pad_to_aspect_ratio: fill the images up to the shape of the target first.
      fill_mode: how to fill up; "constant" is what there is.
      fill_value: the value to fill up with.
      antialias: average over the pixels that become one where images become smaller.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.

    Raises:
      ValueError: for an unknown interpolation, and for cropping together with padding.

    >>> print(tf.keras.layers.Resizing(2, 3)(tf.ones([1, 8, 8, 3])).shape)
    (1, 2, 3, 3)
    """

    def __init__(
        self, height: int, width: int, interpolation: str = "bilinear", crop_to_aspect_ratio: bool = False,
        pad_to_aspect_ratio: bool = False, fill_mode: str = "constant", fill_value: float = 0.0,
        antialias: bool = False, data_format: str | None = None, **kwargs,
    ):
        super().__init__(data_format=data_format, **kwargs)
        if interpolation.lower() not in _INTERPOLATIONS:
            raise ValueError(
                f"Unknown `interpolation` {interpolation}. Expected one of {_INTERPOLATIONS}."
            )
        if crop_to_aspect_ratio and pad_to_aspect_ratio:
            raise ValueError(
                "Only one of `crop_to_aspect_ratio` & `pad_to_aspect_ratio` can be `True`."
            )
        self.height, self.width, self.interpolation = height, width, interpolation.lower()
        self.crop_to_aspect_ratio, self.pad_to_aspect_ratio = (
            crop_to_aspect_ratio,
            pad_to_aspect_ratio,
        )
        self.fill_mode, self.fill_value, self.antialias = fill_mode, fill_value, antialias

    def _resized(self, images, method: str):
        if self.crop_to_aspect_ratio:
            images = crop_like(images, self.height, self.width)
        elif self.pad_to_aspect_ratio:
            _, have_height, have_width, _ = sizes_of(images)
            tall = max(have_height, int(have_width * self.height / self.width))
            wide = max(have_width, int(have_height * self.width / self.height))
            top, left = int((tall - have_height) / 2), int((wide - have_width) / 2)
            around = [[0, 0], [top, top], [left, left], [0, 0]]
            images = pad(images, around, constant_values=self.fill_value)
        resized = resize(images, [self.height, self.width], method, antialias=self.antialias)
        return cast(resized, images.dtype)

    def transform_images(self, images: TensorLike, transformation=None, training: bool | Tensor = True):
        """The images in their new size."""
        return self._resized(images, self.interpolation)

    def transform_segmentation_masks(
        self, segmentation_masks, transformation=None, training: bool | Tensor = True
    ):
        """The masks in their new size, without mixing neighbours."""
        return self._resized(segmentation_masks, "nearest")

    compute_output_shape = _targeted

    def get_config(self):
        return {
            **super().get_config(),
            "height": self.height,
            "width": self.width,
            "interpolation": self.interpolation,
            "crop_to_aspect_ratio": self.crop_to_aspect_ratio,
            **newer(
                pad_to_aspect_ratio=self.pad_to_aspect_ratio, fill_mode=self.fill_mode, fill_value=self.fill_value,
                antialias=self.antialias, data_format=self.data_format,
            ),
        }


class CenterCrop(ImageLayer):
    """Cuts the middle out of images; smaller images are resized, cut to the same aspect ratio before.

    Input shape: `(rows, columns, channels)`, or a batch of these.
    Output shape: `(height, width, channels)`, or a batch of these.

    Args:
      height: the rows of the window.
      width: the columns of the window.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.

    >>> print(tf.keras.layers.CenterCrop(2, 2)(tf.zeros([1, 4, 4, 3])).shape)
    (1, 2, 2, 3)
    """

    def __init__(self, height: int, width: int, data_format: str | None = None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self.height, self.width = height, width

    def _cut(self, images, method: str):
        _, height, width, _ = sizes_of(images)
        if height >= self.height and width >= self.width:
            top, left = (height - self.height) // 2, (width - self.width) // 2
            return images[:, top : top + self.height, left : left + self.width, :]
        images = crop_like(images, self.height, self.width)
        return cast(resize(images, [self.height, self.width], method), images.dtype)

    def transform_images(self, images: TensorLike, transformation=None, training: bool | Tensor = True):
        """The middles of the images."""
        return self._cut(images, "bilinear")

    def transform_segmentation_masks(
        self, segmentation_masks, transformation=None, training: bool | Tensor = True
    ):
        """The middles of the masks."""
        return self._cut(segmentation_masks, "nearest")

    compute_output_shape = _targeted

    def get_config(self):
        return {
            **super().get_config(),
            "height": self.height,
            "width": self.width,
            **newer(data_format=self.data_format),
        }


class MaxNumBoundingBoxes(ImageLayer):
    """Brings the boxes of each image to one number: cuts off what is more, fills up what is less.

    Args:
      max_number: the number of boxes.
      fill_value: the value of boxes and labels that are added.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    def __init__(self, max_number: int, fill_value: int = -1, **kwargs):
        super().__init__(**kwargs)
        self.max_number, self.fill_value = int(max_number), int(fill_value)

    def transform_bounding_boxes(
        self, bounding_boxes: dict[str, Any], transformation, training: bool | Tensor = True
    ):
        """The first `max_number` boxes and labels, or all of them and filling."""

        def fitted(x):
            x = x[:, : self.max_number]
            missing = self.max_number - sizes_of(x)[1]
            around = [[0, 0], [0, missing], *[[0, 0]] * (x.shape.rank - 2)]
            return pad(x, around, constant_values=self.fill_value)

        return {name: fitted(x) for name, x in bounding_boxes.items()}

    def get_config(self):
        return {
            **super().get_config(),
            "max_number": self.max_number,
            "fill_value": self.fill_value,
        }

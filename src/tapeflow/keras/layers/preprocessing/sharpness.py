"""Random changes of how sharp images are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.keras.layers.preprocessing.color import ColorLayer, HSVLayer
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.ranges import range as range_of
from tapeflow.ops.array.tiling import tile
from tapeflow.ops.convolution.depthwise_functions import depthwise_conv2d
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.elementwise import exp
from tapeflow.ops.math.reductions import reduce_sum


class RandomSharpness(HSVLayer):
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


class RandomGaussianBlur(ColorLayer):
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

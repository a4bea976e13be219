"""Many images as one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tapeflow.compat import v1
from tapeflow.core.annotations import Tensor


def image_grid(
    input_tensor: Tensor, grid_shape: Sequence[int], image_shape: Sequence[int] = (32, 32), num_channels: int = 3
):
    """Images of a batch in rows and columns, (1, height, width, channels).

    Args:
      input_tensor: (batch, height, width, channels) or (batch, height * width * channels).
      grid_shape: (rows, columns), as many as images.

    Raises ValueError for other sizes.
    """
    (rows, columns), (height, width) = grid_shape, image_shape
    count = int(input_tensor.shape[0])
    if rows * columns != count:
        raise ValueError(f"Grid shape {grid_shape} incompatible with minibatch size {count}.")
    if input_tensor.shape.rank not in (2, 4):
        raise ValueError("Unrecognized input tensor format.")
    flat = input_tensor.shape.rank == 2
    wanted = [height * width * num_channels] if flat else [height, width, num_channels]
    if input_tensor.shape.as_list()[1:] != wanted:
        raise ValueError("Image shape and number of channels incompatible with input tensor.")
    images = v1.reshape(input_tensor, (rows, columns, height, width, num_channels))
    images = v1.transpose(images, [0, 2, 1, 3, 4])
    return v1.reshape(images, [1, rows * height, columns * width, num_channels])


def image_reshaper(images: Any, num_cols=None):
    """Images (a batch, or a list) in a grid that is square unless `num_cols` says how wide; zeros fill it.

    Raises ValueError for images without a known shape, or of other than 1 or 3 channels.
    """
    images = v1.unstack(images) if v1.is_tensor(images) else list(images)
    for image in images:
        image.shape.assert_has_rank(3)
        image.shape.assert_is_fully_defined()
        if image.shape[-1] not in (1, 3):
            raise ValueError("image_reshaper only supports 1 or 3 channel images.")
    columns = num_cols or math.ceil(math.sqrt(len(images)))
    images += [v1.zeros_like(images[-1])] * (-len(images) % columns)
    rows = [v1.concat(images[i : i + columns], 1) for i in range(0, len(images), columns)]
    return v1.expand_dims(v1.concat(rows, 0), 0)

"""What functions of images ask of their argument: three dimensions for an image, four for a batch of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.layout import expand_dims, squeeze
from tapeflow.ops.array.rows import identity
from tapeflow.ops.control.assert_op import Assert
from tapeflow.ops.control.grouping import control_dependencies


def as_images(image: TensorLike):
    """A tensor of at least three dimensions. Raises ValueError for fewer."""
    image = convert_to_tensor(image)
    rank = image.shape.rank
    if rank is not None and rank < 3:
        raise ValueError(f"'image' (shape {image.shape}) must be at least three-dimensional.")
    return image


def as_filled_batch(image: Any):
    """As `as_batch`, of images that have rows, columns and channels. Raises ValueError for others."""
    image, single = as_batch(image)
    if 0 in image.shape.as_list()[1:]:
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {image.shape}")
    return image, single


def as_batch(image: Any, what: str = "image"):
    """(tensor of four dimensions, whether it was one image of three). Raises ValueError for other ranks."""
    image = convert_to_tensor(image)
    rank = image.shape.rank
    if rank is None:
        image = expand_dims(image, 0)
        image.set_shape([None] * 4)
        return image, True
    if rank == 3:
        return expand_dims(image, 0), True
    if rank != 4:
        raise ValueError(f"'{what}' (shape {image.shape}) must have either 3 or 4 dimensions.")
    return image, False


def unbatched(image: Tensor, single: bool):
    return squeeze(image, [0]) if single else image


def require(image: TensorLike, *conditions):
    """`image`, once all conditions (truth, message) hold.

    Raises ValueError where a condition is known to fail, InvalidArgumentError where that shows when it runs.
    """
    checks = []
    for truth, message in conditions:
        if isinstance(truth, (bool, np.bool_)):
            if not truth:
                raise ValueError(message)
        else:
            checks.append(Assert(truth, [message]))
    if not checks:
        return image
    with control_dependencies([c for c in checks if c is not None]):
        return identity(image)

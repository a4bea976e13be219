"""`keras.ops.image`: images moved pixel by pixel: along planes, along noise, and to any coordinates; and blurred."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.public import public_names
from tapeflow.keras.layers.preprocessing.sampling import grid, project, sample
from tapeflow.keras.ops.conversion import (
    batch_of_images,
    checked_choice,
    operation,
    static_rank,
    tensor,
)
from tapeflow.keras.random import normal
from tapeflow.ops.array.construction import ones_like as tf_ones_like
from tapeflow.ops.array.construction import zeros_like as tf_zeros_like
from tapeflow.ops.array.layout import expand_dims as tf_expand_dims
from tapeflow.ops.array.layout import reshape as tf_reshape
from tapeflow.ops.array.layout import squeeze as tf_squeeze
from tapeflow.ops.array.ranges import range as tf_range
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.array.stacking import stack as tf_stack
from tapeflow.ops.array.stacking import unstack as tf_unstack
from tapeflow.ops.array.tiling import tile as tf_tile
from tapeflow.ops.convolution.depthwise_functions import depthwise_conv2d as tf_depthwise_conv2d
from tapeflow.ops.indexing.gather_nd import gather_nd as tf_gather_nd
from tapeflow.ops.linalg.solve import solve as tf_solve
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.choice import where as tf_where
from tapeflow.ops.math.clip import clip_by_value as tf_clip_by_value
from tapeflow.ops.math.division import floormod as tf_floormod
from tapeflow.ops.math.elementwise import abs as tf_abs
from tapeflow.ops.math.elementwise import exp as tf_exp
from tapeflow.ops.math.logic import logical_and as tf_logical_and
from tapeflow.ops.math.reductions import reduce_sum as tf_reduce_sum
from tapeflow.ops.math.rounding import floor as tf_floor
from tapeflow.ops.math.rounding import round as tf_round

if TYPE_CHECKING:
    import numpy as np

_SAMPLINGS = ("nearest", "bilinear")
_FILL_MODES = ("constant", "nearest", "wrap", "reflect")


@operation
def affine_transform(
    images: TensorLike, transform, interpolation: str = "bilinear", fill_mode: str = "constant", fill_value: int = 0,
    data_format: str | None = None,
):
    """Return images whose pixel (x, y) is that of the input at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k).

    Args:
      transform: (8,) or (batch, 8): a0 a1 a2 b0 b1 b2 c0 c1, with k = c0 x + c1 y + 1.
      interpolation: "nearest" or "bilinear".
      fill_mode: what is beyond the images: "constant", "nearest", "wrap" or "reflect".
    """
    checked_choice(interpolation, "interpolation", _SAMPLINGS)
    checked_choice(fill_mode, "fill_mode", _FILL_MODES)
    transform = tensor(transform, "float32")
    if static_rank(transform) not in (1, 2):
        raise ValueError(
            "Invalid transform rank: expected rank 1 (single transform) or rank 2 (batch of transforms). "
            f"Received input with shape: transform.shape={transform.shape}"
        )
    x, back = batch_of_images(images, data_format)
    return back(project(x, tf_reshape(transform, [-1, 8]), interpolation, fill_mode, fill_value))


@operation
def perspective_transform(
    images: TensorLike, start_points, end_points, interpolation: str = "bilinear", fill_value: int = 0,
    data_format: str | None = None,
):
    """Return images warped such that four points of each move.

    Args:
      start_points: (4, 2) or (batch, 4, 2), pairs x, y.
      end_points: where these end up.
    """
    checked_choice(interpolation, "interpolation", _SAMPLINGS)
    start, end = tensor(start_points, "float32"), tensor(end_points, "float32")
    for name, points in (("start_points", start), ("end_points", end)):
        if points.shape.as_list()[-2:] != [4, 2] or static_rank(points) > 3:
            raise ValueError(f"Invalid {name} shape: expected (4,2) for a single image or (N,4,2) for a batch. "
                             f"Received shape: {points.shape}")  # fmt: skip
    x, back = batch_of_images(images, data_format)
    transform = _homography(tf_reshape(start, [-1, 4, 2]), tf_reshape(end, [-1, 4, 2]))
    return back(project(x, transform, interpolation, "constant", fill_value))


def _homography(start, end):
    """The projective map (batch, 8) from end points to start points: two linear equations for each point."""
    u, v = end[..., 0], end[..., 1]
    one, zero = tf_ones_like(u), tf_zeros_like(u)
    rows = []
    for axis, own in ((0, [u, v, one, zero, zero, zero]), (1, [zero, zero, zero, u, v, one])):
        target = start[..., axis]
        rows.append(tf_stack([*own, -target * u, -target * v], -1))
    equations = tf_reshape(tf_stack(rows, 2), [-1, 8, 8])
    return tf_squeeze(tf_solve(equations, tf_reshape(start, [-1, 8, 1])), [-1])


def _curve(size: int, sigma: float, dtype: DType):
    """A bell curve over `size` pixels, with sum 1."""
    x = tf_cast(tf_range(size), dtype) - tf_cast(size - 1, dtype) / 2
    y = tf_exp(-0.5 * (x / tf_cast(sigma, dtype)) ** 2)
    return y / tf_reduce_sum(y)


@operation
def gaussian_blur(
    images: TensorLike, kernel_size: Sequence[int] = (3, 3), sigma: Sequence[float] = (1.0, 1.0),
    data_format: str | None = None,
):
    """Return images blurred by a bell curve.

    Args:
      kernel_size: over how many pixels, along the height and the width.
      sigma: the standard deviations of the curve along the width and the height.
    """
    x, back = batch_of_images(images, data_format)
    rows, columns = _curve(kernel_size[0], sigma[0], x.dtype), _curve(kernel_size[1], sigma[1], x.dtype)
    kernel = tf_reshape(tf_expand_dims(columns, 1) * rows, [*kernel_size, 1, 1])
    kernel = tf_tile(kernel, [1, 1, x.shape[-1], 1])
    return back(tf_depthwise_conv2d(x, kernel, (1, 1, 1, 1), "SAME"))


@operation
def elastic_transform(
    images: np.ndarray, alpha: float = 20.0, sigma: float = 5.0, interpolation: str = "bilinear",
    fill_mode: str = "reflect", fill_value: float = 0.0, seed: int | None = None,
    data_format: str | None = None,
):  # fmt: skip
    """Return images whose pixels are moved by a smooth random field.

    Args:
      alpha: the strength of the field.
      sigma: how far it is smoothed.
    """
    checked_choice(interpolation, "interpolation", _SAMPLINGS)
    checked_choice(fill_mode, "fill_mode", _FILL_MODES)
    x, back = batch_of_images(images, data_format)
    batch, height, width = (tf_shape(x)[i] if x.shape[i] is None else x.shape[i] for i in range(3))
    size = 6 * int(sigma) | 1
    noise = [normal((batch, height, width, 1), dtype="float32", seed=seed) * sigma for _ in range(2)]
    dx, dy = (tf_reshape(gaussian_blur(n, (size, size), (sigma, sigma), "channels_last"), [batch, -1]) for n in noise)
    xs, ys = grid(height, width)
    return back(sample(x, xs + alpha * dx, ys + alpha * dy, interpolation, fill_mode, fill_value))


def _of_nearest(coordinate: Tensor):
    coordinate = coordinate if coordinate.dtype.is_integer else tf_round(coordinate)
    return [(tf_cast(coordinate, "int32"), tf_ones_like(tf_cast(coordinate, "float32")))]


def _of_two(coordinate: Tensor):
    coordinate = tf_cast(coordinate, "float32") if coordinate.dtype.is_integer else coordinate
    low = tf_floor(coordinate)
    weight = coordinate - low
    index = tf_cast(low, "int32")
    return [(index, 1 - weight), (index + 1, weight)]


def _brought_inside(index: Tensor, size: int, mode: str):
    """Indices within the size, and whether they were, where that matters."""
    if mode == "constant":
        return tf_clip_by_value(index, 0, size - 1), tf_logical_and(index >= 0, index < size)
    if mode == "nearest":
        return tf_clip_by_value(index, 0, size - 1), None
    if mode == "wrap":
        return tf_floormod(index, size), None
    if mode == "reflect":
        index = tf_floormod(index, 2 * size)
        return tf_where(index < size, index, 2 * size - 1 - index), None
    if size == 1:
        return tf_zeros_like(index), None
    return size - 1 - tf_abs(size - 1 - tf_floormod(index, 2 * (size - 1))), None


@operation
def map_coordinates(inputs, coordinates: np.ndarray, order: int, fill_mode: str = "constant", fill_value: int = 0):
    """Return elements of an array at positions between its elements.

    Args:
      coordinates: for each axis of the inputs the positions along it, of any shape.
      order: 0 for the nearest element, 1 for linear interpolation.
      fill_mode: what is beyond the array: "constant", "nearest", "wrap", "mirror" or "reflect".
    """
    checked_choice(fill_mode, "fill_mode", (*_FILL_MODES, "mirror"))
    if order not in (0, 1):
        raise NotImplementedError("map_coordinates currently requires order<=1")
    inputs, coordinates = tensor(inputs), tensor(coordinates)
    if coordinates.shape[0] != static_rank(inputs):
        raise ValueError(
            "First dim of `coordinates` must be the same as the rank of `inputs`. "
            f"Received inputs with shape: {inputs.shape} and coordinate leading dim of {coordinates.shape[0]}"
        )
    if static_rank(coordinates) < 2:
        raise ValueError(f"Invalid coordinates rank: expected at least rank 2. Received shape: {coordinates.shape}")
    near = _of_two if order else _of_nearest
    total = 0
    for corner in itertools.product(*map(near, tf_unstack(coordinates))):
        places = [_brought_inside(index, n, fill_mode) for (index, _), n in zip(corner, inputs.shape.as_list())]
        weight = math.prod(weight for _, weight in corner)
        values = tf_cast(tf_gather_nd(inputs, tf_stack([index for index, _ in places], -1)), weight.dtype)
        for _, inside in places:
            if inside is not None:
                values = tf_where(inside, values, tf_cast(fill_value, values.dtype))
        total = total + weight * values
    return tf_cast(tf_round(total) if inputs.dtype.is_integer else total, inputs.dtype)


__all__ = public_names(globals())



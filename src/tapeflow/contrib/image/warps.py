"""Images warped by a flow, given at every pixel or at some control points."""

from __future__ import annotations

from typing import Any

import numpy as np

import tapeflow.compat.v1 as tf
from tapeflow.contrib.image.splines import interpolate_spline
from tapeflow.core.annotations import Tensor
from tapeflow.core.dtypes import DType


def _along(queries: Tensor, size: Tensor, dtype: DType):
    """(the places before the queries, how far the queries are past them in `dtype`) on an axis of `size` places."""
    last = tf.cast(size - 2, queries.dtype)
    low = tf.minimum(tf.maximum(tf.zeros([], queries.dtype), tf.floor(queries)), last)
    part = tf.clip_by_value(tf.cast(queries - low, dtype), 0.0, 1.0)
    return tf.cast(low, tf.int32), part[..., None]


def _interpolate_bilinear(
    grid: Tensor, query_points: Tensor, name: str = "interpolate_bilinear", indexing: str = "ij"
):
    """The values of `grid` [batch, height, width, channels] at points [batch, n, 2] between its places."""
    if indexing not in ("ij", "xy"):
        raise ValueError("Indexing mode must be 'ij' or 'xy'")
    with tf.name_scope(name):
        grid, points = tf.convert_to_tensor(grid), tf.convert_to_tensor(query_points)
        if grid.shape.ndims != 4:
            raise ValueError(f"Grid must be 4 dimensional. Received size: {grid.shape}")
        if points.shape.ndims is not None and points.shape.ndims != 3:
            raise ValueError("Query points must be 3 dimensional.")
        batch, height, width, channels = tf.unstack(tf.shape(grid))
        checks = [
            tf.assert_equal(tf.shape(points)[2], 2, message="Query points must be size 2 in dim 2."),
            tf.assert_greater_equal(height, 2, message="Grid height must be at least 2."),
            tf.assert_greater_equal(width, 2, message="Grid width must be at least 2."),
        ]
        with tf.control_dependencies([c for c in checks if c is not None]):
            flat = tf.reshape(grid, [batch * height * width, channels])
        rows, columns = (0, 1) if indexing == "ij" else (1, 0)
        y, down = _along(points[..., rows], height, grid.dtype)
        x, across = _along(points[..., columns], width, grid.dtype)
        start = (tf.range(batch) * height * width)[:, None]

        def row(y: Tensor):
            left, right = (tf.gather(flat, start + y * width + at) for at in (x, x + 1))
            return across * (right - left) + left

        top, bottom = row(y), row(y + 1)
        return down * (bottom - top) + top


def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp"):
    """Images whose pixel at (y, x) is that of `image` at (y - flow[..., 0], x - flow[..., 1]), interpolated bilinearly.

    Args:
      image: [batch, height, width, channels], of a floating dtype; height and width are at least 2. Beyond its edges
        its outermost pixels go on.
      flow: [batch, height, width, 2], of a floating dtype.

    Raises ValueError or InvalidArgumentError for other shapes.
    """
    with tf.name_scope(name):
        image, flow = tf.convert_to_tensor(image), tf.convert_to_tensor(flow)
        batch, height, width, channels = tf.unstack(tf.shape(image))
        x, y = tf.meshgrid(tf.range(width), tf.range(height))
        points = tf.cast(tf.stack([y, x], 2), flow.dtype)[None] - flow
        points = tf.reshape(points, [batch, height * width, 2])
        warped = tf.reshape(_interpolate_bilinear(image, points), [batch, height, width, channels])
        warped.set_shape(image.shape)
        return warped


def _places(height, width):
    """All places of an image: [height, width, 2]."""
    return np.stack(np.mgrid[:height, :width].astype(np.float64), -1)


def _edge_places(height, width, inner: int):
    """Corners of an image and `inner` places between them on each edge."""
    y, x = (np.linspace(0, n - 1, inner + 2) for n in (height, width))
    ys, xs = np.meshgrid(y, x, indexing="ij")
    edge = (xs == 0) | (xs == width - 1) | (ys == 0) | (ys == height - 1)
    return np.stack([ys[edge], xs[edge]], -1)


def sparse_image_warp(
    image, source_control_point_locations, dest_control_point_locations, interpolation_order=2,
    regularization_weight: float = 0.0, num_boundary_points: int = 0, name: str = "sparse_image_warp",
):
    """(images in which the source points have moved to the destinations, the flow [batch, height, width, 2]).

    Args:
      image: [batch, height, width, channels], of a floating dtype and known shape.
      source_control_point_locations: [batch, n, 2] points as (y, x).
      dest_control_point_locations: [batch, n, 2] where they come to lie.
      interpolation_order: of the spline that gives the flow between them.
      regularization_weight: of that spline's smoothness.
      num_boundary_points: so many points that stay on each edge of the image, one corner counted with each.
    """
    image, source, target = (
        tf.convert_to_tensor(v) for v in (image, source_control_point_locations, dest_control_point_locations)
    )
    flows = target - source
    with tf.name_scope(name):
        batch, height, width, _ = image.shape.as_list()
        places = np.tile(_places(height, width).reshape(1, -1, 2), [batch, 1, 1])
        if num_boundary_points > 0:
            still = np.tile(_edge_places(height, width, num_boundary_points - 1)[None], [batch, 1, 1])
            target = tf.concat([target, tf.constant(still, target.dtype)], 1)
            flows = tf.concat([flows, tf.constant(np.zeros_like(still), flows.dtype)], 1)
        flow = interpolate_spline(
            target, flows, tf.constant(places, image.dtype), interpolation_order, regularization_weight
        )
        flow = tf.reshape(flow, [batch, height, width, 2])
        return dense_image_warp(image, flow), flow

"""Polyharmonic splines: functions of smallest bending through given values at given points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tapeflow.compat.v1 as tf
from tapeflow.core.annotations import Tensor

if TYPE_CHECKING:
    import numpy as np

_LEAST = 1e-10  # Keeps logarithms and the gradients of roots finite.


def _squared_distances(x: Tensor, y: Tensor):
    """Between all rows of x [batch, n, d] and of y [batch, m, d]: [batch, n, m]."""
    own = tf.reduce_sum(tf.square(x), 2)[:, :, None]
    other = tf.reduce_sum(tf.square(y), 2)[:, None, :]
    return own - 2 * tf.matmul(x, y, transpose_b=True) + other


def _radial(squared: Tensor, order: int):
    """The radial function of an order, of squared distances: r^order, times log r for even orders."""
    bounded = tf.maximum(squared, _LEAST)
    if order == 1:
        return tf.sqrt(bounded)
    if order == 2:
        return 0.5 * squared * tf.log(bounded)
    if order == 4:
        return 0.5 * tf.square(squared) * tf.log(bounded)
    power = tf.pow(bounded, 0.5 * order)
    return power if order % 2 else 0.5 * power * tf.log(bounded)


def _with_ones(points: Tensor):
    return tf.concat([points, tf.ones_like(points[..., :1])], 2)


def _solved(points: Tensor, values: Tensor, order: int, regularization_weight: float):
    """(weights of the radial functions [b, n, k], coefficients of the linear part [b, d + 1, k])."""
    batch, count = tf.shape(points)[0], tf.shape(points)[1]
    d, k = points.shape.as_list()[-1], values.shape.as_list()[-1]
    if d is None:
        raise ValueError("The dimensionality of the input points (d) must be statically-inferrable.")
    if k is None:
        raise ValueError("The dimensionality of the output values (k) must be statically-inferrable.")
    radial = _radial(_squared_distances(points, points), order)
    if regularization_weight > 0:
        radial += regularization_weight * tf.eye(count, dtype=points.dtype)[None]
    linear = _with_ones(points)
    top = tf.concat([radial, linear], 2)
    corner = tf.zeros([batch, d + 1, d + 1], points.dtype)
    bottom = tf.concat([tf.transpose(linear, [0, 2, 1]), corner], 2)
    right = tf.concat([values, tf.zeros([batch, d + 1, k], points.dtype)], 1)
    solution = tf.matrix_solve(tf.concat([top, bottom], 1), right)
    return solution[:, :count], solution[:, count:]


def interpolate_spline(
    train_points: np.ndarray, train_values: np.ndarray, query_points: np.ndarray, order: int,
    regularization_weight: float = 0.0, name: str = "interpolate_spline",
):
    """The values at `query_points` [batch, m, d] of the polyharmonic spline through given values: [batch, m, k].

    Args:
      train_points: [batch, n, d] points with known values.
      train_values: [batch, n, k] their values.
      order: of the radial functions; 2 is a thin plate.
      regularization_weight: how much smoothness counts against passing through the values.

    Raises ValueError where d or k is not known.
    """
    with tf.name_scope(name):
        points, values, queries = (tf.convert_to_tensor(v) for v in (train_points, train_values, query_points))
        weights, linear = _solved(points, values, order, regularization_weight)
        radial = _radial(_squared_distances(queries, points), order)
        return tf.matmul(radial, weights) + tf.matmul(_with_ones(queries), linear)

"""Linear operators as pairs of functions, and norms of vectors."""

from __future__ import annotations

import collections
from typing import Any

import tapeflow.compat.v1 as tf
from tapeflow.core.annotations import Tensor, TensorLike

__all__ = ["create_operator", "dot", "identity_operator", "l2norm", "l2norm_squared", "l2normalize"]

LinearOperator = collections.namedtuple("LinearOperator", ["shape", "dtype", "apply", "apply_adjoint"])


def _shape(matrix):
    return matrix.shape.as_list() if matrix.shape.is_fully_defined() else tf.shape(matrix)


def create_operator(matrix: Tensor):
    """The operator of a matrix: (shape, dtype, what multiplies by it, what multiplies by its adjoint)."""
    return LinearOperator(
        _shape(matrix),
        matrix.dtype,
        lambda v: tf.matmul(matrix, v),
        lambda v: tf.matmul(matrix, v, adjoint_a=True),
    )


def identity_operator(matrix: Tensor):
    """The identity, of the shape and dtype of a matrix."""
    return LinearOperator(_shape(matrix), matrix.dtype, lambda v: v, lambda v: v)


def dot(x: TensorLike, y: TensorLike):
    """The inner product of two tensors of one shape."""
    return tf.reduce_sum(tf.conj(x) * y)


def l2norm_squared(v: Any):
    """The sum of the squares of all elements."""
    return tf.constant(2, v.dtype.base_dtype) * tf.nn.l2_loss(v)


def l2norm(v: TensorLike):
    """The root of the sum of the squares of all elements."""
    return tf.sqrt(l2norm_squared(v))


def l2normalize(v: TensorLike):
    """(v divided by its norm, its norm)."""
    norm = l2norm(v)
    return v / norm, norm

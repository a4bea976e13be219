"""Products, decompositions and norms of matrices."""

from __future__ import annotations

import functools
from typing import Any

from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.public import public_names
from tapeflow.keras.ops.conversion import (
    axis_of,
    floating,
    floats,
    operation,
    promoted,
    static_rank,
    tensor,
)
from tapeflow.ops.array.layout import expand_dims as tf_expand_dims
from tapeflow.ops.array.layout import reshape as tf_reshape
from tapeflow.ops.array.layout import squeeze as tf_squeeze
from tapeflow.ops.array.stacking import stack as tf_stack
from tapeflow.ops.array.stacking import unstack as tf_unstack
from tapeflow.ops.array.transposing import transpose as tf_transpose
from tapeflow.ops.linalg.decomposition import cholesky as tf_cholesky
from tapeflow.ops.linalg.decomposition import qr as tf_qr
from tapeflow.ops.linalg.decomposition import svd as tf_svd
from tapeflow.ops.linalg.eigen import eigh as tf_eigh
from tapeflow.ops.linalg.einsum import einsum as tf_einsum
from tapeflow.ops.linalg.inverse import det as tf_det
from tapeflow.ops.linalg.inverse import inv as tf_inv
from tapeflow.ops.linalg.inverse import logdet as tf_logdet
from tapeflow.ops.linalg.inverse import slogdet as tf_slogdet
from tapeflow.ops.linalg.matmul import matmul as tf_matmul
from tapeflow.ops.linalg.matrix_function import adjoint as tf_adjoint
from tapeflow.ops.linalg.matrix_function import matrix_transpose as tf_matrix_transpose
from tapeflow.ops.linalg.matrix_function import pinv as tf_pinv
from tapeflow.ops.linalg.solve import solve as tf_solve
from tapeflow.ops.linalg.solve import triangular_solve as tf_triangular_solve
from tapeflow.ops.linalg.tensordot import tensordot as tf_tensordot
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.conjugate import conj as tf_conj
from tapeflow.ops.math.logic import logical_and as tf_logical_and
from tapeflow.ops.math.reductions import reduce_any as tf_reduce_any
from tapeflow.ops.math.reductions import reduce_sum as tf_reduce_sum


def _summed_products(function, *operands, wide: str = ""):
    """What a function gives for operands of one dtype; those that it does not know are computed as int32.

    The result is of the dtype of the operands, or stays int32 where their dtype is named `wide`.
    """
    dtype = operands[0].dtype
    if dtype.name not in ("bool", "int8"):
        return function(*operands)
    result = function(*(tf_cast(x, "int32") for x in operands))
    return result if dtype.name == wide else tf_cast(result, dtype)


@operation
def matmul(x1: Any, x2: TensorLike):
    """Return the matrix products of the last two axes; vectors are rows on the left and columns on the right.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one.
    """
    x1, x2 = promoted(x1, x2)
    left, right = static_rank(x1) == 1, static_rank(x2) == 1
    x1, x2 = tf_expand_dims(x1, 0) if left else x1, tf_expand_dims(x2, 1) if right else x2
    product = _summed_products(tf_matmul, x1, x2, wide="int8")
    axes = [-2] * left + [-1] * right
    return tf_squeeze(product, axes) if axes else product


@operation
def dot(x1, x2):
    """Return the sums of products over the last axis of x1 and the last but one of x2.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one.
    """
    x1, x2 = promoted(x1, x2)
    if not x1.shape.rank or not x2.shape.rank:
        return x1 * x2
    return tensordot(x1, x2, [[-1], [-1 if x2.shape.rank == 1 else -2]])


@operation
def tensordot(x1, x2, axes=2):
    """Return the sums of products over axes of both: so many at the end of x1 and the begin of x2, or two lists.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one.
      axes: the axes that are summed over: how many, or a list for each tensor.
    """
    return _summed_products(lambda x1, x2: tf_tensordot(x1, x2, axes), *promoted(x1, x2))


@operation
def inner(x1, x2):
    """Return the sums of products over the last axes of both.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one.
    """
    x1, x2 = promoted(x1, x2)
    return tensordot(x1, x2, [[-1], [-1]]) if x1.shape.rank and x2.shape.rank else x1 * x2


@operation
def outer(x1: Any, x2: TensorLike):
    """Return the products of each element of x1 with each of x2, as a matrix.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one.
    """
    x1, x2 = promoted(tensor(x1), tensor(x2))
    if x1.dtype.is_bool:
        return tf_logical_and(tf_reshape(x1, [-1, 1]), tf_reshape(x2, [1, -1]))
    return tf_reshape(x1, [-1, 1]) * tf_reshape(x2, [1, -1])


@operation
def vdot(x1: TensorLike, x2: TensorLike):
    """Return the sum of products of all elements, those of x1 conjugated.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one.
    """
    x1, x2 = (tf_reshape(x, [-1]) for x in promoted(x1, x2))
    if x1.dtype.is_bool:
        return tf_reduce_any(tf_logical_and(x1, x2))
    return tf_reduce_sum(tf_conj(x1) * x2)


@operation
def einsum(subscripts, *operands):
    """Return the sums of products that an equation describes.

    Args:
      subscripts: what is multiplied and summed, as "ij,jk->ik".
      *operands: the tensors.
    """
    return _summed_products(functools.partial(tf_einsum, subscripts), *promoted(*operands), wide="int8")


@operation
def cross(x1: Any, x2: Any, axisa=-1, axisb=-1, axisc=-1, axis: AxisLike | None = None):
    """Return the cross products of vectors of 3 elements along axes.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one.
      axisa: the axis of the vectors of `x1`.
      axisb: the axis of the vectors of `x2`.
      axisc: the axis of the vectors of the result.
      axis: the axis of all vectors, instead of the three above; None for these.
    """
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    x1, x2 = promoted(x1, x2)
    x1, x2 = _last(x1, axisa), _last(x2, axisb)
    if x1.shape[-1] != 3 or x2.shape[-1] != 3:
        raise ValueError(f"Both vectors must have 3 elements, got shapes {x1.shape} and {x2.shape}")
    a, b = tf_unstack(x1, axis=-1), tf_unstack(x2, axis=-1)
    parts = [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]
    return tf_stack(parts, axisc)


def _last(x, axis: int):
    rank = static_rank(x)
    axis = axis_of(axis, rank)
    return tf_transpose(x, [*(i for i in range(rank) if i != axis), axis])


@operation
def cholesky(x: TensorLike, upper: bool = False):
    """Return the triangular L of x = L L^T, or L^T with `upper`.

    Args:
      x: a tensor, or what can be converted to one.
      upper: whether the upper triangular factor is given.
    """
    factor = tf_cholesky(floating(x))
    return tf_matrix_transpose(factor) if upper else factor


@operation
def det(x: TensorLike):
    """Return the determinants."""
    return tf_det(floating(x))


@operation
def slogdet(x: TensorLike):
    """Return the signs of the determinants and the logarithms of their absolute values."""
    return tuple(tf_slogdet(floating(x)))


@operation
def logdet(x: TensorLike):
    """Return the logarithms of the determinants of positive definite matrices."""
    return tf_logdet(floating(x))


@operation
def inv(x: TensorLike):
    """Return the inverse matrices."""
    return tf_inv(floating(x))


@operation
def pinv(x: TensorLike, rcond=None):
    """Return the pseudo-inverse matrices.

    Args:
      x: matrices `[..., M, N]`.
      rcond: singular values up to this times the largest count as zero; None: `10 * max(M, N) * eps`.
    """
    return tf_pinv(floating(x), rcond)


@operation
def eigh(x: TensorLike):
    """Return the eigenvalues and eigenvectors of Hermitian matrices."""
    return tf_eigh(floating(x))


@operation
def qr(x: TensorLike, mode: str = "reduced"):
    """Return orthonormal Q and triangular R, with x = Q R; Q is square in mode "complete".

    Args:
      x: a tensor, or what can be converted to one.
      mode: "reduced" for as many columns as needed, or "complete".
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"`mode` argument value not supported. Expected one of 'reduced', 'complete'. Received: "
                         f"mode={mode}")  # fmt: skip
    return tf_qr(floating(x), full_matrices=mode == "complete")


@operation
def svd(x: TensorLike, full_matrices: bool = True, compute_uv: bool = True):
    """Return U, the singular values and V^H; only the values without `compute_uv`.

    Args:
      x: a tensor, or what can be converted to one.
      full_matrices: whether all rows and columns of the factors are given.
      compute_uv: whether the factors are given, not the singular values alone.
    """
    x = floating(x)
    if not compute_uv:
        return tf_svd(x, full_matrices, compute_uv=False)
    s, u, v = tf_svd(x, full_matrices)
    return u, s, tf_adjoint(v)


@operation
def solve(a: TensorLike, b: TensorLike):
    """Return x with a x = b, where b is a vector or a matrix.

    Args:
      a: square matrices.
      b: the right side, a tensor.
    """
    a, b = floats(a, b)
    if static_rank(b) == static_rank(a) - 1:
        return tf_squeeze(tf_solve(a, tf_expand_dims(b, -1)), [-1])
    return tf_solve(a, b)


@operation
def solve_triangular(a: TensorLike, b: TensorLike, lower: bool = False):
    """Return x with a x = b, for a triangular a.

    Args:
      a: triangular matrices.
      b: the right side, a tensor.
      lower: whether the lower triangle of `a` counts, not the upper one.
    """
    a, b = floats(a, b)
    if static_rank(b) == static_rank(a) - 1:
        return tf_squeeze(tf_triangular_solve(a, tf_expand_dims(b, -1), lower=lower), [-1])
    return tf_triangular_solve(a, b, lower=lower)


__all__ = public_names(globals())

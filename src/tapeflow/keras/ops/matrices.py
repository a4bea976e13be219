"""Norms, ranks, least squares and factors of matrices; correlations and distances of vectors."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.public import public_names
from tapeflow.keras.ops import reductions
from tapeflow.keras.ops.conversion import (
    axes_of,
    floating,
    floats,
    operation,
    promoted,
    static_rank,
    tensor,
)
from tapeflow.keras.ops.linear_algebra import svd
from tapeflow.ops.array.construction import zeros_like as tf_zeros_like
from tapeflow.ops.array.diagonal import diag_part as tf_diag_part
from tapeflow.ops.array.layout import expand_dims as tf_expand_dims
from tapeflow.ops.array.layout import reshape as tf_reshape
from tapeflow.ops.array.padding import pad as tf_pad
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.array.tensor_diagonal import eye as tf_eye
from tapeflow.ops.array.transposing import invert_permutation as tf_invert_permutation
from tapeflow.ops.array.transposing import transpose as tf_transpose
from tapeflow.ops.convolution.functions_1d import conv1d as tf_conv1d
from tapeflow.ops.linalg.eigen import eig as tf_eig
from tapeflow.ops.linalg.lu import lu as tf_lu
from tapeflow.ops.linalg.matmul import matmul as tf_matmul
from tapeflow.ops.linalg.matrix_function import matrix_rank as tf_matrix_rank
from tapeflow.ops.linalg.solve import triangular_solve as tf_triangular_solve
from tapeflow.ops.math.arithmetic import pow as tf_pow
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.choice import where as tf_where
from tapeflow.ops.math.clip import clip_by_value as tf_clip_by_value
from tapeflow.ops.math.comparison import not_equal as tf_not_equal
from tapeflow.ops.math.complex_numbers import real as tf_real
from tapeflow.ops.math.conjugate import conj as tf_conj
from tapeflow.ops.math.elementwise import abs as tf_abs
from tapeflow.ops.math.elementwise import sqrt as tf_sqrt
from tapeflow.ops.math.elementwise import square as tf_square
from tapeflow.ops.math.reductions import reduce_max as tf_reduce_max
from tapeflow.ops.math.reductions import reduce_mean as tf_reduce_mean
from tapeflow.ops.math.reductions import reduce_min as tf_reduce_min
from tapeflow.ops.math.reductions import reduce_sum as tf_reduce_sum


@operation
def cholesky_inverse(x: Any, upper: bool = False):
    """Return the inverse of L L^T from L, or of U^T U from U with `upper`.

    Args:
      x: a tensor, or what can be converted to one.
      upper: whether x is upper triangular.
    """
    x = floating(x)
    inverse = tf_triangular_solve(x, tf_eye(tf_shape(x)[-1], dtype=x.dtype), lower=not upper)
    if upper:
        return tf_matmul(inverse, inverse, transpose_b=True)
    return tf_matmul(inverse, inverse, transpose_a=True)


@operation
def eig(x: TensorLike):
    """Return the eigenvalues and eigenvectors of square matrices, as complex numbers."""
    return tf_eig(floating(x))


@operation
def lu_factor(x: TensorLike):
    """Return L and U in one matrix, and where each row of x went."""
    factors, order = tf_lu(floating(x))
    return factors, tf_invert_permutation(order)


@operation
def matrix_rank(x: TensorLike, tol=None):
    """Return how many singular values are greater than `tol`.

    Args:
      x: a tensor, or what can be converted to one.
      tol: below which singular values count as 0; None for one that follows from the dtype.
    """
    return tf_matrix_rank(floating(x), tol)


@operation
def lstsq(a: Any, b: Any, rcond=None):
    """Return the x of least norm for which a x is nearest to b.

    Args:
      rcond: singular values below this part of the greatest count as 0.
    """
    a, b = floats(a, b)
    if static_rank(a) != 2 or static_rank(b) not in (1, 2):
        raise TypeError(f"`a` must be a matrix and `b` a vector or a matrix, got shapes {a.shape} and {b.shape}")
    if not a.shape[:1].is_compatible_with(b.shape[:1]):
        raise ValueError("Leading dimensions of input arrays must match")
    columns = tf_expand_dims(b, -1) if b.shape.rank == 1 else b
    u, s, vt = svd(a, full_matrices=False)
    epsilon = a.dtype.real_dtype.as_numpy_dtype
    if rcond is None:
        import numpy as np

        rcond = np.finfo(epsilon).eps * max(a.shape.as_list())
    kept = s >= tf_cast(rcond, s.dtype) * s[0]
    inverse = tf_where(kept, 1 / tf_where(kept, s, tf_cast(1, s.dtype)), tf_zeros_like(s))
    parts = tf_expand_dims(tf_cast(inverse, a.dtype), -1) * tf_matmul(u, columns, adjoint_a=True)
    x = tf_matmul(vt, parts, adjoint_a=True)
    return tf_reshape(x, [-1]) if b.shape.rank == 1 else x


@operation
def norm(x: TensorLike, ord=None, axis: AxisLike | None = None, keepdims: bool = False):
    """Return norms of vectors along one axis or of matrices along two, by default of all elements.

    Args:
      ord: for vectors a number or infinity (default 2); for matrices "fro" (default), "nuc", 1, 2, their negatives,
        or infinity.
    """
    x = floating(x)
    axes = axes_of(axis, static_rank(x))
    if len(axes) > 2:
        raise ValueError(f"Invalid axis values. Received: axis={axis}")
    if ord is None or (len(axes) == 1 and ord == 2) or (len(axes) == 2 and ord == "fro"):
        squares = tf_reduce_sum(x * tf_conj(x), axes, keepdims)
        return tf_sqrt(squares)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes[0], keepdims)
    return _matrix_norm(x, ord, axes, keepdims)


_INFINITE = {float("inf"): tf_reduce_max, float("-inf"): tf_reduce_min}


def _vector_norm(x, order: int, axis: int, keepdims: bool):
    if isinstance(order, str):
        raise ValueError(f"Invalid `ord` argument for vector norm. Received: ord={order}")
    if order in _INFINITE:
        return _INFINITE[order](tf_abs(x), axis, keepdims)
    if order == 0:
        return tf_reduce_sum(tf_cast(tf_not_equal(x, 0), x.dtype), axis, keepdims)
    sums = tf_reduce_sum(tf_pow(tf_abs(x), tf_cast(order, x.dtype)), axis, keepdims)
    return tf_pow(sums, tf_cast(1.0 / order, x.dtype))


# The norms of matrices: of sums over rows or columns, and of singular values.
_OF_SUMS = {1: (0, tf_reduce_max), -1: (0, tf_reduce_min),
            float("inf"): (1, tf_reduce_max), float("-inf"): (1, tf_reduce_min)}  # fmt: skip
_OF_SINGULAR_VALUES = {2: tf_reduce_max, -2: tf_reduce_min, "nuc": tf_reduce_sum}


def _matrix_norm(x, order: int, axes, keepdims: bool):
    if order in _OF_SUMS:
        summed, reduce = _OF_SUMS[order]
        found = reduce(tf_reduce_sum(tf_abs(x), axes[summed], True), axes, True)
    elif order in _OF_SINGULAR_VALUES:
        rank = x.shape.rank
        moved = tf_transpose(x, [*(i for i in range(rank) if i not in axes), *axes])
        found = _OF_SINGULAR_VALUES[order](svd(moved, compute_uv=False), -1)
        if not keepdims:
            return found
        for axis in sorted(axes):
            found = tf_expand_dims(found, axis)
        return found
    else:
        raise ValueError(f"Invalid `ord` argument for matrix norm. Received: ord={order}")
    return found if keepdims else reductions.max(found, tuple(axes))


@operation
def kron(x1: Any, x2: Any):
    """Return the Kronecker product: x2 times each element of x1, as blocks.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one.
    """
    x1, x2 = promoted(tensor(x1), tensor(x2))
    rank = max(static_rank(x1), static_rank(x2))
    x1, x2 = (tf_reshape(x, [1] * (rank - x.shape.rank) + _sizes(x)) for x in (x1, x2))
    left = tf_reshape(x1, [n for size in _sizes(x1) for n in (size, 1)])
    right = tf_reshape(x2, [n for size in _sizes(x2) for n in (1, size)])
    return tf_reshape(left * right, [a * b for a, b in zip(_sizes(x1), _sizes(x2))])


def _sizes(x):
    dynamic = tf_shape(x)
    return [dynamic[i] if size is None else size for i, size in enumerate(x.shape.as_list())]


@operation
def corrcoef(x: Any):
    """Return the correlation coefficients of the rows of x."""
    x = floating(x)
    if not static_rank(x):
        return tf_cast(float("nan"), x.dtype)
    apart = x - tf_reduce_mean(x, -1, True)
    count = tf_cast(tf_shape(x)[-1], x.dtype)
    if x.shape.rank == 1:
        apart = tf_expand_dims(apart, 0)
    covariance = tf_matmul(apart, apart, adjoint_b=True) / (count - 1)
    deviation = tf_sqrt(tf_real(tf_diag_part(covariance)))
    scale = tf_expand_dims(deviation, -1) * tf_expand_dims(deviation, -2)
    found = tf_clip_by_value(covariance / tf_cast(scale, x.dtype), -1.0, 1.0)
    return tf_reshape(found, []) if x.shape.rank == 1 else found


@operation
def correlate(x1, x2, mode="valid"):
    """Return the sums of products of x1 with x2 moved along it.

    Args:
      mode: "valid" where x2 lies within x1, "same" for as many as x1 has elements, "full" for all that touch.
    """
    x1, x2 = promoted(tensor(x1), tensor(x2))
    dtype = x1.dtype if x1.dtype.is_floating else "float64" if x1.dtype == "int64" else "float32"
    x1, x2 = tf_cast(x1, dtype), tf_cast(x2, dtype)
    n, m = _sizes(x1)[0], _sizes(x2)[0]
    if mode == "full":
        before = after = m - 1
    elif mode == "same":
        out = reductions.max([n, m])
        before = m - 1 - (n + m - 1 - out) // 2
        after = out - 1 - before + m - n
    elif mode == "valid":
        before = after = 0
    else:
        raise ValueError(f"Invalid mode: '{mode}'. Mode must be one of: 'full', 'same', 'valid'.")
    signal = tf_pad(x1, [[before, after]])
    products = tf_conv1d(tf_reshape(signal, [1, -1, 1]), tf_reshape(x2, [-1, 1, 1]), 1, "VALID")
    return tf_reshape(products, [-1])


@operation
def cdist(x: Any, y: Any):
    """Return the Euclidean distances of each row of x to each row of y.

    Args:
      x: a tensor, or what can be converted to one.
      y: another tensor, whose rows are as long.
    """
    x, y = floats(x, y)
    if static_rank(x) < 2 or static_rank(y) < 2:
        raise ValueError("`cdist` inputs must have rank >= 2")
    if not x.shape[-1:].is_compatible_with(y.shape[-1:]):
        raise ValueError("Last dimension of inputs to `cdist` must match")
    apart = tf_expand_dims(x, -2) - tf_expand_dims(y, -3)
    return tf_sqrt(tf_reduce_sum(tf_square(apart), -1))


__all__ = public_names(globals())

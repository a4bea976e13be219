"""Inverses, determinants and linear equations."""

from __future__ import annotations

import importlib
import itertools
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.band import MatrixBandPart
from tapeflow.ops.array.tensor_diagonal import eye
from tapeflow.ops.control.flow import cond
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math import arithmetic, elementwise
from tapeflow.ops.numeric import factorizations
from tapeflow.ops.old_spelling import old_spelling
from tapeflow.ops.static import size_of
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

DENSE = {"T": (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.complex64, dtypes.complex128)}


def matrices(x: Any, i: int = 0, square: bool = False):
    """Refuses what is not a stack of (square) matrices as input `i`."""
    if x.ndim < 2:
        raise invalid(f"Input tensor {i} must have rank >= 2, got {x.ndim}")
    if square and x.shape[-1] != x.shape[-2]:
        raise invalid(f"Input matrix must be square, got {shape_text(x.shape)}")


def wide(x: Any):
    """LAPACK knows no half precision."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def _solve_rule(call: ShapeCall):
    a, b = shapes.square(call.shape(0)), shapes.at_least(call.shape(1), 2)
    if a is None or b is None:
        return [b if a is None else (*a[:-1], None)]
    batch = shapes.merge(a[:-2], b[:-2]) or ()
    return [(*batch, shapes.same_dimension(a[-1], b[-2]), b[-1])]


def square_shape(call: ShapeCall):
    return [shapes.square(call.shape(0))]


def adjoint_of(xp: ModuleType, x: Array):
    return xp.conj(xp.swapaxes(x, -1, -2))


def well_conditioned(x: np.ndarray):
    return x + 3 * np.eye(x.shape[-2], x.shape[-1])

REAL = {"T": (dtypes.float64, dtypes.float32)}


def eliminated(a, b):
    """The solutions of A X = B by Gauss's elimination."""
    out = np.zeros(b.shape)
    for at in np.ndindex(a.shape[:-2]):
        m = np.concatenate([a[at], b[at]], 1)
        n = len(m)
        for i in range(n):
            pivot = i + int(np.argmax(np.abs(m[i:, i])))
            m[[i, pivot]] = m[[pivot, i]]
            m[i] /= m[i, i]
            for j in range(n):
                if j != i:
                    m[j] -= m[j, i] * m[i]
        out[at] = m[:, n:]
    return out


def _check_equations(matrix: Any, rhs: Any):
    matrices(matrix, 0, square=True)
    matrices(rhs, 1)
    if matrix.shape[-1] != rhs.shape[-2]:
        raise invalid(
            f"Input matrix and rhs are incompatible: {shape_text(matrix.shape)} vs. {shape_text(rhs.shape)}"
        )


@op(
    "MatrixSolve",
    "matrix: T, rhs: T -> output: T",
    types=DENSE,
    attrs={"adjoint": False},
    shape=_solve_rule,
)
def MatrixSolve(xp: ModuleType, matrix: Array, rhs: Array, adjoint: bool):
    if matrix.ndim != rhs.ndim:
        raise invalid("All input tensors must have the same rank.")
    if matrix.ndim >= 2 and matrix.shape[-1] != matrix.shape[-2]:
        raise invalid("First input (lhs) must be a square matrix.")
    _check_equations(matrix, rhs)
    if matrix.shape[:-2] != rhs.shape[:-2]:
        raise invalid(
            f"Batch dimensions of matrix and rhs must be equal: {shape_text(matrix.shape)} vs. {shape_text(rhs.shape)}"
        )
    a = wide(matrix)
    try:
        return xp.linalg.solve(adjoint_of(xp, a) if adjoint else a, wide(rhs)).astype(matrix.dtype)
    except np.linalg.LinAlgError:
        raise invalid("Input matrix is not invertible.") from None


MatrixSolve.batching(batching.leading(least=[2, 2]))


@MatrixSolve.gradient(needs="matrix, output")
def _(call: GradientCall, dy: Tensor):
    x = call.output
    of_rhs = MatrixSolve(call.matrix, dy, not call.adjoint)
    product = (
        matmul(x, of_rhs, adjoint_b=True) if call.adjoint else matmul(of_rhs, x, adjoint_b=True)
    )
    return elementwise.Neg(product), of_rhs


@MatrixSolve.samples
def _(rng: SampleGenerator):
    yield Sample(well_conditioned(rng.normal(3, 3)), rng.normal(3, 2))
    yield Sample(well_conditioned(rng.normal(2, 2, 2)), rng.normal(2, 2, 1), adjoint=True)
    for adjoint in (False, True):  # of several blocks
        large = well_conditioned(rng.normal(2, 45, 45) / 5)
        yield Sample(large, rng.normal(2, 45, 19), adjoint=adjoint, differentiable=False)
    yield Sample(np.zeros((0, 2, 2)), np.zeros((0, 2, 3)), differentiable=False)
    yield Sample(np.zeros((2, 2)), rng.normal(2, 1), raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), rng.normal(2, 1), raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 2), rng.normal(3, 1), raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 2), rng.normal(2), raises=InvalidArgumentError)


MatrixSolve.reference(
    lambda matrix, rhs, adjoint: eliminated(matrix.swapaxes(-1, -2) if adjoint else matrix, rhs)
)
old_spelling(MatrixSolve, "BatchMatrixSolve", REAL)


@api("linalg.solve", v1="matrix_solve")
@tensor_function
def solve(
    matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solve systems of linear equations, `matrix @ X = rhs`.

    Args:
      matrix: square matrices `[..., M, M]` of a floating (not bfloat16) or complex dtype.
      rhs: right sides `[..., M, K]` of that dtype.
      adjoint: whether `matrix` is transposed and conjugated first.
      name: a name for the operation (optional).

    Returns:
      X, `[..., M, K]`.

    Raises:
      InvalidArgumentError: for singular matrices, and for shapes that do not fit.

    >>> tf.linalg.solve([[2.0, 0.0], [1.0, 1.0]], [[4.0], [5.0]])
    <tf.Tensor: shape=(2, 1), dtype=float32, numpy=
    array([[2.],
           [3.]], dtype=float32)>
    """
    return MatrixSolve(matrix, rhs, bool(adjoint))


def _triangular_shape(call: ShapeCall):
    a, b = shapes.square(call.shape(0)), shapes.at_least(call.shape(1), 2)
    if a is None or b is None:
        return [None]
    batch = shapes.broadcast(a[:-2], b[:-2])
    assert batch is not None
    return [(*batch, shapes.same_dimension(a[-1], b[-2]), b[-1])]


@op(
    "MatrixTriangularSolve",
    "matrix: T, rhs: T -> output: T",
    types={"T": (*DENSE["T"], dtypes.bfloat16)},
    attrs={"lower": True, "adjoint": False},
    shape=_triangular_shape,
    broadcast=True,
)
def MatrixTriangularSolve(xp: ModuleType, matrix: Array, rhs: Array, lower: bool, adjoint: bool):
    return solve_triangular(xp, matrix, rhs, lower, adjoint)


def broadcast_batch(matrix: Array, rhs: Array) -> tuple[int, ...]:
    """The batch dimensions of both. Raises InvalidArgumentError where they do not fit."""
    try:
        return np.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    except ValueError:
        raise invalid(
            f"Incompatible batch shapes: {shape_text(matrix.shape)} vs. {shape_text(rhs.shape)}"
        ) from None


def solve_triangular(xp: ModuleType, matrix: Array, rhs: Array, lower: bool, adjoint: bool):
    _check_equations(matrix, rhs)
    batch = broadcast_batch(matrix, rhs)
    a, b = wide(matrix), wide(rhs)
    a = xp.broadcast_to(a, (*batch, *a.shape[-2:]))
    b = xp.broadcast_to(b, (*batch, *b.shape[-2:]))
    if xp is not np:
        mode = 2 if adjoint else 0
        solver = importlib.import_module("jax.scipy.linalg").solve_triangular
        return solver(a, b, trans=mode, lower=lower).astype(matrix.dtype)
    if adjoint:
        a, lower = adjoint_of(np, a), not lower
    with np.errstate(all="ignore"):
        return factorizations.solve_triangular(a, b, lower).astype(matrix.dtype)


@MatrixTriangularSolve.gradient(needs="matrix, output")
def _(call: GradientCall, dy: Tensor):
    x = call.output
    of_rhs = MatrixTriangularSolve(call.matrix, dy, call.lower, not call.adjoint)
    product = (
        matmul(x, of_rhs, adjoint_b=True) if call.adjoint else matmul(of_rhs, x, adjoint_b=True)
    )
    band = (-1, 0) if call.lower else (0, -1)
    return MatrixBandPart(elementwise.Neg(product), *band), of_rhs


@MatrixTriangularSolve.samples
def _(rng: SampleGenerator):
    yield Sample(well_conditioned(np.tril(rng.normal(3, 3))), rng.normal(3, 2))
    yield Sample(well_conditioned(rng.normal(2, 2, 2)), rng.normal(2, 1), lower=False)
    yield Sample(well_conditioned(rng.normal(3, 3)), rng.normal(2, 3, 1), adjoint=True)
    yield Sample(well_conditioned(rng.normal(2, 2)), rng.normal(2, 1), lower=False, adjoint=True)
    yield Sample(well_conditioned(rng.normal(2, 2)), rng.normal(3, 2, 1))
    for lower, adjoint in itertools.product((False, True), repeat=2):  # of several blocks
        large = well_conditioned(rng.normal(2, 75, 75) / 8)
        yield Sample(large, rng.normal(2, 75, 19), lower=lower, adjoint=adjoint, differentiable=False)
    yield Sample(rng.normal(2, 3), rng.normal(2, 1), raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 2), rng.normal(3, 1), raises=InvalidArgumentError)


@MatrixTriangularSolve.reference
def _(matrix: np.ndarray, rhs: np.ndarray, lower: bool, adjoint: bool):
    a = np.tril(matrix) if lower else np.triu(matrix)
    a = a.swapaxes(-1, -2) if adjoint else a
    batch = np.broadcast_shapes(a.shape[:-2], rhs.shape[:-2])
    return eliminated(
        np.broadcast_to(a, batch + a.shape[-2:]), np.broadcast_to(rhs, batch + rhs.shape[-2:])
    )


old_spelling(MatrixTriangularSolve, "BatchMatrixTriangularSolve", REAL)


@api("linalg.triangular_solve", v1="matrix_triangular_solve")
@tensor_function
def triangular_solve(
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Tensor:
    """Solve systems of linear equations with triangular matrices.

    Args:
      matrix: `[..., M, M]` of a floating or complex dtype; the other triangle is not read.
      rhs: right sides `[..., M, K]` of that dtype. The dimensions before broadcast.
      lower: whether the matrices are lower triangles, not upper ones.
      adjoint: whether they are transposed and conjugated first.
      name: a name for the operation (optional).

    Returns:
      X, `[..., M, K]`; a zero on the diagonal gives what is not finite.

    Raises:
      InvalidArgumentError: for shapes that do not fit.

    >>> tf.linalg.triangular_solve([[2.0, 0.0], [1.0, 1.0]], [[4.0], [5.0]])
    <tf.Tensor: shape=(2, 1), dtype=float32, numpy=
    array([[2.],
           [3.]], dtype=float32)>
    """
    return MatrixTriangularSolve(matrix, rhs, bool(lower), bool(adjoint))


@api("linalg.cholesky_solve", v1="cholesky_solve")
@tensor_function
def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None):
    """Solve `A @ X = rhs` by the Cholesky factor of A.

    Args:
      chol: lower triangles `[..., M, M]` of a floating or complex dtype, from `tf.linalg.cholesky`.
      rhs: right sides `[..., M, K]` of that dtype.
      name: a name for the operation (optional).

    Returns:
      X, `[..., M, K]`.

    >>> a = [[4.0, 2.0], [2.0, 3.0]]
    >>> tf.linalg.cholesky_solve(tf.linalg.cholesky(a), [[8.0], [8.0]]).numpy().round(3)
    array([[1.],
           [2.]], dtype=float32)
    """
    chol = convert_to_tensor(chol)
    return MatrixTriangularSolve(chol, MatrixTriangularSolve(chol, rhs, True, False), True, True)


@api("linalg.lstsq", v1="matrix_solve_ls")
@tensor_function
def lstsq(
    matrix: TensorLike, rhs: TensorLike, l2_regularizer: float = 0.0, fast: bool = True, name: str | None = None
):
    """Solve linear equations in the sense of least squares.

    X makes `|matrix @ X - rhs|**2 + l2_regularizer * |X|**2` least; of several such the one of least norm.

    Args:
      matrix: `[..., M, N]` of a floating or complex dtype.
      rhs: right sides `[..., M, K]` of that dtype.
      l2_regularizer: a scalar, which makes bad conditions better; only where `fast`.
      fast: whether to solve the normal equations by Cholesky's method, which needs a full rank; else by a singular
        value decomposition.
      name: a name for the operation (optional).

    Returns:
      X, `[..., N, K]`.

    >>> tf.linalg.lstsq([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]], [[1.0], [4.0], [5.0]])
    <tf.Tensor: shape=(2, 1), dtype=float32, numpy=
    array([[1.],
           [2.]], dtype=float32)>
    """
    matrix = convert_to_tensor(matrix)
    rhs = convert_to_tensor(rhs, dtype=matrix.dtype)
    if not fast:
        from tapeflow.ops.linalg.matrix_function import pinv

        return matmul(pinv(matrix), rhs)
    m, n = size_of(matrix, -2), size_of(matrix, -1)
    if not isinstance(m, int) or not isinstance(n, int):
        return cond(
            convert_to_tensor(m) >= n,
            lambda: _least_squares(matrix, rhs, l2_regularizer, n, True),
            lambda: _least_squares(matrix, rhs, l2_regularizer, m, False),
        )
    return _least_squares(matrix, rhs, l2_regularizer, min(m, n), m >= n)


def _least_squares(matrix, rhs, l2_regularizer, size, tall):
    """By the normal equations, which are `size` many."""
    gram = matmul(matrix, matrix, adjoint_a=tall, adjoint_b=not tall)
    ridge = arithmetic.Mul(eye(size, dtype=matrix.dtype), l2_regularizer)
    gram = arithmetic.AddV2(gram, ridge)
    if tall:
        return MatrixSolve(gram, matmul(matrix, rhs, adjoint_a=True))
    return matmul(matrix, MatrixSolve(gram, rhs), adjoint_a=True)

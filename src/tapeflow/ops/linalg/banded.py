"""Triangular equations of matrices given by their bands."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.diagonal import MatrixDiagPartV3
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.solve import DENSE, broadcast_batch, solve_triangular, wide
from tapeflow.ops.linalg.tridiagonal import check, padded
from tapeflow.ops.math import arithmetic, elementwise, reduction
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


def _banded_rule(call):
    a, b = shapes.at_least(call.shape(0), 2), shapes.at_least(call.shape(1), 2)
    if a is not None and None not in a[-2:] and a[-2] > a[-1]:
        raise invalid(f"Number of bands {a[-2]} cannot exceed the size of the matrix {a[-1]}")
    if a is None or b is None:
        return [None]
    batch = shapes.broadcast(a[:-2], b[:-2])
    assert batch is not None
    return [(*batch, shapes.same_dimension(a[-1], b[-2]), b[-1])]


@op(
    "BandedTriangularSolve",
    "matrix: T, rhs: T -> output: T",
    types=DENSE,
    attrs={"lower": True, "adjoint": False},
    shape=_banded_rule,
)
def BandedTriangularSolve(xp: ModuleType, matrix: Array, rhs: Array, lower: bool, adjoint: bool):
    if matrix.ndim < 2:
        raise invalid(f"In[0] ndims must be >= 2: {matrix.ndim}")
    check(matrix.shape[-1], rhs, matrix)
    bands, n = matrix.shape[-2:]
    if bands > n:
        raise invalid(f"Matrix of {n} columns has {bands} bands")
    if xp is np and (matrix[..., 0 if lower else -1, :] == 0).any():
        raise invalid("Input matrix is not invertible.")
    if xp is np:
        return _substituted(matrix, rhs, lower, adjoint)
    dense = xp.zeros((*matrix.shape[:-2], n, n), matrix.dtype)
    for i in range(bands):
        if lower:
            dense = dense + xp.eye(n, k=-i, dtype=matrix.dtype) * matrix[..., i, :, None]
        else:
            dense = dense + xp.eye(n, k=bands - 1 - i, dtype=matrix.dtype) * matrix[..., i, :, None]
    return solve_triangular(xp, dense, rhs, lower, adjoint)


def _substituted(matrix: Array, rhs: Array, lower: bool, adjoint: bool):
    """The solutions, row by row."""
    a, b = wide(matrix), wide(rhs)
    (bands, n), forward = a.shape[-2:], lower != adjoint
    x = np.array(np.broadcast_to(b, (*broadcast_batch(a, b), *b.shape[-2:])))
    with np.errstate(all="ignore"):
        for i in range(n) if forward else reversed(range(n)):
            for k in (*range(1, bands), 0):
                j = i - k if forward else i + k
                if not 0 <= j < n:
                    continue
                value = a[..., k if lower else bands - 1 - k, j if adjoint else i, None]
                value = value.conj() if adjoint else value
                if k:
                    x[..., i, :] -= value * x[..., j, :]
                else:
                    x[..., i, :] /= value
    return x.astype(matrix.dtype)


@BandedTriangularSolve.gradient(needs="matrix, output")
def _(call: GradientCall, dy: Tensor):
    x = call.output
    of_rhs = BandedTriangularSolve(call.matrix, dy, call.lower, not call.adjoint)
    left, right = (x, of_rhs) if call.adjoint else (of_rhs, x)
    bands = call.matrix.shape.as_list()[-2] if call.matrix.shape.rank else None
    if bands is not None:
        right, rows = conj(right), []
        for k in range(bands) if call.lower else reversed(range(bands)):
            # What stands k rows above, for upper triangles below.
            moved = padded(right[..., : -k or None, :] if call.lower else right[..., k:, :],
                           [(k, 0) if call.lower else (0, k), (0, 0)])  # fmt: skip
            rows.append(reduction.Sum(arithmetic.Mul(left, moved), [-1]))
        return elementwise.Neg(stack(rows, -2)), of_rhs
    product = matmul(left, right, adjoint_b=True)
    last = Shape(call.matrix)[-2] - 1
    diagonals = stack([-last, 0] if call.lower else [0, last])
    return MatrixDiagPartV3(elementwise.Neg(product), diagonals, 0, "LEFT_RIGHT"), of_rhs


@BandedTriangularSolve.samples
def _(rng: SampleGenerator):
    low, high = np.array([[3.0], [0.0]]), np.array([[0.0], [3.0]])
    yield Sample(rng.normal(2, 3) + low, rng.normal(3, 2))
    yield Sample(rng.normal(2, 3) + high, rng.normal(3, 1), lower=False)
    yield Sample(rng.normal(2, 3) + low, rng.normal(3, 2), adjoint=True)
    yield Sample(rng.normal(2, 3) + high, rng.normal(3, 2), lower=False, adjoint=True)
    yield Sample(rng.normal(2, 2, 3) + low, rng.normal(2, 3, 1))
    yield Sample(rng.normal(2, 4) + low, rng.normal(1, 4, 2), differentiable=False)
    yield Sample(rng.normal(2, 3), rng.normal(4, 2), raises=InvalidArgumentError)


@BandedTriangularSolve.reference
def _(matrix: np.ndarray, rhs: np.ndarray, lower: bool, adjoint: bool):
    if rhs.ndim > matrix.ndim:
        return np.stack([_solved(matrix, r, lower, adjoint) for r in rhs])
    if matrix.ndim > 2:
        return np.stack([_solved(m, r, lower, adjoint) for m, r in zip(matrix, rhs, strict=True)])
    return _solved(matrix, rhs, lower, adjoint)


def _solved(matrix: np.ndarray, rhs: np.ndarray, lower: bool, adjoint: bool):
    first, second = matrix
    dense = np.diag(first) + np.diag(second[1:], -1) if lower else np.diag(second) + np.diag(first[:-1], 1)
    return np.linalg.solve(dense.conj().T if adjoint else dense, rhs)


@api(v2="linalg.banded_triangular_solve")
@tensor_function
def banded_triangular_solve(
    bands, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solve systems of linear equations with triangular matrices of few diagonals.

    Args:
      bands: `[..., number of diagonals, M]` of a floating or complex dtype, the main diagonal first for lower
        triangles and last for upper ones; lower diagonals end, and upper ones begin, with elements that are not
        read.
      rhs: right sides `[..., M, K]` of that dtype.
      lower: whether the matrices are lower triangles, not upper ones.
      adjoint: whether they are transposed and conjugated first.
      name: a name for the operation (optional).

    Returns:
      X, `[..., M, K]`.
    """
    return BandedTriangularSolve(bands, rhs, bool(lower), bool(adjoint))

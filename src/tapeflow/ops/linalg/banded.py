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
from tapeflow.ops.linalg.solve import DENSE, solve_triangular
from tapeflow.ops.linalg.tridiagonal import check
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


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
    dense = xp.zeros((*matrix.shape[:-2], n, n), matrix.dtype)
    for i in range(bands):
        if lower:
            dense = dense + xp.eye(n, k=-i, dtype=matrix.dtype) * matrix[..., i, :, None]
        else:
            dense = dense + xp.eye(n, k=bands - 1 - i, dtype=matrix.dtype) * matrix[..., i, :, None]
    return solve_triangular(xp, dense, rhs, lower, adjoint)


@BandedTriangularSolve.samples
def _(rng: SampleGenerator):
    yield Sample(
        rng.normal(2, 3) + np.array([[3.0], [0.0]]), rng.normal(3, 2), differentiable=False
    )
    yield Sample(
        rng.normal(2, 3) + np.array([[0.0], [3.0]]),
        rng.normal(3, 1),
        lower=False,
        differentiable=False,
    )
    yield Sample(rng.normal(2, 3), rng.normal(4, 2), raises=InvalidArgumentError)


@BandedTriangularSolve.reference
def _(matrix: np.ndarray, rhs: np.ndarray, lower: bool, adjoint: bool):
    first, second = matrix
    if lower:
        return np.linalg.solve(np.diag(first) + np.diag(second[1:], -1), rhs)
    return np.linalg.solve(np.diag(second) + np.diag(first[:-1], 1), rhs)


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

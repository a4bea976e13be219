"""Rows that compute with sparse matrices in variant tensors: products, sums, transposes, factors."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.array.transposing import Transpose
from tapeflow.ops.linalg.matmul import BatchMatMulV2
from tapeflow.ops.lists.payload import dtype_of
from tapeflow.ops.math.conjugate import Conj
from tapeflow.ops.signature import dtype
from tapeflow.ops.sparse import csr_payload
from tapeflow.ops.sparse.csr_matrix import (
    BATCH,
    DENSE,
    VALUES,
    CSRSparseMatrixToSparseTensor,
    DenseToCSRSparseMatrix,
    sample_matrix,
)
from tapeflow.ops.sparse.csr_payload import CSRMatrix, boxed, check_shape, matrix_in, of_entries
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator

_TURNS = {"transpose_a": False, "transpose_b": False, "adjoint_a": False, "adjoint_b": False}


@op("SparseMatrixMatMul", "a: variant, b: T -> output: T", types={"T": VALUES},
    attrs={**_TURNS, "transpose_output": False, "conjugate_output": False}, shape=shapes.unknown)  # fmt: skip
def SparseMatrixMatMul(
    xp: ModuleType, a: np.ndarray, b: np.ndarray, transpose_a: bool, transpose_b: bool, adjoint_a: bool,
    adjoint_b: bool, transpose_output: bool, conjugate_output: bool,
):  # fmt: skip
    left = matrix_in(a, dtype_of(b)).turned(transpose_a, adjoint_a, "a")
    if transpose_b and adjoint_b:
        raise invalid("Only one of adjoint_b and transpose_b may be true.")
    if b.ndim != len(left.shape):
        raise invalid(f"Matrices of ranks {len(left.shape)} and {b.ndim} cannot be multiplied")
    if transpose_b or adjoint_b:
        b = np.swapaxes(b.conj() if adjoint_b else b, -1, -2)
    if left.batch != b.shape[:-2] or left.shape[-1] != b.shape[-2]:
        raise invalid(
            f"Cannot multiply matrices of shapes {shape_text(left.shape)} and {shape_text(b.shape)}"
        )
    out = csr_payload.times_dense(left, b)
    out = out.reshape(*left.batch, *out.shape[-2:])
    out = np.swapaxes(out, -1, -2) if transpose_output else out
    return np.ascontiguousarray(out.conj() if conjugate_output else out)


@SparseMatrixMatMul.gradient(needs="a, b")
def _(call: GradientCall, dy: Tensor):
    kind = call.dtype("b")
    if call.conjugate_output:
        dy = _conjugate(dy)
    if call.transpose_output:
        dy = _swapped(dy)
    if call.adjoint_a:
        db = SparseMatrixMatMul(call.a, dy)
    elif call.transpose_a:
        db = SparseMatrixMatMul(call.a, _conjugate(dy), conjugate_output=True)
    else:
        db = SparseMatrixMatMul(call.a, dy, adjoint_a=True)
    b = call.b
    if call.transpose_b or call.adjoint_b:
        db, b = _swapped(db), _swapped(b)
    if call.adjoint_b:
        db, b = _conjugate(db), _conjugate(b)
    da = BatchMatMulV2(dy, b, adj_y=True)
    if call.transpose_a or call.adjoint_a:
        da = _swapped(da)
    if call.adjoint_a:
        da = _conjugate(da)
    return DenseToCSRSparseMatrix(da, CSRSparseMatrixToSparseTensor(call.a, kind).indices), db


def _conjugate(x):
    return Conj(x) if x.dtype.is_complex else x


def _swapped(x):
    rank = x.shape.rank
    return Transpose(x, [*range(rank - 2), rank - 1, rank - 2])


@SparseMatrixMatMul.samples
def _(rng: SampleGenerator):
    b = np.arange(12.0).reshape(3, 4)
    yield Sample(sample_matrix(DENSE), b, expect=DENSE @ b, differentiable=False)
    yield Sample(sample_matrix(DENSE), b.T.copy(), transpose_b=True, expect=DENSE @ b, differentiable=False)
    yield Sample(sample_matrix(DENSE), b[:2], transpose_a=True, expect=DENSE.T @ b[:2], differentiable=False)
    yield Sample(sample_matrix(DENSE), b, transpose_output=True, expect=(DENSE @ b).T, differentiable=False)
    both = np.stack([b, b + 1])
    yield Sample(sample_matrix(BATCH), both, expect=BATCH @ both, differentiable=False)
    yield Sample(sample_matrix(DENSE * 1j), b[:2] * (1 + 1j), adjoint_a=True, conjugate_output=True,
                 expect=((DENSE * 1j).conj().T @ (b[:2] * (1 + 1j))).conj(), differentiable=False)  # fmt: skip
    yield Sample(sample_matrix(DENSE), b[:2], raises=InvalidArgumentError)
    yield Sample(sample_matrix(DENSE), b[0], raises=InvalidArgumentError)
    yield Sample(sample_matrix(DENSE), b, transpose_b=True, adjoint_b=True, raises=InvalidArgumentError)


@op("SparseMatrixSparseMatMul", "a: variant, b: variant -> c: variant", attrs={"type": dtype, **_TURNS},
    shape=shapes.scalar)  # fmt: skip
def SparseMatrixSparseMatMul(
    xp: ModuleType, a: Array, b: Array, type: DType, transpose_a: bool, transpose_b: bool, adjoint_a: bool,
    adjoint_b: bool,
):
    left = matrix_in(a, type).turned(transpose_a, adjoint_a, "a")
    right = matrix_in(b, type).turned(transpose_b, adjoint_b, "b")
    return boxed(csr_payload.times_sparse(left, right))


SparseMatrixSparseMatMul.gradient(None)


@SparseMatrixSparseMatMul.samples
def _(rng):
    kind = {"type": dtypes.float64}
    square = DENSE.T @ DENSE
    yield Sample(sample_matrix(DENSE), sample_matrix(DENSE), **kind, transpose_a=True, expect=sample_matrix(square))
    yield Sample(sample_matrix(DENSE), sample_matrix(DENSE), **kind, adjoint_b=True,
                 expect=sample_matrix(DENSE @ DENSE.T))  # fmt: skip
    yield Sample(sample_matrix(BATCH), sample_matrix(BATCH), **kind, transpose_a=True,
                 expect=sample_matrix(np.swapaxes(BATCH, 1, 2) @ BATCH))  # fmt: skip
    yield Sample(sample_matrix(DENSE), sample_matrix(DENSE), **kind, raises=InvalidArgumentError)
    yield Sample(sample_matrix(DENSE), sample_matrix(BATCH), **kind, raises=InvalidArgumentError)


@op("SparseMatrixTranspose", "input: variant -> output: variant", attrs={"type": dtype, "conjugate": False},
    shape=shapes.scalar)  # fmt: skip
def SparseMatrixTranspose(xp: ModuleType, input: Array, type: DType, conjugate: bool):
    return boxed(matrix_in(input, type).transposed(conjugate))


@SparseMatrixTranspose.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return SparseMatrixTranspose(dy, call.type, call.conjugate)


@SparseMatrixTranspose.samples
def _(rng: SampleGenerator):
    yield Sample(sample_matrix(DENSE), dtypes.float64, expect=sample_matrix(DENSE.T))
    yield Sample(sample_matrix(BATCH * 1j), dtypes.complex128, conjugate=True,
                 expect=sample_matrix(np.swapaxes(BATCH * -1j, 1, 2)))  # fmt: skip
    yield Sample(sample_matrix(DENSE), dtypes.float32, raises=InvalidArgumentError)


@op("SparseMatrixAdd", "a: variant, b: variant, alpha: T, beta: T -> c: variant", types={"T": VALUES},
    shape=shapes.scalar)  # fmt: skip
def SparseMatrixAdd(xp: ModuleType, a: np.ndarray, b: np.ndarray, alpha: np.ndarray, beta: Array):
    if alpha.ndim or beta.ndim:
        raise invalid("alpha and beta must be scalars")
    left, right = matrix_in(a, dtype_of(alpha)), matrix_in(b, dtype_of(alpha))
    return boxed(csr_payload.sum_of(left, right, alpha, beta))


SparseMatrixAdd.gradient(None)


@SparseMatrixAdd.samples
def _(rng: SampleGenerator):
    other = np.array([[0.0, 5.0, 1.0], [1.0, 0.0, 0.0]])
    yield Sample(sample_matrix(DENSE), sample_matrix(other), np.array(2.0), np.array(3.0),
                 expect=sample_matrix(2 * DENSE + 3 * other), differentiable=False)  # fmt: skip
    yield Sample(sample_matrix(DENSE), sample_matrix(other.T), np.array(2.0), np.array(3.0),
                 raises=InvalidArgumentError)  # fmt: skip


@op("SparseMatrixMul", "a: variant, b: T -> output: variant", types={"T": VALUES}, shape=shapes.scalar)
def SparseMatrixMul(xp: ModuleType, a: np.ndarray, b: np.ndarray):
    """By a scalar, or by one row for all matrices of a batch."""
    left = matrix_in(a, dtype_of(b))
    if b.ndim and not (b.ndim == 3 and left.batch and b.shape == (len(left.parts), 1, 1)):
        raise invalid(f"A sparse matrix is multiplied by one scalar for each of its batch, not {shape_text(b.shape)}")
    factors = np.broadcast_to(b.reshape(-1), len(left.parts))
    parts = [p.with_values(p.values * f) for p, f in zip(left.parts, factors, strict=True)]
    return boxed(CSRMatrix(left.shape, parts, left.dtype))


SparseMatrixMul.gradient(None)


@SparseMatrixMul.samples
def _(rng: SampleGenerator):
    yield Sample(sample_matrix(DENSE), np.array(2.0), expect=sample_matrix(2 * DENSE), differentiable=False)
    by = np.array([[[2.0]], [[3.0]]])
    yield Sample(sample_matrix(BATCH), by, expect=sample_matrix(BATCH * by), differentiable=False)
    yield Sample(sample_matrix(DENSE), np.ones(2), raises=InvalidArgumentError)


@op("SparseMatrixZeros", "dense_shape: int64 -> sparse_matrix: variant", attrs={"type": dtype}, shape=shapes.scalar)
def SparseMatrixZeros(xp: ModuleType, dense_shape: Array, type: DType):
    shape = check_shape(dense_shape)
    if type not in VALUES:
        raise invalid(f"A sparse matrix cannot have values of {type.name}")
    return boxed(of_entries(np.zeros((0, len(shape)), np.int64), np.zeros(0, type.as_numpy_dtype), shape))


SparseMatrixZeros.gradient(None)


@SparseMatrixZeros.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([2, 3]), dtypes.float64, expect=sample_matrix(np.zeros((2, 3))))
    yield Sample(np.array([2]), dtypes.float64, raises=InvalidArgumentError)


# Factors.


@op("SparseMatrixOrderingAMD", "input: variant -> output: int32", shape=shapes.unknown)
def SparseMatrixOrderingAMD(xp: ModuleType, input: Array):
    """An order of the rows in which factors have few entries: always one that has the fewest neighbours next."""
    matrix = matrix_in(input)
    _check_square(matrix)
    size = matrix.shape[-1]
    found = np.zeros((len(matrix.parts), size), np.int32)
    for out, part in zip(found, matrix.parts, strict=True):
        near: list[set[int]] = [set() for _ in range(size)]
        for i, j in zip(part.rows.tolist(), part.columns.tolist(), strict=True):
            if i != j:
                near[i].add(j)
                near[j].add(i)
        left = set(range(size))
        for place in range(size):
            best = min(left, key=lambda node: (len(near[node]), node))
            out[place] = best
            left.remove(best)
            for other in near[best]:
                near[other] |= near[best]
                near[other] -= {best, other}
    return found.reshape(*matrix.batch, size)


SparseMatrixOrderingAMD.gradient(None)


def _check_square(matrix: CSRMatrix) -> None:
    if matrix.shape[-1] != matrix.shape[-2]:
        raise invalid(f"sparse matrix must be square, got shape {shape_text(matrix.shape)}")


@SparseMatrixOrderingAMD.samples
def _(rng: SampleGenerator):
    star = np.eye(4) * 4
    star[0], star[:, 0] = 1, 1
    yield Sample(sample_matrix(star), expect=np.array([1, 2, 0, 3], np.int32))
    yield Sample(sample_matrix(DENSE), raises=InvalidArgumentError)


@op("SparseMatrixSparseCholesky", "input: variant, permutation: int32 -> output: variant", attrs={"type": dtype},
    shape=shapes.scalar)  # fmt: skip
def SparseMatrixSparseCholesky(xp: ModuleType, input: Array, permutation: Array, type: DType):
    matrix = matrix_in(input, type)
    _check_square(matrix)
    size = matrix.shape[-1]
    if permutation.shape != (*matrix.batch, size):
        raise invalid(
            f"permutation must have shape {shape_text((*matrix.batch, size))}, got {shape_text(permutation.shape)}"
        )
    orders = permutation.reshape(-1, size)
    if not (np.sort(orders, -1) == np.arange(size)).all():
        raise invalid("permutation must have each row once")
    factors = []
    for order, dense in zip(orders, matrix.dense().reshape(-1, size, size), strict=True):
        try:
            factors.append(np.linalg.cholesky(dense[np.ix_(order, order)]))
        except np.linalg.LinAlgError:
            raise invalid("Sparse Cholesky factorization failed! Input matrix is not positive definite.") from None
    whole = np.reshape(factors, matrix.shape).astype(type.as_numpy_dtype)
    at = np.argwhere(whole)
    return boxed(of_entries(at, whole[tuple(at.T)], matrix.shape))


SparseMatrixSparseCholesky.gradient(None)


@SparseMatrixSparseCholesky.samples
def _(rng: SampleGenerator):
    known = np.array([[4.0, 2.0, 0.0], [2.0, 5.0, 0.0], [0.0, 0.0, 9.0]])
    factor = np.array([[2.0, 0.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    yield Sample(sample_matrix(known), [0, 1, 2], type=dtypes.float64, expect=sample_matrix(factor))
    yield Sample(sample_matrix(known), [0, 0, 2], type=dtypes.float64, raises=InvalidArgumentError)
    yield Sample(sample_matrix(known), [0, 1], type=dtypes.float64, raises=InvalidArgumentError)
    yield Sample(sample_matrix(-known), [0, 1, 2], type=dtypes.float64, raises=InvalidArgumentError)


for _row in (
    SparseMatrixMatMul, SparseMatrixSparseMatMul, SparseMatrixTranspose, SparseMatrixAdd, SparseMatrixMul,
    SparseMatrixZeros, SparseMatrixOrderingAMD, SparseMatrixSparseCholesky,
):  # fmt: skip
    _row.compiled(never="sparse matrices are objects")

"""Rows of sparse matrices in variant tensors (CSRSparseMatrix): what makes them, and what reads them."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.indexing.gather_nd import GatherNd
from tapeflow.ops.lists.payload import element
from tapeflow.ops.signature import dtype
from tapeflow.ops.sparse.csr_payload import boxed, check_shape, matrix_in, of_entries
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

VALUES = (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)
_NEVER = "sparse matrices are objects"


def sample_matrix(dense: np.ndarray):
    """The variant of a sparse matrix, for samples."""
    dense = np.asarray(dense)
    at = np.argwhere(dense)
    return element(boxed(of_entries(at, dense[tuple(at.T)], dense.shape)), dtypes.variant)


DENSE = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
BATCH = np.stack([DENSE, DENSE[::-1] * 2])


@op("SparseTensorToCSRSparseMatrix", "indices: int64, values: T, dense_shape: int64 -> sparse_matrix: variant",
    types={"T": VALUES}, shape=shapes.scalar)  # fmt: skip
def SparseTensorToCSRSparseMatrix(
    xp: ModuleType, indices: np.ndarray, values: np.ndarray, dense_shape: np.ndarray
):
    return boxed(of_entries(indices, values, check_shape(dense_shape)))


@SparseTensorToCSRSparseMatrix.gradient(needs="indices")
def _(call: GradientCall, dmatrix: Tensor):
    dense = CSRSparseMatrixToDense(dmatrix, call.dtype("values"))
    return None, GatherNd(dense, call.indices), None


@SparseTensorToCSRSparseMatrix.samples
def _(rng: SampleGenerator):
    at = np.argwhere(DENSE)
    yield Sample(at, DENSE[tuple(at.T)], np.array([2, 3]), expect=sample_matrix(DENSE), differentiable=False)
    at = np.argwhere(BATCH)
    yield Sample(at, BATCH[tuple(at.T)], np.array([2, 2, 3]), expect=sample_matrix(BATCH), differentiable=False)
    for indices, values, shape in (
        ([[2, 0]], [1.0], [2, 3]),
        ([[0, -1]], [1.0], [2, 3]),
        ([[0, 0]], [1.0, 2.0], [2, 3]),
        ([[0]], [1.0], [2]),
        ([0], [1.0], [2, 3]),
        ([[0, 0]], [[1.0]], [2, 3]),
        ([[0, 0]], [1.0], [2, -3]),
        ([[0, 0]], [1.0], [[2, 3]]),
    ):
        yield Sample(np.array(indices), np.array(values), np.array(shape), raises=InvalidArgumentError)


@op("DenseToCSRSparseMatrix", "dense_input: T, indices: int64 -> sparse_output: variant", types={"T": VALUES},
    shape=shapes.scalar)  # fmt: skip
def DenseToCSRSparseMatrix(xp: ModuleType, dense_input: np.ndarray, indices: np.ndarray):
    shape = check_shape(dense_input.shape)
    if indices.ndim != 2 or indices.shape[1] != len(shape):
        raise invalid(f"indices must be a matrix with {len(shape)} columns, got shape {list(indices.shape)}")
    if ((indices < 0) | (indices >= np.array(shape))).any():
        raise invalid("indices are not all inside of the dense input")
    return boxed(of_entries(indices, dense_input[tuple(indices.T)], shape))


@DenseToCSRSparseMatrix.gradient(needs="")
def _(call: GradientCall, dmatrix: Tensor):
    return CSRSparseMatrixToDense(dmatrix, call.dtype("dense_input")), None


@DenseToCSRSparseMatrix.samples
def _(rng: SampleGenerator):
    yield Sample(DENSE, np.argwhere(DENSE), expect=sample_matrix(DENSE), differentiable=False)
    yield Sample(BATCH, np.argwhere(BATCH), expect=sample_matrix(BATCH), differentiable=False)
    yield Sample(DENSE, np.array([[2, 0]]), raises=InvalidArgumentError)
    yield Sample(DENSE, np.array([0]), raises=InvalidArgumentError)
    yield Sample(DENSE[0], np.array([[0]]), raises=InvalidArgumentError)


def _reading(call: ShapeCall):
    return [None]


@op("CSRSparseMatrixToDense", "sparse_input: variant -> dense_output: type", attrs={"type": dtype}, shape=_reading)
def CSRSparseMatrixToDense(xp: ModuleType, sparse_input: Array, type: DType):
    return matrix_in(sparse_input, type).dense()


@CSRSparseMatrixToDense.gradient(needs="sparse_input")
def _(call: GradientCall, dy: Tensor):
    found = CSRSparseMatrixToSparseTensor(call.sparse_input, call.type)
    return DenseToCSRSparseMatrix(dy, found.indices)


@CSRSparseMatrixToDense.samples
def _(rng: SampleGenerator):
    for dense in (DENSE, BATCH):
        yield Sample(sample_matrix(dense), type=dtypes.float64, expect=dense)
    yield Sample(sample_matrix(DENSE), type=dtypes.float32, raises=InvalidArgumentError)


@op("CSRSparseMatrixToSparseTensor", "sparse_matrix: variant -> indices: int64, values: type, dense_shape: int64",
    attrs={"type": dtype}, shape=lambda call: [(None, None), (None,), (None,)])  # fmt: skip
def CSRSparseMatrixToSparseTensor(xp: ModuleType, sparse_matrix: Array, type: DType):
    matrix = matrix_in(sparse_matrix, type)
    columns = [np.concatenate([p[i] for p in matrix.parts]) if matrix.parts else np.zeros(0) for i in range(3)]
    if matrix.batch:
        columns.insert(0, np.repeat(np.arange(len(matrix.parts)), [len(p.rows) for p in matrix.parts]))
    indices = np.stack(columns[:-1], -1).astype(np.int64)
    return indices, columns[-1].astype(type.as_numpy_dtype), np.array(matrix.shape, np.int64)


@CSRSparseMatrixToSparseTensor.gradient(needs="indices, dense_shape")
def _(call: GradientCall, dindices: Tensor, dvalues: Tensor, dshape: Tensor):
    return SparseTensorToCSRSparseMatrix(call.indices, dvalues, call.dense_shape)


@CSRSparseMatrixToSparseTensor.samples
def _(rng: SampleGenerator):
    for dense in (DENSE, BATCH):
        at = np.argwhere(dense)
        yield Sample(sample_matrix(dense), type=dtypes.float64, expect=(at, dense[tuple(at.T)], np.array(dense.shape)))
    yield Sample(sample_matrix(DENSE), type=dtypes.complex64, raises=InvalidArgumentError)


@op("CSRSparseMatrixComponents",
    "csr_sparse_matrix: variant, index: int32 -> row_ptrs: int32, col_inds: int32, values: type",
    attrs={"type": dtype}, shape=lambda call: [(None,)] * 3)  # fmt: skip
def CSRSparseMatrixComponents(xp: ModuleType, csr_sparse_matrix: Array, index: Array, type: DType):
    matrix = matrix_in(csr_sparse_matrix, type)
    if index.ndim:
        raise invalid(f"index must be a scalar, but saw: {list(index.shape)}")
    number = int(index)
    if not 0 <= number < len(matrix.parts):
        raise invalid(f"index ({number}) not in [0, {len(matrix.parts)})")
    part = matrix.parts[number]
    return matrix.row_pointers(number), part.columns.astype(np.int32), part.values


CSRSparseMatrixComponents.gradient(None)


@CSRSparseMatrixComponents.samples
def _(rng: SampleGenerator):
    pointers, columns = np.array([0, 2, 3], np.int32), np.array([0, 2, 2], np.int32)
    yield Sample(sample_matrix(DENSE), 0, type=dtypes.float64, expect=(pointers, columns, np.array([1.0, 2.0, 3.0])))
    yield Sample(sample_matrix(DENSE), 1, type=dtypes.float64, raises=InvalidArgumentError)
    yield Sample(sample_matrix(DENSE), [0], type=dtypes.float64, raises=InvalidArgumentError)


@op("SparseMatrixNNZ", "sparse_matrix: variant -> nnz: int32", shape=_reading)
def SparseMatrixNNZ(xp: ModuleType, sparse_matrix: Array):
    matrix = matrix_in(sparse_matrix)
    return np.array([len(p.rows) for p in matrix.parts], np.int32).reshape(matrix.batch)


SparseMatrixNNZ.gradient(None)


@SparseMatrixNNZ.samples
def _(rng: SampleGenerator):
    yield Sample(sample_matrix(DENSE), expect=np.array(3, np.int32))
    yield Sample(sample_matrix(BATCH), expect=np.array([3, 3], np.int32))


for _row in (
    SparseTensorToCSRSparseMatrix, DenseToCSRSparseMatrix, CSRSparseMatrixToDense, CSRSparseMatrixToSparseTensor,
    CSRSparseMatrixComponents, SparseMatrixNNZ,
):  # fmt: skip
    _row.compiled(never=_NEVER)

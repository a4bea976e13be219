"""Sparse matrices in variant tensors, as rows of columns and values (CSR): what the rows of `csr_matrix` work on."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from tapeflow.core import dtypes
from tapeflow.ops.folding import fold_at
from tapeflow.ops.validate import invalid, shape_text


class Entries(NamedTuple):
    """The entries of one matrix, by row and then by column as they came."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray

    def with_values(self, values: np.ndarray) -> Entries:
        return self._replace(values=values)

    def sorted(self) -> Entries:
        order = np.lexsort((self.columns, self.rows))
        return Entries(*(part[order] for part in self))

    def summed(self, width: int) -> Entries:
        """Sorted, with one entry for each place."""
        keys = self.rows * max(width, 1) + self.columns
        places, inverse = np.unique(keys, return_inverse=True)
        values = np.zeros(len(places), self.values.dtype)
        fold_at(np.add, values, inverse, self.values)
        return Entries(places // max(width, 1), places % max(width, 1), values)


class CSRMatrix:
    """A sparse matrix, or a batch of such of one shape.

    Args:
      shape: (rows, columns) or (batch, rows, columns).
      parts: the entries of each matrix.
    """

    def __init__(self, shape: tuple[int, ...], parts: list[Entries], dtype: Any):
        self.shape, self.parts, self.dtype = tuple(shape), parts, dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CSRMatrix) and self.shape == other.shape and self.dtype == other.dtype and all(
            np.array_equal(x, y)
            for mine, its in zip(self.parts, other.parts, strict=True)
            for x, y in zip(mine, its, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def batch(self) -> tuple[int, ...]:
        return self.shape[:-2]

    def row_pointers(self, number: int) -> np.ndarray:
        counts = np.bincount(self.parts[number].rows, minlength=self.shape[-2])
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)

    def transposed(self, conjugate: bool = False) -> CSRMatrix:
        parts = [
            Entries(p.columns, p.rows, p.values.conj() if conjugate else p.values).sorted() for p in self.parts
        ]
        return CSRMatrix((*self.batch, *self.shape[:-3:-1]), parts, self.dtype)

    def conjugated(self) -> CSRMatrix:
        return CSRMatrix(self.shape, [p.with_values(p.values.conj()) for p in self.parts], self.dtype)

    def turned(self, transpose: bool, adjoint: bool, what: str) -> CSRMatrix:
        if transpose and adjoint:
            raise invalid(f"Only one of adjoint_{what} and transpose_{what} may be true.")
        return self.transposed(adjoint) if transpose or adjoint else self

    def dense(self) -> np.ndarray:
        out = np.zeros((len(self.parts), *self.shape[-2:]), self.dtype.as_numpy_dtype)
        for matrix, p in zip(out, self.parts, strict=True):
            matrix[p.rows, p.columns] = p.values
        return out.reshape(self.shape)


def check_shape(shape: Any) -> tuple[int, ...]:
    """The shape of a sparse matrix. Raises InvalidArgumentError for what is none."""
    if np.ndim(shape) != 1:
        raise invalid(f"dense_shape must be a vector, got shape {shape_text(np.shape(shape))}")
    found = tuple(int(n) for n in shape)
    if len(found) not in (2, 3):
        raise invalid(f"SparseTensor must have rank 2 or 3; but indices has rank: {len(found)}")
    if any(not 0 <= n < 2**31 for n in found):
        raise invalid(f"A sparse matrix cannot have shape {shape_text(found)}")
    return found


def of_entries(indices: np.ndarray, values: np.ndarray, shape: tuple[int, ...]) -> CSRMatrix:
    """The matrix of values at indices. Raises InvalidArgumentError for those that are not inside of it."""
    if indices.ndim != 2 or indices.shape[1] != len(shape):
        raise invalid(f"indices must be a matrix with {len(shape)} columns, got shape {shape_text(indices.shape)}")
    if values.ndim != 1 or len(values) != len(indices):
        raise invalid(
            f"There must be as many values as indices: {shape_text(values.shape)}, {shape_text(indices.shape)}"
        )
    if ((indices < 0) | (indices >= np.array(shape, np.int64))).any():
        raise invalid(f"indices are not all inside of a matrix of shape {shape_text(shape)}")
    count = shape[0] if len(shape) == 3 else 1
    if count > 1 << 24:
        raise invalid(f"A batch of {count} matrices is too large")
    numbers = indices[:, 0] if len(shape) == 3 else np.zeros(len(indices), np.int64)
    order = np.lexsort((indices[:, -2], numbers))
    bounds = np.searchsorted(numbers[order], np.arange(count + 1))
    parts = []
    for start, stop in itertools.pairwise(bounds):
        own = order[start:stop]
        parts.append(Entries(indices[own, -2], indices[own, -1], values[own]))
    return CSRMatrix(shape, parts, dtypes.as_dtype(values.dtype))


def matrix_in(x: Any, dtype: Any = None) -> CSRMatrix:
    """The matrix that a scalar variant holds. Raises InvalidArgumentError for another variant, or another dtype."""
    found = x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x
    if not isinstance(found, CSRMatrix):
        raise invalid(f"The variant holds no CSRSparseMatrix, but {type(found).__name__}")
    if dtype is not None and found.dtype != dtype:
        raise invalid(f"The sparse matrix has values of {found.dtype.name}, not {dtype.name}")
    return found


def boxed(matrix: CSRMatrix) -> np.ndarray:
    box = np.empty((), object)
    box[()] = matrix
    return box


# Products.


def times_dense(a: CSRMatrix, b: np.ndarray) -> np.ndarray:
    """a @ b for a dense `b` of as many matrices, or of one."""
    b = b.reshape(-1, *b.shape[-2:])
    out = np.zeros((len(a.parts), a.shape[-2], b.shape[-1]), b.dtype)
    for i, p in enumerate(a.parts):
        fold_at(np.add, out[i], p.rows, p.values[:, None] * b[i if len(b) > 1 else 0][p.columns])
    return out


def times_sparse(a: CSRMatrix, b: CSRMatrix) -> CSRMatrix:
    """a @ b."""
    if a.batch != b.batch or a.shape[-1] != b.shape[-2]:
        raise invalid(f"Cannot multiply matrices of shapes {shape_text(a.shape)} and {shape_text(b.shape)}")
    parts = []
    for i, (p, q) in enumerate(zip(a.parts, b.parts, strict=True)):
        starts = b.row_pointers(i).astype(np.int64)
        counts = np.diff(starts)[p.columns]
        mine = np.repeat(np.arange(len(p.rows)), counts)
        within = np.arange(len(mine)) - np.repeat(np.cumsum(counts) - counts, counts)
        its = starts[p.columns[mine]] + within
        parts.append(Entries(p.rows[mine], q.columns[its], p.values[mine] * q.values[its]).summed(b.shape[-1]))
    return CSRMatrix((*a.batch, a.shape[-2], b.shape[-1]), parts, a.dtype)


def sum_of(a: CSRMatrix, b: CSRMatrix, alpha: Any = 1, beta: Any = 1) -> CSRMatrix:
    """alpha * a + beta * b."""
    if a.shape != b.shape or a.dtype != b.dtype:
        raise invalid(f"Cannot add matrices of shapes {shape_text(a.shape)} and {shape_text(b.shape)}")
    parts = []
    for p, q in zip(a.parts, b.parts, strict=True):
        values = np.concatenate([p.values * alpha, q.values * beta]).astype(a.dtype.as_numpy_dtype)
        joined = Entries(np.concatenate([p.rows, q.rows]), np.concatenate([p.columns, q.columns]), values)
        parts.append(joined.summed(a.shape[-1]))
    return CSRMatrix(a.shape, parts, a.dtype)

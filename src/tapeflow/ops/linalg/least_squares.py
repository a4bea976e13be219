"""Least squares and nearest points: MatrixSolveLs and NearestNeighbors."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.old_spelling import old_spelling
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

_TYPES = (dtypes.float64, dtypes.float32, dtypes.complex64, dtypes.complex128)


def _rule(call: ShapeCall):
    matrix, rhs = call.shape(0), call.shape(1)
    if matrix is None or rhs is None:
        return [None]
    if len(matrix) != len(rhs):
        raise invalid(f"Shapes must be equal rank, but are {len(matrix)} and {len(rhs)}")
    shapes.same_dimension(matrix[-2], rhs[-2])
    return [(*matrix[:-2], matrix[-1], rhs[-1])]


@op("MatrixSolveLs", "matrix: T, rhs: T, l2_regularizer: float64 -> output: T", types={"T": _TYPES},
    attrs={"fast": True}, ranks="matrix: 2+, rhs: 2+, l2_regularizer: 0", shape=_rule)  # fmt: skip
def MatrixSolveLs(xp: ModuleType, matrix: np.ndarray, rhs: Array, l2_regularizer: Array, fast: bool):
    """By the normal equations if `fast`; else the solution of the least norm, without regularisation."""
    if matrix.ndim < 2 or rhs.ndim != matrix.ndim:
        raise invalid(f"Input matrix and rhs must be matrices, got {shape_text(matrix.shape)}, {shape_text(rhs.shape)}")
    if l2_regularizer.ndim:
        raise invalid(f"l2_regularizer must be scalar, got {shape_text(l2_regularizer.shape)}")
    if float(l2_regularizer) < 0:
        raise invalid("l2_regularizer must be >= 0")
    if matrix.shape[:-1] != rhs.shape[:-1]:
        raise invalid(
            f"Input matrix and rhs must have the same number of rows, got {shape_text(matrix.shape)}, "
            f"{shape_text(rhs.shape)}"
        )
    rows, columns = matrix.shape[-2:]
    adjoint = matrix.swapaxes(-1, -2).conj()
    if 0 in (rows, columns, rhs.shape[-1]) or not matrix.size:
        return np.zeros((*matrix.shape[:-2], columns, rhs.shape[-1]), matrix.dtype)
    if not fast:
        return np.linalg.pinv(matrix) @ rhs
    extra = np.eye(min(rows, columns), dtype=matrix.dtype) * matrix.dtype.type(l2_regularizer)
    try:
        if rows >= columns:
            return np.linalg.solve(adjoint @ matrix + extra, adjoint @ rhs)
        return adjoint @ np.linalg.solve(matrix @ adjoint + extra, rhs)
    except np.linalg.LinAlgError:
        raise invalid("Input matrix was rank deficient or ill-conditioned. Try setting fast=False") from None


MatrixSolveLs.gradient(None)
MatrixSolveLs.compiled(never="it looks at values")


@MatrixSolveLs.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(4, 2), rng.normal(4, 3), np.float64(0.1))
    yield Sample(rng.normal(2, 4), rng.normal(2, 1), np.float64(0.1))
    yield Sample(rng.normal(2, 3, 2), rng.normal(2, 3, 1), np.float64(0.0))
    yield Sample(rng.normal(4, 2), rng.normal(4, 3), np.float64(0.0), fast=False)
    yield Sample(rng.normal(4, 2), rng.normal(3, 3), np.float64(0.1), raises=InvalidArgumentError)
    yield Sample(rng.normal(4, 2), rng.normal(4), np.float64(0.1), raises=InvalidArgumentError)
    yield Sample(rng.normal(4, 2), rng.normal(4, 1), np.array([0.1]), raises=InvalidArgumentError)
    yield Sample(rng.normal(4, 2), rng.normal(4, 1), np.float64(-0.1), raises=InvalidArgumentError)


@MatrixSolveLs.reference
def _(matrix: np.ndarray, rhs: np.ndarray, l2_regularizer: np.ndarray, fast: bool):
    """As a problem without regularisation, of more rows."""
    out = np.zeros((*matrix.shape[:-2], matrix.shape[-1], rhs.shape[-1]))
    for at in np.ndindex(*matrix.shape[:-2]):
        more = np.sqrt(l2_regularizer) * np.eye(matrix.shape[-1])
        tall = np.vstack([matrix[at], more])
        out[at] = np.linalg.lstsq(tall, np.vstack([rhs[at], np.zeros((matrix.shape[-1], rhs.shape[-1]))]))[0]
    return out


old_spelling(MatrixSolveLs, "BatchMatrixSolveLs", types={"T": (dtypes.float64, dtypes.float32)})


# That NearestNeighbors holds at once.
_MOST_DISTANCES = 1 << 20


def _nearest_rule(call):
    points, centers, k = call.shape(0), call.shape(1), shapes.scalar_value(call, 2)
    known = centers is not None and centers[0] is not None and k is not None
    shape = (None if points is None else points[0], min(k, centers[0]) if known and k >= 0 else None)
    return [shape, shape]


@op("NearestNeighbors",
    "points: float32, centers: float32, k: int64 -> nearest_center_indices: int64, nearest_center_distances: float32",
    shape=_nearest_rule)  # fmt: skip
def NearestNeighbors(xp: ModuleType, points: Array, centers: Any, k: Any):
    if points.ndim != 2 or centers.ndim != 2:
        raise invalid("Input points and centers should be matrices.")
    if points.shape[1] != centers.shape[1]:
        raise invalid(f"Expected point_dimensions == center_dimensions: {points.shape[1]} vs {centers.shape[1]}.")
    if k.ndim or k < 0:
        raise invalid("k should be a scalar that is not negative.")
    if not len(points) or not len(centers):
        raise invalid("Expected points.rows() > 0 and centers.rows() > 0.")
    count = int(min(k, len(centers)))
    indices = np.empty((len(points), count), np.int64)
    nearest = np.empty((len(points), count), np.float32)
    half_norms = np.float32(0.5) * (centers * centers).sum(1)
    stretch = max(1, _MOST_DISTANCES // len(centers))
    for start in range(0, len(points), stretch):
        part = slice(start, start + stretch)
        # Half the squared distance, less half the squared norm of the point.
        halves = half_norms - points[part] @ centers.T
        if count == 1:
            order = halves.argmin(-1)[:, None]
        else:
            order = np.argsort(halves, -1, kind="stable")[:, :count]
        norms = (points[part] * points[part]).sum(1, keepdims=True)
        indices[part] = order
        nearest[part] = 2 * np.take_along_axis(halves, order, -1) + norms
    return indices, nearest


NearestNeighbors.gradient(None)
NearestNeighbors.compiled(never="it looks at values")


@NearestNeighbors.samples
def _(rng):
    points, centers = np.float32([[0, 0], [3, 3]]), np.float32([[0, 1], [3, 2], [9, 9]])
    found = np.array([[0, 1], [1, 0]]), np.float32([[1, 13], [1, 13]])
    yield Sample(points, centers, np.int64(2), expect=found)
    yield Sample(points, centers, np.int64(0), expect=(np.zeros((2, 0), np.int64), np.zeros((2, 0), np.float32)))
    yield Sample(points, centers[:, :1], np.int64(1), raises=InvalidArgumentError)
    yield Sample(points[0], centers, np.int64(1), raises=InvalidArgumentError)
    yield Sample(points, centers, np.int64(-1), raises=InvalidArgumentError)

"""Matrices made of their diagonals."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.bands import ALIGN, DEFAULT_ALIGN, band_of, with_band
from tapeflow.ops.array.diagonal import (
    MatrixDiagPart,
    MatrixDiagPartV3,
    one_value_of,
    padding_of,
    zero,
)
from tapeflow.ops.old_spelling import old_spelling
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import invalid, one_value, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _diag_rule(call: ShapeCall):
    shape = shapes.at_least(call.shape(0), 1)
    return [None if shape is None else (*shape, shape[-1])]


@op(
    "MatrixDiag",
    "diagonal: T -> output: T",
    types={"T": ANY},
    shape=_diag_rule,
)
def MatrixDiag(xp: ModuleType, diagonal: Array):
    if diagonal.ndim < 1:
        raise invalid(
            f"diagonal must be at least 1-dim, received shape: {shape_text(diagonal.shape)}"
        )
    n = diagonal.shape[-1]
    empty = xp.full((*diagonal.shape, n), zero(diagonal.dtype), dtype=diagonal.dtype)
    return with_band(xp, empty, diagonal, 0, 0, DEFAULT_ALIGN)


MatrixDiag.batching(batching.leading(least=[1]))


@MatrixDiag.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return MatrixDiagPart(dy)


@MatrixDiag.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3))
    yield Sample(rng.normal(2, 3))
    yield Sample(np.asarray(1.0), raises=InvalidArgumentError)


MatrixDiag.reference(lambda diagonal: diagonal[..., None] * np.eye(diagonal.shape[-1]))
old_spelling(MatrixDiag, "BatchMatrixDiag")


def _diag_size(diagonal: Any, low: int, high: int, num_rows: int, num_columns: int):
    """The size of the smallest matrix that the diagonals fit, where it is not given."""
    if low != high and (diagonal.ndim < 2 or diagonal.shape[-2] != high - low + 1):
        raise invalid("The number of diagonals provided in the input does not match the band")
    return _matrix_size(low, high, diagonal.shape[-1], num_rows, num_columns)


def _matrix_size(low: int, high: int, length: int, num_rows: int, num_columns: int):
    least_rows, least_columns = length - min(high, 0), length + max(low, 0)
    rows, columns = num_rows, num_columns
    if rows == -1 and columns == -1:
        rows = columns = max(least_rows, least_columns)
    rows = least_rows if rows == -1 else rows
    columns = least_columns if columns == -1 else columns
    if rows < least_rows:
        raise invalid(f"The number of rows is too small: {rows} < {least_rows}")
    if columns < least_columns:
        raise invalid(f"The number of columns is too small: {columns} < {least_columns}")
    if rows != least_rows and columns != least_columns:
        raise invalid(
            "The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal."
        )
    return rows, columns


def _matrix_rule(call: ShapeCall):
    diagonal, k = shapes.at_least(call.shape(0), 1), call.value(1)
    rows, columns = (shapes.scalar_value(call, i) for i in (2, 3))
    if diagonal is None or k is None:
        return [None]
    low, high = band_of(k)
    packed = 1 if low == high else 2
    shapes.at_least(diagonal, packed)
    if packed == 2:
        shapes.exactly(diagonal[-2], high - low + 1)
    batch, width = diagonal[:-packed], diagonal[-1]
    if width is None or rows is None or columns is None:
        sizes = tuple(None if n is None or n < 0 else n for n in (rows, columns))
        return [(*batch, *sizes)]
    return [(*batch, *_matrix_size(low, high, width, rows, columns))]


def _diag_row(name: str, **attrs):
    @op(
        name,
        "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T",
        types={"T": ANY},
        attrs=attrs,
        ranks="k: 0-1, padding_value: 0",
        shape=_matrix_rule,
    )
    def row(
        xp: ModuleType, diagonal: Array, k: Array, num_rows: Array, num_cols: Array, padding_value: Array,
        align="LEFT_LEFT",
    ):
        if diagonal.ndim < 1:
            raise invalid(
                f"diagonal must be at least 1-dim, received shape: {shape_text(diagonal.shape)}"
            )
        low, high = band_of(k)
        rows, columns = _diag_size(
            diagonal,
            low,
            high,
            one_value(num_rows, "num_rows must be a scalar"),
            one_value(num_cols, "num_cols must be a scalar"),
        )
        batch = diagonal.shape[:-1] if low == high else diagonal.shape[:-2]
        empty = xp.full((*batch, rows, columns), one_value_of(padding_value), dtype=diagonal.dtype)
        return with_band(xp, empty, diagonal, low, high, align)

    @row.gradient(needs="k")
    def _(call: GradientCall, dy: Tensor):
        align = call.align if "align" in attrs else "LEFT_LEFT"
        return MatrixDiagPartV3(dy, call.k, 0, align), None, None, None, None

    @row.samples
    def _(rng: SampleGenerator):
        band = np.array([0, 1], np.int32)
        yield Sample(rng.normal(3), 0, -1, -1, 0.0, differentiable=(0,))
        yield Sample(rng.normal(2, 3), 1, -1, -1, 0.0, differentiable=(0,))
        yield Sample(rng.normal(2, 3), band, 3, 4, 5.0, differentiable=(0,))
        yield Sample(rng.normal(3), 0, 2, 2, 0.0, raises=InvalidArgumentError)
        yield Sample(rng.normal(3), 0, 7, 9, 0.0, raises=InvalidArgumentError)
        yield Sample(np.asarray(1.0), 0, -1, -1, 0.0, raises=InvalidArgumentError)

    @row.reference
    def _(
        diagonal: np.ndarray, k: np.ndarray, num_rows: np.ndarray, num_cols: np.ndarray, padding_value: np.ndarray,
        align: str = "LEFT_LEFT",
    ):
        low, high = int(np.ravel(k)[0]), int(np.ravel(k)[-1])
        if low == high:
            one = [np.diag(d, low) for d in diagonal.reshape(-1, diagonal.shape[-1])]
            return np.array(one).reshape(*diagonal.shape[:-1], *one[0].shape)
        out = np.full((int(num_rows), int(num_cols)), padding_value)
        for r in range(out.shape[0]):
            for c in range(out.shape[1]):
                if low <= c - r <= high:
                    out[r, c] = diagonal[high - (c - r), min(r, c)]
        return out

    return row


MatrixDiagV2 = _diag_row("MatrixDiagV2")
MatrixDiagV3 = _diag_row("MatrixDiagV3", align=ALIGN)


@api("linalg.diag", v1="matrix_diag")
@tensor_function
def diag(
    diagonal: TensorLike, name: str | None = "diag", k: int = 0, num_rows: TensorLike = -1, num_cols: TensorLike = -1,
    padding_value: TensorLike = 0, align: str = DEFAULT_ALIGN,
):
    """Make matrices with given diagonals.

    Args:
      diagonal: the diagonals, `[..., n]` of one diagonal or `[..., number of diagonals, n]` packed as by
        `tf.linalg.diag_part`.
      name: a name for the operation (optional).
      k: which diagonal, or the lowest and the highest: 0 is the main one, positive numbers are above it.
      num_rows, num_cols: the size of the matrices; -1: as small as can be.
      padding_value: what stands elsewhere, a scalar of the dtype of `diagonal`.
      align: how diagonals shorter than the longest are packed, see `tf.linalg.diag_part`.

    Returns:
      A tensor `[..., num_rows, num_cols]` of the dtype of `diagonal`.

    Raises:
      InvalidArgumentError: where the diagonals do not fit in the matrices.

    >>> tf.linalg.diag([1, 2])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 0],
           [0, 2]], dtype=int32)>
    >>> tf.linalg.diag([1, 2], k=1, padding_value=9)
    <tf.Tensor: shape=(3, 3), dtype=int32, numpy=
    array([[9, 1, 9],
           [9, 9, 2],
           [9, 9, 9]], dtype=int32)>
    """
    diagonal = convert_to_tensor(diagonal)
    return MatrixDiagV3(
        diagonal, k, num_rows, num_cols, padding_of(padding_value, diagonal.dtype), align
    )

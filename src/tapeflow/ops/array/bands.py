"""Bands of matrices, and their diagonals packed in a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from tapeflow.core.annotations import Array, TensorLike
from tapeflow.ops.signature import one_of
from tapeflow.ops.validate import invalid, shape_text

ALIGN = one_of("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT", default="RIGHT_LEFT")
DEFAULT_ALIGN = "RIGHT_LEFT"


def band_of(k: Any) -> tuple[int, int]:
    """The lowest and the highest diagonal that `k` names: one number, or two."""
    k = np.asarray(k)
    if k.ndim > 1 or k.size not in (1, 2):
        raise invalid(
            f"diag_index must be a scalar or vector with 1 or 2 elements, received shape: {shape_text(k.shape)}"
        )
    low, high = int(k.ravel()[0]), int(k.ravel()[-1])
    if low > high:
        raise invalid(f"lower_diag_index must not be larger than upper_diag_index: {low} > {high}")
    return low, high


def check_band(low: int, high: int, rows, columns: int):
    for what, at in (("lower", low), ("upper", high)):
        if not (-rows < at < columns or at == 0):
            raise invalid(
                f"{what}_diag_index is out of bound: {at}. It must be between {-rows} and {columns}"
            )


def _places(low: int, high: int, rows: int, columns: int, align: str):
    """For each diagonal from the highest down: its row in the packed form, where in that row, where in the matrix."""
    width = min(rows + min(high, 0), columns - max(low, 0))
    upper_left, lower_left = align.startswith("LEFT"), align.endswith("LEFT")
    for i, d in enumerate(range(high, low - 1, -1)):
        length = min(rows + min(d, 0), columns - max(d, 0))
        left = upper_left if d >= 0 else lower_left
        start = 0 if left else width - length
        along = np.arange(length)
        yield i, start + along, along - min(d, 0), along + max(d, 0)


def width_of_band(low: int, high: int, rows, columns: int):
    return min(rows + min(high, 0), columns - max(low, 0))


def _written(xp: ModuleType, target: Any, at: Sequence[Any], values: Any):
    """`target` with `values` at `at`; JAX's arrays do not change in place."""
    if xp is np:
        target[at] = values
        return target
    return target.at[at].set(values)


def packed_diagonals(xp: ModuleType, matrix: Array, low: int, high: int, align: str, padding: TensorLike):
    rows, columns = matrix.shape[-2:]
    check_band(low, high, rows, columns)
    count, width = high - low + 1, width_of_band(low, high, rows, columns)
    out = xp.full((*matrix.shape[:-2], count, width), padding, dtype=matrix.dtype)
    for i, place, row, column in _places(low, high, rows, columns, align):
        out = _written(xp, out, (..., i, place), matrix[..., row, column])
    return out[..., 0, :] if count == 1 else out


def with_band(xp: ModuleType, matrix: Array, diagonal: Array, low: int, high: int, align: str):
    """A fresh matrix with the packed `diagonal` written into it."""
    rows, columns = matrix.shape[-2:]
    check_band(low, high, rows, columns)
    count, width = high - low + 1, width_of_band(low, high, rows, columns)
    expected = (*matrix.shape[:-2], width) if count == 1 else (*matrix.shape[:-2], count, width)
    if diagonal.ndim == 0:
        raise invalid("diagonal must be at least 1-dim, received shape: []")
    if diagonal.shape != expected:
        raise invalid(
            "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not "
            "equal to the longests diagonal in range [lower_diag_index:upper_diag_index].\n"
            f"Input shape: {shape_text(matrix.shape)}\nDiagonal shape: {shape_text(diagonal.shape)}\n"
            f"Expected diagonal shape: {shape_text(expected)}"
        )
    if count == 1:
        diagonal = diagonal[..., None, :]
    out = matrix.copy()
    for i, place, row, column in _places(low, high, rows, columns, align):
        out = _written(xp, out, (..., row, column), diagonal[..., i, place])
    return out


def require_matrix(input: Any):
    if input.ndim < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {shape_text(input.shape)}")

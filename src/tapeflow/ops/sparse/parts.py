"""What kernels of sparse tensors ask of the three parts of one, and do with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.ops.folding import fold_at
from tapeflow.ops.validate import dimensions, invalid, shape_text


def checked(indices: Any, values: np.ndarray, shape, in_range: bool = True) -> tuple[int, ...]:
    """The dense shape, after a look at all parts."""
    if indices.ndim != 2:
        raise invalid(
            f"Input indices should be a matrix but received shape {shape_text(indices.shape)}"
        )
    if values.ndim != 1:
        raise invalid(
            f"Input values should be a vector but received shape {shape_text(values.shape)}"
        )
    if shape.ndim != 1:
        raise invalid(
            f"Input shape should be a vector but received shape {shape_text(shape.shape)}"
        )
    if len(indices) != len(values):
        raise invalid(
            f"Number of values must match first dimension of indices. Got {len(values)} values, indices shape: "
            f"{shape_text(indices.shape)}"
        )
    if indices.shape[1] != len(shape):
        raise invalid(
            f"Number of dimensions must match second dimension of indices. Got {len(shape)} dimensions, "
            f"indices shape: {shape_text(indices.shape)}"
        )
    sizes = dimensions(shape, "shape")
    if in_range:
        require_inside(indices, sizes)
    return sizes


def require_inside(indices: Any, sizes: Sequence[int]) -> None:
    outside = ((indices < 0) | (indices >= np.array(sizes, np.int64).reshape(1, -1))).any(1)
    if len(sizes) and outside.any():
        i = int(outside.argmax())
        place = ",".join(str(int(v)) for v in indices[i])
        raise invalid(
            f"indices[{i}] = [{place}] is out of bounds: need 0 <= index < {shape_text(sizes)}"
        )


def order(indices: np.ndarray) -> np.ndarray:
    """The permutation that brings indices into the order of rows."""
    if indices.shape[1] == 0:
        return np.arange(len(indices))
    return np.lexsort(indices.T[::-1])


def places(indices: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Each index as one number."""
    out = np.zeros(len(indices), np.int64)
    for column, size in zip(indices.T, sizes, strict=True):
        out = out * size + column
    return out


def grouped(keys) -> tuple[np.ndarray, np.ndarray]:
    """(the first of each run of equal rows of sorted keys, the run that each row belongs to)."""
    if not len(keys):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    new = np.ones(len(keys), bool)
    new[1:] = (keys[1:] != keys[:-1]).any(axis=tuple(range(1, keys.ndim)))
    return np.flatnonzero(new), np.cumsum(new) - 1


def summed(values: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    """The sums of the values of each row: [count, ...] from rows [n] below `count` and values [n, ...]."""
    out = np.zeros((count, *values.shape[1:]), values.dtype)
    fold_at(np.add, out, rows, values)
    return out

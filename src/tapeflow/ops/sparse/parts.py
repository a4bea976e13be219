"""What kernels of sparse tensors ask of the three parts of one, and do with them."""

from __future__ import annotations

import math
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


def outside(indices: np.ndarray, sizes: Sequence[int]) -> int | None:
    """The first index that is not inside of the shape, None where all are."""
    columns = list(zip(indices.T, sizes, strict=True))
    if not len(indices) or all(column.min() >= 0 and column.max() < size for column, size in columns):
        return None
    return int(np.any([(column < 0) | (column >= size) for column, size in columns], 0).argmax())


def require_inside(indices: Any, sizes: Sequence[int]) -> None:
    i = outside(indices, sizes)
    if i is not None:
        place = ",".join(str(int(v)) for v in indices[i])
        raise invalid(
            f"indices[{i}] = [{place}] is out of bounds: need 0 <= index < {shape_text(sizes)}"
        )


def order(indices: np.ndarray) -> np.ndarray:
    """The permutation that brings indices into the order of rows."""
    return _ordered(indices)[0]


def ordered_runs(indices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(`order` of indices, the first of each run of equal ones in it, the run that each belongs to)."""
    by, keys = _ordered(indices)
    return by, *grouped(keys[by])


def _ordered(indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(the permutation into the order of rows, what tells the indices apart)."""
    if indices.shape[1] == 0 or not len(indices):
        return np.arange(len(indices)), indices
    numbers = _numbered(indices)
    if numbers is None:
        return np.lexsort(indices.T[::-1]), indices
    return np.argsort(numbers, kind="stable"), numbers  # quick where much is in order already


def _numbered(indices: np.ndarray) -> np.ndarray | None:
    """Numbers that compare as the indices do, of which there is one at least; None where they would be too large."""
    columns = indices.T
    sizes = [int(column.max()) + 1 for column in columns]
    if math.prod(sizes) > np.iinfo(np.int64).max or any(column.min() < 0 for column in columns):
        return None
    return places(indices, sizes)


def require_order(indices: Any, end: str = "") -> None:
    """Raises InvalidArgumentError, with `end`, unless each index comes after the one before it, row by row."""
    count = max(len(indices) - 1, 0)
    after, same = np.zeros(count, bool), np.ones(count, bool)
    for column in indices.T:
        after |= same & (column[1:] > column[:-1])
        same &= column[1:] == column[:-1]
    if not after.all():
        i = int(after.argmin()) + 1
        what = "repeated" if same[i - 1] else "out of order"
        place = ",".join(str(int(v)) for v in indices[i])
        raise invalid(
            f"indices[{i}] = [{place}] is {what}. Many sparse ops require sorted indices.\n"
            f"    Use `tf.sparse.reorder` to create a correctly ordered copy.{end}"
        )


def places(indices: Any, sizes: Sequence[int]) -> np.ndarray:
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

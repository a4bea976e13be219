"""The partitions of ragged tensors: vectors of places, lengths or rows, and whether they fit the values.

Each check says it twice: of arrays, which is quick, and as assertions, which raise and which graphs hold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import Shape, Size
from tapeflow.ops.control import grouping
from tapeflow.ops.control.assertions import assert_equal_v1, assert_less_v1, assert_non_negative_v1
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.static import static_value

INDEX = (dtypes.int32, dtypes.int64)

_RAGGED = "Arguments to {} do not form a valid RaggedTensor"
_PARTITION = "Arguments to {} do not form a valid RowPartition"


class Check(NamedTuple):
    """Whether a partition, of a number of values, is right, and the operations that see to it."""

    holds: Callable[..., bool]
    assertions: Callable[..., list[Any]]


def partition(value: Any, name: str, dtype: Any = None) -> Any:
    """A vector of places or lengths, of int32 or int64. Raises ValueError for another dtype."""
    if hasattr(value, "dtype"):
        tensor = convert_to_tensor(value)
    else:
        tensor = convert_to_tensor(value, dtype, dtypes.int64)
    if tensor.dtype not in INDEX:
        raise ValueError(f"{name} must have dtype int32 or int64, got {tensor.dtype.name}")
    return tensor


def integers(value: Any, name: str, dtype: Any) -> Any:
    """A tensor of integers, as numbers of `dtype`. Raises TypeError for other numbers than integers."""
    tensor = convert_to_tensor(value) if hasattr(value, "dtype") else convert_to_tensor(value, dtype_hint=dtype)
    if not tensor.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor; dtype={tensor.dtype}")
    return cast(tensor, dtype)


def required(validate: bool, values: Any, tensor: Any, check: Check, *others: Any) -> Any:
    """`tensor`, a partition of the values, once `check` finds no fault, unless it is not to `validate`.

    Raises InvalidArgumentError for a fault, now or when the graph runs, as soon as what it takes is known.
    """
    if not validate:
        return tensor
    known, count = [static_value(t) for t in (tensor, *others)], static_rows(values)
    if count is not None and all(k is not None for k in known):
        if check.holds(known[0], count, *known[1:]):
            return tensor
    found = check.assertions(tensor, cast(row_count(values), tensor.dtype), *others)
    with grouping.control_dependencies([op for op in found if op is not None]):
        return identity(tensor)


def row_count(values: Any) -> Any:
    return values.nrows() if hasattr(values, "nrows") else Shape(values)[0]


def static_rows(values: Any) -> int | None:
    shape = values.shape
    return None if shape.rank is None else shape.as_list()[0]


def _rising(x: Any, message: str) -> Any:
    return assert_non_negative_v1(x[1:] - x[:-1], message=message)


def _splits_hold(splits: np.ndarray, count: int) -> bool:
    return bool(
        len(splits) and splits[0] == 0 and splits[-1] == count and (np.diff(splits) >= 0).all()
    )


def _splits_asserted(splits: Any, count: Any) -> list[Any]:
    words = _RAGGED.format("from_row_splits")
    return [
        assert_equal_v1(splits[0], cast(0, splits.dtype), message=f"{words}:zero"),
        _rising(splits, f"{words}:monotonic"),
        assert_equal_v1(splits[-1], count, message=_RAGGED.format("_from_row_partition")),
    ]


def _splits_read(splits: Any, count: Any) -> list[Any]:
    end = "Final value of ragged splits must match the length the corresponding ragged values."
    return [
        assert_equal_v1(splits[0], cast(0, splits.dtype), message="First value of ragged splits must be 0."),
        _rising(splits, "Ragged splits should be non decreasing"),
        assert_equal_v1(splits[-1], count, message=end),
    ]


def _lengths_hold(lengths: np.ndarray, count: int) -> bool:
    return bool((lengths >= 0).all() and lengths.sum() == count)


def _lengths_asserted(lengths: Any, count: Any) -> list[Any]:
    return [
        assert_non_negative_v1(lengths, message=_PARTITION.format("from_row_lengths")),
        assert_equal_v1(
            reduce_sum(lengths), count, message=_RAGGED.format("_from_row_partition")
        ),
    ]


def _rowids_hold(rowids: np.ndarray, count: int, rows: Any = None) -> bool:
    if len(rowids) != count:
        return False
    if not count:
        return True
    below = rows is None or rowids[-1] < rows
    return bool(rowids[0] >= 0 and below and (np.diff(rowids) >= 0).all())


def _rowids_asserted(rowids: Any, count: Any, rows: Any = None) -> list[Any]:
    words = _PARTITION.format("from_value_rowids")
    found = [
        assert_non_negative_v1(rowids[:1], message=words),
        _rising(rowids, words),
        assert_equal_v1(
            Size(rowids, rowids.dtype), count, message=_RAGGED.format("_from_row_partition")
        ),
    ]
    if rows is not None:
        found.append(assert_less_v1(rowids[-1:], cast(rows, rowids.dtype), message=words))
    return found


def _uniform_holds(length: np.ndarray, count: int, rows: np.ndarray) -> bool:
    return bool(length >= 0 and int(length) * int(rows) == count)


def _uniform_asserted(length: Any, count: Any, rows: Any) -> list[Any]:
    told = ["uniform_row_length", length, "times nrows", rows, "must equal nvals", count]
    return [
        assert_non_negative_v1(length, message=_PARTITION.format("from_uniform_row_length")),
        assert_equal_v1(length * rows, count, told),
    ]


SPLITS = Check(_splits_hold, _splits_asserted)
READ_SPLITS = Check(_splits_hold, _splits_read)  # of a tensor that was made without being validated
LENGTHS = Check(_lengths_hold, _lengths_asserted)
ROWIDS = Check(_rowids_hold, _rowids_asserted)
UNIFORM = Check(_uniform_holds, _uniform_asserted)

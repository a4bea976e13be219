"""`ragged[key]`: rows by number and slice, and slices inside of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core.annotations import Tensor
from tapeflow.core.context import executing_eagerly
from tapeflow.core.convert import is_tensor
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.rows import identity
from tapeflow.ops.control import assertions
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math import arithmetic, division
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.ragged.functions import boolean_mask as masked
from tapeflow.ops.ragged.functions import expand_dims, gather_rows, ranges_of
from tapeflow.ops.ragged.tensor import RaggedTensor
from tapeflow.ops.static import static_value


def getitem(ragged: RaggedTensor, key: Any):
    """Raises ValueError for a number inside of a ragged dimension, as rows may be shorter than that."""
    if isinstance(key, RaggedTensor):
        return masked(ragged, key)
    return _picked(ragged, list(key) if isinstance(key, (tuple, list)) else [key])


def _picked(ragged: Tensor | RaggedTensor, keys: Sequence[int]):
    if not keys:
        return ragged
    if not isinstance(ragged, RaggedTensor):
        return ragged[tuple(keys)]
    first, rest = keys[0], keys[1:]
    if first is Ellipsis:
        return _picked(ragged, _without_ellipsis(rest, ragged.shape.rank))
    if first is None:
        whole = _picked(ragged, rest) if rest else ragged

        return expand_dims(whole, 0)
    if isinstance(first, slice):
        rows = _rows(ragged, first)
        if ragged.uniform_row_length is not None and rows.uniform_row_length is None:
            rows = RaggedTensor.from_uniform_row_length(
                rows.values, ragged.uniform_row_length, rows.nrows(), validate=False
            )
        return _inside(rows, rest)
    start, limit = _ends(ragged, first)
    return _picked(ragged.values[start:limit], rest)


def _without_ellipsis(rest: Sequence[Any], rank: int | None) -> list[Any]:
    """The keys after `...`, with one slice for each dimension that it stands for."""
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    missing = rank - sum(k is not None and k is not Ellipsis for k in rest)
    if missing < 0:
        raise IndexError("Too many indices for RaggedTensor")
    return [slice(None)] * missing + list(rest)


def _ends(ragged: RaggedTensor, key: Any) -> tuple[Any, Any]:
    """Where a row begins and ends in the values: numbers, where they are known.

    Raises IndexError for a row after the last, which ends a loop, and what tensors raise for other keys that are no
    number of a row.
    """
    starts, limits = ragged.row_splits[:-1], ragged.row_splits[1:]
    number = static_value(key) if isinstance(key, int) or hasattr(key, "dtype") else None
    if number is not None and not number.ndim and executing_eagerly():
        rows = int(ragged.nrows())
        if int(number) >= rows:
            raise IndexError(f"Row key {key} out of bounds")
    start, limit = starts[key], limits[key]
    known = static_value(start), static_value(limit)
    if known[0] is not None and known[1] is not None:
        return int(known[0]), int(known[1])
    return start, limit


def _rows(ragged: RaggedTensor, part):
    if part == slice(None):
        return ragged
    if part.step in (None, 1):
        starts, limits = ragged.row_starts()[part], ragged.row_limits()[part]
        return gather_ranges(ragged, starts, limits)

    return gather_rows(ragged, range_(ragged.nrows())[part])


def gather_ranges(ragged, starts, limits):
    """The rows that begin and end in these places of the values."""
    lengths = limits - starts
    return RaggedTensor.from_row_lengths(
        gather_rows(ragged.values, ranges_of(starts, lengths)), lengths, validate=False
    )


def _inside(ragged, keys):
    """The rest of a key, applied to each row."""
    if not keys:
        return ragged
    first, rest = keys[0], keys[1:]
    if first is Ellipsis:
        return _inside(ragged, _without_ellipsis(rest, ragged.values.shape.rank))
    if first is None:
        return _inside(expand_dims(ragged, 1), [slice(None), *rest])
    if not isinstance(first, slice):
        if ragged.uniform_row_length is None:
            raise ValueError("Cannot index into an inner ragged dimension.")
        length = cast(ragged.uniform_row_length, ragged.row_splits.dtype)
        number = _within(cast(first, length.dtype), length)
        at = ragged.row_starts() + where(number < 0, number + length, number)
        return _inside_values(gather_rows(ragged.values, at), rest)
    cut = ragged if first == slice(None) else _cut(ragged, first)
    return cut.with_values(_inside_values(cut.values, rest)) if rest else cut


def _within(number: Tensor, length: Tensor) -> Tensor:
    """The number of an element of rows of one length, checked when it is known."""
    message = "Index out of bounds when indexing into a ragged tensor"
    checks = [
        assertions.assert_greater_equal(number, -length, message=message),
        assertions.assert_less(number, length, message=message),
    ]
    with control_dependencies([check for check in checks if check is not None]):
        return identity(number)


def _inside_values(values, keys):
    if not keys:
        return values
    if isinstance(values, RaggedTensor):
        return _inside(values, keys)
    return values[(slice(None), *keys)]


def _is_offset(bound: Any) -> bool:
    return bound is None or isinstance(bound, (int, np.integer)) or is_tensor(bound)


def _cut(ragged: RaggedTensor, part):
    step = 1 if part.step is None else part.step
    if not all(_is_offset(bound) for bound in (part.start, part.stop)):
        raise TypeError("slice offsets must be integers or None")
    if not _is_offset(step):
        raise TypeError("slice strides must be integers or None")
    if isinstance(step, int) and step == 0:
        raise ValueError("slice step cannot be zero")
    back = isinstance(step, int) and step < 0
    kind = ragged.row_splits.dtype
    lengths = ragged.row_lengths()
    low, high = (-1, lengths - 1) if back else (0, lengths)

    def bound(value: Any, default: Tensor) -> Tensor:
        if value is None:
            return default
        value = cast(value, kind)
        return arithmetic.minimum(arithmetic.maximum(where(value < 0, value + lengths, value), low), high)

    nothing = lengths * 0
    start, stop = bound(part.start, high if back else nothing), bound(part.stop, nothing - 1 if back else high)
    places = ragged.row_starts() + start
    if isinstance(step, int) and step == 1:
        return gather_ranges(ragged, places, arithmetic.maximum(places + stop - start, places))
    step = cast(step, kind)
    counts = arithmetic.maximum(-division.floordiv(start - stop, step), 0)
    picked = RaggedTensor.from_row_lengths(ranges_of(nothing, counts), counts, validate=False)
    at = gather(places, picked.value_rowids()) + picked.values * step
    return picked.with_values(gather_rows(ragged.values, at))

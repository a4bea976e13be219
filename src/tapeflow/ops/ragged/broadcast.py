"""Ragged and dense tensors brought to the rows that they share, so that they combine value by value.

Dimensions are matched from the last one on. Two match where they are equally long, row by row, or where one is
uniform and of size one; a tensor of smaller rank has dimensions of size one in front.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.ops.array.construction import ones_like
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.control.assertions import assert_equal_v1
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.ragged.tensor import (
    RaggedTensor,
    as_ragged_or_tensor,
    rowids_of_splits,
    splits_of_lengths,
)
from tapeflow.ops.static import static_value

_MISMATCH = "Unable to broadcast: dimension size mismatch in dimension"


def _rank(value: Any) -> int:
    rank = value.shape.rank
    if rank is None:
        raise ValueError(
            "The rank of a tensor that is combined with a ragged one must be known: " + str(value)
        )
    return rank


def require_same_splits_dtype(values: Any) -> None:
    """Raises ValueError for ragged tensors whose splits are of two dtypes."""
    if len({v.row_splits.dtype for v in values if isinstance(v, RaggedTensor)}) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use "
            "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
        )


def _with_levels(value: Any, rank: int, levels: int, kind: Any) -> Any:
    """`value` as a ragged tensor of that rank, of which the first `levels` dimensions inside are partitioned."""
    for _ in range(rank - _rank(value)):
        if isinstance(value, RaggedTensor):
            value = RaggedTensor.from_uniform_row_length(value, value.nrows(), cast(1, kind))
        else:
            value = expand_dims(value, 0)
    if not isinstance(value, RaggedTensor):
        return RaggedTensor.from_tensor(value, ragged_rank=levels, row_splits_dtype=kind)
    missing = levels - value.ragged_rank
    if missing > 0:
        flat = RaggedTensor.from_tensor(
            value.flat_values, ragged_rank=missing, row_splits_dtype=kind
        )
        value = value.with_flat_values(flat)
    return value


class _Argument:
    """One of the values: the part of it at the dimension at hand, and for each row of the result the row of it."""

    def __init__(self, part: Any, at: Any):
        self.part, self.at = part, at

    def lengths(self) -> Any:
        return gather(self.part.row_lengths(), self.at)

    def is_one(self) -> Any:
        """Whether the dimension is uniform and of size one: a bool, or a tensor where only the graph knows."""
        length = self.part.uniform_row_length
        if length is None:
            return False
        known = static_value(length)
        return equal(length, 1) if known is None else int(known) == 1

    def descend(self, rows: Any, columns: Any, one: Any) -> None:
        if one is True:
            columns = columns * 0
        elif one is not False:
            columns = where(one, columns * 0, columns)
        starts = gather(self.part.row_starts(), self.at)
        self.at = gather(starts, rows) + columns
        self.part = self.part.values


def _checked(lengths: Tensor, target: Tensor, one: Tensor | bool, dimension: int):
    if one is True:
        return None
    if one is not False:
        lengths = where(one, target, lengths)
    return assert_equal_v1(
        lengths, target, message=f"{_MISMATCH} {dimension}"
    )


def _first_rows(arguments: Sequence[Any], kind: DType):
    """(the number of rows of the result, the checks that all have it); the arguments take these on."""
    counts = [cast(a.part.nrows(), kind) for a in arguments]
    known = [static_value(count) for count in counts]
    total = counts[0]
    for count, value in zip(counts[1:], known[1:], strict=True):
        if value is not None and int(value) == 1:
            continue
        total = where(equal(count, 1), total, count)
    checks = []
    rows = range_(total)
    for argument, count in zip(arguments, counts, strict=True):
        one = equal(count, 1)
        checks.append(_checked(count, total, one, 0))
        argument.at = where(one, rows * 0, rows)
    return total, checks


def _target(lengths: Sequence[Tensor], ones: Sequence[bool]):
    """How long the rows of the result are: as those that are not stretched."""
    target = None
    for length, one in zip(lengths, ones, strict=True):
        if one is True:
            continue
        target = length if target is None or one is False else where(one, target, length)
        if one is False:
            return length
    return lengths[0] if target is None else target


def _uniform(arguments: Sequence[Any], ones: Sequence[bool]):
    """The length of all rows of the result if no argument is ragged in this dimension, else None."""
    lengths = [a.part.uniform_row_length for a in arguments]
    return None if any(length is None for length in lengths) else _target(lengths, ones)


def broadcast(values: list[Any]) -> tuple[list[Any], Any]:
    """(the flat values of each value in the rows of the result, what makes a ragged tensor of such flat values).

    Raises ValueError for a value of unknown rank, InvalidArgumentError where dimensions do not match.
    """
    require_same_splits_dtype(values)
    kind = next(v.row_splits.dtype for v in values if isinstance(v, RaggedTensor))
    rank = max(_rank(v) for v in values)
    levels = max(
        rank - _rank(v) + v.ragged_rank for v in values if isinstance(v, RaggedTensor)
    )
    arguments = [_Argument(_with_levels(v, rank, levels, kind), None) for v in values]
    total, checks = _first_rows(arguments, kind)
    splits, uniform = [], []
    for dimension in range(1, levels + 1):
        with control_dependencies([c for c in checks if c is not None]):
            lengths = [a.lengths() for a in arguments]
        ones = [a.is_one() for a in arguments]
        target = _target(lengths, ones)
        checks = [
            _checked(length, target, one, dimension)
            for length, one in zip(lengths, ones, strict=True)
            if length is not target
        ]
        with control_dependencies([c for c in checks if c is not None]):
            splits.append(splits_of_lengths(target))
        uniform.append((_uniform(arguments, ones), total))
        rows = rowids_of_splits(splits[-1])
        total = cast(Shape(rows)[0], kind)
        columns = range_(total) - gather(splits[-1][:-1], rows)
        for argument, one in zip(arguments, ones, strict=True):
            argument.descend(rows, columns, one)
    flat = [gather(a.part, a.at) for a in arguments]

    def in_rows(new_values: Tensor):
        out = new_values
        for split, (length, rows) in list(zip(splits, uniform, strict=True))[::-1]:
            if length is None:
                out = RaggedTensor.from_row_splits(out, split, validate=False)
            else:
                out = RaggedTensor.from_uniform_row_length(out, length, rows, validate=False)
        return out

    return flat, in_rows


def assert_splits_match(nested_splits_lists: Sequence[Sequence[Any]]) -> list[Any]:
    """Check that nested row splits of ragged tensors are the same.

    Args:
      nested_splits_lists: for each ragged tensor its `nested_row_splits`.

    Returns:
      The assertions, which eager execution has checked.

    Raises:
      ValueError: they are of different ragged ranks.
    """
    first, *others = nested_splits_lists
    if any(len(splits) != len(first) for splits in others):
        raise ValueError("Inputs must have identical ragged splits")
    message = "Inputs must have identical ragged splits"
    return [
        assert_equal_v1(a, b, message=message)
        for splits in others
        for a, b in zip(first, splits, strict=True)
        if a is not b
    ]


def _same_rows(values: list[Any]) -> bool:
    """Whether the ragged ones of `values` are known to have the same rows, and the others are scalars."""
    ragged = [v for v in values if isinstance(v, RaggedTensor)]
    first = ragged[0].nested_row_splits
    for other in ragged[1:]:
        splits = other.nested_row_splits
        if len(splits) != len(first):
            return False
        for a, b in zip(first, splits, strict=True):
            if a is b:
                continue
            known = static_value(a), static_value(b)
            if known[0] is None or known[1] is None or a.dtype != b.dtype:
                return False
            if known[0].shape != known[1].shape or (known[0] != known[1]).any():
                return False
    inner = min(v.flat_values.shape.rank or 0 for v in ragged) - 1
    others = [v for v in values if not isinstance(v, RaggedTensor)]
    return all(v.shape.rank == 0 or _rank(v) <= inner for v in others)


def elementwise(op: Any, *values: Any) -> Any:
    """`op` of values of which some are ragged, broadcast together: a ragged tensor."""
    hint = next(v.dtype for v in values if isinstance(v, RaggedTensor))
    given = [
        as_ragged_or_tensor(v, None if hasattr(v, "dtype") else _fitting(v, hint)) for v in values
    ]
    require_same_splits_dtype(given)
    if _same_rows(given):
        like = next(v for v in given if isinstance(v, RaggedTensor))
        flat = [v.flat_values if isinstance(v, RaggedTensor) else v for v in given]
        return like.with_flat_values(op(*flat))
    flat, in_rows = broadcast(given)
    return in_rows(op(*flat))


def _fitting(value: Any, hint: Any) -> Any:
    """`hint`, unless `value` is plainly of another kind than it (then its own dtype is tried)."""
    try:
        convert_to_tensor(value, hint)
    except (TypeError, ValueError):
        return None
    return hint


def broadcast_to(value: Any, like: Any) -> Any:
    """`value`, dense or ragged, in the rows of the ragged tensor `like`."""
    value = as_ragged_or_tensor(value)
    ones = like.with_flat_values(ones_like(like.flat_values, dtypes.int8))
    (flat, _), in_rows = broadcast([value, ones])
    return in_rows(flat)


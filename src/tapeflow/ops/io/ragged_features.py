"""Rows within the values of a `RaggedFeature`, as partitions in other features say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.tiling import repeat
from tapeflow.ops.io.example_features import RaggedFeature
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.cumulative import cumsum
from tapeflow.ops.ragged.math import reduce_max
from tapeflow.ops.ragged.tensor import RaggedTensor

# What makes rows of one example's values, by the class of the partition.
_MAKERS: dict[str, Any] = {
    "RowSplits": RaggedTensor.from_row_splits,
    "RowLengths": RaggedTensor.from_row_lengths,
    "RowStarts": RaggedTensor.from_row_starts,
    "RowLimits": RaggedTensor.from_row_limits,
    "ValueRowIds": RaggedTensor.from_value_rowids,
}


def in_rows(key: str, feature: RaggedFeature, dtype: Any, values_of: Callable[[str, Any], Any], single: bool) -> Any:
    """The values of a feature, in the rows that its partitions say.

    Args:
      key: that of the feature, where it does not name another one for its values.
      feature: what is read.
      dtype: the dtype of the values.
      values_of: reads the feature of a key as a dtype.
      single: whether it reads one vector, not a row for each of some.
    """
    out = values_of(key if feature.value_key is None else feature.value_key, dtype)
    for part in feature.partitions[::-1]:
        if isinstance(part, RaggedFeature.UniformRowLength):
            out = (uniform_of_one if single else uniform_of_batch)(out, part.length, feature.validate)
            continue
        places, kind = values_of(part.key, dtypes.int64), type(part).__name__
        if single:
            out = of_one(out, kind, cast(places, feature.row_splits_dtype), feature.validate)
        else:
            places = places.with_values(cast(places.values, feature.row_splits_dtype))
            out = of_batch(out, kind, places, feature.validate)
    return out


def of_one(values: Any, kind: str, partition: Any, validate: bool) -> RaggedTensor:
    """The rows of one example.

    Args:
      values: a tensor or ragged tensor of the example's values.
      kind: the class of the partition: "RowSplits", "RowLengths", "RowStarts", "RowLimits" or "ValueRowIds".
      partition: an integer vector.
      validate: whether it is checked that the partition is one.
    """
    return _MAKERS[kind](values, partition, validate=validate)


def of_batch(values: RaggedTensor, kind: str, partition: Any, validate: bool) -> RaggedTensor:
    """The rows of each example of a batch.

    Args:
      values: the values of all examples, a row for each.
      kind: as for `of_one`.
      partition: a row of integers for each example, which count from the example's own first value.
      validate: whether it is checked that the partitions are some.
    """
    if kind == "RowLengths":
        return partition.with_values(RaggedTensor.from_row_lengths(values.values, partition.values, validate=validate))
    if kind == "ValueRowIds":
        counts = maximum(reduce_max(partition + 1, axis=1), 0)
        before = repeat(cumsum(counts, exclusive=True), partition.row_lengths())
        rows = RaggedTensor.from_value_rowids(values.values, partition.values + before, validate=validate)
        return RaggedTensor.from_row_lengths(rows, counts, validate=validate)
    if kind == "RowSplits":
        partition = partition[:, 1:]
    moved = partition.values + repeat(values.row_starts(), partition.row_lengths())
    make = RaggedTensor.from_row_starts if kind == "RowStarts" else RaggedTensor.from_row_limits
    return partition.with_values(make(values.values, moved, validate=validate))


def uniform_of_one(values: Any, length: int, validate: bool) -> Any:
    """Rows of one length of the values of one example, which are a tensor unless the values are ragged."""
    if isinstance(values, RaggedTensor):
        of_splits = convert_to_tensor(length, values.row_splits.dtype)
        return RaggedTensor.from_uniform_row_length(values, of_splits, validate=validate)
    return reshape(values, concat([[-1, length], shape_of(values)[1:]], 0))


def uniform_of_batch(values: Any, length: int, validate: bool) -> RaggedTensor:
    """Rows of one length within each example of a batch."""
    rows = uniform_of_one(values.values, length, validate)
    return RaggedTensor.from_row_splits(rows, values.row_splits // length, validate=validate)

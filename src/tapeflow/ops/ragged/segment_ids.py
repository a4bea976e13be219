"""Row splits as segment numbers, and back."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public
from tapeflow.ops.array.joining import concat
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.cumulative import cumsum
from tapeflow.ops.ragged.tensor import rowids_of_splits
from tapeflow.ops.statistics.bincount import bincount


@public
def row_splits_to_segment_ids(splits, name: str | None = None, out_type: DTypeLike | None = None):
    """Tell the row of each value, from where rows begin.

    Args:
      splits: a sorted int32 or int64 vector, from 0 to the number of values.
      name: a name for the operation (optional).
      out_type: the dtype of the result; None: that of `splits`.

    Returns:
      A vector with one number for each value.

    Raises:
      ValueError: for another dtype, and where `splits` is no vector, or an empty one.

    >>> tf.ragged.row_splits_to_segment_ids([0, 2, 2, 3])
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([0, 0, 2])>
    """
    splits = convert_to_tensor(splits, dtype_hint=dtypes.int64)
    if splits.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError("splits must have dtype int32 or int64")
    splits.shape.assert_has_rank(1)
    if splits.shape.as_list()[0] == 0:
        raise ValueError("Invalid row_splits: []")
    ids = rowids_of_splits(splits)
    return ids if out_type is None else cast(ids, out_type)


@public
def segment_ids_to_row_splits(
    segment_ids: TensorLike, num_segments: Any = None, out_type: DTypeLike | None = None, name: str | None = None
):
    """Tell where rows begin, from the row of each value.

    Args:
      segment_ids: an int32 or int64 vector, in any order: rows are only counted.
      num_segments: how many rows there are, the values of others being left out; None: as many as `segment_ids` names.
      out_type: the dtype of the result; None: that of `segment_ids`.
      name: a name for the operation (optional).

    Returns:
      A vector of one number more than rows.

    Raises:
      TypeError: for another dtype.
      ValueError: where `segment_ids` is no vector.
      InvalidArgumentError: for negative numbers.

    >>> tf.ragged.segment_ids_to_row_splits([0, 0, 2])
    <tf.Tensor: shape=(4,), dtype=int64, numpy=array([0, 2, 2, 3])>
    """
    ids = convert_to_tensor(segment_ids, dtype_hint=dtypes.int64)
    if ids.dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(
            "Argument `tensor` (name: segment_ids) must be of type integer. "
            f"Received `tensor` = {segment_ids!r} of dtype: {ids.dtype}"
        )
    ids.shape.assert_has_rank(1)
    kind = ids.dtype if out_type is None else dtypes.as_dtype(out_type)
    lengths = bincount(ids, minlength=num_segments, maxlength=num_segments, dtype=kind)
    return concat([[0], cumsum(lengths)], 0)

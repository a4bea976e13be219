"""`tf.ragged`: ragged tensors made, picked from, joined, and their values mapped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, Tensor
from tapeflow.core.context import executing_eagerly
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public
from tapeflow.ops.array import joining
from tapeflow.ops.array import layout as dense_layout
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.tiling import repeat
from tapeflow.ops.control.assertions import (
    assert_equal_v1,
    assert_less_v1,
    assert_non_negative_v1,
    assert_none_equal,
)
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.indexing import gather as dense_gather
from tapeflow.ops.math import arithmetic, division
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import not_equal
from tapeflow.ops.math.cumulative import cumsum
from tapeflow.ops.math.rounding import ceil
from tapeflow.ops.math.segment_functions import unsorted_segment_sum
from tapeflow.ops.math.sorting import argsort
from tapeflow.ops.ragged.axis import positive_axis
from tapeflow.ops.ragged.convert import merge_dims
from tapeflow.ops.ragged.partitions import static_rows
from tapeflow.ops.ragged.ranges import RaggedRange
from tapeflow.ops.ragged.tensor import (
    RaggedTensor,
    as_ragged_or_tensor,
    rowids_of_splits,
    splits_of_lengths,
)


@public
def ranges(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype=dtypes.int64):
    """Make rows of numbers from starts up to, but without, limits.

    Args:
      starts: the first number of each row, a real scalar or vector; alone, it is the limits, and rows start at 0.
      limits: where rows end.
      deltas: the steps, not zero.
      dtype: the dtype of the numbers; None: the widest of the three.
      name: a name for the operation (optional).
      row_splits_dtype: int32 or int64.

    Returns:
      A `tf.RaggedTensor` of two dimensions; a row is empty where the step leads away from the limit.

    >>> tf.ragged.range([3, 1])
    <tf.RaggedTensor [[0, 1, 2], [0]]>
    """
    if limits is None:
        starts, limits = 0, starts
    kind = dtypes.as_dtype(row_splits_dtype)
    if dtype is None:
        given = [convert_to_tensor(v) for v in (starts, limits, deltas)]
    else:
        given = [convert_to_tensor(v, dtype_hint=dtype) for v in (starts, limits, deltas)]
    if dtype is None:
        order = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)
        dtype = max((g.dtype for g in given), key=lambda d: order.index(d) if d in order else 0)
    starts, limits, deltas = (cast(g, dtype) for g in given)
    for part, what in ((starts, "starts"), (limits, "limits"), (deltas, "deltas")):
        if part.shape.rank is not None and part.shape.rank > 1:
            raise ValueError(f"{what} must be a scalar or vector")
    lengths = {x.shape.as_list()[0] for x in (starts, limits, deltas) if x.shape.rank == 1} - {None}
    if len(lengths) > 1:
        raise InvalidArgumentError(None, None, "starts, limits, and deltas must have the same shape")
    if executing_eagerly() and dtype in RaggedRange.types["T"]:
        splits, values = RaggedRange(starts, limits, deltas, kind)
        return RaggedTensor.from_row_splits(values, splits, validate=False)
    with control_dependencies([assert_none_equal(deltas, zeros([], dtype), message="Requires delta != 0")]):
        deltas = identity(deltas)
    total = starts * 0 + limits * 0 + deltas * 0
    total = dense_layout.reshape(total, [-1])
    starts, limits, deltas = starts + total, limits + total, deltas + total
    distance = limits - starts
    if dtypes.as_dtype(dtype).is_integer:
        # Rounded up, without negating the least of all integers, which is its own negative.
        partial = not_equal(division.floormod(distance, deltas), 0)
        counts = division.floordiv(distance, deltas) + cast(partial, dtype)
    else:
        counts = ceil(distance / deltas)
    lengths = arithmetic.maximum(cast(counts, kind), 0)
    splits = splits_of_lengths(lengths)
    rows = rowids_of_splits(splits)
    column = range_(splits[-1]) - dense_gather.gather(splits[:-1], rows)
    values = dense_gather.gather(starts, rows) + cast(column, dtype) * dense_gather.gather(
        deltas, rows
    )
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def ranges_of(starts: Tensor, lengths: Tensor):
    """The numbers from each start on, as many as its length, one range behind the other."""
    ends = cumsum(lengths)
    total = joining.concat([zeros([1], lengths.dtype), ends], 0)[-1]
    return range_(total) + repeat(starts - (ends - lengths), lengths)


# Picking


def gather_rows(params: Any, indices: Tensor):
    """The rows `indices` (a vector) of a ragged tensor or tensor."""
    if not isinstance(params, RaggedTensor):
        return dense_gather.gather(params, indices)
    starts = dense_gather.gather(params.row_starts(), indices)
    lengths = dense_gather.gather(params.row_lengths(), indices)
    values = gather_rows(params.values, ranges_of(starts, lengths))
    return RaggedTensor.from_row_lengths(values, lengths, validate=False)


@public
def boolean_mask(data: Any, mask: Any, name: str | None = None):
    """Keep the values for which a mask is true, in the rows they came from.

    Args:
      data: a tensor or `tf.RaggedTensor` of any dtype.
      mask: a bool tensor or `tf.RaggedTensor` with the rows of `data`, of its rank or less.
      name: a name for the operation (optional).

    Returns:
      A `tf.RaggedTensor`; a tensor where the mask is a vector and `data` is dense.

    Raises:
      ValueError: for a mask of another dtype, of unknown rank, without or with other dimensions.
      InvalidArgumentError: for a mask with other rows than `data`.

    >>> tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, True]])
    <tf.RaggedTensor [[1, 3], [6]]>
    """
    data, mask = as_ragged_or_tensor(data), as_ragged_or_tensor(mask, dtypes.bool)
    if mask.dtype != dtypes.bool:
        raise ValueError(
            f"Tensor conversion requested dtype bool for RaggedTensor with dtype {mask.dtype.name}: {mask!r}."
        )
    if mask.shape.rank is None:
        raise ValueError("mask.shape.ndims must be known statically.")
    if mask.shape.rank == 0:
        raise ValueError("mask cannot be scalar.")
    data.shape[: mask.shape.rank].assert_is_compatible_with(mask.shape)
    if not isinstance(mask, RaggedTensor) and mask.shape.rank == 1:
        return gather_rows(data, dense_layout.reshape(where(mask), [-1]))
    if not isinstance(mask, RaggedTensor):
        mask = RaggedTensor.from_tensor(mask, ragged_rank=1)
    if not isinstance(data, RaggedTensor):
        data = RaggedTensor.from_tensor(data, ragged_rank=1)
    check = assert_equal_v1(data.row_splits, cast(mask.row_splits, data.row_splits.dtype),
                            message="Inputs must have identical ragged splits")  # fmt: skip
    with control_dependencies([] if check is None else [check]):
        inner = mask.values
        if isinstance(inner, RaggedTensor) or inner.shape.rank != 1:
            return data.with_values(boolean_mask(data.values, inner))
        kept = cast(inner, data.row_splits.dtype)
        lengths = unsorted_segment_sum(kept, data.value_rowids(), data.nrows())
        values = gather_rows(data.values, dense_layout.reshape(where(inner), [-1]))
    return RaggedTensor.from_row_lengths(values, lengths, validate=False)


@public
def expand_dims(input: RaggedTensor, axis: AxisLike, name: str | None = None):
    """`tf.expand_dims` of a ragged tensor.

    Args:
      input: a ragged tensor.
      axis: an int or a list of ints, the axes; None: all.
      name: a name for the operation (optional).
    """
    value = as_ragged_or_tensor(input)
    if not isinstance(value, RaggedTensor):
        return dense_layout.expand_dims(value, axis)
    rank = value.shape.rank
    axis = positive_axis(axis, rank, extra=1)
    kind = value.row_splits.dtype
    one, count = convert_to_tensor(1, kind), static_rows(value)
    rows = value.nrows() if count is None else convert_to_tensor(count, kind)
    if axis == 0:
        return RaggedTensor.from_uniform_row_length(value, rows, one, validate=False)
    if axis == 1:
        return RaggedTensor.from_uniform_row_length(value, one, rows, validate=False)
    if not isinstance(value.values, RaggedTensor) and axis == 2 and value.values.shape.rank == 1:
        return value.with_values(dense_layout.expand_dims(value.values, 1))
    return value.with_values(expand_dims(value.values, axis - 1))


@public
def stack_dynamic_partitions(data: Any, partitions, num_partitions, name: str | None = None):
    """Deal the elements of a tensor out to rows.

    Args:
      data: a tensor or `tf.RaggedTensor` of any dtype.
      partitions: for each element the number of its row, an integer tensor whose shape is the beginning of that of
        `data`.
      num_partitions: how many rows there are, a scalar integer.
      name: a name for the operation (optional).

    Returns:
      A `tf.RaggedTensor` with `num_partitions` rows, elements in their order.

    Raises:
      ValueError: where the rank of `partitions` is not known, and where its shape does not begin that of `data`.
      InvalidArgumentError: for a number outside of [0, num_partitions), and rows of other lengths than those of `data`.

    >>> tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [1, 0, 1], 2)
    <tf.RaggedTensor [[b'b'], [b'a', b'c']]>
    """
    data, partitions = as_ragged_or_tensor(data), as_ragged_or_tensor(partitions)
    if partitions.shape.rank is None:
        raise ValueError("partitions must have known rank.")
    num_partitions = convert_to_tensor(num_partitions)
    num_partitions.shape.assert_has_rank(0)
    if isinstance(partitions, RaggedTensor):
        if not isinstance(data, RaggedTensor):
            data = RaggedTensor.from_tensor(data, ragged_rank=1)
        check = assert_equal_v1(data.row_splits, cast(partitions.row_splits, data.row_splits.dtype),
                                message="data and partitions have incompatible ragged shapes")  # fmt: skip
        with control_dependencies([] if check is None else [check]):
            out = stack_dynamic_partitions(data.values, partitions.values, num_partitions)
        if not isinstance(data.values, RaggedTensor):
            out = out.with_row_splits_dtype(data.row_splits.dtype)
        return out
    rank = partitions.shape.rank
    partitions.shape.assert_is_compatible_with(data.shape[:rank])
    if rank == 0:
        row = (
            expand_dims(data, 0)
            if isinstance(data, RaggedTensor)
            else dense_layout.expand_dims(data, 0)
        )
        return RaggedTensor.from_value_rowids(row, partitions[None], num_partitions)
    if rank > 1:
        flat = merge_dims(data, 0, rank - 1)
        return stack_dynamic_partitions(
            flat, dense_layout.reshape(partitions, [-1]), num_partitions
        )
    by = argsort(partitions, stable=True)
    rows = dense_gather.gather(partitions, by)
    if isinstance(data, RaggedTensor):
        rows = cast(rows, data.row_splits.dtype)
    limit = cast(num_partitions, partitions.dtype)
    checks = [assert_less_v1(partitions, limit, message="partitions must be less than num_partitions"),
              assert_non_negative_v1(partitions, message="partitions must be non-negative")]  # fmt: skip
    with control_dependencies([c for c in checks if c is not None]):
        picked = gather_rows(data, by)
    return RaggedTensor.from_value_rowids(picked, rows, num_partitions)


# Mapping


def _checked_rows(given: Sequence[Any]):
    first = given[0]
    checks = []
    if len({g.row_splits.dtype for g in given}) > 1:
        raise ValueError("Ragged tensors must have the same dtype of row_splits")
    for other in given[1:]:
        if other.ragged_rank != first.ragged_rank:
            raise ValueError("All ragged tensors must have the same number of ragged dimensions")
        for a, b in zip(first.nested_row_splits, other.nested_row_splits, strict=True):
            if not a.shape.is_compatible_with(b.shape):
                raise ValueError(f"Inputs must have identical ragged splits: {a} and {b}")
            if a is not b:
                checks.append(assert_equal_v1(a, cast(b, a.dtype)))
    return [c for c in checks if c is not None]


@public
def map_flat_values(op: Callable[..., Any], *args, **kwargs):
    """Apply a function to the flat values of ragged tensors.

    Args:
      op: a function that keeps the number of values, such as an elementwise operation.
      *args: its arguments, in which ragged tensors, also in lists, stand for their flat values.
      **kwargs: its arguments by name, likewise.

    Returns:
      A `tf.RaggedTensor` of the result, with the rows of the arguments, which must all have the same ones.

    Raises:
      ValueError: where the result has another number of values.

    >>> tf.ragged.map_flat_values(tf.square, tf.ragged.constant([[1, 2], [3]]))
    <tf.RaggedTensor [[1, 4], [9]]>
    """
    given: list = []

    def inner(x: RaggedTensor):
        if isinstance(x, RaggedTensor):
            given.append(x)
            return x.flat_values
        if isinstance(x, (list, tuple)) and any(isinstance(v, RaggedTensor) for v in x):
            return [inner(v) for v in x]
        return x

    plain, named = [inner(x) for x in args], {k: inner(v) for k, v in kwargs.items()}
    if not given:
        return op(*args, **kwargs)
    with control_dependencies(_checked_rows(given)):
        out = op(*plain, **named)
    if isinstance(out, RaggedTensor):
        return given[0].with_flat_values(out)
    out = convert_to_tensor(out)
    before = given[0].flat_values.shape
    if out.shape.rank is not None and (
        out.shape.rank == 0 or not out.shape[:1].is_compatible_with(before[:1])
    ):
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension size as "
            f"flat_values of any ragged inputs. (output shape: {out.shape}; expected outer dimension size: {before[0]})"
        )
    return given[0].with_flat_values(out)

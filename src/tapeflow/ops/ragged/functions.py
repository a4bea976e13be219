"""`tf.ragged`: ragged tensors made, picked from, joined, and their values mapped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public
from tapeflow.ops.array import gather as dense_gather
from tapeflow.ops.array import joining
from tapeflow.ops.array import layout as dense_layout
from tapeflow.ops.array.broadcasting import repeat
from tapeflow.ops.array.construction import range as range_
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.rows import Shape, identity
from tapeflow.ops.control.assertions import (
    assert_equal_v1,
    assert_less_v1,
    assert_non_negative_v1,
    assert_none_equal,
)
from tapeflow.ops.control.flow import control_dependencies
from tapeflow.ops.math import arithmetic
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import not_equal, where
from tapeflow.ops.math.cumulative import cumsum
from tapeflow.ops.math.elementwise import ceil
from tapeflow.ops.math.segment import unsorted_segment_sum
from tapeflow.ops.math.sorting import argsort
from tapeflow.ops.ragged.axis import positive_axis
from tapeflow.ops.ragged.convert import merge_dims
from tapeflow.ops.ragged.partitions import static_rows
from tapeflow.ops.ragged.tensor import (
    RaggedTensor,
    as_ragged_or_tensor,
    rowids_of_splits,
    splits_of_lengths,
)
from tapeflow.ops.ragged.value import RaggedTensorValue

# Making


def _depth(value: Any) -> int:
    """How deep the first scalar lies."""
    if isinstance(value, np.ndarray):
        return (
            value.ndim if value.dtype != object else 1 + max((_depth(v) for v in value), default=0)
        )
    if not isinstance(value, (list, tuple)):
        return 0
    return 1 + max((_depth(v) for v in value), default=0)


def _scalar_depth(value: Any):
    """The depth of all scalars, None where there are none. Raises ValueError where they differ."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.ndim
    if not isinstance(value, (list, tuple, np.ndarray)):
        return 0
    found = {d + 1 for d in map(_scalar_depth, value) if d is not None}
    if len(found) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    return found.pop() if found else None


def _parts(pylist: Sequence[Any], dtype: DTypeLike | None, ragged_rank, inner_shape, row_splits_dtype: DType):
    """(flat array-like, list of splits), or (whole, []) where nothing is ragged."""
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(
            f"Invalid pylist={pylist}: ragged_rank must be non-negative, got {ragged_rank}"
        )
    if isinstance(pylist, np.ndarray) and pylist.ndim and not len(pylist) and not ragged_rank and inner_shape is None:
        return pylist, [], None  # nothing says that its other dimensions are ragged
    scalars, depth = _scalar_depth(pylist), _depth(pylist)
    if scalars is not None and depth > scalars:
        raise ValueError(
            f"Invalid pylist={pylist}: empty list nesting is greater than scalar value nesting"
        )
    if inner_shape is not None and ragged_rank is not None:
        expected = ragged_rank + 1 + len(inner_shape)
        if scalars is not None and expected != scalars:
            raise ValueError(
                f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank} "
                f"and dim(inner_shape)={len(inner_shape)}"
            )
    if depth == 0:
        if ragged_rank:
            raise ValueError(
                f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank}"
            )
        if inner_shape:
            raise ValueError(
                f"Invalid pylist={pylist}: incompatible with dim(inner_shape)={len(inner_shape)}"
            )
        return pylist, [], ()
    if ragged_rank is None:
        ragged_rank = max(0, depth - 1 - (len(inner_shape) if inner_shape is not None else 0))
    if depth < ragged_rank + 1 and scalars is not None:
        raise ValueError(f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank}")
    splits, level = [], pylist
    for _ in range(ragged_rank):
        lengths = [len(v) for v in level]
        splits.append(
            np.concatenate([[0], np.cumsum(lengths)]).astype(row_splits_dtype.as_numpy_dtype)
        )
        level = [item for v in level for item in v]
    shape = (len(level), *inner_shape) if inner_shape is not None else None
    return list(level), splits, shape


def _flat(values: Any, dtype: DTypeLike | None, shape):
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if wanted is None and not _any_scalar(values) and not isinstance(values, np.ndarray):
        wanted = dtypes.float32
    tensor = convert_to_tensor(values, wanted)
    return tensor if shape in (None, ()) else dense_layout.reshape(tensor, list(shape))


def _any_scalar(value: Sequence[float] | float) -> bool:
    return not isinstance(value, (list, tuple, np.ndarray)) or any(map(_any_scalar, value))


@public
def constant(
    pylist: Sequence[Any], dtype: DTypeLike | None = None, ragged_rank=None, inner_shape=None,
    name: str | None = None, row_splits_dtype: DType = dtypes.int64,
):
    """Make a ragged tensor of nested lists.

    Args:
      pylist: nested lists; scalars lie at one depth.
      dtype: the dtype of the values; None: it follows from them.
      ragged_rank: how many dimensions are ragged; None: all but the first.
      inner_shape: the shape of each innermost value; None: it follows from them.
      name: a name for the operation (optional).
      row_splits_dtype: int32 or int64.

    Returns:
      A `tf.RaggedTensor`; a tensor where nothing is ragged.

    Raises:
      ValueError: for scalars that lie at different depths.

    >>> tf.ragged.constant([[1, 2], [3]])
    <tf.RaggedTensor [[1, 2], [3]]>
    """
    values, splits, shape = _parts(
        pylist, dtype, ragged_rank, inner_shape, dtypes.as_dtype(row_splits_dtype)
    )
    return RaggedTensor.from_nested_row_splits(_flat(values, dtype, shape), splits, validate=False)


@public
def constant_value(
    pylist, dtype=None, ragged_rank=None, inner_shape=None, row_splits_dtype="int64"
):
    """`constant` as a `RaggedTensorValue` (1.x).

    Args:
      pylist: nested lists.
      dtype: the dtype of the values; None: what follows from them.
      ragged_rank: how many dimensions are ragged; None: all but those of `inner_shape`.
      inner_shape: the shape of the dense dimensions; None: none.
      row_splits_dtype: tf.int32 or tf.int64.
    """
    values, splits, shape = _parts(
        pylist, dtype, ragged_rank, inner_shape, dtypes.as_dtype(row_splits_dtype)
    )
    kind = None if dtype is None else np.dtype(getattr(dtype, "as_numpy_dtype", dtype))
    out = np.array(values, kind)
    out = out.reshape(shape) if shape not in (None, ()) else out
    for split in splits[::-1]:
        out = RaggedTensorValue(out, split)
    return out


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
    with control_dependencies([assert_none_equal(deltas, zeros([], dtype), message="Requires delta != 0")]):
        deltas = identity(deltas)
    total = starts * 0 + limits * 0 + deltas * 0
    total = dense_layout.reshape(total, [-1])
    starts, limits, deltas = starts + total, limits + total, deltas + total
    distance = limits - starts
    if dtypes.as_dtype(dtype).is_integer:
        # Rounded up, without negating the least of all integers, which is its own negative.
        partial = not_equal(arithmetic.floormod(distance, deltas), 0)
        counts = arithmetic.floordiv(distance, deltas) + cast(partial, dtype)
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
      ValueError: for another dtype, and where `splits` is no vector.

    >>> tf.ragged.row_splits_to_segment_ids([0, 2, 2, 3])
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([0, 0, 2])>
    """
    splits = convert_to_tensor(splits, dtype_hint=dtypes.int64)
    if splits.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError("splits must have dtype int32 or int64")
    splits.shape.assert_has_rank(1)
    ids = rowids_of_splits(splits)
    return ids if out_type is None else cast(ids, out_type)


@public
def segment_ids_to_row_splits(
    segment_ids: TensorLike, num_segments: Any = None, out_type: DTypeLike | None = None, name: str | None = None
):
    """Tell where rows begin, from the row of each value.

    Args:
      segment_ids: a sorted int32 or int64 vector.
      num_segments: how many rows there are; None: as many as `segment_ids` names.
      out_type: the dtype of the result; None: that of `segment_ids`.
      name: a name for the operation (optional).

    Returns:
      A vector of one number more than rows.

    Raises:
      ValueError: for another dtype, and where `segment_ids` is no vector.

    >>> tf.ragged.segment_ids_to_row_splits([0, 0, 2])
    <tf.Tensor: shape=(4,), dtype=int64, numpy=array([0, 2, 2, 3])>
    """
    ids = convert_to_tensor(segment_ids, dtype_hint=dtypes.int64)
    if ids.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError("segment_ids must have dtype int32 or int64")
    ids.shape.assert_has_rank(1)
    splits = RaggedTensor.from_value_rowids(ids, ids, num_segments, validate=False).row_splits
    return splits if out_type is None else cast(splits, out_type)


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
      ValueError: for a mask of another dtype, and a scalar.
      InvalidArgumentError: for a mask with other rows than `data`.

    >>> tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, True]])
    <tf.RaggedTensor [[1, 3], [6]]>
    """
    data, mask = as_ragged_or_tensor(data), as_ragged_or_tensor(mask, dtypes.bool)
    if mask.dtype != dtypes.bool:
        raise ValueError(f"mask must have dtype bool, got {mask.dtype.name}")
    if mask.shape.rank == 0:
        raise ValueError("mask cannot be scalar.")
    if not isinstance(mask, RaggedTensor) and mask.shape.rank == 1:
        return gather_rows(data, dense_layout.reshape(where(mask), [-1]))
    if not isinstance(mask, RaggedTensor):
        mask = RaggedTensor.from_tensor(mask, ragged_rank=1)
    if not isinstance(data, RaggedTensor):
        data = RaggedTensor.from_tensor(data, ragged_rank=1)
    check = assert_equal_v1(data.row_splits, cast(mask.row_splits, data.row_splits.dtype),
                            message="The rows of data and mask differ")  # fmt: skip
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


# Joining


def _same_depth(values: Sequence[Any]):
    """Ragged tensors with as many ragged dimensions each."""
    depth = max([v.ragged_rank for v in values if isinstance(v, RaggedTensor)], default=0)
    if not depth:
        return values
    out = []
    for v in values:
        if not isinstance(v, RaggedTensor):
            v = RaggedTensor.from_tensor(v, ragged_rank=depth) if depth < v.shape.rank else v
        elif v.ragged_rank < depth:
            flat = RaggedTensor.from_tensor(v.flat_values, ragged_rank=depth - v.ragged_rank)
            v = v.with_flat_values(flat)
        out.append(v)
    if len({v.row_splits.dtype for v in out if isinstance(v, RaggedTensor)}) > 1:
        out = [v.with_row_splits_dtype(dtypes.int64) for v in out]
    return out


def _require_fitting(values: Sequence[Any]):
    """Raises ValueError for no values, or for values of several ranks or dtypes of splits."""
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    if len({v.row_splits.dtype for v in values if isinstance(v, RaggedTensor)}) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use "
            "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
        )
    ranks = sorted({v.shape.rank for v in values if v.shape.rank is not None})
    if len(ranks) > 1:
        raise ValueError(f"The values must have one rank, but have ranks {ranks}")


def _axis(axis, values: Sequence[Any], extra: int = 0):
    rank = next((v.shape.rank for v in values if v.shape.rank is not None), None)
    return positive_axis(axis, rank, extra=extra)


def _joined(values: Sequence[Any], axis):
    values = _same_depth(values)
    if not isinstance(values[0], RaggedTensor):
        return joining.concat(values, axis)
    if axis == 0:
        inner = _joined([v.values for v in values], 0)
        lengths = joining.concat([v.row_lengths() for v in values], 0)
        return RaggedTensor.from_row_lengths(inner, lengths, validate=False)
    if axis == 1:
        count = len(values)
        rows = values[0].nrows()
        checks = [
            assert_equal_v1(v.nrows(), rows, message="Input tensors have incompatible shapes.")
            for v in values[1:]
        ]
        with control_dependencies([c for c in checks if c is not None]):
            whole = _joined(values, 0)
            turned = dense_layout.transpose(
                dense_layout.reshape(range_(rows * count), joining.stack([count, rows]))
            )
            woven = gather_rows(whole, dense_layout.reshape(turned, [-1]))
            splits = woven.row_splits[::count]
        return RaggedTensor.from_row_splits(woven.values, splits, validate=False)
    inner = _joined([v.values for v in values], axis - 1)
    checks = [
        assert_equal_v1(
            v.row_splits, values[0].row_splits, message="Input tensors have incompatible shapes."
        )
        for v in values[1:]
    ]
    with control_dependencies([c for c in checks if c is not None]):
        return values[0].with_values(inner)


@public
def concat(values: TensorLike, axis: AxisLike, name: str | None = None):
    """`tf.concat` of ragged tensors and tensors.

    Args:
      values: a list of ragged tensors and tensors of one rank.
      axis: an int or a list of ints, the axes; None: all.
      name: a name for the operation (optional).
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    values = [as_ragged_or_tensor(v) for v in values]
    _require_fitting(values)
    axis = _axis(axis, values)
    if len(values) == 1:
        return values[0]
    return _joined(values, axis)


@public
def stack(values: TensorLike, axis: AxisLike = 0, name: str | None = None):
    """Stack tensors of one rank along a new dimension, as a ragged tensor.

    Args:
      values: a list of tensors and `tf.RaggedTensor`s of one rank and dtype.
      axis: where the new dimension is, in [-rank - 1, rank].
      name: a name for the operation (optional).

    Returns:
      A `tf.RaggedTensor` of one dimension more.

    >>> tf.ragged.stack([[1, 2], [3]])
    <tf.RaggedTensor [[1, 2], [3]]>
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    values = [as_ragged_or_tensor(v) for v in values]
    _require_fitting(values)
    axis = _axis(axis, values, 1)
    if all(v.shape.rank == 0 for v in values):
        return joining.stack(values)
    ragged = [
        v if isinstance(v, RaggedTensor) or v.shape.rank == 1 else RaggedTensor.from_tensor(v)
        for v in values
    ]
    if axis == 0:
        parts = _same_depth(ragged)
        whole = _joined(parts, 0) if len(parts) > 1 else parts[0]
        lengths = [v.nrows() if isinstance(v, RaggedTensor) else Shape(v)[0] for v in parts]
        return RaggedTensor.from_row_lengths(whole, joining.stack(lengths), validate=False)
    return _joined([expand_dims(v, axis) for v in ragged], axis)


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

"""Functions of arrays for ragged tensors: repeated, reversed, picked from, cut and partitioned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.ops.array import construction, joining, layout, ranges, reorder
from tapeflow.ops.array import one_hot as array_one_hot
from tapeflow.ops.array import rows as array
from tapeflow.ops.array.bitcast import bitcast as bitcast_dense
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.array.tiling import repeat
from tapeflow.ops.array.tiling import tile as tile_dense
from tapeflow.ops.control.assertions import assert_equal_v1, assert_non_negative_v1
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.control.type_assertions import assert_integer
from tapeflow.ops.indexing import boolean_mask
from tapeflow.ops.indexing import gather as dense_gather
from tapeflow.ops.math import arithmetic, choice, division
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import exp
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.nn import softmax as dense_softmax
from tapeflow.ops.ragged import math as ragged_math
from tapeflow.ops.ragged.axis import positive_axis
from tapeflow.ops.ragged.broadcast import elementwise
from tapeflow.ops.ragged.convert import columns_of
from tapeflow.ops.ragged.functions import (
    gather_rows,
    map_flat_values,
    ranges_of,
    stack_dynamic_partitions,
)
from tapeflow.ops.ragged.joining import concat
from tapeflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from tapeflow.ops.static import static_value


def _known_list(value: Any, what: str) -> list[int]:
    known = static_value(value)
    if known is None:
        raise ValueError(f"{what} must be known when building a graph of ragged tensors")
    return [int(v) for v in known.ravel()]


def guarded(*checks: Any) -> Any:
    """A scope in which nothing runs before these checks."""
    return control_dependencies([c for c in checks if c is not None])


# Repeating and reversing


def tile(input, multiples, name: str | None = None):
    """`tf.tile` of a ragged tensor."""
    multiples = cast(convert_to_tensor(multiples), input.row_splits.dtype)
    rank = input.shape.rank
    if rank is not None:
        multiples.shape.assert_is_compatible_with([rank])
    known = static_value(multiples)
    if known is not None and (known == 1).all():
        return input
    with guarded(assert_non_negative_v1(multiples, message="Expected multiples >= 0")):
        return _tiled(input, array.identity(multiples), known)


def _tiled(value, multiples, known):
    if not isinstance(value, RaggedTensor):
        return tile_dense(value, cast(multiples, dtypes.int32))
    inner, rest = value.values, None if known is None else known[1:]
    if rest is None or (rest[1:] != 1).any():
        one = construction.ones([1], multiples.dtype)
        of_values = joining.concat([one, multiples[2:]], 0)
        inner = _tiled(inner, of_values, static_value(of_values))
    starts, lengths = value.row_starts(), value.row_lengths()
    uniform = value.uniform_row_length
    if rest is None or rest[0] != 1:
        picked = ranges_of(repeat(starts, multiples[1]), repeat(lengths, multiples[1]))
        inner = gather_rows(inner, picked)
        lengths = lengths * multiples[1]
        uniform = None if uniform is None else uniform * multiples[1]
    out = _of_lengths(inner, lengths, uniform, value.nrows())
    if known is None or known[0] != 1:
        out = gather_rows(out, tile_dense(ranges.range(out.nrows()), multiples[:1]))
    return out


def _of_lengths(values, lengths, uniform, rows):
    if uniform is None:
        return RaggedTensor.from_row_lengths(values, lengths, validate=False)
    return RaggedTensor.from_uniform_row_length(values, uniform, rows, validate=False)


def reverse(tensor: RaggedTensor, axis: Sequence[int], name: str | None = None):
    """`tf.reverse` of a ragged tensor along axes that are known: a list of ints, or a constant tensor.

    Raises TypeError for other axes, ValueError for those that are out of range.
    """
    given = static_value(axis) if is_tensor(axis) else axis
    listed = given.ravel().tolist() if isinstance(given, np.ndarray) else given
    if not isinstance(listed, (list, tuple)) or not all(isinstance(a, (int, np.integer)) for a in listed):
        raise TypeError("`axis` must be a list of int or a constant tensor when reversing axes in a ragged tensor")
    out, rank = tensor, tensor.shape.rank
    for i, a in enumerate(listed):
        out = _reversed(out, positive_axis(a, rank, f"axis[{i}]"))
    return out


def bitcast(input: RaggedTensor, type: DTypeLike, name: str | None = None):
    """`tf.bitcast` of a ragged tensor. Raises ValueError where a larger dtype would need ragged dimensions."""
    flat, target = input.flat_values, dtypes.as_dtype(type)
    rank = flat.shape.rank
    if flat.dtype.size < target.size and rank is not None and rank < 2:
        raise ValueError(
            "`input.flat_values` is required to have rank >= 2 when input.dtype.size < type.size. Actual rank: "
            f"{rank}"
        )
    return input.with_flat_values(bitcast_dense(flat, target))


def _reversed(value: RaggedTensor, axis: int):
    if not isinstance(value, RaggedTensor):
        return reorder.reverse(value, [axis])
    if axis == 0:
        return gather_rows(value, ranges.range(value.nrows())[::-1])
    if axis > 1:
        return value.with_values(_reversed(value.values, axis - 1))
    rows, columns = columns_of(value)
    last = dense_gather.gather(value.row_limits(), rows) - 1
    return value.with_values(gather_rows(value.values, last - columns))


# Dimensions of size one


def squeeze(input: RaggedTensor, axis: Sequence[Any] | float | str | None = None, name: str | None = None):
    """`tf.squeeze` of a ragged tensor, whose axes must be said.

    Raises ValueError without an axis, InvalidArgumentError for a dimension of another size than one.
    """
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    rank = input.shape.rank
    axes = [axis] if isinstance(axis, int) else axis
    if not isinstance(axes, (list, tuple)) or not all(hasattr(a, "__index__") for a in axes):
        raise TypeError("Axis must be a list or tuple of integers.")
    out = input
    for a in sorted({positive_axis(a, rank) for a in axes}, reverse=True):
        out = _squeezed(out, a)
    return out


def _squeezed(value, axis):
    if not isinstance(value, RaggedTensor):
        return layout.squeeze(value, [axis])
    if axis == 0:
        with guarded(assert_equal_v1(value.nrows(), cast(1, value.row_splits.dtype),
                                      message="the dimension squeezed must be 1")):  # fmt: skip
            return array.identity(value.values)
    if axis == 1:
        lengths = value.row_lengths()
        with guarded(assert_equal_v1(lengths, construction.ones_like(lengths),
                                      message="the dimension squeezed must be 1")):  # fmt: skip
            return array.identity(value.values)
    return value.with_values(_squeezed(value.values, axis - 1))


# Where


def where(condition, x=None, y=None, name: str | None = None):
    """`tf.where` of ragged tensors: the places where `condition` is true, or `x` there and `y` elsewhere."""
    if (x is None) != (y is None):
        raise ValueError("x and y must both be None or both be non-None.")
    if x is None:
        marks = condition.to_sparse()
        return boolean_mask.boolean_mask(marks.indices, marks.values)
    return elementwise(choice.where, condition, x, y)


def where_v1(condition, x=None, y=None, name: str | None = None):
    """`where` of 1.x: a vector as condition chooses whole rows."""
    condition = as_ragged_or_tensor(condition)
    if x is None or y is None or isinstance(condition, RaggedTensor) or condition.shape.rank != 1:
        return where(condition, x, y)
    x, y = as_ragged_or_tensor(x), as_ragged_or_tensor(y)
    both = concat([x, y], 0)
    rows = cast(Shape(condition)[0], dtypes.int64)
    first = ranges.range(rows)
    count = x.nrows() if isinstance(x, RaggedTensor) else Shape(x)[0]
    return gather_rows(both, choice.where(condition, first, first + cast(count, dtypes.int64)))


def one_hot(
    indices, depth: int, on_value=None, off_value=None, axis=None, dtype: DTypeLike | None = None,
    name: str | None = None,
):
    """`tf.one_hot` of ragged indices. Raises ValueError for an axis that lies in the ragged dimensions."""
    rank = indices.shape.rank
    inner = -1
    if axis is not None and axis != -1:
        at = positive_axis(axis, None if rank is None else rank + 1)
        if at <= indices.ragged_rank:
            raise ValueError(
                f"axis ({axis}) must be greater than indices.ragged_rank ({indices.ragged_rank})."
            )
        inner = at - indices.ragged_rank
    return indices.with_flat_values(
        array_one_hot.one_hot(indices.flat_values, depth, on_value, off_value, inner, dtype)
    )


# Parts

_NOT_SIZES = "`num_or_size_splits` must be an `int` or 1-D list or `Tensor` of integers."
_NOT_EXACT = "Cannot exactly split the `axis` dimension of `value` with the given `num_or_size_split`"


def split(value, num_or_size_splits, axis: int = 0, num: int | None = None, name: str | None = None):
    """`tf.split` of a ragged tensor along its rows or a uniform dimension: a list of ragged tensors.

    Raises ValueError for a ragged dimension and for `num` that is missing or wrong, TypeError for sizes that are no
    vector of integers, InvalidArgumentError for sizes that do not sum up to the dimension.
    """
    if isinstance(num_or_size_splits, int) and num_or_size_splits == 1:
        return [value]
    assert_integer(num_or_size_splits, message=_NOT_SIZES)
    at = positive_axis(axis, value.shape.rank)
    outer = value
    for _ in range(min(at, value.ragged_rank) - 1):
        outer = outer.values
    if 0 < at <= value.ragged_rank and outer.uniform_row_length is None:
        raise ValueError(
            f"Cannot split a ragged dimension. Got `value` with shape {value.shape} and `axis` {at}."
        )
    if isinstance(num_or_size_splits, int):
        if num_or_size_splits < 1:
            raise ValueError(f"`num_or_size_splits` must be >=1 if it is an `int`. Received {num_or_size_splits}.")
        return _parts(value, at, lambda total: _equal_parts(total, num_or_size_splits))
    sizes = convert_to_tensor(num_or_size_splits)
    if sizes.shape.rank not in (None, 1):
        raise TypeError(f"{_NOT_SIZES} Received {num_or_size_splits}.")
    known = None if sizes.shape.rank is None else sizes.shape.as_list()[0]
    if None not in (known, num) and num != known:
        raise ValueError(
            f"`num` does not match the size of `num_or_size_split`. Received `num`: {num} and size of "
            f"`num_or_size_split`: {known}."
        )
    count = num if known is None else known
    if count is None:
        raise ValueError(
            "`num` must be specified as an `int` when the size of `num_or_size_split` is statically unknown. Received "
            f"`num`: {num} and `num_or_size_split`: {num_or_size_splits}."
        )
    return _parts(value, at, lambda total: _checked_parts(total, sizes, count))


def _parts(value, axis: int, sizes_of: Callable[[Any], list[Any]]):
    """The parts of `value` along an axis that is not ragged; `sizes_of` the whole: of each."""
    if not isinstance(value, RaggedTensor):
        sizes = sizes_of(cast(Shape(value)[axis], dtypes.int64))
        return joining.split(value, layout.reshape(stack(sizes), [len(sizes)]), axis)
    if axis > 1:
        return [value.with_values(part) for part in _parts(value.values, axis - 1, sizes_of)]
    if axis == 1:
        return _parts_of_rows(value, sizes_of)
    out, start = [], cast(0, value.row_splits.dtype)
    for size in sizes_of(value.nrows()):
        out.append(value[start : start + size])
        start = start + size
    return out


def _parts_of_rows(value, sizes_of: Callable[[Any], list[Any]]):
    """The parts of the rows, which have one length."""
    length, rows = value.uniform_row_length, value.nrows()
    out, start = [], cast(0, length.dtype)
    for size in sizes_of(length):
        picked = ranges_of(value.row_starts() + start, repeat(layout.reshape(size, [1]), rows))
        out.append(RaggedTensor.from_uniform_row_length(gather_rows(value.values, picked), size, rows))
        start = start + size
    return out


def _equal_parts(total, count: int) -> list[Any]:
    """The size of each of `count` parts of the same size."""
    rest = total % count
    with guarded(assert_equal_v1(rest, rest * 0, message=_NOT_EXACT)):
        return [array.identity(total // count)] * count


def _checked_parts(total, sizes, count: int) -> list[Any]:
    """The sizes as scalars, once they fit."""
    sizes = cast(sizes, total.dtype)
    negative = assert_non_negative_v1(sizes, message="`num_or_size_splits` must be non-negative.")
    number = assert_equal_v1(
        Shape(sizes), [count], message="`num` is inconsistent with `num_or_size_split.shape[0]`."
    )
    whole = assert_equal_v1(reduce_sum(sizes), total, message=_NOT_EXACT)
    with guarded(negative, number, whole):
        return [array.identity(sizes[i]) for i in range(count)]


def dynamic_partition(data, partitions: int, num_partitions, name: str | None = None):
    """`tf.dynamic_partition` of ragged data: a list of `num_partitions` (a known number) ragged tensors."""
    (count,) = _known_list(num_partitions, "num_partitions")
    if count <= 0:
        raise ValueError(f"num_partitions must be positive, got {count}")
    rows = stack_dynamic_partitions(data, partitions, count)
    return [rows[i] for i in range(count)]


def softmax(logits, axis=None, name: str | None = None):
    """`tf.nn.softmax` of a ragged tensor along `axis`, by default the last."""

    rank = logits.shape.rank
    at = positive_axis(-1 if axis is None else axis, rank)
    if at > logits.ragged_rank:
        return logits.with_flat_values(
            dense_softmax.softmax(logits.flat_values, at - logits.ragged_rank)
        )
    most = ragged_math.reduce_max(logits, at, keepdims=True)
    raised = map_flat_values(exp, elementwise(arithmetic.subtract, logits, most))
    return elementwise(
        division.truediv, raised, ragged_math.reduce_sum(raised, at, keepdims=True)
    )

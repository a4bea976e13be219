"""Functions of arrays for ragged tensors: repeated, reversed, picked from, cut and partitioned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array import construction, joining, layout, ranges, reorder
from tapeflow.ops.array import one_hot as array_one_hot
from tapeflow.ops.array import rows as array
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.tiling import repeat
from tapeflow.ops.array.tiling import tile as tile_dense
from tapeflow.ops.control.assertions import assert_equal_v1, assert_non_negative_v1
from tapeflow.ops.control.grouping import control_dependencies
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
    """`tf.reverse` of a ragged tensor along axes that are known.

    Raises ValueError for axes that are out of range or unknown.
    """
    rank = tensor.shape.rank
    if isinstance(axis, int):
        axis = [axis]
    out = tensor
    for a in _known_list(axis, "axis"):
        out = _reversed(out, positive_axis(a, rank))
    return out


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

_BAD_SPLIT = "The sizes of the parts must sum up to the size of the dimension"


def split(value, num_or_size_splits, axis: int = 0, num: int | None = None, name: str | None = None):
    """`tf.split` of a ragged tensor along its rows or a uniform dimension: a list of ragged tensors.

    Raises ValueError for a ragged dimension, InvalidArgumentError for sizes that do not sum up to it.
    """
    rank = value.shape.rank
    if isinstance(num_or_size_splits, int) and num_or_size_splits < 1:
        raise ValueError("num_splits must be positive")
    at = positive_axis(axis, rank)
    if at == 0:
        return _split_rows(value, num_or_size_splits, num)
    if at > value.ragged_rank:
        inner = at - value.ragged_rank
        parts = joining.split(value.flat_values, num_or_size_splits, inner, num)
        return [value.with_flat_values(part) for part in parts]
    outer, length = value, None
    for _ in range(at - 1):
        outer = outer.values
    length = outer.uniform_row_length
    if length is None:
        raise ValueError(
            f"axis={axis} is a ragged dimension: ragged tensors are split along uniform dimensions only"
        )
    if at > 1:
        parts = split(value.values, num_or_size_splits, at - 1, num)
        return [value.with_values(part) for part in parts]
    out, start = [], cast(0, length.dtype)
    for size in _sizes_of_parts(length, num_or_size_splits, num):
        rows = value.nrows()
        picked = ranges_of(value.row_starts() + start, repeat(layout.reshape(size, [1]), rows))
        out.append(RaggedTensor.from_uniform_row_length(gather_rows(value.values, picked), size, rows))
        start = start + size
    return out


def _sizes_of_parts(total, given, num: int | None):
    """The sizes of the parts that `total` is split into, as scalars; checked."""
    kind = total.dtype
    if isinstance(given, int) or convert_to_tensor(given).shape.rank == 0:
        count = given if isinstance(given, int) else int(_known_list(given, "num_splits")[0])
        each, rest = total // count, total % count
        with guarded(assert_equal_v1(rest, rest * 0, message=_BAD_SPLIT)):
            return [array.identity(each)] * count
    sizes = cast(convert_to_tensor(given), kind)
    count = sizes.shape.as_list()[0]
    if count is None:
        if num is None:
            raise ValueError("num must be specified if the number of sizes is not known")
        count = num
    negative = assert_non_negative_v1(sizes, message=_BAD_SPLIT)
    whole = assert_equal_v1(reduce_sum(sizes), total, message=_BAD_SPLIT)
    with guarded(negative, whole):
        return [array.identity(sizes[i]) for i in range(count)]


def _split_rows(value, given, num: int | None):
    out, start = [], cast(0, value.row_splits.dtype)
    for size in _sizes_of_parts(value.nrows(), given, num):
        out.append(value[start : start + size])
        start = start + size
    return out


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

"""Rows that cut sparse tensors and join them."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.annotations import Array, ShapeLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.transposing import InvertPermutation
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.signature import integer
from tapeflow.ops.sparse.merging import merged
from tapeflow.ops.sparse.parts import checked, order
from tapeflow.ops.sparse.rows import INDICES, PARTS, RESULT, SHAPE, dense_of, sparse_rule, values_of
from tapeflow.ops.sparse.shapes import elements_and_rank
from tapeflow.ops.table import ANY, NUMERIC, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


# Parts


def _sliced(indices: Any, values: Any, shape: ShapeLike, start: Any, size: Any):
    # What is outside of the shape is outside of every slice: so ids that are not there (-1) are left out.
    sizes = checked(indices, values, shape, in_range=False)
    for name, x in (("start", start), ("size", size)):
        if x.ndim != 1 or len(x) != len(sizes):
            raise invalid(
                f"Expected {name} to be a vector of length {len(sizes)} but got shape {shape_text(x.shape)}"
            )
    for each in size.tolist():
        if each < 0:
            raise invalid(f"Expected a non-negative size, got {each}")
    # As Python's numbers, which do not overflow. A slice may begin before the first element.
    ends = [
        at if at >= whole else at + min(length, whole - at)
        for at, length, whole in zip(start.tolist(), size.tolist(), sizes, strict=True)
    ]
    end = np.array(ends, np.int64).reshape(len(sizes))
    inside = np.ones(len(indices), bool)
    for column, first, last in zip(indices.T, start, end, strict=True):
        inside &= (column >= first) & (column < last)
    return start, end, inside


@op("SparseSlice", f"{PARTS}, start: int64, size: int64 -> {RESULT}", types={"T": ANY}, ranks="shape: 1",
    shape=sparse_rule())  # fmt: skip
def SparseSlice(xp: ModuleType, indices: Array, values: Array, shape: Array, start: Array, size: Array):
    begin, end, inside = _sliced(indices, values, shape, start, size)
    return indices[inside] - begin, values[inside], (end - begin).astype(np.int64)


@SparseSlice.gradient(needs="indices, start, output_indices")
def _(call: GradientCall, *dy):
    return (
        None,
        SparseSliceGrad(dy[1], call.indices, call.start, call.output_indices),
        None,
        None,
        None,
    )


@SparseSlice.samples
def _(rng: SampleGenerator):
    values, one = values_of(rng), np.array([1, 0])
    yield Sample(INDICES, values, SHAPE, one, np.array([2, 3]))
    yield Sample(INDICES, values, SHAPE, one, np.array([9, 9]))
    yield Sample(INDICES - 1, values, SHAPE, one * 0, np.array([3, 4]))
    yield Sample(INDICES, values, SHAPE, one + 9, np.array([1, 1]))
    yield Sample(INDICES, values, SHAPE, one[:1], np.array([2, 3]), raises=InvalidArgumentError)
    yield Sample(INDICES, values, SHAPE, one, np.array([2]), raises=InvalidArgumentError)
    yield Sample(INDICES, values, SHAPE, one - 2, np.array([2, 2]))
    yield Sample(INDICES, values, SHAPE, one, np.array([2, -2]), raises=InvalidArgumentError)
    yield Sample(INDICES, values[:1], SHAPE, one, np.array([2, 2]), raises=InvalidArgumentError)


@SparseSlice.reference
def _(indices: Any, values: Any, shape: Sequence[Any], start: Any, size: Any):
    kept = [
        i
        for i, at in enumerate(indices)
        if all(s <= v < s + n for v, s, n in zip(at, start, size, strict=True))
    ]
    sizes = [len(range(s, min(s + n, d))) for s, n, d in zip(start, size, shape, strict=True)]
    return (indices[kept] - start).reshape(-1, len(shape)), values[kept], np.array(sizes)


@op("SparseSliceGrad",
    "backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64 -> val_grad: T",
    types={"T": NUMERIC}, ranks="input_indices: 2",
    shape=lambda call: [call.shape(1)[:1]])  # fmt: skip
def SparseSliceGrad(
    xp: ModuleType, backprop_val_grad: Array, input_indices: Array, input_start: Array, output_indices: Array
):
    if backprop_val_grad.ndim != 1 or input_indices.ndim != 2 or output_indices.ndim != 2:
        raise invalid("Gradient must be a vector, and input and output indices matrices")
    rank = input_indices.shape[1]
    if output_indices.shape[1] != rank or input_start.shape != (rank,):
        raise invalid(
            f"The input and output should have the same ndims: got: {rank} and {output_indices.shape[1]}"
        )
    if len(backprop_val_grad) != len(output_indices):
        raise invalid(
            f"# elements and rows of output_indices should match ({len(backprop_val_grad)} vs. {len(output_indices)})"
        )
    union, at_input, at_output = merged(input_indices, output_indices + input_start)
    of_union = np.zeros(len(union), backprop_val_grad.dtype)
    of_union[at_output] = backprop_val_grad
    return of_union[at_input]


@SparseSliceGrad.samples
def _(rng: SampleGenerator):
    dy = rng.normal(2)
    start = np.array([1, 0])
    yield Sample(dy, INDICES, start, INDICES[1:3] - start)
    yield Sample(dy[:1], INDICES, start, INDICES[1:3] - start, raises=InvalidArgumentError)
    yield Sample(dy, INDICES, start[:1], INDICES[1:3] - start, raises=InvalidArgumentError)
    yield Sample(dy, INDICES, start, INDICES[1:3, :1], raises=InvalidArgumentError)


@SparseSliceGrad.reference
def _(dy: np.ndarray, indices: np.ndarray, start, kept):
    return np.array(
        [
            sum(g for g, at in zip(dy, kept, strict=True) if ((at + start) == place).all())
            for place in indices
        ]
    )


def _concat_rule(call: ShapeCall):
    count = call.count // 3
    total: int | None = 0
    rank = None
    for i in range(count):
        indices = shapes.with_rank(call.shape(i), 2)
        elements = shapes.same_dimension(indices[0], shapes.vector_length(call, count + i))
        total = None if total is None or elements is None else total + elements
        rank = shapes.same_dimension(rank, indices[1])
        rank = shapes.same_dimension(rank, shapes.vector_length(call, 2 * count + i))
    return [(total, rank), (total,), (rank,)]


@op("SparseConcat", f"indices: N>=2*int64, values: N>=2*T, shapes: N>=2*int64 -> {RESULT}", types={"T": ANY},
    attrs={"concat_dim": integer}, shape=_concat_rule)  # fmt: skip
def SparseConcat(
    xp: ModuleType, indices: Sequence[np.ndarray], values: Sequence[np.ndarray], shapes: Sequence[np.ndarray],
    concat_dim: int,
):
    if not indices:
        raise invalid("SparseConcat needs at least one tensor")
    if not len(indices) == len(values) == len(shapes):
        raise invalid(f"Expected as many shapes as indices, got {len(shapes)} and {len(indices)}")
    sizes = [checked(*parts) for parts in zip(indices, values, shapes, strict=True)]
    rank = len(sizes[0])
    if not -rank <= concat_dim < rank:
        raise invalid(f"Concat dimension must be in range [{-rank}, {rank}), got {concat_dim}")
    axis, moved, at = concat_dim % rank, [], 0
    for i, (own, shape) in enumerate(zip(indices, sizes, strict=True)):
        if len(shape) != rank:
            raise invalid(
                f"Ranks of all input tensors must match: expected {rank} but got {len(shape)} at position {i}"
            )
        if any(a != b for k, (a, b) in enumerate(zip(shape, sizes[0], strict=True)) if k != axis):
            raise invalid(
                f"Input shapes must match outside of dimension {axis}: {shape_text(sizes[0])} and {shape_text(shape)}"
            )
        own = own.copy()
        own[:, axis] += at
        moved.append(own)
        at += shape[axis]
    joined = np.concatenate(moved)
    by = order(joined)
    total = list(sizes[0])
    total[axis] = at
    return joined[by], np.concatenate(values)[by], np.array(total, np.int64)


@SparseConcat.gradient(needs="indices, shapes")
def _(call: GradientCall, *dy):
    counts = [Shape(own)[0] for own in call.indices]
    starts, at = [], 0
    for count in counts:
        starts.append(at)
        at = at + count
    numbers = [range_(s, s + n) for s, n in zip(starts, counts, strict=True)]
    by = SparseConcat(call.indices, numbers, call.shapes, call.concat_dim).output_values
    back = gather(dy[1], InvertPermutation(by))
    grads = [back[s : s + n] for s, n in zip(starts, counts, strict=True)]
    return [None] * len(counts), grads, [None] * len(counts)


@SparseConcat.samples
def _(rng: SampleGenerator):
    values = values_of(rng)
    for axis in (0, 1, -1):
        yield Sample([INDICES, INDICES[:2]], [values, values[:2]], [SHAPE, SHAPE], concat_dim=axis)
    yield Sample([INDICES], [values], [SHAPE], concat_dim=2, raises=InvalidArgumentError)
    yield Sample(
        [INDICES] * 2, [values] * 2, [SHAPE, SHAPE + 1], concat_dim=0, raises=InvalidArgumentError
    )
    yield Sample([INDICES], [values[:2]], [SHAPE], concat_dim=0, raises=InvalidArgumentError)


@SparseConcat.reference
def _(indices, values, shapes, concat_dim: int):
    dense = [dense_of(*parts) for parts in zip(indices, values, shapes, strict=True)]
    whole = np.concatenate(dense, concat_dim)
    at = np.argwhere(whole)
    return at, whole[tuple(at.T)], np.array(whole.shape)


def _split_rule(call: ShapeCall):
    count = call.attr("num_split")
    rank = elements_and_rank(call, 1)[1]
    return [(None, rank)] * count + [(None,)] * count + [(rank,)] * count


@op("SparseSplit", f"split_dim: int64, {PARTS} -> output_indices: num_split>=1*int64, "
    "output_values: num_split>=1*T, output_shape: num_split>=1*int64", types={"T": ANY},
    attrs={"num_split": integer}, ranks="split_dim: 0", shape=_split_rule)  # fmt: skip
def SparseSplit(
    xp: ModuleType, split_dim: np.ndarray, indices: np.ndarray, values: np.ndarray, shape: np.ndarray, num_split: int
):
    if split_dim.size != 1:
        raise invalid(f"Input axis should be a scalar but received shape {shape_text(split_dim.shape)}")
    sizes, axis = checked(indices, values, shape), int(split_dim.reshape(()))
    if not -len(sizes) <= axis < len(sizes):
        raise invalid(f"Input axis should be in range [{-len(sizes)}, {len(sizes)}), got {axis}")
    axis %= len(sizes)
    if not 1 <= num_split <= sizes[axis]:
        raise invalid(
            f"Input num_split should be between 1 and the splitting dimension size ({sizes[axis]}), got {num_split}"
        )
    each, extra = divmod(sizes[axis], num_split)
    out: tuple[list, list, list] = ([], [], [])
    at = 0
    for i in range(num_split):
        length = each + (i < extra)
        inside = (indices[:, axis] >= at) & (indices[:, axis] < at + length)
        own = indices[inside].copy()
        own[:, axis] -= at
        part = np.array(sizes, np.int64)
        part[axis] = length
        for kept, value in zip(out, (own, values[inside], part), strict=True):
            kept.append(value)
        at += length
    return out


@SparseSplit.samples
def _(rng: SampleGenerator):
    values = values_of(rng)
    for axis, count in ((0, 2), (1, 3)):
        yield Sample(np.array(axis), INDICES, values, SHAPE, num_split=count)
    yield Sample(np.array(2), INDICES, values, SHAPE, num_split=2, raises=InvalidArgumentError)
    yield Sample(np.array(0), INDICES, values, SHAPE, num_split=4, raises=InvalidArgumentError)
    yield Sample(np.array(0), INDICES, values, SHAPE, num_split=0, raises=InvalidArgumentError)


@SparseSplit.reference
def _(axis: int, indices: np.ndarray, values: np.ndarray, shape: ShapeLike, num_split: int):
    parts = np.array_split(dense_of(indices, values, shape), num_split, int(axis))
    found = [np.argwhere(p) for p in parts]
    return (
        found,
        [p[tuple(at.T)] for p, at in zip(parts, found, strict=True)],
        [np.array(p.shape) for p in parts],
    )


for _row in (SparseSlice, SparseSliceGrad, SparseConcat, SparseSplit):
    _row.compiled(never="what it returns depends on values")

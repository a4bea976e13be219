"""Rows of sparse tensors, which come as indices `[n, rank]`, values `[n]` and shape `[rank]`: order, shape, parts."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.annotations import Array, ShapeLike, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.array.construction import fill
from tapeflow.ops.array.construction import range as range_
from tapeflow.ops.array.gather import gather, gather_nd
from tapeflow.ops.array.layout import InvertPermutation, reshape
from tapeflow.ops.array.rows import Shape
from tapeflow.ops.array.scatter import tensor_scatter_nd_update
from tapeflow.ops.math import reduction
from tapeflow.ops.signature import integer
from tapeflow.ops.sparse.parts import checked, order, places, require_inside
from tapeflow.ops.sparse.shapes import elements_and_rank
from tapeflow.ops.static import rank_in
from tapeflow.ops.table import ANY, INDEX, NUMERIC, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

PARTS = "indices: int64, values: T, shape: int64"
RESULT = "output_indices: int64, output_values: T, output_shape: int64"

INDICES = np.array([[0, 1], [1, 0], [1, 3], [2, 2]])
SHAPE = np.array([3, 4])


def values_of(rng: SampleGenerator):
    return rng.normal(4)


def dense_of(indices, values, shape):
    """The dense array of a sparse tensor."""
    out = np.zeros(tuple(shape), np.asarray(values).dtype)
    for at, value in zip(np.asarray(indices), values, strict=True):
        out[tuple(at)] += value
    return out


def sparse_rule(rank_of: int = 2):
    """A sparse result with the rank of the shape that is input `rank_of`."""

    def rule(call: ShapeCall):
        shape = call.shape(rank_of)
        rank = None if shape is None else shape[0]
        return [(None, rank), (None,), (rank,)]

    return rule


# To a dense tensor


def _dense_rule(call: ShapeCall):
    return [call.value_as_shape(1)]


@op("SparseToDense",
    "sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T -> dense: T",
    types={"T": ANY, "Tindices": INDEX}, attrs={"validate_indices": True}, ranks="output_shape: 1",
    shape=_dense_rule)  # fmt: skip
def SparseToDense(
    xp: ModuleType, sparse_indices: Array, output_shape: Array, sparse_values: Array, default_value: Array,
    validate_indices: bool,
):
    if sparse_indices.ndim > 2:
        raise invalid(
            "sparse_indices should be a scalar, vector, or matrix, got shape "
            f"{shape_text(sparse_indices.shape)}"
        )
    if output_shape.ndim != 1:
        raise invalid(f"output_shape must be rank 1, got shape {shape_text(output_shape.shape)}")
    sizes = tuple(int(d) for d in output_shape)
    if any(d < 0 for d in sizes):
        raise invalid(f"output_shape must not be negative, got {shape_text(sizes)}")
    if default_value.ndim:
        raise invalid("default_value should be a scalar.")
    if sparse_indices.ndim == 2:
        indices = sparse_indices
    else:
        indices = sparse_indices.reshape(-1, 1)
    if indices.shape[1] != len(sizes):
        raise invalid(
            f"output_shape has incorrect number of elements: {len(sizes)} should be: {indices.shape[1]}"
        )
    if sparse_values.ndim > 1 or (sparse_values.ndim == 1 and len(sparse_values) != len(indices)):
        raise invalid(
            f"sparse_values has incorrect shape {shape_text(sparse_values.shape)}, should be [] or [{len(indices)}]"
        )
    if not sparse_values.ndim and sparse_indices.ndim == 0:
        sparse_values = sparse_values.reshape(1)
    if xp is not np:
        return xp.full(sizes, default_value, sparse_values.dtype).at[tuple(indices.T)].set(sparse_values)
    require_inside(indices, sizes)
    if validate_indices:
        _require_sorted(indices)
    dense = np.full(sizes, default_value[()] if isinstance(default_value, np.ndarray) else default_value,
                    sparse_values.dtype)  # fmt: skip
    if len(indices):
        dense[tuple(indices.T)] = sparse_values
    return dense


def _require_sorted(indices: Any) -> None:
    for i in range(1, len(indices)):
        before, now = tuple(indices[i - 1]), tuple(indices[i])
        if before >= now:
            what = "repeated" if before == now else "out of order"
            place = ",".join(str(int(v)) for v in now)
            raise invalid(
                f"indices[{i}] = [{place}] is {what}. Many sparse ops require sorted indices.\n"
                "    Use `tf.sparse.reorder` to create a correctly ordered copy."
            )


@SparseToDense.gradient(needs="sparse_indices, output_shape")
def _(call: GradientCall, dy: Tensor):
    found = gather_nd(dy, _matrix(call.sparse_indices))
    rest = reduction.reduce_sum(dy) - reduction.reduce_sum(found)
    rank = rank_in(call, "sparse_values")
    if not isinstance(rank, int):
        # All elements of a vector stay; those of a single value add up.
        found = reduction.reduce_sum(found, range_(1 - rank))
    elif rank == 0:
        found = reduction.reduce_sum(found)
    return None, None, found, rest


def _columns(sizes):
    return reduction.reduce_prod(sizes[1:])[None]


def _matrix(indices):
    rank = indices.shape.rank
    if rank is None:
        return reshape(indices, [-1, reduction.reduce_prod(Shape(indices)[1:])])
    return indices if rank == 2 else reshape(indices, [-1, 1])


@SparseToDense.samples
def _(rng: SampleGenerator):
    values = values_of(rng)
    yield Sample(INDICES, SHAPE, values, 0.5)
    yield Sample(INDICES[:, 0][:2], SHAPE[:1], values[:2], 0.0)
    yield Sample(INDICES, SHAPE, 2.0, 0.5)
    yield Sample(INDICES[::-1].copy(), SHAPE, values, 0.5, validate_indices=False)
    bad = InvalidArgumentError
    yield Sample(INDICES[::-1].copy(), SHAPE, values, 0.5, raises=bad)
    yield Sample(INDICES[[0, 0, 1, 2]], SHAPE, values, 0.5, raises=bad)
    yield Sample(INDICES + 2, SHAPE, values, 0.5, raises=bad)
    yield Sample(INDICES - 1, SHAPE, values, 0.5, raises=bad)
    yield Sample(INDICES, SHAPE[:1], values, 0.5, raises=bad)
    yield Sample(INDICES, SHAPE, values[:2], 0.5, raises=bad)
    yield Sample(INDICES, -SHAPE, values, 0.5, raises=bad)


@SparseToDense.reference
def _(indices: np.ndarray, shape: Sequence[Any], values: np.ndarray, default, validate_indices: bool):
    out = np.full(tuple(shape), default)
    rows = indices if indices.ndim == 2 else indices[:, None]
    for i, at in enumerate(rows):
        out[tuple(at)] = values[i] if np.ndim(values) else values
    return out


# Order and shape


@op("SparseReorder", "input_indices: int64, input_values: T, input_shape: int64 "
    "-> output_indices: int64, output_values: T", types={"T": ANY},
    ranks="input_indices: 2, input_values: 1, input_shape: 1",
    shape=lambda call: [call.shape(0), call.shape(1)])  # fmt: skip
def SparseReorder(
    xp: ModuleType, input_indices: np.ndarray, input_values: np.ndarray, input_shape: np.ndarray
):
    # Indices outside of the shape are sorted like others, as in TensorFlow: `sparse.slice` leaves them out.
    checked(input_indices, input_values, input_shape, in_range=False)
    by = order(input_indices)
    return input_indices[by], input_values[by]


@SparseReorder.gradient(needs="input_indices, input_shape")
def _(call: GradientCall, *dy):
    count = reduction.reduce_sum(call.shape("input_values"))
    numbers = range_(count)
    by = SparseReorder(call.input_indices, numbers, call.input_shape).output_values
    return None, gather(dy[1], InvertPermutation(by)), None


@SparseReorder.samples
def _(rng: SampleGenerator):
    values = values_of(rng)
    yield Sample(INDICES[[2, 0, 3, 1]], values, SHAPE)
    yield Sample(INDICES[:0], values[:0], SHAPE)
    yield Sample(INDICES[[1, 3, 0, 2]] - 1, values, SHAPE)
    for parts in ((INDICES, values[:2], SHAPE), (INDICES, values, SHAPE[:1]), (INDICES[0], values, SHAPE)):
        yield Sample(*parts, raises=InvalidArgumentError)


@SparseReorder.reference
def _(indices: np.ndarray, values: np.ndarray, shape: ShapeLike):
    pairs = sorted(zip(indices.tolist(), values.tolist(), strict=True))
    return np.array([at for at, _ in pairs]).reshape(-1, 2), np.array(
        [v for _, v in pairs], values.dtype
    )


def _reshape_rule(call: ShapeCall):
    old, new = call.shape(0), call.shape(2)
    rank = None if new is None else new[0]
    return [(None if old is None else old[0], rank), (rank,)]


@op("SparseReshape",
    "input_indices: int64, input_shape: int64, new_shape: int64 -> output_indices: int64, output_shape: int64",
    ranks="input_indices: 2, input_shape: 1, new_shape: 1",
    shape=_reshape_rule)  # fmt: skip
def SparseReshape(xp: ModuleType, input_indices: np.ndarray, input_shape: np.ndarray, new_shape: Array):
    if new_shape.ndim != 1:
        raise invalid(
            f"Target shape should be a vector but received shape {shape_text(new_shape.shape)}"
        )
    old = checked(input_indices, input_indices[:, 0] if input_indices.ndim == 2 and input_indices.shape[1]
                  else np.zeros(len(input_indices) if input_indices.ndim else 0), input_shape)  # fmt: skip
    total = int(np.prod(np.array(old, object))) if old else 1
    new = [int(d) for d in new_shape]
    if new.count(-1) > 1:
        raise invalid(f"only one output dimension may be -1, not both {new.index(-1)} and others")
    if any(d < -1 for d in new):
        raise invalid(f"size {min(new)} must be non-negative, not {min(new)}")
    if -1 in new:
        rest = int(np.prod(np.array([d for d in new if d != -1], object))) if len(new) > 1 else 1
        if rest <= 0:
            raise invalid("reshape cannot infer the missing input size for an empty tensor unless all specified "
                          "input sizes are non-zero")  # fmt: skip
        if total % rest:
            raise invalid(f"Input to reshape is a SparseTensor with {total} dense values, but the requested shape "
                          f"requires a multiple of {rest}. input_shape={shape_text(old)} "
                          f"output_shape={shape_text(new)}")  # fmt: skip
        new[new.index(-1)] = total // rest
    wanted = int(np.prod(np.array(new, object))) if new else 1
    if wanted != total:
        raise invalid(
            f"Input to reshape is a tensor with {total} dense values, but the requested shape has {wanted}. "
            f"input_shape={shape_text(old)} output_shape={shape_text(new)}"
        )
    flat = places(input_indices, old)
    out = np.zeros((len(flat), len(new)), np.int64)
    for axis in range(len(new) - 1, -1, -1):
        size = max(new[axis], 1)
        out[:, axis] = flat % size
        flat = flat // size
    return out, np.array(new, np.int64)


SparseReshape.gradient(None)


@SparseReshape.samples
def _(rng: SampleGenerator):
    yield Sample(INDICES, SHAPE, np.array([2, 6]))
    yield Sample(INDICES, SHAPE, np.array([-1]))
    yield Sample(INDICES, SHAPE, np.array([2, -1, 2]))
    for new in ([5, -1], [-1, -1], [3, 3], [[12]], [-2, 6]):
        yield Sample(INDICES, SHAPE, np.array(new), raises=InvalidArgumentError)


@SparseReshape.reference
def _(indices: np.ndarray, shape: Sequence[Any], new):
    probe = np.arange(np.prod(shape)).reshape(shape)
    wanted = probe.reshape(new)
    found = [np.argwhere(wanted == probe[tuple(at)])[0] for at in indices]
    return np.array(found), np.array(wanted.shape)


# Parts


def _sliced(indices: Any, values: Any, shape: ShapeLike, start: Any, size: Any):
    # What is outside of the shape is outside of every slice: so ids that are not there (-1) are left out.
    sizes = checked(indices, values, shape, in_range=False)
    for name, x in (("start", start), ("size", size)):
        if x.ndim != 1 or len(x) != len(sizes):
            raise invalid(
                f"Expected {name} to be a vector of length {len(sizes)} but got shape {shape_text(x.shape)}"
            )
    if (start < 0).any() or (size < 0).any():
        raise invalid(f"start and size must not be negative: {start.tolist()}, {size.tolist()}")
    begin = np.minimum(start, sizes)
    end = np.minimum(np.where(size > np.array(sizes) - begin, sizes, begin + size), sizes)
    inside = ((indices >= begin) & (indices < end)).all(1)
    return begin, end, inside


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
    yield Sample(INDICES, values, SHAPE, one - 2, np.array([2, 2]), raises=InvalidArgumentError)
    yield Sample(INDICES, values[:1], SHAPE, one, np.array([2, 2]), raises=InvalidArgumentError)


@SparseSlice.reference
def _(indices: Any, values: Any, shape: Sequence[Any], start: Any, size: Any):
    kept = [
        i
        for i, at in enumerate(indices)
        if all(s <= v < s + n for v, s, n in zip(at, start, size, strict=True))
    ]
    probe = np.zeros(shape)[tuple(slice(s, s + n) for s, n in zip(start, size, strict=True))]
    return (indices[kept] - start).reshape(-1, len(shape)), values[kept], np.array(probe.shape)


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
    found = {tuple(at): i for i, at in enumerate((output_indices + input_start).tolist())}
    out = np.zeros(len(input_indices), backprop_val_grad.dtype)
    for i, at in enumerate(input_indices.tolist()):
        if tuple(at) in found:
            out[i] = backprop_val_grad[found[tuple(at)]]
    return out


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
        raise invalid(f"split_dim must be a scalar, got shape {shape_text(split_dim.shape)}")
    sizes, axis = checked(indices, values, shape), int(split_dim.reshape(()))
    if not -len(sizes) <= axis < len(sizes):
        raise invalid(f"Input split_dim should be between 0 and rank ({len(sizes)}), got {axis}")
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


# Rows without elements


def _fill_rule(call: ShapeCall):
    count, rank = elements_and_rank(call, 0)
    sizes = call.value(2)
    rows = None if sizes is None or not len(sizes) else int(sizes[0])
    return [(None, rank), (None,), (rows,), (count,)]


@op("SparseFillEmptyRows", "indices: int64, values: T, dense_shape: int64, default_value: T "
    "-> output_indices: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64",
    types={"T": ANY}, ranks="default_value: 0",
    shape=_fill_rule)  # fmt: skip
def SparseFillEmptyRows(
    xp: ModuleType, indices: np.ndarray, values: np.ndarray, dense_shape: np.ndarray, default_value: Array
):
    if dense_shape.ndim != 1:
        raise invalid(f"dense_shape must be a vector, saw: {shape_text(dense_shape.shape)}")
    if not len(dense_shape):
        raise invalid("Dense shape cannot be empty.")
    if default_value.ndim:
        raise invalid(f"default_value must be a scalar, saw: {shape_text(default_value.shape)}")
    sizes = checked(indices, values, dense_shape, False)
    if sizes[0] > 2**31:
        raise invalid(f"dense_shape[0] is too large: {sizes[0]}")
    rows = indices[:, 0]
    for i, row in enumerate(rows.tolist()):
        if not 0 <= row < sizes[0]:
            raise invalid(f"indices({i}, 0) is invalid: {row} >= {sizes[0]}")
    empty = np.ones(sizes[0], bool)
    empty[rows] = False
    added = np.zeros((int(empty.sum()), len(sizes)), np.int64)
    added[:, 0] = np.flatnonzero(empty)
    by = np.argsort(np.concatenate([rows, added[:, 0]]), kind="stable")
    fill = np.empty(len(added), values.dtype)
    fill[:] = default_value[()]
    back = np.zeros(len(by), np.int64)
    back[by] = np.arange(len(by))
    return (
        np.concatenate([indices, added])[by],
        np.concatenate([values, fill])[by],
        empty,
        back[: len(indices)],
    )


@SparseFillEmptyRows.gradient(needs="reverse_index_map")
def _(call: GradientCall, *dy):
    d_values, d_default = SparseFillEmptyRowsGrad(call.reverse_index_map, dy[1])
    return None, d_values, None, d_default


@SparseFillEmptyRows.samples
def _(rng: SampleGenerator):
    values, shape = values_of(rng), np.array([5, 4])
    yield Sample(INDICES, values, shape, 0.5)
    yield Sample(INDICES[:0], values[:0], shape, 0.5)
    yield Sample(INDICES, values, SHAPE, 0.5)
    yield Sample(INDICES, values, shape, [0.5], raises=InvalidArgumentError)
    yield Sample(INDICES, values, np.array([2, 4]), 0.5, raises=InvalidArgumentError)
    yield Sample(INDICES, values[:1], shape, 0.5, raises=InvalidArgumentError)
    yield Sample(INDICES, values, shape[:0], 0.5, raises=InvalidArgumentError)


@SparseFillEmptyRows.reference
def _(indices, values, shape, default):
    out, empty, place = [], [], {}
    for row in range(shape[0]):
        own = [i for i, at in enumerate(indices) if at[0] == row]
        empty.append(not own)
        for i in own:
            place[i] = len(out)
            out.append((indices[i], values[i]))
        if not own:
            out.append((np.array([row] + [0] * (len(shape) - 1)), default))
    return (
        np.array([at for at, _ in out]),
        np.array([v for _, v in out], values.dtype),
        np.array(empty),
        np.array([place[i] for i in range(len(indices))], np.int64),
    )


@op("SparseFillEmptyRowsGrad",
    "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T",
    types={"T": NUMERIC}, ranks="reverse_index_map: 1, grad_values: 1",
    shape=lambda call: [call.shape(0), ()])  # fmt: skip
def SparseFillEmptyRowsGrad(xp: ModuleType, reverse_index_map: Array, grad_values: Array):
    if reverse_index_map.ndim != 1 or grad_values.ndim != 1:
        raise invalid("reverse_index_map and grad_values must be vectors")
    for i, at in enumerate(reverse_index_map.tolist()):
        if not 0 <= at < len(grad_values):
            raise invalid(
                f"Elements in reverse index must be in [0, {len(grad_values)}) but got {at} at {i}"
            )
    rest = np.ones(len(grad_values), bool)
    rest[reverse_index_map] = False
    total = grad_values[rest].sum(dtype=grad_values.dtype)
    return grad_values[reverse_index_map], np.asarray(total, grad_values.dtype)


@SparseFillEmptyRowsGrad.gradient(needs="reverse_index_map")
def _(call: GradientCall, d_values: Tensor, d_default: Tensor):
    spread = fill(call.shape("grad_values"), d_default)
    return None, tensor_scatter_nd_update(spread, call.reverse_index_map[:, None], d_values)


@SparseFillEmptyRowsGrad.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([0, 2, 3]), rng.normal(5))
    yield Sample(np.array([0, 5]), rng.normal(5), raises=InvalidArgumentError)
    yield Sample(np.array([[0]]), rng.normal(5), raises=InvalidArgumentError)


@SparseFillEmptyRowsGrad.reference
def _(back, dy: np.ndarray):
    return dy[back], np.array(dy.sum() - dy[back].sum())

"""Rows of sparse tensors, which come as indices `[n, rank]`, values `[n]` and shape `[rank]`: order, shape, parts."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.annotations import Array, ShapeLike, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.transposing import InvertPermutation
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.indexing.gather_nd import gather_nd
from tapeflow.ops.math import reductions
from tapeflow.ops.sparse.parts import checked, order, places, require_inside, require_order
from tapeflow.ops.static import rank_in
from tapeflow.ops.table import ANY, INDEX, Sample, op
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
        require_order(indices)
    dense = np.full(sizes, default_value[()] if isinstance(default_value, np.ndarray) else default_value,
                    sparse_values.dtype)  # fmt: skip
    if len(indices):
        dense.reshape(-1)[places(indices, sizes)] = sparse_values
    return dense


@SparseToDense.gradient(needs="sparse_indices, output_shape")
def _(call: GradientCall, dy: Tensor):
    found = gather_nd(dy, _matrix(call.sparse_indices))
    rest = reductions.reduce_sum(dy) - reductions.reduce_sum(found)
    rank = rank_in(call, "sparse_values")
    if not isinstance(rank, int):
        # All elements of a vector stay; those of a single value add up.
        found = reductions.reduce_sum(found, range_(1 - rank))
    elif rank == 0:
        found = reductions.reduce_sum(found)
    return None, None, found, rest


def _columns(sizes):
    return reductions.reduce_prod(sizes[1:])[None]


def _matrix(indices):
    rank = indices.shape.rank
    if rank is None:
        return reshape(indices, [-1, reductions.reduce_prod(Shape(indices)[1:])])
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


SparseReorder.compiled(never="it looks at values")


@SparseReorder.gradient(needs="input_indices, input_shape")
def _(call: GradientCall, *dy):
    count = reductions.reduce_sum(call.shape("input_values"))
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


SparseReshape.compiled(never="it looks at values")


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

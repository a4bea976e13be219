"""Ragged tensors as their parts, as TensorFlow's ops have them: ranges and rows gathered."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError, ResourceExhaustedError
from tapeflow.ops import shapes
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.math.segment import UnsortedSegmentSum
from tapeflow.ops.signature import Preferring, dtype, integer
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

_NUMBERS = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.bfloat16)
_NEVER = "how many values there are depends on values"


def _ranges_rule(call: ShapeCall):
    sizes = [None if shape is None else shape[0] for shape in map(call.shape, range(3)) if shape != ()]
    known = [size for size in sizes if size is not None]
    for size in known:
        shapes.same_dimension(known[0], size)
    unclear = any(call.shape(i) is None for i in range(3))
    count = known[0] if known else None if sizes or unclear else 1
    return [(None if count is None else count + 1,), (None,)]


@op(
    "RaggedRange",
    "starts: T, limits: T, deltas: T -> rt_nested_splits: Tsplits, rt_dense_values: T",
    types={"T": Preferring(_NUMBERS)},
    attrs={"Tsplits": dtype(dtypes.int64)},
    ranks="starts: 0-1, limits: 0-1, deltas: 0-1",
    shape=_ranges_rule,
)
def RaggedRange(xp: ModuleType, starts: Array, limits: Array, deltas: Array, Tsplits: DType):
    given = {"starts": starts, "limits": limits, "deltas": deltas}
    for name, each in given.items():
        if each.ndim > 1:
            raise invalid(f"{name} must be a scalar or vector, got shape {shape_text(each.shape)}")
    sizes = {len(each) for each in given.values() if each.ndim}
    if len(sizes) > 1:
        raise invalid("starts, limits, and deltas must have the same shape")
    if not deltas.all():
        raise invalid("Requires delta != 0")
    first, last, step = np.broadcast_arrays(*map(np.atleast_1d, given.values()))
    counts = _counts(first, last, step)
    limit = np.iinfo(Tsplits.as_numpy_dtype).max
    if counts.sum(dtype=float) >= limit and sum(counts.tolist()) > limit:
        raise invalid(f"The ranges have {sum(counts.tolist())} values, more than {Tsplits.name} can count")
    splits = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    if splits[-1] > np.iinfo(np.int64).max // 16:
        raise ResourceExhaustedError(None, None, f"OOM when making ranges of {splits[-1]} values")
    kind, counts = starts.dtype, counts.astype(np.int64)
    numbers = np.arange(splits[-1]) - np.repeat(splits[:-1], counts)
    values = numbers.astype(kind) * np.repeat(step, counts) + np.repeat(first, counts)
    return splits.astype(Tsplits.as_numpy_dtype), values


def _counts(first: np.ndarray, last: np.ndarray, step: np.ndarray) -> np.ndarray:
    """How many numbers there are from each first one up to, but without, the last one."""
    if first.dtype.kind in "iu":
        ends = np.stack([first, last])
        if ends.size and max(abs(int(ends.min())), int(ends.max())) < 2**62:  # no difference is too large
            return np.maximum(-((first.astype(np.int64) - last) // step), 0)
        found = zip(first.tolist(), last.tolist(), step.tolist(), strict=True)
        return np.array([len(range(*each)) for each in found], np.int64)
    with np.errstate(all="ignore"):
        steps = ((last - first) / step).astype(float)
    endless = ~(steps < np.inf)
    if endless.any():
        i = int(endless.argmax())
        raise invalid(f"The range from {float(first[i])} to {float(last[i])} by {float(step[i])} has no end")
    counts = np.ceil(np.maximum(steps, 0.0))
    return counts.astype(np.int64) if (counts < 2**62).all() else np.array([int(n) for n in counts], object)


RaggedRange.gradient(None)
RaggedRange.compiled(never=_NEVER)


@RaggedRange.samples
def _(rng: SampleGenerator):
    def ints(*values):
        return np.array(values, np.int32)

    splits, values = np.array([0, 3, 3, 6]), ints(0, 1, 2, 5, 3, 1)
    yield Sample(ints(0, 4, 5), ints(3, 1, 0), ints(1, 1, -2), expect=(splits, values))
    yield Sample(np.int32(0), ints(2, 1), np.int32(1), Tsplits=dtypes.int32, expect=(ints(0, 2, 3), ints(0, 1, 0)))
    yield Sample(np.int32(0), np.int32(2), np.int32(1), expect=(np.array([0, 2]), ints(0, 1)))
    yield Sample(np.array([0.5]), np.array([2.0]), np.array([0.5]), expect=(np.array([0, 3]), np.array([0.5, 1, 1.5])))
    far = np.array([2**60 + 1])
    yield Sample(far, far + 1, far // far, expect=(np.array([0, 1]), far))
    yield Sample(ints(), ints(), ints(), expect=(np.array([0]), ints()))
    half = np.array([0.5])
    yield Sample(half, half * np.inf, half, raises=InvalidArgumentError)
    yield Sample(ints(0), ints(3), ints(0), raises=InvalidArgumentError)
    yield Sample(ints(0, 1), ints(3), ints(1), raises=InvalidArgumentError)
    yield Sample(ints(0)[None], ints(3), ints(1), raises=InvalidArgumentError)


def _gather_rule(call: ShapeCall):
    values, splits = call.shape(call.count - 2), call.count - 2
    shapes.with_rank(call.shape(call.count - 1), call.attr("OUTPUT_RAGGED_RANK") - splits + 1)
    known = None if values is None else (None, *values[1:])
    return [*[(None,)] * call.attr("OUTPUT_RAGGED_RANK"), known]


@op(
    "RaggedGather",
    "params_nested_splits: PARAMS_RAGGED_RANK>=1*Tsplits, params_dense_values: Tvalues, indices: Tindices "
    "-> output_nested_splits: OUTPUT_RAGGED_RANK*Tsplits, output_dense_values: Tvalues",
    types={"Tvalues": ANY, "Tindices": INDEX, "Tsplits": Preferring(INDEX[::-1])},
    attrs={"OUTPUT_RAGGED_RANK": integer},
    ranks="params_nested_splits: 1, params_dense_values: 1+",
    shape=_gather_rule,
)
def RaggedGather(
    xp: ModuleType, params_nested_splits: Sequence[Array], params_dense_values: Array, indices: Array,
    OUTPUT_RAGGED_RANK: int,
):
    params, values = list(params_nested_splits), params_dense_values
    rank = len(params) + indices.ndim - 1
    if rank != OUTPUT_RAGGED_RANK:
        raise invalid(
            f"OUTPUT_RAGGED_RANK must be {rank} for {len(params)} splits and indices of "
            f"rank {indices.ndim}, got {OUTPUT_RAGGED_RANK}"
        )
    _check_splits(params, values)
    kind, count, rows = params[0].dtype, len(params[0]) - 1, indices.reshape(-1)
    outside = (rows < 0) | (rows >= count)
    if outside.any():
        i = int(outside.argmax())
        raise invalid(f"indices[{i}] = {rows[i]} is not in [0, {count})")
    out = [
        np.arange(np.prod(indices.shape[: i + 1], dtype=int) + 1, dtype=kind) * indices.shape[i + 1]
        for i in range(indices.ndim - 1)
    ]
    for splits in params:
        starts, lengths = splits[rows], splits[rows + 1] - splits[rows]
        ends = np.concatenate([[0], np.cumsum(lengths)]).astype(kind)
        out.append(ends)
        rows = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths)
    # A single index takes one row, which has no splits of its own.
    return out[indices.ndim == 0 :], values[rows]


def _check_splits(params, values: Any) -> None:
    if not values.ndim:
        raise invalid("params_dense_values must be at least a vector, got a scalar")
    sizes = [*(len(each) - 1 if each.ndim == 1 else -1 for each in params), len(values)]
    for splits, size in zip(params, sizes[1:], strict=True):
        if splits.ndim != 1 or not len(splits):
            raise invalid(f"Splits must be a vector that is not empty, got shape {shape_text(splits.shape)}")
        if splits[0] != 0 or (np.diff(splits) < 0).any() or splits[-1] > size:
            raise invalid(f"Splits must go up from 0 to {size} at most, got {splits.tolist()}")


RaggedGather.compiled(never=_NEVER)


@RaggedGather.gradient(needs="params_nested_splits, params_dense_values, indices")
def _(call: GradientCall, *grads):
    splits, count = call.params_nested_splits, call.shape("params_dense_values")[0]
    rows = RaggedGather(splits, range_(count), call.indices, call.OUTPUT_RAGGED_RANK)
    taken = rows.output_dense_values
    return [None] * len(splits), UnsortedSegmentSum(grads[-1], taken, count), None


@RaggedGather.samples
def _(rng: SampleGenerator):
    splits, values = np.array([0, 2, 2, 5]), rng.normal(5, 2)
    yield Sample([splits], values, np.array([2, 0, 2]), 1)
    yield Sample([splits], values, np.array([[2, 0], [1, 1]]), 2)
    yield Sample([splits, np.array([0, 1, 1, 3, 4, 5])], values, np.array([1, 2]), 2)
    yield Sample([splits], values, np.array(2), 0)
    yield Sample([splits], values, np.array([3]), 1, raises=InvalidArgumentError)
    yield Sample([splits], values, np.array([0]), 2, raises=InvalidArgumentError)
    yield Sample([np.array([0, 9])], values, np.array([0]), 1, raises=InvalidArgumentError)
    yield Sample([splits], values[0, 0], np.array([0]), 1, raises=InvalidArgumentError)


@RaggedGather.reference
def _(params_nested_splits, params_dense_values, indices, OUTPUT_RAGGED_RANK):
    """By nested lists of the numbers of values."""
    whole = list(range(len(params_dense_values)))
    for splits in reversed(params_nested_splits):
        whole = [whole[a:b] for a, b in itertools.pairwise(splits)]

    level = [[whole[i] for i in row] for row in indices] if indices.ndim == 2 else [whole[i] for i in indices.flat]
    level, out = level if indices.ndim else level[0], []
    for _ in range(OUTPUT_RAGGED_RANK):
        out.append(np.array([0, *np.cumsum([len(each) for each in level])]))
        level = [below for each in level for below in each]
    return (*out, params_dense_values[np.array(level, int)])

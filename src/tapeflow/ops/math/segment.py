"""Reductions over segments: runs of rows, or rows anywhere, that share a number."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.array import construction
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.folding import fold_at
from tapeflow.ops.indexing import gather
from tapeflow.ops.math import (
    arithmetic,
    casting,
    choice,
    comparison,
    division,
    division_no_nan,
    reduction,
)
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.signature import Preferring
from tapeflow.ops.static import joined, rank_in, rank_of, static_value
from tapeflow.ops.table import INDEX, NUMERIC, REAL, Sample, op
from tapeflow.ops.validate import invalid, known, one_value, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def lowest(kind):
    return np.iinfo(kind).min if kind.kind in "iu" else float(_finite(kind).min)


def highest(kind):
    return np.iinfo(kind).max if kind.kind in "iu" else float(_finite(kind).max)


def _finite(kind: str):
    import ml_dtypes

    return ml_dtypes.finfo(kind)


def accumulate(xp: ModuleType, combine: str, data: Array, ids: Any, rows: int, start: int):
    """`start` in `rows` rows, and each row of `data` combined into the one its id names; negative ids name none."""
    out = xp.full((rows, *data.shape[ids.ndim :]), start, dtype=data.dtype)
    ids, data = ids.ravel(), data.reshape(ids.size, *data.shape[ids.ndim :])
    if xp is not np:
        at = out.at[xp.where(ids < 0, rows, ids)]
        return {"add": at.add, "multiply": at.multiply, "maximum": at.max, "minimum": at.min}[
            combine
        ](data, mode="drop")
    here = ids >= 0
    fold_at(getattr(np, combine), out, ids[here], data[here])
    return out


def mean_of(total, counts):
    """Totals by counts, integers rounded towards zero, nothing counting as one."""
    counts = np.maximum(counts, 1).reshape(-1, *(1,) * (total.ndim - 1))
    if total.dtype.kind in "iu":
        return reduction.quotient(np, total, counts)
    return (total / counts.astype(total.dtype)).astype(total.dtype)


def sorted_ids(data: Any, ids: Any, limit=None) -> int:
    """The number of segments, -1 where it is not known yet. Raises InvalidArgumentError unless `ids` is a sorted
    vector, one for each row.
    """
    if ids.ndim != 1:
        raise invalid("segment_ids should be a vector.")
    if data.ndim < 1:
        raise invalid("Shape must be at least rank 1")
    if len(ids) != data.shape[0]:
        raise invalid("segment_ids should be the same size as dimension 0 of input.")
    if not len(ids):
        return 0
    if not known(ids):
        return -1
    if limit is None and ids[-1] < 0:
        raise invalid("segment ids must be >= 0")
    if limit is None and int(ids[-1]) == np.iinfo(np.int64).max:
        raise invalid(f"segment id {ids[-1]} is too large")
    rows = int(ids[-1]) + 1 if limit is None else limit
    falls = np.flatnonzero(np.diff(ids) < 0)
    outside = np.flatnonzero((ids < 0) | (ids >= rows))
    # What comes first in the order of segments; of the same segment, that it is not in order.
    if falls.size and not (outside.size and ids[outside[0]] != ids[falls[0]] and outside[0] < falls[0]):
        raise invalid("segment ids are not increasing")
    if outside.size:
        raise invalid(
            f"Segment id {ids[outside[0]]} out of range [0, {rows}), "
            "possibly because 'segment_ids' input is not sorted."
        )
    return int(ids[-1]) + 1


def _segment_shape(call: ShapeCall):
    shape = shapes.at_least(call.shape(0), 1)
    shapes.with_rank(call.shape(1), 1)
    if shape is None:
        return [None]
    ids = call.value(1)
    count = None if ids is None else int(ids[-1]) + 1 if ids.size else 0
    return [(count, *shape[1:])]


def _by_hand(combine: Callable[..., Any], empty: Callable[..., Any]):
    """A reference: each segment from the list of its rows."""

    def reference(data, segment_ids, num_segments=None):
        ids = np.asarray(segment_ids)
        rows = data.reshape(ids.size, *data.shape[ids.ndim :])
        count = int(num_segments) if num_segments is not None else int(ids.max(initial=-1)) + 1
        out = np.full((count, *rows.shape[1:]), empty(data.dtype), data.dtype)
        for i in range(count):
            mine = [row for j, row in zip(ids.ravel(), rows, strict=True) if j == i]
            if mine:
                out[i] = combine(mine)
        return out

    return reference


def _sorted_samples(rng: SampleGenerator):
    yield Sample(rng.normal(4, 3), np.array([0, 0, 1, 3]))
    yield Sample(rng.normal(3), np.array([1, 2, 2], np.int64))
    yield Sample(rng.normal(0, 2), np.zeros(0, np.int32))
    yield Sample(rng.normal(33), np.repeat([0, 2, 3], [21, 1, 11]), differentiable=False)
    yield Sample(rng.normal(3), np.array([1, 0, 2]), raises=InvalidArgumentError)
    yield Sample(rng.normal(3), np.array([-1, 0, 2]), raises=InvalidArgumentError)
    yield Sample(rng.normal(1), np.array([2**63 - 1]), raises=InvalidArgumentError)
    yield Sample(rng.normal(3), np.array([0, 1]), raises=InvalidArgumentError)
    yield Sample(rng.normal(3), np.array([[0, 1, 1]]), raises=InvalidArgumentError)


def _sorted_row(
    name: str, types, combine: str, start: Callable[..., Any], reference: Callable[..., Any],
    empty: Callable[..., Any],
):
    @op(
        name,
        "data: T, segment_ids: Tindices -> output: T",
        types={"T": types, "Tindices": INDEX},
        shape=_segment_shape,
    )
    def row(xp: ModuleType, data: Array, segment_ids: Array):
        rows = sorted_ids(data, segment_ids)
        out = accumulate(xp, combine, data, segment_ids, rows, start(data.dtype))
        if combine in ("maximum", "minimum"):
            missing = np.setdiff1d(np.arange(rows), segment_ids)
            if xp is np:
                out[missing] = 0
            else:
                out = out.at[missing].set(0)
        if reference is _mean_rows:
            return mean_of(out, np.bincount(segment_ids, minlength=rows))
        return out

    row.samples(_sorted_samples)
    row.reference(_by_hand(reference, empty))
    return row


def _mean_rows(rows):
    return sum(rows) / len(rows)


def _zero(kind: np.dtype):
    return 0


def _one(kind: str):
    return 1


def _largest(rows):
    return np.sort(np.stack(rows), 0)[-1]


def _smallest(rows):
    return np.sort(np.stack(rows), 0)[0]


SegmentSum = _sorted_row("SegmentSum", NUMERIC, "add", _zero, sum, _zero)
SegmentMean = _sorted_row("SegmentMean", NUMERIC, "add", _zero, _mean_rows, _zero)
SegmentProd = _sorted_row("SegmentProd", NUMERIC, "multiply", _one, math.prod, _one)
SegmentMax = _sorted_row("SegmentMax", REAL, "maximum", lowest, _largest, _zero)
SegmentMin = _sorted_row("SegmentMin", REAL, "minimum", highest, _smallest, _zero)


@SegmentSum.gradient(needs="segment_ids")
def _(call: GradientCall, dy: Tensor):
    return gather.GatherV2(dy, call.segment_ids, 0), None


def _column(vector, like):
    """`vector` shaped so that it multiplies the rows of `like`."""
    return Reshape(vector, joined([-1], rank_of(like) - 1))


@SegmentMean.gradient(needs="segment_ids")
def _(call: GradientCall, dy: Tensor):
    ones = construction.fill(Shape(call.segment_ids), 1)
    counts = arithmetic.Maximum(SegmentSum(ones, call.segment_ids), 1)
    shared = division.RealDiv(dy, _column(casting.cast(counts, dy.dtype), dy))
    return gather.GatherV2(shared, call.segment_ids, 0), None


def _sorted_extreme(call: GradientCall, dy: Tensor):
    chosen = comparison.Equal(call.data, gather.GatherV2(call.output, call.segment_ids, 0))
    chosen = casting.Cast(chosen, dy.dtype)
    counts = SegmentSum(chosen, call.segment_ids)
    shared = division_no_nan.DivNoNan(dy, counts)
    return arithmetic.Mul(chosen, gather.GatherV2(shared, call.segment_ids, 0)), None


SegmentMax.gradient(needs="data, segment_ids, output")(_sorted_extreme)
SegmentMin.gradient(needs="data, segment_ids, output")(_sorted_extreme)


def _unsorted_shape(call):
    data, ids, count = call.shape(0), call.shape(1), shapes.size_value(call, 2)
    if data is None or ids is None:
        return [None]
    shapes.merge(shapes.at_least(data, len(ids))[: len(ids)], ids)
    return [(count, *data[len(ids) :])]


def _unsorted_samples(rng: SampleGenerator):
    yield Sample(rng.normal(4, 3), np.array([2, 0, -1, 2]), 4)
    yield Sample(rng.normal(2, 2), np.array([[1, 0], [1, 1]], np.int64), 2)
    yield Sample(rng.normal(3), np.array([0, 0, 1]), np.asarray(3, np.int64))
    yield Sample(rng.normal(0, 2), np.zeros(0, np.int32), 2)
    yield Sample(rng.normal(3), np.array([0, 5, 1]), 3, raises=InvalidArgumentError)
    yield Sample(rng.normal(3), np.array([[0, 1, 1]]), 2, raises=InvalidArgumentError)
    yield Sample(rng.normal(3), np.array([0, 1, 1]), -2, raises=InvalidArgumentError)
    yield Sample(rng.normal(3), np.array([0, 1, 1]), np.array([2, 2]), raises=InvalidArgumentError)


def _unsorted_row(
    name: str, types, combine: str, start: Callable[..., Any], reference: Callable[..., Any],
    ids: tuple[DType, ...] = INDEX,
):  # fmt: skip
    @op(
        name,
        "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
        types={"T": types, "Tindices": ids, "Tnumsegments": Preferring(INDEX)},
        shape=_unsorted_shape,
    )
    def row(xp: ModuleType, data: Array, segment_ids: Array, num_segments: Array):
        if np.ndim(num_segments):
            raise invalid(
                f"num_segments should be a scalar, not shape {shape_text(num_segments.shape)}"
            )
        rows = one_value(num_segments, "num_segments should be a scalar")
        if rows < 0:
            raise invalid(f"Input num_segments == {rows} must not be negative.")
        if data.shape[: segment_ids.ndim] != segment_ids.shape:
            raise invalid(
                f"data.shape = {shape_text(data.shape)} does not start with segment_ids.shape = "
                f"{shape_text(segment_ids.shape)}"
            )
        if xp is np and (segment_ids >= rows).any():
            place = np.unravel_index(int(np.argmax(segment_ids >= rows)), segment_ids.shape)
            raise invalid(
                f"segment_ids{shape_text(place)} = {segment_ids[place]} is out of range [0, {rows})"
            )
        return accumulate(xp, combine, data, segment_ids, rows, start(data.dtype))

    row.samples(_unsorted_samples)
    row.reference(_by_hand(reference, start))

    @row.batching
    def _(call):
        """The segments of each element follow those of the one before; negative ids stay."""
        if call.batched[2] or not call.batched[0] or None in call.ranks:
            return None
        data, ids, count = call.with_batch(0), call.with_batch(1), casting.cast(call.inputs[2], call.inputs[1].dtype)
        first = Reshape(call.numbers(ids.dtype) * count, [-1] + [1] * call.ranks[1])
        ids = choice.SelectV2(ids < 0, -1, ids + first)
        (y,) = call.run([data, ids, count * casting.cast(call.size, count.dtype)])
        return [call.unfolded(y, count if static_value(count) is None else int(static_value(count)))]

    return row


UnsortedSegmentSum = _unsorted_row("UnsortedSegmentSum", NUMERIC, "add", _zero, sum, (*INDEX, dtypes.int16))
UnsortedSegmentProd = _unsorted_row("UnsortedSegmentProd", NUMERIC, "multiply", _one, math.prod)
UnsortedSegmentMax = _unsorted_row("UnsortedSegmentMax", REAL, "maximum", lowest, _largest)
UnsortedSegmentMin = _unsorted_row("UnsortedSegmentMin", REAL, "minimum", highest, _smallest)

# The names of sorted segments whose number is given. TensorFlow has these for XLA only, which takes them in any order.
SegmentSumV2 = _unsorted_row("SegmentSumV2", NUMERIC, "add", _zero, sum)
SegmentProdV2 = _unsorted_row("SegmentProdV2", NUMERIC, "multiply", _one, math.prod)
SegmentMaxV2 = _unsorted_row("SegmentMaxV2", REAL, "maximum", lowest, _largest)
SegmentMinV2 = _unsorted_row("SegmentMinV2", REAL, "minimum", highest, _smallest)


def _spread(y, ids, data_rank, empty=0):
    """For each row the row of `y` that its id names; `empty` where the id is negative."""
    rows = gather.GatherV2(y, arithmetic.Maximum(ids, 0), 0)
    here = comparison.GreaterEqual(ids, 0)
    behind = data_rank - rank_of(ids)
    if not isinstance(behind, int):
        here = Reshape(here, joined(Shape(ids), behind))
    elif behind:
        known = ids.shape.is_fully_defined()
        here = Reshape(here, joined(ids.shape.as_list() if known else Shape(ids), behind))
    return choice.SelectV2(here, rows, empty)


@UnsortedSegmentSum.gradient(needs="segment_ids")
def _(call: GradientCall, dy: TensorLike):
    return _spread(dy, call.segment_ids, rank_in(call, "data")), None, None


def _unsorted_extreme(call: GradientCall, dy: Tensor):
    ids, rank = call.segment_ids, rank_of(call.data)
    chosen = comparison.Equal(call.data, _spread(call.output, ids, rank))
    chosen = casting.Cast(chosen, dy.dtype)
    counts = UnsortedSegmentSum(chosen, ids, call.num_segments)
    shared = division_no_nan.DivNoNan(dy, counts)
    return arithmetic.Mul(chosen, _spread(shared, ids, rank)), None, None


UnsortedSegmentMax.gradient(needs="data, segment_ids, num_segments, output")(_unsorted_extreme)
UnsortedSegmentMin.gradient(needs="data, segment_ids, num_segments, output")(_unsorted_extreme)


def _product_gradient(data, ids, count: int, dy):
    """The product of the others: without zeros all by one; beside the only zero, the product of the rest."""
    rank = rank_of(data)
    zero = comparison.Equal(data, 0)
    here = casting.cast(zero, dtypes.int32)
    zeros = _spread(UnsortedSegmentSum(here, ids, count), ids, rank)
    nonzero = choice.SelectV2(zero, 1, data)
    products = _spread(UnsortedSegmentProd(nonzero, ids, count), ids, rank, 1)
    no_other_zero = comparison.Equal(arithmetic.Sub(zeros, here), 0)
    slope = choice.SelectV2(no_other_zero, division.RealDiv(products, nonzero), 0)
    return arithmetic.Mul(conj(slope), _spread(dy, ids, rank))


@UnsortedSegmentProd.gradient(needs="data, segment_ids, num_segments")
def _(call: GradientCall, dy: Tensor):
    return _product_gradient(call.data, call.segment_ids, call.num_segments, dy), None, None


@SegmentProd.gradient(needs="data, segment_ids")
def _(call: GradientCall, dy: Tensor):
    return _product_gradient(call.data, call.segment_ids, Shape(dy)[0], dy), None

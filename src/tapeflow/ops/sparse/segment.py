"""Reductions over segments of chosen rows: `segment_sum(gather(data, indices), segment_ids)` in one step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core.annotations import Array, Tensor, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import public, tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.math import segment
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import FLOATING, INDEX, REAL, Sample, op
from tapeflow.ops.validate import first_out_of_range, invalid, known, one_value

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

INDICES = {"Tidx": Preferring(INDEX), "Tsegmentids": Preferring(INDEX)}


def _chosen(data: Any, indices: Any, segment_ids: Any):
    if indices.ndim != 1:
        raise invalid("indices should be a vector.")
    if segment_ids.ndim != 1:
        raise invalid("segment_ids should be a vector.")
    if len(indices) != len(segment_ids):
        raise invalid("segment_ids and indices should have same size.")
    if data.ndim < 1:
        raise invalid("Shape must be at least rank 1")
    bad = first_out_of_range(indices, data.shape[0])
    if bad:
        raise invalid(f"Bad: indices{bad[0]} == {bad[1]} out of range [0, {data.shape[0]})")
    return data[indices]


def _weights(xp: ModuleType, kind: str, segment_ids: Any, rows: int):
    """What each segment's sum is multiplied with."""
    length = {"minlength": rows} if xp is np else {"length": rows}
    counts = xp.maximum(xp.bincount(segment_ids, **length), 1)
    return {"Sum": xp.ones(rows), "Mean": 1 / counts, "SqrtN": 1 / xp.sqrt(counts)}[kind]


def _reduced(xp: ModuleType, kind: str, data: Array, indices: Array, segment_ids: Array, rows):
    chosen = _chosen(data, indices, segment_ids)
    if rows is not None and known(segment_ids) and segment_ids.size and segment_ids[-1] >= rows:
        raise invalid("segment ids must be < num_segments")
    count = segment.sorted_ids(chosen, segment_ids, rows)
    rows = count if rows is None else rows
    total = segment.accumulate(xp, "add", chosen, segment_ids, rows, 0)
    if kind == "Sum":
        return total
    weights = _weights(xp, kind, segment_ids, rows).reshape(-1, *(1,) * (total.ndim - 1))
    return (total * weights).astype(data.dtype)


def _shape(call: ShapeCall):
    data = shapes.at_least(call.shape(0), 1)
    shapes.same_dimension(shapes.vector_length(call, 1), shapes.vector_length(call, 2))
    if call.count > 3:
        count = shapes.scalar_value(call, 3)
        if count is not None and count < 0:
            raise invalid("Cannot specify a negative value for num_segments")
    else:
        ids = call.value(2)
        count = None if ids is None else int(ids[-1]) + 1 if ids.size else 0
    return [None if data is None else (count, *data[1:])]


def _reference(kind: str):
    def reference(data, indices, segment_ids, num_segments=None, sparse_gradient: bool = False):
        rows = (
            int(num_segments) if num_segments is not None else int(segment_ids.max(initial=-1)) + 1
        )
        out = np.zeros((rows, *data.shape[1:]))
        for i in range(rows):
            mine = [data[j] for j, s in zip(indices, segment_ids, strict=True) if s == i]
            power = {"Sum": 0, "Mean": 1, "SqrtN": 0.5}[kind]
            out[i] = sum(mine) / len(mine) ** power if mine else 0
        return out

    return reference


def _samples(*more):
    def samples(rng: SampleGenerator):
        yield Sample(rng.normal(4, 2), np.array([3, 0, 0]), np.array([0, 0, 2]), *more)
        yield Sample(rng.normal(3), np.array([1], np.int64), np.array([1]), *more)
        yield Sample(rng.normal(3, 2), np.zeros(0, np.int32), np.zeros(0, np.int64), *more)
        yield Sample(
            rng.normal(3), np.array([0, 7]), np.array([0, 1]), *more, raises=InvalidArgumentError
        )
        yield Sample(
            rng.normal(3), np.array([0, 1]), np.array([1, 0]), *more, raises=InvalidArgumentError
        )
        yield Sample(
            rng.normal(3), np.array([0, 1]), np.array([1]), *more, raises=InvalidArgumentError
        )
        yield Sample(
            rng.normal(3), np.array([0]), np.array([-1]), *more, raises=InvalidArgumentError
        )
        if more:
            yield Sample(
                rng.normal(3), np.array([0]), np.array([9]), *more, raises=InvalidArgumentError
            )

    return samples


def _rows(kind: str, types):
    """An op and its variant that takes the number of segments."""
    attrs = {"sparse_gradient": False}

    @op(
        f"SparseSegment{kind}",
        "data: T, indices: Tidx, segment_ids: Tsegmentids -> output: T",
        types={"T": types, **INDICES},
        attrs=attrs,
        shape=_shape,
    )
    def plain(xp: ModuleType, data: Array, indices: Array, segment_ids: Array, sparse_gradient):
        return _reduced(xp, kind, data, indices, segment_ids, None)

    @op(
        f"SparseSegment{kind}WithNumSegments",
        "data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments -> output: T",
        types={"T": types, **INDICES, "Tnumsegments": Preferring(INDEX)},
        attrs=attrs,
        shape=_shape,
    )
    def sized(
        xp: ModuleType, data: Array, indices: Array, segment_ids: Array, num_segments: Array, sparse_gradient
    ):
        rows = one_value(num_segments, "num_segments should be a scalar.")
        if rows < 0:
            raise invalid(f"num_segments = {rows} should be >= 0")
        return _reduced(xp, kind, data, indices, segment_ids, rows)

    def gradient(call: GradientCall, dy: Tensor):
        shape = Shape(call.data)
        rows = shape[0]
        if call.sparse_gradient:
            values, found = COMPACT_GRADIENTS[kind](dy, call.indices, call.segment_ids, rows)
            return IndexedSlices(values, found, shape), None, None
        of_data = GRADIENTS[kind](dy, call.indices, call.segment_ids, rows)
        return of_data, None, None

    plain.gradient(needs="data, indices, segment_ids")(gradient)
    sized.gradient(needs="data, indices, segment_ids")(lambda call, dy: (*gradient(call, dy), None))
    plain.samples(_samples())
    sized.samples(_samples(4))
    plain.reference(_reference(kind))
    sized.reference(_reference(kind))
    return plain, sized


def _gradient_rule(call: ShapeCall):
    shape, rows = call.shape(0), call.value(3)
    shapes.merge(call.shape(1), call.shape(2))
    return [None if shape is None else (None if rows is None else int(rows), *shape[1:])]


def _gradient_row(kind: str):
    @op(
        f"SparseSegment{kind}Grad",
        "grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32 -> output: T",
        types={"T": FLOATING, **INDICES},
        ranks="grad: 1+, indices: 1, segment_ids: 1, output_dim0: 0",
        shape=_gradient_rule,
    )
    def row(xp: ModuleType, grad: Array, indices: np.ndarray, segment_ids: np.ndarray, output_dim0: Array):
        rows = one_value(output_dim0, "output_dim0 should be a scalar.")
        if rows < 0:
            raise invalid(f"output_dim0 = {rows} should be >= 0")
        if indices.ndim != 1 or segment_ids.ndim != 1:
            raise invalid("indices and segment_ids should be vectors.")
        if len(indices) != len(segment_ids):
            raise invalid("segment_ids and indices should have same size.")
        if grad.ndim < 1:
            raise invalid("Shape must be at least rank 1")
        segments = grad.shape[0]
        if known(segment_ids) and segment_ids.size and segment_ids[-1] >= segments:
            raise invalid("Invalid number of segments")
        bad = first_out_of_range(indices, rows)
        if bad:
            raise invalid(f"Index {bad[1]} out of range [0, {rows}).")
        bad = first_out_of_range(segment_ids, segments)
        if bad:
            raise invalid(f"Segment id {bad[1]} out of range [0, {segments}).")
        spread = grad[segment_ids]
        weights = _weights(xp, kind, segment_ids, grad.shape[0])[segment_ids]
        spread = spread * weights.reshape(-1, *(1,) * (grad.ndim - 1))
        return segment.accumulate(xp, "add", spread.astype(grad.dtype), indices, rows, 0)

    @row.gradient(needs="indices, segment_ids")
    def _(call: GradientCall, dy: Tensor):
        count = call.shape("grad")[0]
        reduce = {"Sum": SUMS, "Mean": MEANS, "SqrtN": ROOTS}[kind][1]
        return reduce(dy, call.indices, call.segment_ids, count), None, None, None

    @row.samples
    def _(rng: SampleGenerator):
        yield Sample(rng.normal(2, 3), np.array([3, 0, 0]), np.array([0, 0, 1]), 4)
        yield Sample(
            rng.normal(2, 3),
            np.array([3, 9, 0]),
            np.array([0, 0, 1]),
            4,
            raises=InvalidArgumentError,
        )
        yield Sample(
            rng.normal(2, 3), np.array([3, 0]), np.array([0, 5]), 4, raises=InvalidArgumentError
        )

    @row.reference
    def _(grad: np.ndarray, indices: np.ndarray, segment_ids: np.ndarray, output_dim0: np.ndarray):
        out = np.zeros((int(output_dim0), *grad.shape[1:]))
        power = {"Sum": 0, "Mean": 1, "SqrtN": 0.5}[kind]
        for i, s in zip(indices, segment_ids, strict=True):
            out[i] += grad[s] / (segment_ids == s).sum() ** power
        return out

    return row


def _compact_gradient_row(kind: str):
    """The rows of the gradient that are not all zeros, and which they are."""

    @op(
        f"SparseSegment{kind}GradV2",
        "grad: T, indices: Tidx, segment_ids: Tsegmentids, dense_output_dim0: int32 "
        "-> output: T, sorted_unique_indices: Tidx",
        types={"T": FLOATING, **INDICES},
        ranks="grad: 1+, indices: 1, segment_ids: 1, dense_output_dim0: 0",
        shape=lambda call: [None if call.shape(0) is None else (None, *call.shape(0)[1:]), (None,)],
    )
    def row(xp: ModuleType, grad: Array, indices: Array, segment_ids: Array, dense_output_dim0: Array):
        whole = GRADIENTS[kind].kernel(xp, grad, indices, segment_ids, dense_output_dim0)
        found = np.unique(indices)
        return whole[found], found

    row.gradient(None)
    row.compiled(never="the shape of its results depends on values")

    @row.samples
    def _(rng: SampleGenerator):
        ids = np.array([3, 0, 3]), np.array([0, 0, 1])
        yield Sample(rng.normal(2, 3), *ids, 5, differentiable=False)
        yield Sample(rng.normal(2, 3), *ids, 3, raises=InvalidArgumentError)

    @row.reference
    def _(grad: np.ndarray, indices: np.ndarray, segment_ids: np.ndarray, dense_output_dim0: np.ndarray):
        whole = GRADIENTS[kind].formula(grad, indices, segment_ids, dense_output_dim0)
        return whole[sorted(set(indices.tolist()))], np.array(sorted(set(indices.tolist())))

    return row


GRADIENTS = {kind: _gradient_row(kind) for kind in ("Sum", "Mean", "SqrtN")}
COMPACT_GRADIENTS = {kind: _compact_gradient_row(kind) for kind in GRADIENTS}
SUMS = SparseSegmentSum, SparseSegmentSumWithNumSegments = _rows("Sum", REAL)
MEANS = SparseSegmentMean, SparseSegmentMeanWithNumSegments = _rows("Mean", FLOATING)
ROOTS = SparseSegmentSqrtN, SparseSegmentSqrtNWithNumSegments = _rows("SqrtN", FLOATING)


def _call(
    rows: Sequence[Callable[..., Any]], data: Any, indices: Any, segment_ids: Any, num_segments, sparse_gradient: bool
):
    plain, sized = rows
    if num_segments is None:
        return plain(data, indices, segment_ids, bool(sparse_gradient))
    return sized(data, indices, segment_ids, num_segments, bool(sparse_gradient))


@api(v2="sparse.segment_sum")
@public
def sparse_segment_sum(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: TensorLike | None = None,
    name: str | None = None, sparse_gradient: bool = False,
):
    """Add chosen rows in segments.

    Args:
      data: a real tensor.
      indices: which rows, an int32 or int64 vector.
      segment_ids: for each of them the number of its segment, a sorted vector.
      num_segments: how many segments there are; None: as many as `segment_ids` names.
      name: a name for the operation (optional).
      sparse_gradient: whether the gradient of `data` is a `tf.IndexedSlices`.

    Returns:
      A tensor with one row for each segment; zeros for segments without rows.

    Raises:
      InvalidArgumentError: for indices out of range, and ids that are not sorted or not below `num_segments`.

    >>> tf.sparse.segment_sum([[1, 2], [3, 4], [5, 6]], [0, 2, 1], [0, 0, 1])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[6, 8],
           [3, 4]], dtype=int32)>
    """
    return _call(SUMS, data, indices, segment_ids, num_segments, sparse_gradient)


@api(v2="sparse.segment_mean")
@public
def sparse_segment_mean(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: TensorLike | None = None,
    name: str | None = None, sparse_gradient: bool = False,
):
    """Compute the means of segments of chosen rows.

    Args:
      data: a floating tensor.
      indices: which rows, an int32 or int64 vector.
      segment_ids: for each of them the number of its segment, a sorted vector.
      num_segments: how many segments there are; None: as many as `segment_ids` names.
      name: a name for the operation (optional).
      sparse_gradient: whether the gradient of `data` is a `tf.IndexedSlices`.

    Returns:
      A tensor with one row for each segment; zeros for segments without rows.

    Raises:
      InvalidArgumentError: for indices out of range, and ids that are not sorted or not below `num_segments`.
    """
    return _call(MEANS, data, indices, segment_ids, num_segments, sparse_gradient)


@api(v2="sparse.segment_sqrt_n")
@public
def sparse_segment_sqrt_n(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: TensorLike | None = None,
    name: str | None = None, sparse_gradient: bool = False,
):
    """Add chosen rows in segments, and divide by the square root of their number.

    Args:
      data: a floating tensor.
      indices: which rows, an int32 or int64 vector.
      segment_ids: for each of them the number of its segment, a sorted vector.
      num_segments: how many segments there are; None: as many as `segment_ids` names.
      name: a name for the operation (optional).
      sparse_gradient: whether the gradient of `data` is a `tf.IndexedSlices`.

    Returns:
      A tensor with one row for each segment; zeros for segments without rows.

    Raises:
      InvalidArgumentError: for indices out of range, and ids that are not sorted or not below `num_segments`.
    """
    return _call(ROOTS, data, indices, segment_ids, num_segments, sparse_gradient)


@api(v1=("sparse.segment_sum", "sparse_segment_sum"))
@tensor_function
def sparse_segment_sum_v1(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, name: str | None = None,
    num_segments: TensorLike | None = None, sparse_gradient: bool = False,
):
    """`sparse_segment_sum` as 1.x spells it."""
    return _call(SUMS, data, indices, segment_ids, num_segments, sparse_gradient)


@api(v1=("sparse.segment_mean", "sparse_segment_mean"))
@tensor_function
def sparse_segment_mean_v1(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, name: str | None = None,
    num_segments: TensorLike | None = None, sparse_gradient: bool = False,
):
    """`sparse_segment_mean` as 1.x spells it."""
    return _call(MEANS, data, indices, segment_ids, num_segments, sparse_gradient)


@api(v1=("sparse.segment_sqrt_n", "sparse_segment_sqrt_n"))
@tensor_function
def sparse_segment_sqrt_n_v1(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, name: str | None = None,
    num_segments: TensorLike | None = None, sparse_gradient: bool = False,
):
    """`sparse_segment_sqrt_n` as 1.x spells it."""
    return _call(ROOTS, data, indices, segment_ids, num_segments, sparse_gradient)

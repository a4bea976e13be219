"""Ops that pick elements by their values: where, unique, top-k, searchsorted, set difference."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, IntLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array import scatter
from tapeflow.ops.array.construction import range as range_
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.rows import Shape
from tapeflow.ops.math import reduction
from tapeflow.ops.math.casting import cast
from tapeflow.ops.signature import Preferring, dtype, integer
from tapeflow.ops.static import as_shape, product, size_of, sizes_in, sizes_of
from tapeflow.ops.table import ANY, INDEX, NUMERIC, REAL, Sample, op
from tapeflow.ops.validate import index_kind, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


@op(
    "Where",
    "input: T -> index: int64",
    types={"T": Preferring((dtypes.bool, *NUMERIC))},
    shape=lambda call: [(None, None if call.shape(0) is None else len(call.shape(0)))],
)
def Where(xp: ModuleType, input: Array):
    if input.ndim == 0:
        raise invalid("WhereOp : Unhandled input dimensions: 0")
    return np.argwhere(input).astype(np.int64)


Where.gradient(None)


Where.compiled(never="how many rows it returns depends on values")


@Where.samples
def _(rng: SampleGenerator):
    yield Sample([True, False, True], expect=np.array([[0], [2]], np.int64))
    yield Sample(np.array([[1.0, 0.0], [0.0, np.nan]]), expect=np.array([[0, 0], [1, 1]], np.int64))
    yield Sample(np.zeros((2, 0), bool), expect=np.zeros((0, 2), np.int64))
    yield Sample(True, raises=InvalidArgumentError)


_FEW = 64  # so many numbers are distinguished as quickly one by one as by sorting


def _unique(x: Any, axis: int, index_dtype):
    """The distinct slices of `x` along `axis` in the order they first come, where each went, and how many."""
    rows = np.moveaxis(x, axis, 0)
    if rows.ndim == 1 and rows.dtype.kind in "iu" and len(rows) > _FEW:
        return _unique_by_sorting(rows, index_dtype)
    places: dict = {}
    index = np.empty(len(rows), index_dtype)
    first: list[int] = []
    for i, row in enumerate(rows):
        key = row if rows.ndim == 1 else tuple(row.ravel().tolist())
        key = key.item() if hasattr(key, "item") else key
        at = places.setdefault(key, len(places))
        if at == len(first):
            first.append(i)
        index[i] = at
    counts = np.bincount(index, minlength=len(first)) if len(index) else np.zeros(0)
    return np.take(x, first, axis), index, counts.astype(index_dtype)


def _unique_by_sorting(x, index_dtype):
    _, first, places, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    rank = np.empty(len(order), index_dtype)
    rank[order] = np.arange(len(order))
    return x[first[order]], rank[places], counts[order].astype(index_dtype)


def _unique_axis(x, axis) -> int:
    if axis.ndim != 1:
        raise invalid("axis expects a 1D vector.")
    if axis.size > 1:
        raise invalid("axis does not support input tensors larger than 1 elements")
    if axis.size == 0:
        if x.ndim != 1:
            raise invalid("unique expects a 1D vector.")
        return 0
    at = int(axis[0])
    if not -x.ndim <= at < x.ndim:
        raise invalid(f"axis has to be between [0, {x.ndim})")
    return at % x.ndim


_OUT_IDX = {"out_idx": dtype(dtypes.int32)}


def _unique_rule(call: ShapeCall):
    shape, axis = call.shape(0), shapes.vector_value(call, 1)
    if shape is None or axis is None:
        return [None if shape is None else (None,) * len(shape), (None,), (None,)]
    if len(axis) > 1:
        raise invalid("axis does not support input tensors larger than 1 elements")
    if not axis:
        return [(None,), shapes.with_rank(shape, 1), (None,)]
    at = shapes.normal_axis(axis[0], len(shape))
    return [(*shape[:at], None, *shape[at + 1 :]), (shape[at],), (None,)]


def _require_vector(x: Any, text: str) -> None:
    if x.ndim != 1:
        raise invalid(text)


@op(
    "Unique",
    "x: T -> y: T, idx: out_idx",
    types={"T": ANY},
    attrs=_OUT_IDX,
    shape=lambda call: [(None,), shapes.with_rank(call.shape(0), 1)],
)
def Unique(xp: ModuleType, x: Array, out_idx: DType):
    _require_vector(x, "unique expects a 1D vector.")
    return _unique(x, 0, index_kind(out_idx, "out_idx"))[:2]


Unique.gradient(None)


def _unique_samples(rng: SampleGenerator):
    yield Sample([1, 1, 2, 4, 4, 1, 7])
    yield Sample(np.arange(300) * 7 % 41)
    yield Sample(np.zeros(0, np.int32))
    yield Sample(np.array([b"b", b"a", b"b"], object))
    yield Sample([2, 2], out_idx=dtypes.int64)
    yield Sample([[1, 1]], raises=InvalidArgumentError)


def _reference_unique(x, out_idx):
    flat = np.asarray(x).tolist()
    order = list(dict.fromkeys(flat))
    places = np.array([order.index(v) for v in flat], out_idx.as_numpy_dtype)
    counts = np.array([flat.count(v) for v in order], out_idx.as_numpy_dtype)
    return np.array(order, np.asarray(x).dtype), places, counts


Unique.compiled(never="how many elements it returns depends on values")
Unique.samples(_unique_samples)


@Unique.reference
def _(x: np.ndarray, out_idx: DType):
    return _reference_unique(x, out_idx)[:2]


@op(
    "UniqueWithCounts",
    "x: T -> y: T, idx: out_idx, count: out_idx",
    types={"T": ANY},
    attrs=_OUT_IDX,
    shape=lambda call: [(None,), shapes.with_rank(call.shape(0), 1), (None,)],
)
def UniqueWithCounts(xp: ModuleType, x: Array, out_idx: DType):
    _require_vector(x, "unique expects a 1D vector.")
    return _unique(x, 0, index_kind(out_idx, "out_idx"))


UniqueWithCounts.gradient(None)
UniqueWithCounts.compiled(never="how many elements it returns depends on values")
UniqueWithCounts.samples(_unique_samples)


@UniqueWithCounts.reference
def _(x: np.ndarray, out_idx: DType):
    return _reference_unique(x, out_idx)


def _unique_v2_samples(rng: SampleGenerator):
    yield Sample([[1, 0], [1, 0], [2, 0]], [0])
    yield Sample([[1, 0, 1], [2, 5, 2]], [1])
    yield Sample([1, 1, 2], np.zeros(0, np.int64))
    yield Sample([[1, 0], [1, 0]], [2], raises=InvalidArgumentError)
    yield Sample([[1, 0], [1, 0]], [0, 1], raises=InvalidArgumentError)
    yield Sample([[1, 0], [1, 0]], np.zeros(0, np.int64), raises=InvalidArgumentError)


def _reference_unique_v2(x, axis, out_idx):
    at = int(axis[0]) if len(axis) else 0
    rows = list(np.moveaxis(np.asarray(x), at, 0))
    order: list = []
    for row in rows:
        if not any(np.array_equal(row, kept) for kept in order):
            order.append(row)
    places = [next(i for i, kept in enumerate(order) if np.array_equal(row, kept)) for row in rows]
    kind = out_idx.as_numpy_dtype
    counts = [places.count(i) for i in range(len(order))]
    return np.moveaxis(np.array(order), 0, at), np.array(places, kind), np.array(counts, kind)


@op(
    "UniqueV2",
    "x: T, axis: Taxis -> y: T, idx: out_idx",
    types={"T": ANY, "Taxis": Preferring(INDEX[::-1])},
    attrs=_OUT_IDX,
    shape=lambda call: _unique_rule(call)[:2],
)
def UniqueV2(xp: ModuleType, x: Array, axis: Array, out_idx: DType):
    return _unique(x, _unique_axis(x, axis), index_kind(out_idx, "out_idx"))[:2]


UniqueV2.gradient(None)
UniqueV2.compiled(never="how many elements it returns depends on values")
UniqueV2.samples(_unique_v2_samples)


@UniqueV2.reference
def _(x: np.ndarray, axis: np.ndarray, out_idx: DType):
    return _reference_unique_v2(x, axis, out_idx)[:2]


@op(
    "UniqueWithCountsV2",
    "x: T, axis: Taxis -> y: T, idx: out_idx, count: out_idx",
    types={"T": ANY, "Taxis": Preferring(INDEX[::-1])},
    attrs=_OUT_IDX,
    shape=_unique_rule,
)
def UniqueWithCountsV2(xp: ModuleType, x: Array, axis: Array, out_idx: DType):
    return _unique(x, _unique_axis(x, axis), index_kind(out_idx, "out_idx"))


UniqueWithCountsV2.gradient(None)
UniqueWithCountsV2.compiled(never="how many elements it returns depends on values")
UniqueWithCountsV2.samples(_unique_v2_samples)


@UniqueWithCountsV2.reference
def _(x: np.ndarray, axis: np.ndarray, out_idx: DType):
    return _reference_unique_v2(x, axis, out_idx)


@api("unique")
@tensor_function
def unique(x: TensorLike, out_idx: DType = dtypes.int32, name: str | None = None):
    """Find the distinct elements of a vector.

    Args:
      x: a vector of any dtype.
      out_idx: the dtype of the indices, int32 or int64.
      name: a name for the operation (optional).

    Returns:
      (y, idx): the elements in the order in which they first come, and for each element of `x` where it stands in
      `y`.

    Raises:
      InvalidArgumentError: where `x` is no vector.

    >>> y, idx = tf.unique([4, 1, 4, 2])
    >>> y.numpy(), idx.numpy()
    (array([4, 1, 2], dtype=int32), array([0, 1, 0, 2], dtype=int32))
    """
    return Unique(x, dtypes.as_dtype(out_idx))


@api("unique_with_counts")
@tensor_function
def unique_with_counts(x: TensorLike, out_idx: DType = dtypes.int32, name: str | None = None):
    """Find the distinct elements of a vector, and count them.

    Args:
      x: a vector of any dtype.
      out_idx: the dtype of the indices and counts, int32 or int64.
      name: a name for the operation (optional).

    Returns:
      (y, idx, count): the elements in the order in which they first come, for each element of `x` where it stands
      in `y`, and how often each element of `y` occurs.

    >>> y, idx, count = tf.unique_with_counts([4, 1, 4, 2])
    >>> y.numpy(), count.numpy()
    (array([4, 1, 2], dtype=int32), array([2, 1, 1], dtype=int32))
    """
    return UniqueWithCounts(x, dtypes.as_dtype(out_idx))


@op(
    "ListDiff",
    "x: T, y: T -> out: T, idx: out_idx",
    types={"T": ANY},
    attrs=_OUT_IDX,
    ranks="x: 1, y: 1",
    shape=shapes.fixed((None,), (None,)),
)
def ListDiff(xp: ModuleType, x: Array, y: Array, out_idx: DType):
    _require_vector(x, "x should be a 1D vector.")
    _require_vector(y, "y should be a 1D vector.")
    gone = set(y.tolist())
    keep = [i for i, v in enumerate(x.tolist()) if v not in gone]
    return x[keep], np.array(keep, index_kind(out_idx, "out_idx"))


ListDiff.gradient(None)


ListDiff.compiled(never="how many elements it returns depends on values")


@ListDiff.samples
def _(rng: SampleGenerator):
    yield Sample(
        [1, 2, 3, 4, 2], [2, 4], expect=(np.array([1, 3], np.int32), np.array([0, 2], np.int32))
    )
    yield Sample([[1]], [1], raises=InvalidArgumentError)
    yield Sample([1], [[1]], raises=InvalidArgumentError)


@api(v1="setdiff1d")
@tensor_function
def setdiff1d(x: TensorLike, y: TensorLike, index_dtype=dtypes.int32, name: str | None = None):
    """(out, idx): the elements of the vector `x` that are not in `y`, and where they stand in `x`."""
    return ListDiff(x, y, dtypes.as_dtype(index_dtype))


def _top_k(x: Any, k: int, index_dtype: type):
    if x.ndim < 1:
        raise invalid(f"input must be >= 1-D, got shape {shape_text(x.shape)}")
    if k < 0:
        raise invalid(f"Need k >= 0, got {k}")
    if x.shape[-1] < k:
        raise invalid(f"input must have at least k columns. Had {x.shape[-1]}, needed {k}")
    # Equal values keep their order; NaN counts as the greatest.
    rank = x.astype(np.float32) if x.dtype.kind == "V" else x
    if rank.dtype.kind == "f":
        nan = np.isnan(rank)
        order = np.lexsort((~nan, -np.where(nan, np.inf, rank)), axis=-1)
    else:
        order = np.argsort(np.invert(rank), axis=-1, kind="stable")
    order = order[..., :k]
    return np.take_along_axis(x, order, -1), order.astype(index_dtype)


def _top_k_rule(call: ShapeCall):
    return _top_k_shapes(call.shape(0), shapes.size_value(call, 1))


def _top_k_shapes(shape: Any, k: int | None):
    if shapes.at_least(shape, 1) is None:
        return [None, None]
    if k is not None and shape[-1] is not None and shape[-1] < k:
        raise invalid(f"input must have last dimension >= k = {k} but is {shape[-1]}")
    return [(*shape[:-1], k)] * 2


@op(
    "TopKV2",
    "input: T, k: Tk -> values: T, indices: index_type",
    types={"T": REAL, "Tk": Preferring((*INDEX, dtypes.int16))},
    attrs={"sorted": True, "index_type": dtype(dtypes.int32)},
    shape=_top_k_rule,
)
def TopKV2(xp: ModuleType, input: Array, k: Array, sorted: bool, index_type: DType):
    if np.ndim(k):
        raise invalid(f"k must be scalar, got shape {shape_text(np.shape(k))}")
    return _top_k(input, int(k), index_type.as_numpy_dtype)


TopKV2.batching(batching.leading(0, least=[1]))


def _top_k_gradient(call: GradientCall, dy: Tensor, indices: Tensor):
    """`dy` put back where the values came from."""
    k = size_of(indices, -1)
    if call.static_shape("input").rank is None:
        shape = call.shape("input")
        rows, length = reduction.reduce_prod(shape[:-1]), shape[-1]
    else:
        sizes = sizes_in(call, "input")
        rows, length = product(sizes[:-1]), sizes[-1]

    lines = Reshape(range_(0, rows), [-1, 1])
    flat = Reshape(cast(indices, dtypes.int32), as_shape([rows, k])) + lines * length
    total = as_shape([rows * length])
    places = cast(Reshape(flat, [-1, 1]), total.dtype)
    return Reshape(scatter.ScatterNd(places, Reshape(dy, [-1]), total), call.shape("input"))


@TopKV2.gradient(needs="indices")
def _(call: GradientCall, dy: Tensor, dindices: Tensor | None):
    return _top_k_gradient(call, dy, call.indices), None


@TopKV2.compiled()
def _(xp: ModuleType, input: Array, k: int, sorted: bool, index_type: DType):
    # JAX has -0 below 0; of equal numbers the first is to come first.
    indices = importlib.import_module("jax.lax").top_k(xp.where(input == 0, 0, input), int(k))[1]
    return xp.take_along_axis(input, indices, -1), indices


@TopKV2.samples
def _(rng):
    yield Sample(rng.normal(5), 2)
    yield Sample(rng.normal(2, 3, 4), 3)
    yield Sample(rng.normal(3), 0)
    yield Sample(
        np.array([1, 5, 5, 2], np.int32),
        3,
        expect=(np.array([5, 5, 2], np.int32), np.array([1, 2, 3], np.int32)),
    )
    yield Sample(
        np.array([1.0, np.nan, 3.0]),
        3,
        expect=(np.array([np.nan, 3.0, 1.0]), np.array([1, 2, 0], np.int32)),
    )
    # Long rows are sorted by their bytes, and a few of many are found by looking at blocks.
    for dt in (np.float32, np.float64, np.int32, np.int64):
        row = np.arange(300, dtype=dt) % 37 - 18
        for k in (1, 7, 150, 300):
            yield Sample(np.stack([row, row[::-1] * 1000]), k, differentiable=False)
    row = np.array([np.inf, 0.0, -0.0, -np.inf, 1e-30, -1.0, 3.0] * 20, np.float32)
    row[[5, 77]] = np.nan
    order = sorted(range(140), key=lambda i: (not np.isnan(row[i]), -row[i], i))
    for k in (3, 140):
        expect = row[order[:k]], np.array(order[:k], np.int32)
        yield Sample(row, k, expect=expect, differentiable=False)
    yield Sample(rng.normal(3), 4, raises=InvalidArgumentError)
    yield Sample(rng.normal(3), -1, raises=InvalidArgumentError)
    yield Sample(rng.normal(3), [2], raises=InvalidArgumentError)
    yield Sample(rng.normal(), 1, raises=InvalidArgumentError)


def _falling(x):
    """Keys that sort the greatest first; unsigned numbers have no negatives of their own."""
    return -np.asarray(x).astype(np.float64)


@TopKV2.reference
def _(input: np.ndarray, k: np.ndarray, sorted: bool, index_type: DType):
    input = np.asarray(input)
    order = np.argsort(_falling(input), -1, kind="stable")[..., : int(k)]
    return np.take_along_axis(input, order, -1), order.astype(index_type.as_numpy_dtype)


@op(
    "TopK",
    "input: T -> values: T, indices: int32",
    types={"T": REAL},
    attrs={"k": integer, "sorted": True},
    shape=lambda call: _top_k_shapes(call.shape(0), call.attr("k")),
)
def TopK(xp: ModuleType, input: Array, k: int, sorted: bool):
    return _top_k(input, k, np.int32)


TopK.batching(batching.leading(0, least=[1]))


@TopK.gradient(needs="indices")
def _(call: GradientCall, dy: Tensor, dindices: Tensor):
    return _top_k_gradient(call, dy, call.indices)


@TopK.compiled()
def _(xp: ModuleType, input: Array, k: int, sorted: bool):
    return importlib.import_module("jax.lax").top_k(input, k)


@TopK.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 5), k=2)
    yield Sample(rng.normal(3), k=4, raises=InvalidArgumentError)


@TopK.reference
def _(input: np.ndarray, k: int, sorted: bool):
    order = np.argsort(_falling(input), -1, kind="stable")[..., :k]
    return np.take_along_axis(np.asarray(input), order, -1), order.astype(np.int32)


@api("math.top_k", "nn.top_k")
@tensor_function
def top_k(
    input: TensorLike, k: IntLike = 1, sorted: bool = True, index_type: DType = dtypes.int32, name: str | None = None
):
    """Find the `k` greatest elements along the last dimension, and where they are.

    Args:
      input: a real tensor of rank 1 at least.
      k: how many, a scalar integer.
      sorted: whether they come in descending order; if not, the order is not defined.
      index_type: the dtype of the indices: int32, int64 or int16.
      name: a name for the operation (optional).

    Returns:
      (values, indices), a named tuple of tensors `[..., k]`. Of equal elements the one of lower index comes first.

    Raises:
      InvalidArgumentError: where the last dimension has fewer than `k` elements.

    >>> values, indices = tf.math.top_k([1, 8, 3, 5], k=2)
    >>> values
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([8, 5], dtype=int32)>
    >>> indices
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 3], dtype=int32)>
    """
    return TopKV2(input, k, sorted, dtypes.as_dtype(index_type))


def _in_top_k(xp: ModuleType, predictions: Array, targets: Array, k: int):
    if predictions.ndim != 2:
        raise invalid("predictions must be 2-dimensional")
    if targets.ndim != 1:
        raise invalid("targets must be 1-dimensional")
    if len(predictions) != len(targets):
        raise invalid(
            f"First dimension of predictions {len(predictions)} must match length of targets {len(targets)}"
        )
    classes = predictions.shape[1]
    inside = (targets >= 0) & (targets < classes)
    if not classes:
        return inside
    own = xp.take_along_axis(predictions, xp.where(inside, targets, 0)[:, None], 1)
    better = (predictions > own).sum(1)
    finite = xp.isfinite(own[:, 0]) & xp.isfinite(predictions).all(1)
    return inside & finite & (better < k)


def _in_top_k_rule(call: ShapeCall):
    predictions, targets = shapes.with_rank(call.shape(0), 2), shapes.with_rank(call.shape(1), 1)
    return [(shapes.same_dimension(predictions[0], targets[0]),)]


@op("InTopK", "predictions: float32, targets: T -> precision: bool", types={"T": Preferring(INDEX)},
    attrs={"k": integer}, shape=_in_top_k_rule)  # fmt: skip
def InTopK(xp: ModuleType, predictions: Array, targets: Array, k: int):
    return _in_top_k(np, predictions, targets, k)


InTopK.batching(batching.folded())


InTopK.gradient(None)
InTopK.compiled(lambda xp, predictions, targets, k: _in_top_k(xp, predictions, targets, k))


@InTopK.samples
def _(rng: SampleGenerator):
    x = np.array([[0.1, 0.9, 0.5], [0.1, 0.9, 0.5]], np.float32)
    yield Sample(x, [1, 0], k=2, expect=np.array([True, False]))


@op("InTopKV2", "predictions: float32, targets: T, k: T -> precision: bool", types={"T": Preferring(INDEX)},
    shape=_in_top_k_rule)  # fmt: skip
def InTopKV2(xp: ModuleType, predictions: Array, targets: Array, k: Array):
    if np.ndim(k):
        raise invalid(f"k must be 0-D, got shape {shape_text(np.shape(k))}")
    return _in_top_k(np, predictions, targets, int(k))


InTopKV2.gradient(None)
InTopKV2.compiled(lambda xp, predictions, targets, k: _in_top_k(xp, predictions, targets, k))


@InTopKV2.samples
def _(rng: SampleGenerator):
    x = np.array([[0.1, 0.9, 0.5], [0.1, 0.9, 0.5]], np.float32)
    yield Sample(x, [1, 0], 2, expect=np.array([True, False]))
    yield Sample(x, [5, -1], 2, expect=np.array([False, False]))
    odd = np.array([[0.1, np.inf, 0.5], [0.1, np.nan, 0.5]], np.float32)
    yield Sample(odd, [1, 0], 2, expect=np.array([False, False]))
    yield Sample(x, [1], 2, raises=InvalidArgumentError)
    yield Sample(x[0], [1], 2, raises=InvalidArgumentError)
    yield Sample(x, [[1, 0]], 2, raises=InvalidArgumentError)
    yield Sample(x, [1, 0], [2], raises=InvalidArgumentError)


@api(v2=("math.in_top_k", "nn.in_top_k"))
@tensor_function
def in_top_k(
    targets: TensorLike, predictions: TensorLike, k: TensorLike, name: str | None = None
) -> Tensor:
    """Tell whether each target class is among the `k` greatest predictions of its row.

    Args:
      targets: classes, a vector `[batch]` of int32 or int64.
      predictions: a float32 matrix `[batch, classes]`.
      k: how many predictions count, a scalar integer.
      name: a name for the operation (optional).

    Returns:
      A bool vector `[batch]`. All classes equal to the `k`-th greatest count as in; a row in which the prediction
      of the target is not finite, and a target that is no class, give False.

    >>> tf.math.in_top_k([0, 1], [[0.1, 0.9], [0.2, 0.8]], k=1)
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([False,  True])>
    """
    return InTopKV2(predictions, targets, k)


@api(v1=("math.in_top_k", "nn.in_top_k"))
@tensor_function
def in_top_k_v1(predictions: TensorLike, targets: TensorLike, k: TensorLike, name: str | None = None):
    """`in_top_k` with the 1.x order of arguments."""
    return InTopKV2(predictions, targets, k)


def _bound(sorted_inputs: Any, values: Any, side: Any, out_type: DType):
    for label, x in (("sorted_inputs", sorted_inputs), ("values", values)):
        if x.ndim != 2:
            raise invalid(f"Shape must be rank 2 but is rank {x.ndim} for `{label}` argument")
    if len(sorted_inputs) != len(values):
        raise invalid("Leading dim_size of both tensors must match.")
    rows = [np.searchsorted(s, v, side) for s, v in zip(sorted_inputs, values, strict=True)]
    return np.array(rows, index_kind(out_type, "out_type")).reshape(values.shape)


_BOUND: dict[str, Any] = {"types": {"T": REAL}, "attrs": {"out_type": dtype(dtypes.int32)}}


def _bound_samples(rng: SampleGenerator):
    yield Sample(np.array([[1.0, 3, 3, 5]]), np.array([[0.0, 1, 3, 4, 6]]))
    yield Sample([[1, 3], [2, 4]], [[3], [3]], out_type=dtypes.int64)
    yield Sample([1, 2], [[1]], raises=InvalidArgumentError)
    yield Sample([[1, 2]], [1], raises=InvalidArgumentError)
    yield Sample([[1, 2]], [[1], [2]], raises=InvalidArgumentError)


def _compiled_bound(side: str):
    def kernel(xp: ModuleType, sorted_inputs, values: Array, out_type: DType):
        search = importlib.import_module("jax").vmap(lambda s, v: xp.searchsorted(s, v, side))
        return search(sorted_inputs, values)

    return kernel


def _bound_rule(call: ShapeCall):
    lines, values = shapes.with_rank(call.shape(0), 2), shapes.with_rank(call.shape(1), 2)
    return [(shapes.same_dimension(lines[0], values[0]), values[1])]


@op("LowerBound", "sorted_inputs: T, values: T -> output: out_type",
    shape=_bound_rule, **_BOUND)  # fmt: skip
def LowerBound(xp: ModuleType, sorted_inputs: Array, values: Array, out_type: DType):
    return _bound(sorted_inputs, values, "left", out_type)


LowerBound.gradient(None)
LowerBound.compiled(_compiled_bound("left"))
LowerBound.samples(_bound_samples)


@LowerBound.reference
def _(sorted_inputs: np.ndarray, values: np.ndarray, out_type: DType):
    less = np.asarray(sorted_inputs)[:, None, :] < np.asarray(values)[:, :, None]
    return less.sum(-1).astype(out_type.as_numpy_dtype)


@op("UpperBound", "sorted_inputs: T, values: T -> output: out_type",
    shape=_bound_rule, **_BOUND)  # fmt: skip
def UpperBound(xp: ModuleType, sorted_inputs: Array, values: Array, out_type: DType):
    return _bound(sorted_inputs, values, "right", out_type)


UpperBound.gradient(None)
UpperBound.compiled(_compiled_bound("right"))
UpperBound.samples(_bound_samples)


@UpperBound.reference
def _(sorted_inputs: np.ndarray, values: np.ndarray, out_type: DType):
    less = np.asarray(sorted_inputs)[:, None, :] <= np.asarray(values)[:, :, None]
    return less.sum(-1).astype(out_type.as_numpy_dtype)


@api("searchsorted")
@tensor_function
def searchsorted(
    sorted_sequence: TensorLike, values: TensorLike, side: str = "left", out_type: DTypeLike = dtypes.int32,
    name: str | None = None,
):
    """Find where values would go in sorted rows to keep them sorted.

    Args:
      sorted_sequence: a real tensor `[..., n]` of rows in ascending order, which is not checked.
      values: what to search, of that dtype and `[..., m]`; the dimensions before the last are equal.
      side: "left" gives the place before equal elements, "right" the one after them.
      out_type: the dtype of the places, int32 or int64.
      name: a name for the operation (optional).

    Returns:
      A tensor of `out_type` and of the shape of `values`, in [0, n].

    Raises:
      ValueError: for another side.

    >>> tf.searchsorted([1, 3, 5], [0, 3, 6])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 1, 3], dtype=int32)>
    """
    out_type = dtypes.as_dtype(out_type)
    sorted_sequence, values = convert_to_tensor(sorted_sequence), convert_to_tensor(values)
    if side not in ("left", "right"):
        raise ValueError(
            f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'."
        )
    rows = Reshape(sorted_sequence, as_shape([-1, size_of(sorted_sequence, -1)]))
    lines = Reshape(values, as_shape([-1, size_of(values, -1)]))
    row = LowerBound if side == "left" else UpperBound
    if values.shape.rank is None:
        return Reshape(row(rows, lines, out_type), Shape(values))
    return Reshape(row(rows, lines, out_type), as_shape(sizes_of(values)))

"""Distinct elements, and the elements of one vector that another lacks."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.signature import Preferring, dtype
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import index_kind, invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall


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
        raise invalid("axis does not support input tensors larger than 1 elements.")
    if not axis:
        if len(shape) != 1:
            raise invalid("x expects a 1D vector.")
        return [(None,), shape, (None,)]
    if not -len(shape) <= axis[0] < len(shape):
        raise invalid(f"axis expects to be in the range [{-len(shape)}, {len(shape)})")
    at = axis[0] % len(shape)
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
    return Unique(x, out_idx)


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
    return UniqueWithCounts(x, out_idx)


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
    return ListDiff(x, y, index_dtype)

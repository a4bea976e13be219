"""The greatest elements of rows, and whether an element is among them."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, IntLike, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.indexing import scatter
from tapeflow.ops.math import reductions
from tapeflow.ops.math.casting import cast
from tapeflow.ops.signature import Preferring, dtype, integer
from tapeflow.ops.static import as_shape, product, size_of, sizes_in
from tapeflow.ops.table import INDEX, REAL, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


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
        rows, length = reductions.reduce_prod(shape[:-1]), shape[-1]
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
    return TopKV2(input, k, sorted, index_type)


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

"""The largest or smallest elements along an axis, where a search may miss some; ours misses none."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import tensor_function
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops import shapes
from tapeflow.ops.array import layout, transposing
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.signature import integer
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import InvalidArgumentError, invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _rule(call: ShapeCall):
    shape, k = call.shape(0), call.attr("k")
    if shape is None:
        return [None, None]
    axis = shapes.normal_axis(call.attr("reduction_dimension"), len(shape))
    out = (*shape[:axis], k, *shape[axis + 1 :])
    return [out, out]


@op(
    "ApproxTopK",
    "input: T -> values: T, indices: int32",
    types={"T": (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16)},
    attrs={
        "k": integer,
        "reduction_dimension": -1,
        "recall_target": 0.95,
        "is_max_k": True,
        "reduction_input_size_override": -1,
        "aggregate_to_topk": True,
    },
    shape=_rule,
)
def ApproxTopK(
    xp: ModuleType, input: Array, k: int, reduction_dimension: int, recall_target: float, is_max_k: bool,
    reduction_input_size_override: int, aggregate_to_topk: bool,
):
    rank = input.ndim
    if not -rank <= reduction_dimension < rank:
        raise invalid(f"reduction_dimension {reduction_dimension} is out of range for rank {rank}")
    if k < 0:
        raise invalid(f"Need k >= 0, got {k}")
    columns = input.shape[reduction_dimension]
    if columns < k:
        raise invalid(f"input must have at least k columns. Had {columns}, needed {k}")
    wide = input.astype(np.float32) if input.dtype.itemsize == 2 else input
    order = xp.argsort(-wide if is_max_k else wide, axis=reduction_dimension, stable=True)
    places = xp.moveaxis(xp.moveaxis(order, reduction_dimension, -1)[..., :k], -1, reduction_dimension)
    return xp.take_along_axis(input, places, reduction_dimension), places.astype(np.int32)


@ApproxTopK.gradient(needs="indices", none=True)
def _(call: GradientCall, dvalues: Tensor | None, _: Tensor | None):
    if dvalues is None:
        return None
    axis = call.reduction_dimension
    swap = transposing.axis_swapped(dvalues, axis)
    dy, places = (x if swap is None else transposing.transpose(x, swap) for x in (dvalues, call.indices))
    size = call.static_shape("input")[axis] if call.static_shape("input").rank else None
    size = call.shape("input")[axis] if size is None else size
    chosen = one_hot(places, size, dtype=dy.dtype)
    dx = reduce_sum(layout.expand_dims(dy, -1) * chosen, -2)
    return dx if swap is None else transposing.transpose(dx, swap)


@ApproxTopK.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 5), k=2)
    yield Sample(rng.normal(4, 3), k=3, reduction_dimension=0, is_max_k=False)
    yield Sample(rng.normal(2, 3).astype(np.float32), k=0)
    yield Sample(np.array([1.0, 3.0, 3.0, 2.0]), k=3, differentiable=False)
    yield Sample(rng.normal(2, 3), k=4, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), k=-1, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), k=1, reduction_dimension=2, raises=InvalidArgumentError)


@ApproxTopK.reference
def _(input: np.ndarray, k: int, reduction_dimension: int, is_max_k: bool, **_):
    rows = np.moveaxis(input, reduction_dimension, -1)
    places = np.zeros((*rows.shape[:-1], k), np.int32)
    for at in np.ndindex(*rows.shape[:-1]):
        best = sorted(range(rows.shape[-1]), key=lambda i: -rows[at][i] if is_max_k else rows[at][i])
        places[at] = best[:k]
    values = np.take_along_axis(rows, places.astype(np.int64), -1)
    return np.moveaxis(values, -1, reduction_dimension), np.moveaxis(places, -1, reduction_dimension)


def _checked(operand, axis):
    operand = convert_to_tensor(operand)
    rank = operand.shape.rank
    if rank is not None and not -rank <= axis < rank:
        raise ValueError(
            f"reduction_dimension {axis} is out of range for shape {TensorShape(operand.shape)}"
        )
    return operand


@api("math.approx_max_k", "nn.approx_max_k")
@tensor_function
def approx_max_k(
    operand, k: TensorLike, reduction_dimension=-1, recall_target: float = 0.95, reduction_input_size_override=-1,
    aggregate_to_topk: bool = True, name: str | None = None,
):
    """Find the largest elements along an axis, the largest first.

    The result is exact here; TensorFlow may miss some on accelerators.

    Args:
      operand: a floating tensor.
      k: how many elements to find.
      reduction_dimension: the axis.
      recall_target: the part that must be found; all are.
      reduction_input_size_override: the size of the axis for the choice of an algorithm; not used.
      aggregate_to_topk: whether exactly `k` are returned.
      name: a name for the operation (optional).

    Returns:
      (values, int32 indices), of size `k` along the axis.

    >>> tf.math.approx_max_k([1.0, 5.0, 3.0], k=2)[0]
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([5., 3.], dtype=float32)>
    """
    return ApproxTopK(
        _checked(operand, reduction_dimension), k, reduction_dimension, recall_target, True,
        reduction_input_size_override, aggregate_to_topk,
    )  # fmt: skip


@api("math.approx_min_k", "nn.approx_min_k")
@tensor_function
def approx_min_k(
    operand, k: TensorLike, reduction_dimension=-1, recall_target: float = 0.95, reduction_input_size_override=-1,
    aggregate_to_topk: bool = True, name: str | None = None,
):
    """Find the smallest elements along an axis, the smallest first.

    The result is exact here; TensorFlow may miss some on accelerators.

    Args:
      operand: a floating tensor.
      k: how many elements to find.
      reduction_dimension: the axis.
      recall_target: the part that must be found; all are.
      reduction_input_size_override: the size of the axis for the choice of an algorithm; not used.
      aggregate_to_topk: whether exactly `k` are returned.
      name: a name for the operation (optional).

    Returns:
      (values, int32 indices), of size `k` along the axis.
    """
    return ApproxTopK(
        _checked(operand, reduction_dimension), k, reduction_dimension, recall_target, False,
        reduction_input_size_override, aggregate_to_topk,
    )  # fmt: skip


@api("approx_top_k")
@tensor_function
def approx_top_k(
    input: TensorLike, k: TensorLike, reduction_dimension=-1, recall_target: float = 0.95, is_max_k: bool = True,
    reduction_input_size_override=-1, aggregate_to_topk: bool = True, name: str | None = None,
):
    """Find the largest or smallest elements along an axis, exactly: `tf.nn.approx_max_k` and `tf.nn.approx_min_k` in
    one.

    Args:
      input: a floating tensor.
      k: how many elements to find.
      reduction_dimension: the axis.
      recall_target: the part that must be found; all are.
      is_max_k: whether to find the largest, not the smallest.
      reduction_input_size_override: the size of the axis for the choice of an algorithm; not used.
      aggregate_to_topk: whether exactly `k` are returned.
      name: a name for the operation (optional).

    Returns:
      (values, int32 indices).
    """
    return ApproxTopK(
        input, k, reduction_dimension, recall_target, is_max_k, reduction_input_size_override,
        aggregate_to_topk,
    )  # fmt: skip

"""The choice between two tensors by a mask."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.indexing.where import Where
from tapeflow.ops.math import arithmetic
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import BatchedCall, GradientCall, SampleGenerator, ShapeCall


@op(
    "SelectV2",
    "condition: bool, t: T, e: T -> output: T",
    types={"T": ANY},
    shape=shapes.broadcast_all,
    broadcast=True,
    foldable=True,
)
def SelectV2(xp: ModuleType, condition: Array, t: Array, e: Array):
    return xp.where(condition, t, e)


@SelectV2.gradient(needs="condition")
def _(call: GradientCall, dy: Tensor):
    return None, SelectV2(call.condition, dy, 0), SelectV2(call.condition, 0, dy)


@SelectV2.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([True, False, True]), rng.normal(2, 3), rng.normal(3))
    yield Sample(np.array([[True], [False]]), rng.normal(3), np.asarray(rng.normal()))
    yield Sample(True, np.array([b"a"], object), np.array([b"b"], object))
    yield Sample(np.zeros((0,), bool), rng.normal(1), rng.normal(1))
    yield Sample(
        np.array([True, False, True]), rng.normal(2), rng.normal(2), raises=InvalidArgumentError
    )


@SelectV2.reference
def _(condition, t, e):
    c, t, e = np.broadcast_arrays(condition, t, e)
    return np.array(
        [b if a else d for a, b, d in zip(c.flat, t.flat, e.flat, strict=True)], t.dtype
    ).reshape(c.shape)


def _select_rule(call: ShapeCall):
    shape, condition = shapes.merge(call.shape(1), call.shape(2)), call.shape(0)
    if not condition or shape is None:  # a scalar chooses all of one
        return [shape]
    if len(condition) == 1 and len(shape) > 1:  # a vector chooses rows
        return [(shapes.same_dimension(shape[0], condition[0]), *shape[1:])]
    return [shapes.merge(shape, condition)]


@op(
    "Select",
    "condition: bool, t: T, e: T -> output: T",
    types={"T": ANY},
    shape=_select_rule,
    foldable=True,
)
def Select(xp: ModuleType, condition: Array, t: Array, e: Array):
    if t.shape != e.shape:
        raise _different(0, t.shape, 2, e.shape)
    if condition.ndim == 0 or condition.shape == t.shape:
        return xp.where(condition, t, e)
    if condition.ndim != 1 or t.ndim == 0 or condition.shape[0] != t.shape[0]:
        raise _different(0, condition.shape, 1, t.shape)
    return xp.where(condition.reshape((-1,) + (1,) * (t.ndim - 1)), t, e)


@Select.batching
def _(call: BatchedCall):
    return call.run([call.with_batch(i) for i in range(3)]) if call.ranks[0] == call.ranks[1] else None


def _different(i, a, j, b):
    return invalid(
        "Inputs to operation Select of type Select must have the same size and shape.  "
        f"Input {i}: {shape_text(a)} != input {j}: {shape_text(b)}"
    )


@Select.gradient(needs="condition")
def _(call: GradientCall, dy: Tensor):
    zero = arithmetic.Mul(dy, 0)
    return None, Select(call.condition, dy, zero), Select(call.condition, zero, dy)


@Select.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([True, False]), rng.normal(2, 3), rng.normal(2, 3))
    yield Sample(np.array([[True, False]]), rng.normal(1, 2), rng.normal(1, 2))
    yield Sample(False, rng.normal(2), rng.normal(2))
    yield Sample(np.array([True]), rng.normal(2), rng.normal(2), raises=InvalidArgumentError)
    yield Sample(np.array([True, True]), rng.normal(2), rng.normal(3), raises=InvalidArgumentError)


@Select.reference
def _(condition, t, e):
    c = condition.reshape(condition.shape + (1,) * (t.ndim - condition.ndim))
    return np.where(np.broadcast_to(c, t.shape), t, e)


@api(v1="where_v2", v2="where")
@tensor_function
def where(
    condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None
):
    """Choose elements of `x` or of `y` by a condition, or find the true elements of the condition.

    Args:
      condition: a bool tensor; alone, it may be of any numeric dtype, and what is not zero counts as true.
      x: what to take where `condition` is true, of any dtype.
      y: what to take elsewhere, of the dtype of `x`. The shapes of all three broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `x` and of the broadcast shape. Without `x` and `y`, an int64 tensor `[count, rank]`
      of the coordinates of the true elements, in row-major order.

    Both branches are computed before one is chosen, and a NaN or an infinity in the gradient of the branch that was
    not chosen makes the whole gradient NaN: replace such inputs by safe ones first.

    Raises:
      ValueError: where just one of `x` and `y` is given.

    >>> tf.where([True, False, True], [1, 2, 3], 0)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 0, 3], dtype=int32)>
    >>> tf.where([[True, False], [False, True]])
    <tf.Tensor: shape=(2, 2), dtype=int64, numpy=
    array([[0, 0],
           [1, 1]])>
    """
    if x is None or y is None:
        return _indices(condition, x, y)
    return SelectV2(condition, x, y)


@api(v1="where")
@tensor_function
def where_v1(
    condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None
):
    """Like `where`, but `x` and `y` have one shape and `condition` is of that shape, a scalar, or a vector that
    chooses among their rows."""
    if x is None or y is None:
        return _indices(condition, x, y)
    return Select(condition, x, y)


def _indices(condition, x, y):
    if x is not y:
        raise ValueError("x and y must both be non-None or both be None.")
    condition = convert_to_tensor(condition, dtype_hint=dtypes.bool)
    return Where(condition)

"""Comparisons, logic, and the choice between two tensors that both lead to."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public, tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.math import arithmetic
from tapeflow.ops.math.elementwise_samples import pairs, per_element, truths
from tapeflow.ops.table import ANY, FLOATING, NUMERIC, REAL, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import BatchedCall, GradientCall, SampleGenerator, ShapeCall

BROADCAST = {"shape": shapes.broadcast_all, "broadcast": True}


def _ordering(name, function, holds):
    @op(name, "x: T, y: T -> z: bool", types={"T": REAL}, foldable=True, **BROADCAST)
    def row(xp: ModuleType, x, y):
        return getattr(xp, function)(x, y)

    row.gradient(None)

    @row.samples
    def _(rng: SampleGenerator):
        yield from pairs(rng)
        yield Sample(np.array([1, 2, 3], np.int32), 2)
        yield Sample(np.array([math.nan, 1.0]), np.array([math.nan, math.nan]))

    row.reference(per_element(holds))
    return row


Less = _ordering("Less", "less", lambda x, y: y > x)
LessEqual = _ordering("LessEqual", "less_equal", lambda x, y: y >= x)
Greater = _ordering("Greater", "greater", lambda x, y: y < x)
GreaterEqual = _ordering("GreaterEqual", "greater_equal", lambda x, y: y <= x)


@api("math.less", "less")
@tensor_function
def less(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return where `x < y`, elementwise with broadcasting.

    Args:
      x, y: tensors of one real dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A bool tensor of the broadcast shape; False where either is NaN.

    >>> tf.less([1, 2, 3], 2)
    <tf.Tensor: shape=(3,), dtype=bool, numpy=array([ True, False, False])>
    """
    return Less(x, y)


@api("math.less_equal", "less_equal")
@tensor_function
def less_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return where `x <= y`, elementwise with broadcasting.

    Args:
      x, y: tensors of one real dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A bool tensor of the broadcast shape; False where either is NaN.
    """
    return LessEqual(x, y)


@api("math.greater", "greater")
@tensor_function
def greater(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return where `x > y`, elementwise with broadcasting.

    Args:
      x, y: tensors of one real dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A bool tensor of the broadcast shape; False where either is NaN.

    >>> tf.greater([1, 2, 3], 2)
    <tf.Tensor: shape=(3,), dtype=bool, numpy=array([False, False,  True])>
    """
    return Greater(x, y)


@api("math.greater_equal", "greater_equal")
@tensor_function
def greater_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return where `x >= y`, elementwise with broadcasting.

    Args:
      x, y: tensors of one real dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A bool tensor of the broadcast shape; False where either is NaN.
    """
    return GreaterEqual(x, y)


def _equality_rule(call: ShapeCall):
    if call.attr("incompatible_shape_error"):
        return shapes.broadcast_all(call)
    x, y = call.shape(0), call.shape(1)
    if x is None or y is None:
        return [None]
    if None in x or None in y:  # a scalar comes out if they do not broadcast
        return [shapes.broadcast(x, y) if () in (x, y) else None]
    try:
        return [shapes.broadcast(x, y)]
    except InvalidArgumentError:
        return [()]


def _equality(name: str, function: str, answer: bool, promotes: str = ""):
    """Equal and NotEqual; `answer` is what tensors of shapes that do not broadcast together get."""

    @op(
        name,
        "x: T, y: T -> z: bool",
        types={"T": ANY},
        attrs={"incompatible_shape_error": True},
        broadcast=True,
        shape=_equality_rule,
        promotes=promotes,
        foldable=True,
    )
    def row(xp: ModuleType, x: Array, y: Array, incompatible_shape_error: bool):
        if not incompatible_shape_error:
            try:
                np.broadcast_shapes(x.shape, y.shape)
            except ValueError:
                return xp.asarray(answer)
        return getattr(xp, function)(x, y).astype(bool)

    row.gradient(None)

    @row.batching
    def _(call: BatchedCall):
        return batching.broadcasting(call) if call.attrs["incompatible_shape_error"] else None

    @row.samples
    def _(rng: SampleGenerator):
        yield Sample(np.array([[1.0, 2.0], [3.0, math.nan]]), np.array([1.0, math.nan]))
        yield Sample(np.array([1, 2], np.int32), np.array([1, 3], np.int32))
        yield Sample(np.array([True, False]), True)
        yield Sample(np.array([b"a", b"b"], object), np.array([b"a", b"c"], object))
        yield Sample(np.array([1 + 2j]), np.array([1 + 2j, 1 - 2j]))
        yield Sample(rng.normal(2), rng.normal(3), raises=InvalidArgumentError)
        yield Sample(
            rng.normal(2), rng.normal(3), incompatible_shape_error=False, expect=np.array(answer)
        )

    @row.reference
    def _(x, y, incompatible_shape_error):
        x, y = np.broadcast_arrays(x, y)
        same = [bool(a == b) for a, b in zip(x.ravel().tolist(), y.ravel().tolist(), strict=True)]
        return np.array([v != answer for v in same], bool).reshape(x.shape)

    return row


Equal = _equality("Equal", "equal", False, promotes="choice")
NotEqual = _equality("NotEqual", "not_equal", True)


@api("math.equal", "equal")
@tensor_function
def equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Compare two tensors for equality elementwise, with broadcasting.

    NaN equals nothing, not even itself.

    Args:
      x, y: tensors of one dtype, which may be any; their shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A bool tensor of the broadcast shape.

    >>> tf.equal([1, 2, 3], 2)
    <tf.Tensor: shape=(3,), dtype=bool, numpy=array([False,  True, False])>
    """
    return Equal(x, y)


@api("math.not_equal", "not_equal")
@tensor_function
def not_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Compare two tensors for inequality elementwise, with broadcasting.

    NaN differs from everything, itself included.

    Args:
      x, y: tensors of one dtype, which may be any; their shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A bool tensor of the broadcast shape.
    """
    return NotEqual(x, y)


@op(
    "ApproximateEqual",
    "x: T, y: T -> z: bool",
    types={"T": NUMERIC},
    attrs={"tolerance": 1e-5},
    shape=shapes.merged,
)
def ApproximateEqual(xp: ModuleType, x: Array, y: Array, tolerance: float):
    if x.shape != y.shape:
        raise invalid(
            f"x and y must be of the same shape. x shape: {shape_text(x.shape)}. "
            f"y shape: {shape_text(y.shape)}"
        )
    return xp.abs(x - y) < tolerance


ApproximateEqual.gradient(None)


@ApproximateEqual.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([1.0, 2.0]), np.array([1.4, 2.6]), tolerance=0.5)
    yield Sample(rng.normal(2), rng.normal(3), raises=InvalidArgumentError)


ApproximateEqual.batching(batching.elementwise)
ApproximateEqual.reference(
    lambda x, y, tolerance: np.array(
        [-tolerance < a - b < tolerance for a, b in zip(x, y, strict=True)]
    )
)


@public
def approximate_equal(x: TensorLike, y: TensorLike, tolerance=1e-5, name: str | None = None):
    """|x - y| < tolerance, elementwise, for tensors of one shape.

    Args:
      x: a tensor.
      y: a tensor of its shape and dtype.
      tolerance: a float.
      name: a name for the operation (optional).
    """
    return ApproximateEqual(x, y, tolerance)


def _logic(name: str, function: str, reference: Callable[..., Any]):
    @op(name, "x: bool, y: bool -> z: bool", shape=shapes.broadcast_all, broadcast=True, foldable=True)
    def row(xp: ModuleType, x: Array, y: Array):
        return getattr(xp, function)(x, y)

    row.gradient(None)
    row.samples(truths)
    row.reference(per_element(reference))
    return row


LogicalAnd = _logic("LogicalAnd", "logical_and", lambda x, y: min(x, y))
LogicalOr = _logic("LogicalOr", "logical_or", lambda x, y: max(x, y))


@api("math.logical_and", "logical_and")
@tensor_function
def logical_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return where both `x` and `y` are true, elementwise with broadcasting.

    Args:
      x, y: bool tensors, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A bool tensor of the broadcast shape.

    >>> tf.logical_and([True, True, False], [True, False, False])
    <tf.Tensor: shape=(3,), dtype=bool, numpy=array([ True, False, False])>
    """
    return LogicalAnd(x, y)


@api("math.logical_or", "logical_or")
@tensor_function
def logical_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return where `x` or `y` or both are true, elementwise with broadcasting.

    Args:
      x, y: bool tensors, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A bool tensor of the broadcast shape.

    >>> tf.logical_or([True, True, False], [True, False, False])
    <tf.Tensor: shape=(3,), dtype=bool, numpy=array([ True,  True, False])>
    """
    return LogicalOr(x, y)


@op("LogicalNot", "x: bool -> y: bool", shape=shapes.elementwise, foldable=True)
def LogicalNot(xp: ModuleType, x: Array):
    return xp.logical_not(x)


LogicalNot.gradient(None)


@LogicalNot.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([[True], [False]]))
    yield Sample(np.zeros((0,), bool))


LogicalNot.reference(lambda x: x != np.array(True))


@api("math.logical_not", "logical_not")
@tensor_function
def logical_not(x: TensorLike, name: str | None = None) -> Tensor:
    """The opposite of each element of a boolean tensor."""
    return LogicalNot(x)


@api("math.logical_xor", v1="logical_xor")
@tensor_function
def logical_xor(x: TensorLike, y: TensorLike, name: str = "LogicalXor") -> Tensor:
    """Return where just one of `x` and `y` is true, elementwise with broadcasting.

    Args:
      x, y: bool tensors, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A bool tensor of the broadcast shape.

    >>> tf.math.logical_xor([True, True, False], [True, False, False])
    <tf.Tensor: shape=(3,), dtype=bool, numpy=array([False,  True, False])>
    """
    return LogicalAnd(LogicalOr(x, y), LogicalNot(LogicalAnd(x, y)))


def _steps(x, compare):
    """`compare` of each element, all axes read as one, with the one before."""
    from tapeflow.ops.array.layout import Reshape
    from tapeflow.ops.math.reduction import reduce_all

    flat = Reshape(convert_to_tensor(x), [-1])
    return reduce_all(compare(flat[:-1], flat[1:]))


@api("math.is_non_decreasing", v1=("debugging.is_non_decreasing", "is_non_decreasing"))
@tensor_function
def is_non_decreasing(x: TensorLike, name: str | None = None):
    """Whether no element of `x`, read row by row, is less than the one before."""
    return _steps(x, LessEqual)


@api("math.is_strictly_increasing", v1=("debugging.is_strictly_increasing", "is_strictly_increasing"))
@tensor_function
def is_strictly_increasing(x: TensorLike, name: str | None = None):
    """Whether each element of `x`, read row by row, is more than the one before."""
    return _steps(x, Less)


def _kind_of_float(name: str, function: str, reference: Callable[..., Any]):
    @op(name, "x: T -> y: bool", types={"T": FLOATING}, shape=shapes.elementwise)
    def row(xp: ModuleType, x: Array):
        return getattr(xp, function)(x)

    row.gradient(None)

    @row.samples
    def _(rng: SampleGenerator):
        yield Sample(np.array([0.0, -1.5, math.nan, math.inf, -math.inf]))
        yield Sample(rng.normal(0, 2))

    row.reference(per_element(reference))
    return row


IsNan = _kind_of_float("IsNan", "isnan", lambda v: v != v)
IsInf = _kind_of_float("IsInf", "isinf", lambda v: v in (math.inf, -math.inf))
IsFinite = _kind_of_float("IsFinite", "isfinite", lambda v: v - v == 0)


@api("math.is_nan", v1=("debugging.is_nan", "is_nan"))
@tensor_function
def is_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether each element is NaN."""
    return IsNan(x)


@api("math.is_inf", v1=("debugging.is_inf", "is_inf"))
@tensor_function
def is_inf(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether each element is an infinity."""
    return IsInf(x)


@api("math.is_finite", v1=("debugging.is_finite", "is_finite"))
@tensor_function
def is_finite(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether each element is neither an infinity nor NaN."""
    return IsFinite(x)


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
    from tapeflow.ops.array.selection import Where

    condition = convert_to_tensor(condition, dtype_hint=dtypes.bool)
    return Where(condition)

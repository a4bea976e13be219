"""Comparisons, logic, and the choice between two tensors that both lead to."""

from __future__ import annotations

import math
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public, tensor_function
from tapeflow.ops import batching, flops, shapes
from tapeflow.ops.math.elementwise_samples import pairs, per_element
from tapeflow.ops.table import ANY, NUMERIC, REAL, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import BatchedCall, SampleGenerator, ShapeCall

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
    row.flops(flops.each_output())
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
        if x.dtype.names:  # quantized numbers are records of one integer
            x, y = x[x.dtype.names[0]], y[x.dtype.names[0]]
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
    row.flops(flops.each_output())
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

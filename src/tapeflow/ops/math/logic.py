"""Logic of truth values."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.math.elementwise_samples import per_element, truths
from tapeflow.ops.table import Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


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

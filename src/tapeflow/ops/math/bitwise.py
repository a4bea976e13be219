"""Operations on the bits of integers."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.math.elementwise_samples import per_element, whole_pairs
from tapeflow.ops.table import INTEGER, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


def _binary(
    name: str, function: Callable[..., Any], reference: Callable[..., Any],
    samples: Callable[..., Any] = whole_pairs,
):
    @op(
        name, "x: T, y: T -> z: T", types={"T": INTEGER}, shape=shapes.broadcast_all, broadcast=True
    )
    def row(xp: ModuleType, x: Array, y: Array):
        return function(xp, x, y)

    row.gradient(None)
    row.samples(samples)
    row.reference(per_element(reference))
    return row


def _shifts(rng: SampleGenerator):
    yield Sample(np.array([1, -8, 37], np.int32), np.array([4, 1, 0], np.int32))
    yield Sample(np.array([[200], [3]], np.int64), np.array([1, 2], np.int64))
    yield Sample(np.ones(2, np.int32), np.ones(3, np.int32), raises=InvalidArgumentError)


def _within_width(xp: ModuleType, x: Array, y: Array):
    """Shifts by less than nothing or by more than there are bits mean nothing to a processor; they are clamped."""
    return xp.clip(y, 0, x.dtype.itemsize * 8 - 1).astype(x.dtype)


BitwiseAnd = _binary("BitwiseAnd", lambda xp, x, y: xp.bitwise_and(x, y), lambda x, y: ~(~x | ~y))
BitwiseOr = _binary("BitwiseOr", lambda xp, x, y: xp.bitwise_or(x, y), lambda x, y: ~(~x & ~y))
BitwiseXor = _binary(
    "BitwiseXor", lambda xp, x, y: xp.bitwise_xor(x, y), lambda x, y: (x | y) & ~(x & y)
)
LeftShift = _binary(
    "LeftShift",
    lambda xp, x, y: xp.left_shift(x, _within_width(xp, x, y)),
    lambda x, y: x * 2**y if y < 31 else -(2**31),
    _shifts,
)
RightShift = _binary(
    "RightShift",
    lambda xp, x, y: xp.right_shift(x, _within_width(xp, x, y)),
    lambda x, y: x // 2**y,
    _shifts,
)


@op("Invert", "x: T -> y: T", types={"T": INTEGER}, shape=shapes.elementwise, promotes="weakness")
def Invert(xp: ModuleType, x: Array):
    return xp.invert(x)


Invert.gradient(None)


@Invert.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([0, -1, 37], np.int32))
    yield Sample(np.zeros((0,), np.int64))


Invert.reference(per_element(lambda v: -v - 1))


@op("PopulationCount", "x: T -> y: uint8", types={"T": INTEGER}, shape=shapes.elementwise)
def PopulationCount(xp: ModuleType, x: Array):
    # Of signed integers NumPy counts the bits of the magnitude.
    return xp.bitwise_count(x.view(f"u{x.dtype.itemsize}")).astype(np.uint8)


PopulationCount.gradient(None)


@PopulationCount.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([0, 255, -1], np.int32), expect=np.array([0, 8, 32], np.uint8))
    yield Sample(np.array([[7]], np.int64))


PopulationCount.reference(per_element(lambda v: f"{v:b}".count("1")))


@api("bitwise.bitwise_and")
@tensor_function
def bitwise_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Keep the bits that are set in both numbers, elementwise with broadcasting.

    Args:
      x, y: tensors of one integer dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape.

    >>> tf.bitwise.bitwise_and([6, 12], 10)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([2, 8], dtype=int32)>
    """
    return BitwiseAnd(x, y)


@api("bitwise.bitwise_or")
@tensor_function
def bitwise_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Set the bits that are set in either number, elementwise with broadcasting.

    Args:
      x, y: tensors of one integer dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape.

    >>> tf.bitwise.bitwise_or([6, 12], 10)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([14, 14], dtype=int32)>
    """
    return BitwiseOr(x, y)


@api("bitwise.bitwise_xor")
@tensor_function
def bitwise_xor(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Set the bits that are set in just one of the numbers, elementwise with broadcasting.

    Args:
      x, y: tensors of one integer dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape.

    >>> tf.bitwise.bitwise_xor([6, 12], 10)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([12,  6], dtype=int32)>
    """
    return BitwiseXor(x, y)


@api("bitwise.invert")
@tensor_function
def invert(x: TensorLike, name: str | None = None) -> Tensor:
    """All bits flipped."""
    return Invert(x)


@api("bitwise.left_shift")
@tensor_function
def left_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Shift the bits of `x` to the left, elementwise with broadcasting.

    Args:
      x: an integer tensor.
      y: by how many bits, of the dtype of `x`; clamped to at least 0 and at most one less than the bits of the
        dtype.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape.

    >>> tf.bitwise.left_shift([1, 3], [4, 1])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([16,  6], dtype=int32)>
    """
    return LeftShift(x, y)


@api("bitwise.right_shift")
@tensor_function
def right_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Shift the bits of `x` to the right, elementwise with broadcasting; negative numbers keep their sign.

    Args:
      x: an integer tensor.
      y: by how many bits, of the dtype of `x`; clamped to at least 0 and at most one less than the bits of the
        dtype.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape.

    >>> tf.bitwise.right_shift([16, -16], 2)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 4, -4], dtype=int32)>
    """
    return RightShift(x, y)

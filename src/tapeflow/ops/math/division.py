"""Quotients and remainders: exact, truncated and floored."""

from __future__ import annotations

import math
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes, promotion
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import flops, shapes
from tapeflow.ops.math import arithmetic, elementwise
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.math.elementwise_samples import per_element, quotients, whole_pairs
from tapeflow.ops.table import FLOATING_OR_COMPLEX, NUMERIC, REAL, Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator

BROADCAST: dict[str, Any] = {"shape": shapes.broadcast_all, "broadcast": True}


def _divided(call: GradientCall, dz: Tensor):
    """The gradients of x / y."""
    x, y = conj(call.x), conj(call.y)
    of_x = RealDiv(dz, y)
    return of_x, elementwise.Neg(RealDiv(arithmetic.Mul(of_x, x), y))


@op("RealDiv", "x: T, y: T -> z: T", types={"T": FLOATING_OR_COMPLEX}, **BROADCAST, promotes="operands", foldable=True)
def RealDiv(xp: ModuleType, x: Array, y: Array):
    return xp.divide(x, y)


RealDiv.flops(flops.each_output())


RealDiv.gradient(needs="x, y")(_divided)
RealDiv.samples(quotients)
RealDiv.reference(per_element(lambda x, y: x / y, lambda x, y: x / y))


@op("Div", "x: T, y: T -> z: T", types={"T": NUMERIC}, **BROADCAST)
def Div(xp: ModuleType, x: Array, y: Array):
    return _truncated(xp, x, y) if x.dtype.kind in "iu" else xp.divide(x, y)


Div.gradient(needs="x, y")(_divided)


@Div.samples
def _(rng: SampleGenerator):
    yield from quotients(rng)
    yield from whole_pairs(rng)


@Div.reference
def _(x: np.ndarray, y: np.ndarray):
    divide = _exact_quotient if x.dtype.kind in "iu" else lambda a, b: a / b
    return per_element(divide, divide)(x, y)


def _exact_quotient(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def _check_divisor(xp: ModuleType, x: Array, y: Array):
    if xp is np and y.dtype.kind in "iu" and x.size and not y.all():  # nothing is divided where x is empty
        raise invalid("Integer division by zero")


def _truncated(xp: ModuleType, x: Array, y: Array):
    """x / y of integers, rounded towards zero."""
    _check_divisor(xp, x, y)
    quotient = xp.floor_divide(x, y)
    if x.dtype.kind == "u":
        return quotient
    return quotient + ((quotient * y != x) & ((x < 0) != (y < 0))).astype(x.dtype)


@op("TruncateDiv", "x: T, y: T -> z: T", types={"T": REAL}, **BROADCAST, promotes="operands")
def TruncateDiv(xp: ModuleType, x: Array, y: Array):
    return _truncated(xp, x, y) if x.dtype.kind in "iu" else xp.trunc(x / y)


TruncateDiv.gradient(None)


@TruncateDiv.samples
def _(rng: SampleGenerator):
    yield from whole_pairs(rng)
    yield Sample(np.array([7.5, -7.5]), 2.0, expect=np.array([3.0, -3.0]))
    yield Sample(np.array([1], np.int32), 0, raises=InvalidArgumentError)


TruncateDiv.reference(per_element(_exact_quotient))


@api("truncatediv")
@tensor_function
def truncatediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Divide two tensors elementwise and round towards zero, with broadcasting.

    Args:
      x, y: tensors of one real dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape.

    Raises:
      InvalidArgumentError: for a zero among integers `y`.

    >>> tf.truncatediv([7, -7], 2)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 3, -3], dtype=int32)>
    """
    return TruncateDiv(x, y)


@op("FloorDiv", "x: T, y: T -> z: T", types={"T": REAL}, **BROADCAST, rounds=True, promotes="operands", foldable=True)
def FloorDiv(xp: ModuleType, x: Array, y: Array):
    _check_divisor(xp, x, y)
    return xp.floor_divide(x, y) if x.dtype.kind in "iu" else xp.floor(x / y)


FloorDiv.gradient(None)


@FloorDiv.samples
def _(rng: SampleGenerator):
    yield from whole_pairs(rng)
    yield Sample(np.array([7.5, -7.5]), 2.0, expect=np.array([3.0, -4.0]))
    yield Sample(np.array([1], np.int32), 0, raises=InvalidArgumentError)


FloorDiv.reference(per_element(lambda x, y: x // y))


@api("math.floordiv", v1=("floor_div", "floordiv"))
@tensor_function
def floordiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Divide two tensors elementwise and round down, with broadcasting.

    Args:
      x, y: tensors of one real dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape.

    Raises:
      InvalidArgumentError: for a zero among integers `y`, and for dtypes that differ.

    >>> tf.math.floordiv([7, -7], 2)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 3, -4], dtype=int32)>
    """
    return FloorDiv(x, y)


@op("FloorMod", "x: T, y: T -> z: T", types={"T": REAL}, **BROADCAST, promotes="operands", foldable=True)
def FloorMod(xp: ModuleType, x: Array, y: Array):
    _check_divisor(xp, x, y)
    return xp.mod(x, y)


@FloorMod.gradient(needs="x, y")
def _(call: GradientCall, dz: Tensor):
    return dz, arithmetic.Mul(dz, elementwise.Neg(FloorDiv(call.x, call.y)))


@FloorMod.samples
def _(rng: SampleGenerator):
    yield from quotients(rng)
    yield from whole_pairs(rng)
    yield Sample(np.array([1], np.int32), 0, raises=InvalidArgumentError)


FloorMod.reference(per_element(lambda x, y: x - y * math.floor(x / y)))


@api("math.floormod", "math.mod", v1=("floormod", "mod"))
@tensor_function
def floormod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Compute the remainder of `tf.math.floordiv`, which has the sign of `y`.

    Args:
      x, y: tensors of one real dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      `x - floordiv(x, y) * y`, of their dtype and broadcast shape.

    Raises:
      InvalidArgumentError: for a zero among integers `y`, and for dtypes that differ.

    >>> tf.math.floormod([7, -7], 3)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
    """
    return FloorMod(x, y)


def _remainder(name: str):
    """Mod and TruncateMod are one op under two names."""

    @op(name, "x: T, y: T -> z: T", types={"T": REAL}, promotes="operands", **BROADCAST)
    def row(xp: ModuleType, x: Array, y: Array):
        _check_divisor(xp, x, y)
        return xp.fmod(x, y)

    @row.gradient(needs="x, y")
    def _(call: GradientCall, dz: Tensor):
        return dz, arithmetic.Mul(dz, elementwise.Neg(TruncateDiv(call.x, call.y)))

    @row.samples
    def _(rng: SampleGenerator):
        yield from quotients(rng)
        yield from whole_pairs(rng)
        yield Sample(np.array([1], np.int32), 0, raises=InvalidArgumentError)

    row.reference(per_element(lambda x, y: x - y * math.trunc(x / y)))
    return row


Mod = _remainder("Mod")
TruncateMod = _remainder("TruncateMod")


@api("truncatemod")
@tensor_function
def truncatemod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Compute the remainder of `tf.truncatediv`, which has the sign of `x`.

    Args:
      x, y: tensors of one real dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      `x - truncatediv(x, y) * y`, of their dtype and broadcast shape.

    Raises:
      InvalidArgumentError: for a zero among integers `y`.

    >>> tf.truncatemod([7, -7], 3)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 1, -1], dtype=int32)>
    """
    return TruncateMod(x, y)


TRUE_DIVISION = {
    dtypes.uint8: dtypes.float32,
    dtypes.int8: dtypes.float32,
    dtypes.uint16: dtypes.float32,
    dtypes.int16: dtypes.float32,
    dtypes.uint32: dtypes.float64,
    dtypes.int32: dtypes.float64,
    dtypes.uint64: dtypes.float64,
    dtypes.int64: dtypes.float64,
}


@api("math.truediv", "truediv")
@tensor_function
def truediv(x: TensorLike, y: TensorLike, name: str | None = None):
    """Divide two tensors elementwise, integers in floating point, with broadcasting.

    Args:
      x, y: tensors of one numeric dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of their broadcast shape: float32 for integers of 8 and 16 bits, float64 for wider ones, else of the
      dtype of the arguments.

    Raises:
      TypeError: for dtypes that differ.

    >>> tf.math.truediv(tf.constant([1, 2], tf.int8), tf.constant(4, tf.int8))
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0.25, 0.5 ], dtype=float32)>
    """
    if promotion.automatic():
        return promotion.promoting(_quotient, x, y)
    return _quotient(x, y)


def _quotient(x, y):
    x = convert_to_tensor(x)
    y = convert_to_tensor(y, dtype_hint=x.dtype)
    kind = x.dtype
    if kind != y.dtype:
        raise TypeError(f"`x` and `y` must have the same dtype, got {kind!r} != {y.dtype!r}.")
    wide = TRUE_DIVISION.get(kind)
    if wide is None:
        if not (kind.is_floating or kind.is_complex):
            raise TypeError(f"Invalid dtype {kind!r} in __truediv__, which takes numbers alone.")
        return RealDiv(x, y)
    from tapeflow.ops.math.casting import Cast

    return RealDiv(Cast(x, wide), Cast(y, wide))


@api("math.divide", "divide")
@tensor_function
def divide(x: TensorLike, y: TensorLike, name: str | None = None):
    """Divide two tensors elementwise as Python's `/` does, with broadcasting.

    Integers are divided in floating point, see `tf.math.truediv`.

    Args:
      x, y: tensors of one numeric dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of their broadcast shape; a number by zero is an infinity, zero by zero NaN.

    Raises:
      TypeError: for dtypes that differ.

    >>> tf.divide([1, 2, 3], 2)
    <tf.Tensor: shape=(3,), dtype=float64, numpy=array([0.5, 1. , 1.5])>
    """
    if promotion.numpy_style():
        return convert_to_tensor(x) / y
    return truediv(_in_dtype_of(y, x), y)


def _in_dtype_of(y, x):
    """What is no tensor in the dtype of `y`, if that is one."""
    return convert_to_tensor(x, y.dtype.base_dtype) if is_tensor(y) and not is_tensor(x) else x


@api("realdiv")
@tensor_function
def realdiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Divide two floating or complex tensors elementwise, with broadcasting.

    Args:
      x, y: tensors of one floating or complex dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape.
    """
    return RealDiv(x, y)


@api(v1="div")
@tensor_function
def div(x: TensorLike, y: TensorLike, name: str | None = None):
    """x / y as Python 2 divides: of integers rounded down."""
    x = convert_to_tensor(x)
    y = convert_to_tensor(y, dtype=x.dtype)
    return FloorDiv(x, y) if x.dtype.is_integer else RealDiv(x, y)

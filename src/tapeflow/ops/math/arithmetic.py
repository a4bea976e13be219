"""Arithmetic of two numbers: sums, products, quotients, powers, extremes. All broadcast."""

from __future__ import annotations

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
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import tensor_function
from tapeflow.ops import flops, shapes
from tapeflow.ops.math import choice, comparison, elementwise
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.math.elementwise_samples import pairs, per_element, positive_pairs
from tapeflow.ops.table import (
    COMPLEX,
    FLOATING,
    FLOATING_OR_COMPLEX,
    NUMERIC,
    REAL,
    Sample,
    op,
)
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator

BROADCAST: dict[str, Any] = {"shape": shapes.broadcast_all, "broadcast": True}


def _add_row(name: str, types, **facts):
    @op(name, "x: T, y: T -> z: T", types={"T": types}, promotes="operands", foldable=True, **facts, **BROADCAST)
    def row(xp: ModuleType, x, y):
        return xp.add(x, y)

    @row.gradient(needs="")
    def _(call: GradientCall, dz: Tensor):
        return dz, dz

    @row.samples
    def _(rng: SampleGenerator):
        yield from pairs(rng)
        yield Sample(np.array([1, 2], np.int32), 3, expect=np.array([4, 5], np.int32))

    row.reference(lambda x, y: x - -y)
    row.flops(flops.each_output())
    return row


AddV2 = _add_row("AddV2", NUMERIC, node_name="Add")
Add = _add_row("Add", (*NUMERIC, dtypes.string))


@api("math.add", "add")
@tensor_function
def add(x: TensorLike, y: TensorLike, name: str | None = None):
    """Add two tensors elementwise, with broadcasting; strings are joined.

    Args:
      x, y: tensors of one numeric or string dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape. Integers wrap around on overflow.

    Raises:
      InvalidArgumentError: for dtypes that differ and shapes that do not broadcast.

    >>> tf.add([[1, 2], [3, 4]], [10, 20])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[11, 22],
           [13, 24]], dtype=int32)>
    >>> tf.add(["a", "b"], "!").numpy()
    array([b'a!', b'b!'], dtype=object)
    """
    try:
        return AddV2(x, y)
    except (InvalidArgumentError, TypeError):
        if dtypes.string == getattr(convert_to_tensor(x), "dtype", None):
            return Add(x, y)
        raise


@op("Sub", "x: T, y: T -> z: T", types={"T": NUMERIC}, **BROADCAST, promotes="operands", foldable=True)
def Sub(xp: ModuleType, x: Array, y: Array):
    return xp.subtract(x, y)


Sub.flops(flops.each_output())


@Sub.gradient(needs="")
def _(call: GradientCall, dz: Tensor):
    return dz, elementwise.Neg(dz)


Sub.samples(pairs)
Sub.reference(lambda x, y: x + y * -1.0)


@api("math.subtract", "subtract")
@tensor_function
def subtract(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Subtract `y` from `x` elementwise, with broadcasting.

    Args:
      x, y: tensors of one numeric dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape. Integers wrap around on overflow.

    >>> tf.math.subtract([5, 6], 2)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([3, 4], dtype=int32)>
    """
    return Sub(x, y)


@op("Mul", "x: T, y: T -> z: T", types={"T": NUMERIC}, **BROADCAST, promotes="operands", foldable=True)
def Mul(xp: ModuleType, x: Array, y: Array):
    return xp.multiply(x, y)


Mul.flops(flops.each_output())


@Mul.gradient(needs="x, y")
def _(call: GradientCall, dz: Tensor):
    of_x = Mul(dz, conj(call.y)) if call.wants("x") else None
    return of_x, Mul(dz, conj(call.x)) if call.wants("y") else None


@Mul.samples
def _(rng: SampleGenerator):
    yield from pairs(rng)
    yield Sample(np.array([3, -2], np.int64), 4, expect=np.array([12, -8], np.int64))


Mul.reference(per_element(lambda x, y: x * y, lambda x, y: x * y))


@api("math.multiply", "multiply")
@tensor_function
def multiply(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Multiply two tensors elementwise, with broadcasting.

    Args:
      x, y: tensors of one numeric dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape. Integers wrap around on overflow.

    >>> tf.math.multiply([[1], [2]], [3, 4])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[3, 4],
           [6, 8]], dtype=int32)>
    """
    return Mul(x, y)


@api("math.scalar_mul", "scalar_mul")
@tensor_function
def scalar_mul(scalar, x: TensorLike, name: str | None = None):
    """Multiply a tensor by a scalar.

    Args:
      scalar: a number or a tensor of rank 0; it is converted to the dtype of `x`.
      x: a numeric tensor, or `tf.IndexedSlices`, of which the values are multiplied.
      name: a name for the operation (optional).

    Returns:
      What `x` is, of its dtype and shape.

    Raises:
      ValueError: where `scalar` is not of rank 0.
    """
    base = x.values if isinstance(x, IndexedSlices) else convert_to_tensor(x)
    scalar = convert_to_tensor(scalar, dtype=base.dtype)
    if scalar.shape.rank not in (0, None):
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {scalar.shape}.")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(Mul(scalar, base), x.indices, x.dense_shape)
    return Mul(scalar, base)


POWERS = (*FLOATING_OR_COMPLEX, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)


@op("Pow", "x: T, y: T -> z: T", types={"T": POWERS}, **BROADCAST, promotes="operands")
def Pow(xp: ModuleType, x: Array, y: Array):
    if xp is np and x.dtype.kind == "i" and (y < 0).any():
        raise invalid("Integers to negative integer powers are not allowed")
    return xp.power(x, y)


Pow.flops(flops.each_output())


@Pow.gradient(needs="x, y, z")
def _(call: GradientCall, dz: Tensor):
    x, y = conj(call.x), conj(call.y)
    of_x = Mul(Mul(dz, y), Pow(x, Sub(y, 1))) if call.wants("x") else None
    if not call.wants("y"):
        return of_x, None
    # Where the logarithm does not exist the power's derivative in y is taken as zero; so must be those of higher order.
    exists = comparison.NotEqual(x, 0) if x.dtype.is_complex else comparison.Greater(x, 0)
    log_x = elementwise.Log(choice.SelectV2(exists, x, 1))
    return of_x, Mul(Mul(dz, conj(call.z)), log_x)


@Pow.samples
def _(rng: SampleGenerator):
    yield from positive_pairs(rng)
    yield Sample(
        np.array([2, -3], np.int32),
        np.array([5, 3], np.int32),
        expect=np.array([32, -27], np.int32),
    )
    yield Sample(np.array([2], np.int64), -1, raises=InvalidArgumentError)


Pow.reference(per_element(lambda x, y: x**y, lambda x, y: x**y))


@api("math.pow", "pow")
@tensor_function
def pow(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Raise `x` to the power `y` elementwise, with broadcasting.

    Args:
      x: the bases: floating, complex or signed integers.
      y: the exponents, of the dtype of `x`.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape; of real numbers NaN for a negative base and a fractional
      exponent.

    Raises:
      InvalidArgumentError: for negative exponents of integers.

    >>> tf.math.pow([[2, 2], [3, 3]], [[8, 16], [2, 3]])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[  256, 65536],
           [    9,    27]], dtype=int32)>
    """
    return Pow(x, y)


def _extreme(name: str, function: str, chooses_x: Callable[..., Any], reference: Callable[..., Any]):
    @op(name, "x: T, y: T -> z: T", types={"T": REAL}, promotes="choice", moves=True, foldable=True, **BROADCAST)
    def row(xp: ModuleType, x: Array, y: Array):
        return getattr(xp, function)(x, y)

    @row.gradient(needs="x, y")
    def _(call: GradientCall, dz: Tensor):
        chosen = chooses_x(call.x, call.y)
        return choice.SelectV2(chosen, dz, 0), choice.SelectV2(chosen, 0, dz)

    row.samples(pairs)
    row.reference(per_element(reference))
    row.flops(flops.each_output())
    return row


Maximum = _extreme(
    "Maximum",
    "maximum",
    lambda x, y: comparison.GreaterEqual(x, y),
    lambda x, y: x if x > y else y,
)
Minimum = _extreme(
    "Minimum", "minimum", lambda x, y: comparison.LessEqual(x, y), lambda x, y: x if x < y else y
)


@api("math.maximum", "maximum")
@tensor_function
def maximum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Take the larger of two elements, with broadcasting; NaN where either is NaN.

    Args:
      x, y: tensors of one real dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape. Where the two are equal, the gradient goes to `x`.

    >>> tf.math.maximum([1.0, -2.0, float("nan")], 0.0)
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([ 1.,  0., nan], dtype=float32)>
    """
    return Maximum(x, y)


@api("math.minimum", "minimum")
@tensor_function
def minimum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Take the smaller of two elements, with broadcasting; NaN where either is NaN.

    Args:
      x, y: tensors of one real dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape. Where the two are equal, the gradient goes to `x`.

    >>> tf.math.minimum([1, 5, 3], [4, 2, 3])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 2, 3], dtype=int32)>
    """
    return Minimum(x, y)


SQUARED = (*FLOATING, dtypes.int32, dtypes.int64, *COMPLEX)


@op("SquaredDifference", "x: T, y: T -> z: T", types={"T": SQUARED}, **BROADCAST)
def SquaredDifference(xp: ModuleType, x: Array, y: Array):
    difference = xp.subtract(x, y)
    return xp.conj(difference) * difference if x.dtype.kind == "c" else xp.square(difference)


SquaredDifference.flops(flops.each_output(2))


@SquaredDifference.gradient(needs="x, y")
def _(call: GradientCall, dz: Tensor):
    difference = Sub(call.x, call.y)
    of_x = Mul(dz, AddV2(difference, difference))
    return of_x, elementwise.Neg(of_x)


SquaredDifference.samples(pairs)
SquaredDifference.reference(
    per_element(lambda x, y: x * x - 2 * x * y + y * y, lambda x, y: abs(x - y) ** 2)
)


@api("math.squared_difference", v1="squared_difference")
@tensor_function
def squared_difference(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Compute `conj(x - y) * (x - y)` elementwise, with broadcasting.

    Args:
      x, y: tensors of one dtype, floating, complex, int32 or int64, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape.
    """
    return SquaredDifference(x, y)

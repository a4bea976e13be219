"""Elementwise functions of one number: signs, powers, exponentials, logarithms, rounding."""

from __future__ import annotations

import cmath
import math
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, flops, shapes
from tapeflow.ops.math import arithmetic, complex_numbers, division, division_no_nan
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.math.elementwise_samples import line, per_element, positive
from tapeflow.ops.table import COMPLEX, FLOATING, FLOATING_OR_COMPLEX, NUMERIC, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator

SIGNED = (*FLOATING, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
CONTINUOUS = {"T": FLOATING_OR_COMPLEX}


@op("Neg", "x: T -> y: T", types={"T": SIGNED + COMPLEX}, shape=shapes.elementwise, promotes="weakness",
    foldable=True)
def Neg(xp: ModuleType, x: Array):
    return xp.negative(x)


Neg.flops(flops.each_input())


@Neg.gradient(needs="")
def _(call: GradientCall, dy: TensorLike):
    return Neg(dy)


@Neg.samples
def _(rng: SampleGenerator):
    yield from line(rng)
    yield Sample(np.array([1, -2, 0], np.int32), expect=np.array([-1, 2, 0], np.int32))


Neg.reference(lambda x: x * np.array(-1, x.dtype))


@api("math.negative", "negative")
@tensor_function
def negative(x: TensorLike, name: str | None = None) -> Tensor:
    """-x, elementwise."""
    return Neg(x)


@op("Abs", "x: T -> y: T", types={"T": SIGNED}, shape=shapes.elementwise, promotes="weakness")
def Abs(xp: ModuleType, x: Array):
    return xp.abs(x)


@Abs.gradient(needs="x")
def _(call: GradientCall, dy: Tensor):
    return arithmetic.Mul(dy, Sign(call.x))


@Abs.samples
def _(rng: SampleGenerator):
    yield from line(rng)
    yield Sample(np.array([3, -4], np.int64), expect=np.array([3, 4], np.int64))


Abs.reference(per_element(lambda v: v if v > 0 else -v))


@api("math.abs", "abs")
@tensor_function
def abs(x: TensorLike, name: str | None = None):
    """The magnitude of each element; of complex elements as a float of their precision."""
    x = convert_to_tensor(x)
    if x.dtype.is_complex:
        return complex_numbers.ComplexAbs(x, x.dtype.real_dtype)
    return Abs(x)


@op("Sign", "x: T -> y: T", types={"T": SIGNED + COMPLEX}, shape=shapes.elementwise, promotes="weakness")
def Sign(xp: ModuleType, x: Array):
    return xp.sign(x)


@Sign.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return arithmetic.Mul(dy, 0)


@Sign.samples
def _(rng: SampleGenerator):
    yield from line(rng)
    yield Sample(np.array([3, -4, 0], np.int32), expect=np.array([1, -1, 0], np.int32))


Sign.reference(per_element(lambda v: (v > 0) - (v < 0), lambda v: v / math.hypot(v.real, v.imag)))


@api("math.sign", "sign")
@tensor_function
def sign(x: TensorLike, name: str | None = None) -> Tensor:
    """-1, 0 or 1 as each element is negative, zero or positive; `x / |x|` of complex elements."""
    x = convert_to_tensor(x)
    if x.dtype.is_complex:  # whose sign has a gradient
        size = complex_numbers.ComplexAbs(x, x.dtype.real_dtype)
        return division_no_nan.DivNoNan(x, complex_numbers.Complex(size, arithmetic.Mul(size, 0), x.dtype))
    return Sign(x)


@op("Square", "x: T -> y: T", types={"T": NUMERIC}, shape=shapes.elementwise, promotes="weakness")
def Square(xp: ModuleType, x: Array):
    return xp.square(x)


Square.flops(flops.each_input())


@Square.gradient(needs="x")
def _(call: GradientCall, dy: Tensor):
    x = conj(call.x)
    return arithmetic.Mul(dy, arithmetic.AddV2(x, x))


Square.samples(line)
Square.reference(lambda x: x * x)


@api("math.square", "square")
@tensor_function
def square(x: TensorLike, name: str | None = None) -> Tensor:
    """x * x, elementwise."""
    return Square(x)


@op("Sqrt", "x: T -> y: T", types=CONTINUOUS, shape=shapes.elementwise, promotes="weakness")
def Sqrt(xp: ModuleType, x: Array):
    return xp.sqrt(x)


@Sqrt.gradient(needs="y")
def _(call: GradientCall, dy: Tensor):
    return SqrtGrad(call.y, dy)


Sqrt.samples(positive)
Sqrt.reference(per_element("sqrt"))


@api("math.sqrt", "sqrt")
@tensor_function
def sqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """The square root of each element; NaN of negative ones."""
    return Sqrt(x)


@op("SqrtGrad", "y: T, dy: T -> z: T", types=CONTINUOUS, shape=shapes.merged)
def SqrtGrad(xp: ModuleType, y: Array, dy: Array):
    return dy * y.dtype.type(0.5) / xp.conj(y)


SqrtGrad.batching(batching.elementwise)


@SqrtGrad.gradient(needs="y, z")
def _(call: GradientCall, dz: Tensor):
    half = division.RealDiv(arithmetic.Mul(dz, 0.5), call.y)
    slope = division.RealDiv(arithmetic.Mul(call.z, -1.0), conj(call.y))
    return arithmetic.Mul(conj(dz), slope), half


@SqrtGrad.samples
def _(rng: SampleGenerator):
    yield Sample(np.abs(rng.normal(3)) + 0.5, rng.normal(3))


SqrtGrad.reference(lambda y, dy: dy / (2 * np.conj(y)))


@op("Rsqrt", "x: T -> y: T", types=CONTINUOUS, shape=shapes.elementwise, promotes="weakness")
def Rsqrt(xp: ModuleType, x: Array):
    return xp.reciprocal(xp.sqrt(x))


Rsqrt.flops(flops.each_input(2))


@Rsqrt.gradient(needs="y")
def _(call: GradientCall, dy: Tensor):
    return RsqrtGrad(call.y, dy)


Rsqrt.samples(positive)
Rsqrt.reference(per_element(lambda v: 1 / math.sqrt(v), lambda v: 1 / cmath.sqrt(v)))


@api("math.rsqrt", v1="rsqrt")
@tensor_function
def rsqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """1 / sqrt(x), elementwise."""
    return Rsqrt(x)


@op("RsqrtGrad", "y: T, dy: T -> z: T", types=CONTINUOUS, shape=shapes.merged)
def RsqrtGrad(xp: ModuleType, y: Array, dy: Array):
    y = xp.conj(y)
    return dy * y.dtype.type(-0.5) * (y * y * y)


RsqrtGrad.flops(flops.each_output(4))


RsqrtGrad.batching(batching.elementwise)


@RsqrtGrad.gradient(needs="y, dy")
def _(call: GradientCall, dz: Tensor):
    y, dy = call.y, call.dy
    of_y = arithmetic.Mul(arithmetic.Mul(conj(dz), dy), arithmetic.Mul(Square(conj(y)), -1.5))
    return of_y, RsqrtGrad(conj(y), dz)


@RsqrtGrad.samples
def _(rng: SampleGenerator):
    yield Sample(np.abs(rng.normal(3)) + 0.5, rng.normal(3))


RsqrtGrad.reference(lambda y, dy: -dy * np.conj(y) ** 3 / 2)


def _reciprocal(name: str):
    """Reciprocal and Inv are one op under two names."""

    @op(name, "x: T -> y: T", types=CONTINUOUS, shape=shapes.elementwise, promotes="weakness")
    def row(xp: ModuleType, x: Array):
        return xp.reciprocal(x)

    @row.gradient(needs="y")
    def _(call: GradientCall, dy: Tensor):
        return ReciprocalGrad(call.y, dy)

    row.samples(positive)
    row.reference(per_element(lambda v: 1 / v, lambda v: 1 / v))
    return row


Reciprocal = _reciprocal("Reciprocal")
Reciprocal.flops(flops.each_input())
Inv = _reciprocal("Inv")


@api("math.reciprocal", v1="reciprocal")
@tensor_function
def reciprocal(x: TensorLike, name: str | None = None) -> Tensor:
    """1 / x, elementwise."""
    return Reciprocal(x)


def _reciprocal_grad(name: str):
    @op(name, "y: T, dy: T -> z: T", types=CONTINUOUS, shape=shapes.merged)
    def row(xp: ModuleType, y: Array, dy: Array):
        y = xp.conj(y)
        return -dy * (y * y)

    @row.gradient(needs="y, dy")
    def _(call: GradientCall, dz: Tensor):
        y, dy = call.y, call.dy
        of_y = arithmetic.Mul(arithmetic.Mul(conj(dz), dy), arithmetic.Mul(conj(y), -2.0))
        return of_y, ReciprocalGrad(conj(y), dz)

    @row.samples
    def _(rng: SampleGenerator):
        yield Sample(np.abs(rng.normal(3)) + 0.5, rng.normal(3))

    row.reference(lambda y, dy: -dy * np.conj(y) ** 2)
    row.batching(batching.elementwise)
    return row


ReciprocalGrad = _reciprocal_grad("ReciprocalGrad")
InvGrad = _reciprocal_grad("InvGrad")


@op("Exp", "x: T -> y: T", types=CONTINUOUS, shape=shapes.elementwise, promotes="weakness")
def Exp(xp: ModuleType, x: Array):
    return xp.exp(x)


@Exp.gradient(needs="y")
def _(call: GradientCall, dy: Tensor):
    return arithmetic.Mul(dy, conj(call.y))


Exp.samples(line)
Exp.reference(per_element("exp"))


@api("math.exp", "exp")
@tensor_function
def exp(x: TensorLike, name: str | None = None) -> Tensor:
    """e to the power of each element."""
    return Exp(x)


@op("Expm1", "x: T -> y: T", types=CONTINUOUS, shape=shapes.elementwise, promotes="weakness")
def Expm1(xp: ModuleType, x: Array):
    return xp.expm1(x)


@Expm1.gradient(needs="x")
def _(call: GradientCall, dy: Tensor):
    return arithmetic.Mul(dy, conj(Exp(call.x)))


Expm1.samples(line)
Expm1.reference(per_element(math.expm1, lambda v: cmath.exp(v) - 1))


@api("math.expm1", v1="expm1")
@tensor_function
def expm1(x: TensorLike, name: str | None = None) -> Tensor:
    """exp(x) - 1, elementwise, exact for small x."""
    return Expm1(x)


@op("Log", "x: T -> y: T", types=CONTINUOUS, shape=shapes.elementwise, promotes="weakness")
def Log(xp: ModuleType, x: Array):
    return xp.log(x)


Log.flops(flops.each_input())


@Log.gradient(needs="x")
def _(call: GradientCall, dy: Tensor):
    return arithmetic.Mul(dy, Reciprocal(conj(call.x)))


Log.samples(positive)
Log.reference(per_element("log"))


@api("math.log", v1="log")
@tensor_function
def log(x: TensorLike, name: str | None = None) -> Tensor:
    """The natural logarithm of each element; -inf of 0, NaN of negative ones."""
    return Log(x)


@op("Log1p", "x: T -> y: T", types=CONTINUOUS, shape=shapes.elementwise, promotes="weakness")
def Log1p(xp: ModuleType, x: Array):
    return xp.log1p(x)


@Log1p.gradient(needs="x")
def _(call: GradientCall, dy: Tensor):
    return arithmetic.Mul(dy, Reciprocal(arithmetic.AddV2(conj(call.x), 1)))


Log1p.samples(positive)
Log1p.reference(per_element(math.log1p, lambda v: cmath.log(1 + v)))


@api("math.log1p", v1="log1p")
@tensor_function
def log1p(x: TensorLike, name: str | None = None) -> Tensor:
    """log(1 + x), elementwise, exact for small x."""
    return Log1p(x)

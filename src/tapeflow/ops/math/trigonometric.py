"""Trigonometric and hyperbolic functions, their inverses, and the sigmoid."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.math import arithmetic, division, elementwise
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.math.elementwise_samples import above_one, line, pairs, per_element, unit
from tapeflow.ops.nn import softplus
from tapeflow.ops.table import FLOATING, FLOATING_OR_COMPLEX, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


def _function(
    name: str, function: str, samples: Callable[..., Any], slope: Callable[..., Any], reference=None
):
    """The row of an elementwise function of NumPy's, whose derivative at x is `slope(x)`."""

    @op(name, "x: T -> y: T", types={"T": FLOATING_OR_COMPLEX}, shape=shapes.elementwise, promotes="weakness")
    def row(xp: ModuleType, x: Array):
        return getattr(xp, function)(x)

    @row.gradient(needs="x")
    def _(call: GradientCall, dy: Tensor):
        return arithmetic.Mul(dy, slope(conj(call.x)))

    row.samples(samples)
    row.reference(per_element(reference or name.lower()))
    return row


def _inverse_root(inside: Callable[..., Any]):
    return lambda x: elementwise.Rsqrt(inside(elementwise.Square(x)))


def _one_minus(x):
    return arithmetic.Sub(1, x)


def _one_plus(x):
    return arithmetic.AddV2(x, 1)


def _minus_one(x):
    return arithmetic.Sub(x, 1)


Sin = _function("Sin", "sin", line, lambda x: Cos(x))
Cos = _function("Cos", "cos", line, lambda x: elementwise.Neg(Sin(x)))
Tan = _function("Tan", "tan", unit, lambda x: elementwise.Square(elementwise.Reciprocal(Cos(x))))
Asin = _function("Asin", "arcsin", unit, _inverse_root(_one_minus))
Acos = _function("Acos", "arccos", unit, lambda x: elementwise.Neg(_inverse_root(_one_minus)(x)))
Atan = _function(
    "Atan", "arctan", line, lambda x: elementwise.Reciprocal(_one_plus(elementwise.Square(x)))
)
Sinh = _function("Sinh", "sinh", line, lambda x: Cosh(x))
Cosh = _function("Cosh", "cosh", line, lambda x: Sinh(x))
Asinh = _function("Asinh", "arcsinh", line, _inverse_root(_one_plus))
# Two roots: the product under one would be right for numbers below -1 too, where the function is not defined.
Acosh = _function(
    "Acosh",
    "arccosh",
    above_one,
    lambda x: arithmetic.Mul(elementwise.Rsqrt(_minus_one(x)), elementwise.Rsqrt(_one_plus(x))),
)
Atanh = _function(
    "Atanh", "arctanh", unit, lambda x: elementwise.Reciprocal(_one_minus(elementwise.Square(x)))
)


@api("math.sin", "sin")
@tensor_function
def sin(x: TensorLike, name: str | None = None) -> Tensor:
    """The sine of each element, in radians."""
    return Sin(x)


@api("math.cos", "cos")
@tensor_function
def cos(x: TensorLike, name: str | None = None) -> Tensor:
    """The cosine of each element, in radians."""
    return Cos(x)


@api("math.tan", "tan")
@tensor_function
def tan(x: TensorLike, name: str | None = None) -> Tensor:
    """The tangent of each element, in radians."""
    return Tan(x)


@api("math.asin", "asin")
@tensor_function
def asin(x: TensorLike, name: str | None = None) -> Tensor:
    """The angles in [-pi/2, pi/2] whose sines are `x`; NaN outside [-1, 1]."""
    return Asin(x)


@api("math.acos", "acos")
@tensor_function
def acos(x: TensorLike, name: str | None = None) -> Tensor:
    """The angles in [0, pi] whose cosines are `x`; NaN outside [-1, 1]."""
    return Acos(x)


@api("math.atan", "atan")
@tensor_function
def atan(x: TensorLike, name: str | None = None) -> Tensor:
    """The angles in (-pi/2, pi/2) whose tangents are `x`."""
    return Atan(x)


@api("math.sinh", "sinh")
@tensor_function
def sinh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic sine of each element."""
    return Sinh(x)


@api("math.cosh", "cosh")
@tensor_function
def cosh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic cosine of each element."""
    return Cosh(x)


@api("math.asinh", "asinh")
@tensor_function
def asinh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse hyperbolic sine of each element."""
    return Asinh(x)


@api("math.acosh", "acosh")
@tensor_function
def acosh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse hyperbolic cosine of each element; NaN below 1."""
    return Acosh(x)


@api("math.atanh", "atanh")
@tensor_function
def atanh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse hyperbolic tangent of each element; NaN outside [-1, 1]."""
    return Atanh(x)


@op(
    "Atan2", "y: T, x: T -> z: T", types={"T": FLOATING}, shape=shapes.broadcast_all, broadcast=True
)
def Atan2(xp: ModuleType, y: Array, x: Array):
    return xp.arctan2(y, x)


@Atan2.gradient(needs="y, x")
def _(call: GradientCall, dz: Tensor):
    y, x = call.y, call.x
    scale = division.RealDiv(dz, arithmetic.AddV2(elementwise.Square(x), elementwise.Square(y)))
    return arithmetic.Mul(x, scale), elementwise.Neg(arithmetic.Mul(y, scale))


Atan2.samples(pairs)
Atan2.reference(per_element(lambda y, x: cmath.phase(complex(x, y))))


@api("math.atan2", "atan2")
@tensor_function
def atan2(y: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Compute the angle of the points (`x`, `y`) from the x axis, elementwise with broadcasting.

    Args:
      y: the second coordinates, a floating tensor.
      x: the first coordinates, of the dtype of `y`.
      name: a name for the operation (optional).

    Returns:
      Angles in radians, in [-pi, pi], of their dtype and broadcast shape.

    >>> tf.atan2([1.0, -1.0], [1.0, 1.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([ 0.7853982, -0.7853982], dtype=float32)>
    """
    return Atan2(y, x)


@op("Tanh", "x: T -> y: T", types={"T": FLOATING_OR_COMPLEX}, shape=shapes.elementwise, promotes="weakness")
def Tanh(xp: ModuleType, x: Array):
    return xp.tanh(x)


@Tanh.gradient(needs="y")
def _(call: GradientCall, dy: Tensor):
    return TanhGrad(call.y, dy)


Tanh.samples(line)
Tanh.reference(per_element("tanh"))


@api("math.tanh", "nn.tanh", "tanh")
@tensor_function
def tanh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic tangent of each element."""
    return Tanh(x)


@op("TanhGrad", "y: T, dy: T -> z: T", types={"T": FLOATING_OR_COMPLEX}, shape=shapes.merged)
def TanhGrad(xp: ModuleType, y: Array, dy: Array):
    y = xp.conj(y)
    return dy * (1 - y * y)


TanhGrad.batching(batching.elementwise)


@TanhGrad.gradient(needs="y, dy")
def _(call: GradientCall, dz: Tensor):
    y = conj(call.y)
    product = arithmetic.Mul(arithmetic.Mul(conj(dz), call.dy), y)
    return arithmetic.Mul(product, -2.0), TanhGrad(y, dz)


@TanhGrad.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3, 2), rng.normal(3, 2))
    yield Sample(rng.normal(0), rng.normal(0))


TanhGrad.reference(lambda y, dy: dy - dy * np.conj(y) ** 2)


@op("Sigmoid", "x: T -> y: T", types={"T": FLOATING_OR_COMPLEX}, shape=shapes.elementwise, promotes="weakness")
def Sigmoid(xp: ModuleType, x: Array):
    return 1 / (1 + xp.exp(-x))


@Sigmoid.gradient(needs="y")
def _(call: GradientCall, dy: Tensor):
    return SigmoidGrad(call.y, dy)


Sigmoid.samples(line)
Sigmoid.reference(
    per_element(lambda v: (1 + math.tanh(v / 2)) / 2, lambda v: (1 + cmath.tanh(v / 2)) / 2)
)


@api("math.sigmoid", "nn.sigmoid", "sigmoid")
@tensor_function
def sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """1 / (1 + exp(-x)), elementwise."""
    return Sigmoid(x)


@op("SigmoidGrad", "y: T, dy: T -> z: T", types={"T": FLOATING_OR_COMPLEX}, shape=shapes.merged)
def SigmoidGrad(xp: ModuleType, y: Array, dy: Array):
    y = xp.conj(y)
    return dy * y * (1 - y)


SigmoidGrad.batching(batching.elementwise)


@SigmoidGrad.gradient(needs="y, dy")
def _(call: GradientCall, dz: Tensor):
    y, dy = conj(call.y), call.dy
    of_y = arithmetic.Mul(arithmetic.Mul(conj(dz), dy), arithmetic.Sub(1, arithmetic.AddV2(y, y)))
    return of_y, SigmoidGrad(y, dz)


@SigmoidGrad.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3, 2), rng.normal(3, 2))
    yield Sample(rng.normal(0), rng.normal(0))


SigmoidGrad.reference(lambda y, dy: dy * (np.conj(y) - np.conj(y) ** 2))


@api("math.log_sigmoid", v1="log_sigmoid")
@tensor_function
def log_sigmoid(x: TensorLike, name: str | None = None):
    """log(sigmoid(x)), elementwise, exact for large negative x."""
    return elementwise.Neg(softplus.Softplus(elementwise.Neg(x)))

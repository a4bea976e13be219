"""Bessel functions, and the integrals of Dawson, Fresnel and others."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.public import public, tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.math import arithmetic, choice, comparison, division, elementwise, trigonometric
from tapeflow.ops.math.elementwise_samples import line, per_element, positive
from tapeflow.ops.special.functions import library, special_row, squared, wide
from tapeflow.ops.table import FLOATING, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall


def _integral(function: Callable[..., Any], low, high, n: int = 4000):
    """Simpson's rule."""
    xs = np.linspace(low, high, n + 1)
    weights = np.ones(n + 1)
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    return float((high - low) / n / 3 * (weights * function(xs)).sum())


def _over_x(y, x, at_zero):
    """y / x; `at_zero` is its limit."""
    zero = comparison.Equal(x, 0)
    return choice.SelectV2(
        zero, at_zero, division.RealDiv(y, choice.SelectV2(zero, 1, x))
    )


def _i(order: int, damped: int):
    def value(v):
        def integrand(t):
            return np.exp(v * np.cos(t) - abs(v) * damped) * np.cos(order * t)

        return _integral(integrand, 0, math.pi) / math.pi

    return value


def _j(order: int):
    return lambda v: _integral(lambda t: np.cos(order * t - v * np.sin(t)), 0, math.pi) / math.pi


def _k(order: int, damped: int):
    return lambda v: _integral(
        lambda t: np.exp(v * (damped - np.cosh(t))) * np.cosh(order * t), 0, 6
    )


def _y(order: int):
    def value(v):
        near = _integral(lambda t: np.sin(v * np.sin(t) - order * t), 0, math.pi)
        far = _integral(
            lambda t: (
                (np.exp(order * t) + (-1) ** order * np.exp(-order * t)) * np.exp(-v * np.sinh(t))
            ),
            0,
            7,
            40000,
        )
        return (near - far) / math.pi

    return value


def _sub(a, b):
    return arithmetic.Sub(a, b)


def _i1_slope(call: GradientCall):
    ratio = _over_x(call.y, call.x, 0.5)
    return _sub(BesselI0(call.x), ratio)


def _i1e_slope(call: GradientCall):
    signed = arithmetic.Mul(call.y, elementwise.Sign(call.x))
    ratio = _over_x(call.y, call.x, 0.5)
    return _sub(_sub(BesselI0e(call.x), signed), ratio)


def _i0e_slope(call: GradientCall):
    return _sub(BesselI1e(call.x), arithmetic.Mul(call.y, elementwise.Sign(call.x)))


BesselI0 = special_row("BesselI0", "i0", line, lambda c: BesselI1(c.x), _i(0, 0))
BesselI0e = special_row("BesselI0e", "i0e", line, _i0e_slope, _i(0, 1), needs="x, y")
BesselI1 = special_row("BesselI1", "i1", line, _i1_slope, _i(1, 0), needs="x, y")
BesselI1e = special_row("BesselI1e", "i1e", line, _i1e_slope, _i(1, 1), needs="x, y")
BesselJ0 = special_row("BesselJ0", "j0", line, lambda c: elementwise.Neg(BesselJ1(c.x)), _j(0))
BesselJ1 = special_row(
    "BesselJ1",
    "j1",
    line,
    lambda c: _sub(BesselJ0(c.x), _over_x(c.y, c.x, 0.5)),
    _j(1),
    needs="x, y",
)
BesselK0 = special_row(
    "BesselK0", "k0", positive, lambda c: elementwise.Neg(BesselK1(c.x)), _k(0, 0)
)
BesselK0e = special_row(
    "BesselK0e", "k0e", positive, lambda c: _sub(c.y, BesselK1e(c.x)), _k(0, 1), needs="x, y"
)
BesselK1 = special_row(
    "BesselK1",
    "k1",
    positive,
    lambda c: _sub(elementwise.Neg(BesselK0(c.x)), division.RealDiv(c.y, c.x)),
    _k(1, 0),
    needs="x, y",
)
BesselK1e = special_row(
    "BesselK1e",
    "k1e",
    positive,
    lambda c: _sub(_sub(c.y, division.RealDiv(c.y, c.x)), BesselK0e(c.x)),
    _k(1, 1),
    needs="x, y",
)
BesselY0 = special_row("BesselY0", "y0", positive, lambda c: elementwise.Neg(BesselY1(c.x)), _y(0))
BesselY1 = special_row(
    "BesselY1",
    "y1",
    positive,
    lambda c: _sub(BesselY0(c.x), division.RealDiv(c.y, c.x)),
    _y(1),
    needs="x, y",
)


for _row in (BesselJ0, BesselJ1, BesselK0, BesselK0e, BesselK1, BesselK1e, BesselY0, BesselY1):
    _row.compiled(never="JAX has no such Bessel function")


def _exponential_integral(v):
    """The power series of Ei for v > 0."""
    series = math.fsum(v**n / (n * math.factorial(n)) for n in range(1, 60))
    return 0.57721566490153286 + math.log(v) + series


def _spence_slope(call: GradientCall):
    at_one = comparison.Equal(call.x, 1)
    safe = choice.SelectV2(at_one, 2, call.x)
    ratio = division.RealDiv(elementwise.Log(safe), arithmetic.Sub(1, safe))
    return choice.SelectV2(at_one, -1, ratio)


def _half_pi_square(x):
    return arithmetic.Mul(squared(x), math.pi / 2)


Dawsn = special_row(
    "Dawsn",
    "dawsn",
    line,
    lambda c: _sub(1, arithmetic.Mul(arithmetic.AddV2(c.x, c.x), c.y)),
    lambda v: _integral(lambda t: np.exp(t * t - v * v), 0, v),
    needs="x, y",
)
Expint = special_row(
    "Expint",
    "expi",
    positive,
    lambda c: division.RealDiv(elementwise.Exp(c.x), c.x),
    _exponential_integral,
)
Spence = special_row(
    "Spence",
    "spence",
    positive,
    _spence_slope,
    lambda v: -_integral(lambda s: np.log(s) / (s - 1), 1 + 1e-12, v),
)


def _fresnel(name: str, index: int, function: Callable[..., Any], slope: Callable[..., Any]):
    """Both of Fresnel's integrals are computed at once: `index` picks one."""

    @op(name, "x: T -> y: T", types={"T": FLOATING}, shape=shapes.elementwise)
    def row(xp: ModuleType, x: Array):
        with np.errstate(all="ignore"):
            return library(xp).fresnel(*wide(xp, x))[index].astype(x.dtype)

    @row.gradient(needs="x")
    def _(call: GradientCall, dy: Tensor):
        return arithmetic.Mul(dy, slope(_half_pi_square(call.x)))

    row.samples(line)
    row.reference(per_element(lambda v: _integral(lambda t: function(math.pi / 2 * t * t), 0, v)))
    return row


FresnelSin = _fresnel("FresnelSin", 0, np.sin, lambda x: trigonometric.Sin(x))
FresnelCos = _fresnel("FresnelCos", 1, np.cos, lambda x: trigonometric.Cos(x))


@api("math.special.bessel_i0", "math.bessel_i0")
@tensor_function
def bessel_i0(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 0."""
    return BesselI0(x)


@api("math.special.bessel_i0e", "math.bessel_i0e")
@tensor_function
def bessel_i0e(x: TensorLike, name: str | None = None) -> Tensor:
    """`bessel_i0` times exp(-|x|)."""
    return BesselI0e(x)


@api("math.special.bessel_i1", "math.bessel_i1")
@tensor_function
def bessel_i1(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 1."""
    return BesselI1(x)


@api("math.special.bessel_i1e", "math.bessel_i1e")
@tensor_function
def bessel_i1e(x: TensorLike, name: str | None = None) -> Tensor:
    """`bessel_i1` times exp(-|x|)."""
    return BesselI1e(x)


@api("math.special.bessel_j0")
@public
def bessel_j0(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind, of order 0."""
    return BesselJ0(x)


@api("math.special.bessel_j1")
@public
def bessel_j1(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind, of order 1."""
    return BesselJ1(x)


@api("math.special.bessel_k0")
@public
def bessel_k0(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind, of order 0."""
    return BesselK0(x)


@api("math.special.bessel_k0e")
@public
def bessel_k0e(x: TensorLike, name: str | None = None) -> Tensor:
    """`bessel_k0` times exp(x)."""
    return BesselK0e(x)


@api("math.special.bessel_k1")
@public
def bessel_k1(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind, of order 1."""
    return BesselK1(x)


@api("math.special.bessel_k1e")
@public
def bessel_k1e(x: TensorLike, name: str | None = None) -> Tensor:
    """`bessel_k1` times exp(x)."""
    return BesselK1e(x)


@api("math.special.bessel_y0")
@public
def bessel_y0(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind, of order 0."""
    return BesselY0(x)


@api("math.special.bessel_y1")
@public
def bessel_y1(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind, of order 1."""
    return BesselY1(x)


@api("math.special.dawsn")
@public
def dawsn(x: TensorLike, name: str | None = None) -> Tensor:
    """Dawson's integral: exp(-x^2) times the integral of exp(t^2) from 0 to x."""
    return Dawsn(x)


@api("math.special.expint")
@public
def expint(x: TensorLike, name: str | None = None) -> Tensor:
    """The exponential integral Ei."""
    return Expint(x)


@api("math.special.fresnel_cos")
@public
def fresnel_cos(x: TensorLike, name: str | None = None) -> Tensor:
    """Fresnel's integral of cos(pi t^2 / 2) from 0 to x."""
    return FresnelCos(x)


@api("math.special.fresnel_sin")
@public
def fresnel_sin(x: TensorLike, name: str | None = None) -> Tensor:
    """Fresnel's integral of sin(pi t^2 / 2) from 0 to x."""
    return FresnelSin(x)


@api("math.special.spence")
@public
def spence(x: TensorLike, name: str | None = None) -> Tensor:
    """Spence's integral of log(t) / (1 - t) from 1 to x."""
    return Spence(x)

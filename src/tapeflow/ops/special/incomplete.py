"""The incomplete gamma and beta functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.math import arithmetic, elementwise, reductions
from tapeflow.ops.math.elementwise_samples import per_element, positive_pairs
from tapeflow.ops.special.functions import SINGLE_DOUBLE, Lgamma, apply, library, module, pair_row
from tapeflow.ops.table import FLOATING, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _lower_gamma(a, x):
    """The series of P(a, x)."""
    scale = math.exp(a * math.log(x) - x)
    return math.fsum(scale * x**n / math.gamma(a + n + 1) for n in range(100))


Igamma = pair_row(
    "Igamma",
    "a",
    "x",
    lambda xp, a, x: apply(xp, "gammainc", a, x),
    positive_pairs,
    _lower_gamma,
    FLOATING,
)
Igammac = pair_row(
    "Igammac",
    "a",
    "x",
    lambda xp, a, x: apply(xp, "gammaincc", a, x),
    positive_pairs,
    lambda a, x: 1 - _lower_gamma(a, x),
    FLOATING,
)


def _gamma_density(a, x):
    logs = arithmetic.Mul(arithmetic.Sub(a, 1), elementwise.Log(x))
    return elementwise.Exp(arithmetic.Sub(arithmetic.Sub(logs, x), Lgamma(a)))


@Igamma.gradient(needs="a, x")
def _(call: GradientCall, dz: Tensor):
    a, x = call.a, call.x
    return arithmetic.Mul(dz, IgammaGradA(a, x)), arithmetic.Mul(dz, _gamma_density(a, x))


@Igammac.gradient(needs="a, x")
def _(call: GradientCall, dz: Tensor):
    a, x = call.a, call.x
    dz = elementwise.Neg(dz)
    return arithmetic.Mul(dz, IgammaGradA(a, x)), arithmetic.Mul(dz, _gamma_density(a, x))


@api("math.igamma", v1="igamma")
@tensor_function
def igamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Compute the lower regularised incomplete gamma function P(a, x), elementwise with broadcasting.

    Args:
      a: the exponents, a floating tensor of positive numbers.
      x: the upper end of the integral, of the dtype of `a` and not negative.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape; NaN outside of the domain.
    """
    return Igamma(a, x)


@api("math.igammac", v1="igammac")
@tensor_function
def igammac(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Compute the upper regularised incomplete gamma function Q(a, x) = 1 - P(a, x), elementwise with broadcasting.

    Args:
      a: the exponents, a floating tensor of positive numbers.
      x: the lower end of the integral, of the dtype of `a` and not negative.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape; NaN outside of the domain.
    """
    return Igammac(a, x)


MOST_SERIES_A = 50.0  # up to here the series needs few terms


def _igamma_slope(xp: ModuleType, a: Any, x: Any):
    """The derivative of P(a, x) by a, NaN outside a > 0, x >= 0.

    For x below a + 1 it is the series of P term by term. Elsewhere, and for large a, it is a central difference of the
    smaller one of P and 1 - P, which is exact to ten digits, since they change over distances of sqrt(a).
    """
    kind = a.dtype
    if xp is not np:
        return module("jax.lax").igamma_grad_a(*xp.broadcast_arrays(a, x))
    a, x = np.broadcast_arrays(a.astype(np.float64), x.astype(np.float64))
    inside = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    edge = np.where((x == 0) | (x > 0) & ((a == np.inf) | (a > 0) & (x == np.inf)), 0.0, np.nan)
    valid_a, valid_x = np.where(inside, a, 1), np.where(inside, x, 1)
    out = np.empty(x.shape)
    upper, series = valid_x > valid_a + 1, (valid_x <= valid_a + 1) & (valid_a <= MOST_SERIES_A)
    with np.errstate(all="ignore"):
        for at, function, sign in ((upper, "gammaincc", -1), (~upper & ~series, "gammainc", 1)):
            out[at] = sign * _central_difference(getattr(library(np), function), valid_a[at], valid_x[at])
        out[series] = _slope_series(valid_a[series], valid_x[series])
    return np.where(np.isnan(a) | np.isnan(x), np.nan, np.where(inside, out, edge)).astype(kind)


def _central_difference(function: Callable[..., Any], at: np.ndarray, x: np.ndarray):
    """Of sixth order, of the function's logarithm: that of a tail is almost a polynomial."""
    step = 1e-2 * np.where(at < 1, at, np.sqrt(at))
    near, middle, far = (np.log(function(at + k * step, x) / function(at - k * step, x)) for k in (1, 2, 3))
    value = function(at, x)
    return np.where(value > 0, value * (45 * near - 9 * middle + far) / (60 * step), 0)


def _slope_series(a: np.ndarray, x: np.ndarray):
    if not x.size:
        return x
    functions, total = library(np), np.zeros(x.shape)
    log_x = np.log(np.where(x > 0, x, 1))
    for n in range(int(x.max() + 14 * math.sqrt(x.max())) + 40):
        weight = np.exp((a + n) * log_x - x - functions.gammaln(a + n + 1))
        total += weight * (log_x - functions.digamma(a + n + 1))
    return np.where(x > 0, total, 0)


def _difference(a, x, step: float = 1e-4):
    ends = [_lower_gamma(a + k * step, x) for k in (-2, -1, 1, 2)]
    return (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * step)


IgammaGradA = pair_row("IgammaGradA", "a", "x", _igamma_slope, positive_pairs, _difference)


@op(
    "RandomGammaGrad",
    "alpha: T, sample: T -> output: T",
    types={"T": SINGLE_DOUBLE},
    shape=shapes.broadcast_all,
    broadcast=True,
)
def RandomGammaGrad(xp: ModuleType, alpha: Array, sample: Array):
    slope = _igamma_slope(xp, alpha, sample)
    log_density = (alpha - 1) * xp.log(sample) - sample - apply(xp, "gammaln", alpha)
    with np.errstate(all="ignore"):
        return xp.where(slope == 0, 0, -slope * xp.exp(-log_density)).astype(alpha.dtype)


RandomGammaGrad.samples(positive_pairs)
RandomGammaGrad.reference(
    per_element(
        lambda a, x: -_difference(a, x) / math.exp((a - 1) * math.log(x) - x - math.lgamma(a))
    )
)


def _betainc_rule(call: ShapeCall):
    return [shapes.merged_or_scalar(call)]


@op(
    "Betainc",
    "a: T, b: T, x: T -> z: T",
    types={"T": SINGLE_DOUBLE},
    shape=_betainc_rule,
    broadcast=True,
)
def Betainc(xp: ModuleType, a: Array, b: Array, x: Array):
    shapes_given = {v.shape for v in (a, b, x) if v.ndim}
    if len(shapes_given) > 1:
        raise invalid(
            f"Shapes of a, b and x are inconsistent: {shape_text(a.shape)} vs. {shape_text(b.shape)} vs. "
            f"{shape_text(x.shape)}"
        )
    return apply(xp, "betainc", a, b, x)


Betainc.batching(batching.spread)


@Betainc.gradient(needs="a, b, x")
def _(call: GradientCall, dz: Tensor):
    a, b, x = call.a, call.b, call.x
    log_beta = arithmetic.Sub(
        arithmetic.AddV2(Lgamma(a), Lgamma(b)), Lgamma(arithmetic.AddV2(a, b))
    )
    left = arithmetic.Mul(arithmetic.Sub(a, 1), elementwise.Log(x))
    right = arithmetic.Mul(arithmetic.Sub(b, 1), elementwise.Log1p(elementwise.Neg(x)))
    density = elementwise.Exp(arithmetic.Sub(arithmetic.AddV2(left, right), log_beta))
    return None, None, arithmetic.Mul(dz, density)


@Betainc.samples
def _(rng: SampleGenerator):
    a, b, x = np.array([0.5, 1.5]), np.array([2.0, 3.0]), np.array([0.25, 0.75])
    yield Sample(a, b, x, differentiable=(2,))
    yield Sample(1.0, np.array([[2.0, 0.75]]), 0.125, differentiable=(2,))
    yield Sample(np.ones(2), np.ones(3), 0.5, raises=InvalidArgumentError)


@Betainc.reference
@per_element
def _(a: np.ndarray, b: np.ndarray, x: np.ndarray):
    """The integral of t^(a-1) (1-t)^(b-1) by its power series."""
    term, total = 1.0, 1.0 / a
    for n in range(1, 2000):
        term *= (n - b) * x / n
        total += term / (a + n)
    return x**a * total * math.gamma(a + b) / math.gamma(a) / math.gamma(b)


@api("math.betainc", v1="betainc")
@tensor_function
def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Compute the regularised incomplete beta function I_x(a, b), elementwise with broadcasting.

    Args:
      a, b: the exponents, float32 or float64 tensors of positive numbers.
      x: the upper end of the integral, of their dtype, in [0, 1].
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape; NaN outside of the domain.

    >>> tf.math.betainc(2.0, 3.0, [0.0, 0.5, 1.0])
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([0.    , 0.6875, 1.    ], dtype=float32)>
    """
    return Betainc(a, b, x)


@api("math.lbeta", v1="lbeta")
@tensor_function
def lbeta(x: TensorLike, name: str | None = None):
    """log|Beta(x)| along the last axis: the sum of the lgammas less the lgamma of the sum."""
    x = convert_to_tensor(x)
    return arithmetic.Sub(
        reductions.reduce_sum(Lgamma(x), [-1]), Lgamma(reductions.reduce_sum(x, [-1]))
    )

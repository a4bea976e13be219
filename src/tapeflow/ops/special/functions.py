"""Special functions: error functions, gamma and beta functions, and related ones."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.math import arithmetic, elementwise
from tapeflow.ops.math.elementwise_samples import line, per_element, positive, unit
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import FLOATING, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator

SINGLE_DOUBLE = (dtypes.float32, dtypes.float64)


@cache
def module(name: str):
    return importlib.import_module(name)


def library(xp: ModuleType):
    """The special functions of `xp`, loaded when the first one is called."""
    return module("tapeflow.ops.numeric.special" if xp is np else "jax.scipy.special")


def wide(xp: ModuleType, *inputs):
    """The inputs as a special function takes them: NumPy's are computed in double, JAX's of halves in single."""
    if xp is np:
        return [np.asarray(x, np.float64) for x in inputs]
    return [x.astype(np.float32) if x.dtype.itemsize == 2 else x for x in inputs]


def apply(xp: ModuleType, function: str, *inputs):
    """A special function, in the dtype of its inputs."""
    with np.errstate(all="ignore"):
        return getattr(library(xp), function)(*wide(xp, *inputs)).astype(inputs[0].dtype)


def special_row(
    name: str, function: str, samples: Callable[..., Any], slope: Callable[..., Any],
    reference: Callable[..., Any], needs: str = "x", promotes: str = "",
):
    """The row of a function of one number; `slope(call)` is its derivative, made of what it `needs`."""

    @op(name, "x: T -> y: T", types={"T": FLOATING}, shape=shapes.elementwise, promotes=promotes)
    def row(xp: ModuleType, x: Array):
        return apply(xp, function, x)

    @row.gradient(needs=needs)
    def _(call: GradientCall, dy: Tensor):
        return arithmetic.Mul(dy, slope(call))

    row.samples(samples)
    row.reference(per_element(reference))
    return row


def scaled_exp(factor: float, exponent: Tensor):
    return arithmetic.Mul(elementwise.Exp(exponent), factor)


def _bisected(function: Callable[..., Any], low: float, high: float):
    """The inverse of an increasing function of one number."""

    def inverse(v):
        a, b = low, high
        for _ in range(200):
            middle = (a + b) / 2
            a, b = (middle, b) if function(middle) < v else (a, middle)
        return a

    return inverse


def _derivative_of_lgamma(v, step: float = 1e-4):
    ends = [math.lgamma(v + k * step) for k in (-2, -1, 1, 2)]
    return (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * step)


def _inside(rng: SampleGenerator):
    """Numbers inside (0, 1)."""
    yield Sample(np.tanh(np.abs(rng.normal(3, 2)) + 0.1) * 0.9)
    yield Sample(np.asarray(0.25))


def squared(x: Tensor):
    return elementwise.Square(x)


Erf = special_row(
    "Erf",
    "erf",
    line,
    lambda c: scaled_exp(2 / math.sqrt(math.pi), elementwise.Neg(squared(c.x))),
    math.erf,
    promotes="weakness",
)
Erfc = special_row(
    "Erfc",
    "erfc",
    line,
    lambda c: scaled_exp(-2 / math.sqrt(math.pi), elementwise.Neg(squared(c.x))),
    math.erfc,
    promotes="weakness",
)
Erfinv = special_row(
    "Erfinv",
    "erfinv",
    unit,
    lambda c: scaled_exp(math.sqrt(math.pi) / 2, squared(c.y)),
    _bisected(math.erf, -6.0, 6.0),
    needs="y",
    promotes="weakness",
)
Ndtri = special_row(
    "Ndtri",
    "ndtri",
    _inside,
    lambda c: scaled_exp(math.sqrt(2 * math.pi), arithmetic.Mul(squared(c.y), 0.5)),
    _bisected(lambda v: 0.5 * math.erfc(-v / math.sqrt(2)), -9.0, 9.0),
    needs="y",
    promotes="weakness",
)
Lgamma = special_row(
    "Lgamma", "gammaln", positive, lambda c: Digamma(c.x), math.lgamma, promotes="weakness"
)
Digamma = special_row(
    "Digamma", "digamma", positive, lambda c: Polygamma(1, c.x), _derivative_of_lgamma, promotes="weakness"
)


@api("math.erf", v1="erf")
@tensor_function
def erf(x: TensorLike, name: str | None = None) -> Tensor:
    """The Gauss error function of each element."""
    return Erf(x)


@api("math.erfc", v1="erfc")
@tensor_function
def erfc(x: TensorLike, name: str | None = None) -> Tensor:
    """1 - erf(x), exact for large x."""
    return Erfc(x)


@api("math.erfinv")
@tensor_function
@graph_scope("erfinv")
def erfinv(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of `erf`; NaN outside [-1, 1]."""
    return Erfinv(x)


@api("math.erfcinv")
@tensor_function
@graph_scope("erfcinv")
def erfcinv(x: TensorLike, name: str | None = None):
    """The inverse of `erfc`; NaN outside [0, 2]."""
    x = convert_to_tensor(x)
    return arithmetic.Mul(Ndtri(arithmetic.Mul(x, 0.5)), -math.sqrt(0.5))


@api("math.ndtri")
@tensor_function
@graph_scope("ndtri")
def ndtri(x: TensorLike, name: str | None = None) -> Tensor:
    """The quantiles of the standard normal distribution; NaN outside [0, 1]."""
    return Ndtri(x)


@api("math.lgamma", v1="lgamma")
@tensor_function
def lgamma(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of |gamma(x)|."""
    return Lgamma(x)


@api("math.digamma", v1="digamma")
@tensor_function
def digamma(x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of `lgamma`."""
    return Digamma(x)


def pair_row(
    name: str, first: str, second: str, kernel: Callable[..., Any], samples: Callable[..., Any],
    reference: Callable[..., Any], types=SINGLE_DOUBLE,
):
    @op(
        name,
        f"{first}: T, {second}: T -> z: T",
        types={"T": types},
        shape=shapes.broadcast_all,
        broadcast=True,
    )
    def row(xp: ModuleType, *inputs, **named):
        return kernel(xp, *inputs, *named.values())

    row.samples(samples)
    row.reference(per_element(reference))
    return row


def _polygamma_kernel(xp: ModuleType, a: Array, x: Array):
    whole = (a >= 0) & (a == xp.floor(a))
    if xp is not np:
        return xp.where(whole, library(xp).polygamma(xp.where(whole, a, 0).astype(int), x), xp.nan)
    return np.where(whole, apply(np, "polygamma", np.where(whole, a, 0), x), np.nan).astype(x.dtype)


def _orders(rng: SampleGenerator):
    yield Sample(np.array([[1.0], [2.0]]), np.abs(rng.normal(3)) + 0.75)
    yield Sample(0.0, np.abs(rng.normal(2)) + 0.75)
    yield Sample(np.ones(2), np.ones(3), raises=InvalidArgumentError)


def _zeta_sum(x, q):
    """Summed up to N, the rest by Euler and Maclaurin's formula."""
    n = 60
    rest = (q + n) ** (1 - x) / (x - 1) + (q + n) ** -x / 2 + x * (q + n) ** (-x - 1) / 12
    return math.fsum((q + k) ** -x for k in range(n)) + rest


def _polygamma_sum(a, x):
    if a == 0:
        return _derivative_of_lgamma(x)
    return (-1) ** int(a + 1) * math.factorial(int(a)) * _zeta_sum(a + 1, x)


Polygamma = pair_row("Polygamma", "a", "x", _polygamma_kernel, _orders, _polygamma_sum)


@Polygamma.gradient(needs="a, x")
def _(call: GradientCall, dz: Tensor):
    return None, arithmetic.Mul(dz, Polygamma(arithmetic.AddV2(call.a, 1), call.x))


@api("math.polygamma", v1="polygamma")
@tensor_function
def polygamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Compute the derivative of order `a` of `tf.math.digamma` at `x`, elementwise with broadcasting.

    Args:
      a: the orders, whole numbers from 0 on in a float32 or float64 tensor.
      x: a tensor of the dtype of `a`.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape; NaN for orders that are negative or not whole.

    >>> tf.math.polygamma(1.0, [1.0])
    <tf.Tensor: shape=(1,), dtype=float32, numpy=array([1.644934], dtype=float32)>
    """
    return Polygamma(a, x)


def _above_one(rng: SampleGenerator):
    yield Sample(np.abs(rng.normal(2, 3)) + 1.5, np.abs(rng.normal(3)) + 0.5, differentiable=(1,))
    yield Sample(2.5, np.abs(rng.normal(2)) + 0.5, differentiable=(1,))
    yield Sample(np.ones(2), np.ones(3), raises=InvalidArgumentError)


Zeta = pair_row("Zeta", "x", "q", lambda xp, x, q: apply(xp, "zeta", x, q), _above_one, _zeta_sum)


@Zeta.gradient(needs="x, q")
def _(call: GradientCall, dz: Tensor):
    x = call.x
    slope = arithmetic.Mul(elementwise.Neg(x), Zeta(arithmetic.AddV2(x, 1), call.q))
    return None, arithmetic.Mul(dz, slope)


@api("math.zeta", v1="zeta")
@tensor_function
def zeta(x: TensorLike, q: TensorLike, name: str | None = None) -> Tensor:
    """Compute the Hurwitz zeta function, the sum of (q + n)^-x over all n >= 0, elementwise with broadcasting.

    Args:
      x: the exponents, a float32 or float64 tensor; NaN results below 1.
      q: where the sum starts, of the dtype of `x`.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape.

    >>> tf.math.zeta([2.0], [1.0])
    <tf.Tensor: shape=(1,), dtype=float32, numpy=array([1.644934], dtype=float32)>
    """
    return Zeta(x, q)


@op(
    "NextAfter",
    "x1: T, x2: T -> output: T",
    types={"T": Preferring(SINGLE_DOUBLE)},
    shape=shapes.broadcast_all,
    broadcast=True,
)
def NextAfter(xp: ModuleType, x1: Array, x2: Array):
    return xp.nextafter(x1, x2)


@NextAfter.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return dy, arithmetic.Mul(dy, 0)


@NextAfter.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([0.5, -0.5, 2.0]), np.array([1.0, 1.0, 2.0]), differentiable=False)
    yield Sample(np.asarray(1.5), rng.normal(2, 2), differentiable=False)
    yield Sample(np.ones(2), np.ones(3), raises=InvalidArgumentError)


@NextAfter.reference
def _(x1: np.ndarray, x2: np.ndarray):
    x1, x2 = np.broadcast_arrays(x1, x2)
    return np.where(x1 == x2, x1, x1 + np.sign(x2 - x1) * np.spacing(np.abs(x1) * (1 - 1e-17)))


@api("math.nextafter")
@tensor_function
def nextafter(x1: TensorLike, x2: TensorLike, name: str | None = None) -> Tensor:
    """Return the next number of the dtype after `x1` on the way to `x2`, elementwise with broadcasting.

    Args:
      x1: where to start, a float32 or float64 tensor.
      x2: where to go, of the dtype of `x1`.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape; `x2` where the two are equal.

    >>> tf.math.nextafter([1.0], [2.0]) - 1.0
    <tf.Tensor: shape=(1,), dtype=float32, numpy=array([1.1920929e-07], dtype=float32)>
    """
    return NextAfter(x1, x2)


@api("math.polyval")
@tensor_function
@graph_scope("polyval")
def polyval(coeffs, x: TensorLike, name: str | None = None):
    """Evaluate a polynomial at `x`, elementwise, by Horner's rule.

    Args:
      coeffs: a list of the coefficients, the highest power first: numbers or tensors that broadcast with `x`.
      x: a numeric tensor.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `x`; zeros where `coeffs` is empty.

    Raises:
      ValueError: where `coeffs` is not a list.

    >>> tf.math.polyval([2.0, 0.0, 1.0], [1.0, 2.0])  # 2 x**2 + 1
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([3., 9.], dtype=float32)>
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = convert_to_tensor(x)
    if not coeffs:
        return zeros_like(x)
    value = convert_to_tensor(coeffs[0], dtype_hint=x.dtype)
    for coefficient in coeffs[1:]:
        value = arithmetic.AddV2(
            convert_to_tensor(coefficient, dtype_hint=x.dtype), arithmetic.Mul(value, x)
        )
    return value

"""The error function, its complement, and their inverses.

Sources: DLMF 7.6 (series) and 7.7.1 (integral); C. Chiarella and A. Reichel, On the evaluation of integrals related to
the error function, Mathematics of Computation 22, 1968 (the trapezoidal rule with the residue at the pole).
"""

from __future__ import annotations

import math

import numpy as np

from tapeflow.ops.numeric.expansions import exp_of_negative_square, gaussian_rule, polynomial

_STEP = 0.5
_RULE = gaussian_rule(_STEP)
_POLE = math.pi / _STEP  # up to here the rule sees the pole at u = ix


def _series(x: np.ndarray):
    """erf for |x| <= 1: 2 / sqrt(pi) exp(-x^2) times the sum of 2^n x^(2n+1) / (2n+1)!! (DLMF 7.6.2)."""
    coefficients, last = [], 1.0
    for n in range(20):
        coefficients.append(last)
        last *= 2 / (2 * n + 3)
    return 2 / math.sqrt(math.pi) * np.exp(-x * x) * x * polynomial(x * x, coefficients)


def erfcx(x: np.ndarray):
    """exp(x^2) erfc(x) for x >= 0.4: 2 x / pi times the integral of exp(-u^2) / (u^2 + x^2), as DLMF 7.7.1."""
    square = np.minimum(x, 1e150) ** 2
    total = sum(weight / (u + square) for u, weight in _RULE)
    near = np.minimum(x, _POLE)
    residue = np.where(x < _POLE, 2 * np.exp(near * near) / np.expm1(2 * math.pi * near / _STEP), 0)
    return 2 / math.pi * np.minimum(x, 1e150) * total - residue


def _upper(x: np.ndarray):
    """erfc for x >= 0.4."""
    return exp_of_negative_square(x) * erfcx(x)


def erf(x: np.ndarray):
    """2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""
    size = np.abs(x)
    return np.where(size < 1, _series(np.clip(x, -1, 1)), np.sign(x) * (1 - _upper(np.maximum(size, 1))))


def erfc(x: np.ndarray):
    """1 - erf(x), with its relative accuracy kept for large x."""
    size = np.abs(x)
    upper = _upper(np.maximum(size, 0.4))
    return np.where(size < 0.4, 1 - _series(np.clip(x, -1, 1)), np.where(x < 0, 2 - upper, upper))


def _central_inverse(x: np.ndarray):
    """erfinv for |x| <= 1/2: two terms of its series (DLMF 7.17.2), then steps of Halley's method."""
    z = math.sqrt(math.pi) / 2 * x * (1 + math.pi / 12 * x * x)
    for _ in range(3):
        newton = (_series(z) - x) * math.sqrt(math.pi) / 2 * np.exp(z * z)
        z = z - newton / (1 + newton * z)
    return z


def erfcinv(p: np.ndarray):
    """The z with erfc(z) = p, for p in (0, 1/2].

    Newton's method for log(erfc(z)) = log(p), which is concave: it converges from one side, and quadratically.
    """
    target = np.log(p)
    z = np.sqrt(np.maximum(-target - 0.5 * np.log(np.maximum(-math.pi * target, 1)), 0.16))
    for _ in range(6):
        scaled = erfcx(z)
        z = z + (np.log(scaled) - z * z - target) * scaled * math.sqrt(math.pi) / 2
        z = np.maximum(z, 0.4)
    return z


def erfinv(x: np.ndarray):
    """The z with erf(z) = x; NaN outside [-1, 1]."""
    size = np.abs(x)
    outer = np.sign(x) * erfcinv(np.clip(1 - size, 1e-300, 0.5))
    inner = _central_inverse(np.clip(x, -0.5, 0.5))
    value = np.where(size <= 0.5, inner, np.where(size < 1, outer, np.copysign(np.inf, x)))
    return np.where(size <= 1, value, np.nan)


def ndtri(p: np.ndarray):
    """The quantile of the standard normal distribution at p; NaN outside [0, 1]."""
    tail = np.minimum(p, 1 - p)
    outer = erfcinv(np.clip(2 * tail, 1e-323, 0.5))
    inner = _central_inverse(np.clip(2 * p - 1, -0.5, 0.5))
    value = np.where(tail >= 0.25, inner, np.where(p < 0.5, -1, 1) * np.where(tail > 0, outer, np.inf))
    return np.where((p >= 0) & (p <= 1), math.sqrt(2) * value, np.nan)

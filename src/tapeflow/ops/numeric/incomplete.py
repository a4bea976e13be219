"""The regularised incomplete gamma and beta functions.

Sources: DLMF 8.7.1 (series) and 8.9.2 (continued fraction) of the gamma function; A. R. DiDonato and A. H. Morris,
Computation of the incomplete gamma function ratios and their inverse, ACM TOMS 12, 1986, and Algorithm 708, ACM TOMS
18, 1992 (which method where, the continued fraction of the beta function, factors without cancellation). Where the
parameters are large the tail is integrated by Gauss's rule from x to where the integrand is negligible.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.ops.numeric.expansions import log1p_minus
from tapeflow.ops.numeric.gamma_functions import gammaln, log_gamma_of_one_plus, stirling

_LARGE = 100.0  # from here tails are integrated
_NEGLIGIBLE = 40.0  # exp(-40) of the whole
_MOST_TERMS = 5000
_NODES, _WEIGHTS = (v.tolist() for v in np.polynomial.legendre.leggauss(40))
_EPS = 2.0**-53


def _integral(function: Callable[..., Any], end: np.ndarray):
    """The integral of a smooth decaying `function` from 0 to `end`."""
    half = end / 2
    return half * sum(w * function(half * (1 + node)) for node, w in zip(_NODES, _WEIGHTS, strict=True))


def _end_of_tail(slope: np.ndarray, curvature: np.ndarray):
    """The v at which slope v + curvature v^2 / 2 says that nothing is left."""
    return 2 * _NEGLIGIBLE / (slope + np.sqrt(slope * slope + 2 * curvature * _NEGLIGIBLE))


def gamma_factor(a: np.ndarray, x: np.ndarray):
    """x^a exp(-x) / gamma(a)."""
    large = np.maximum(a, 10)
    shift = (x - large) / large
    exponent = np.where(shift > -0.5, log1p_minus(np.maximum(shift, -0.5)), np.log(x / large) - shift)
    by_stirling = np.sqrt(large / (2 * math.pi)) * np.exp(large * exponent - stirling(large))
    return np.where(a >= 10, by_stirling, np.exp(a * np.log(x) - x - gammaln(a)))


def _lower_series(a: np.ndarray, x: np.ndarray):
    """P(a, x), for x not much above a (DLMF 8.7.1)."""
    term = np.ones_like(x)
    total = term.copy()
    for n in range(1, _MOST_TERMS):
        term = term * (x / (a + n))
        total += term
        if (term <= _EPS * total).all():
            break
    return gamma_factor(a, x) / a * total


def _upper_fraction(a: np.ndarray, x: np.ndarray):
    """Q(a, x), for x above max(a, 1), by Lentz's method for DLMF 8.9.2."""
    b = x + 1 - a
    c, d = np.full_like(x, 1e300), 1 / b
    value, active = d, np.isfinite(d)
    for n in range(1, _MOST_TERMS):
        factor = n * (a - n)
        b = b + 2
        d = 1 / (factor * d + b)
        c = b + factor / c
        step = np.where(active, c * d, 1)
        value = value * step
        active = np.abs(step - 1) > 2 * _EPS
        if not active.any():
            break
    return gamma_factor(a, x) * value


def _upper_near_zero(a: np.ndarray, x: np.ndarray):
    """Q(a, x) for small x: 1 - x^a / gamma(a + 1) - ..., without the cancellation of 1 and a power that is almost 1."""
    term, total = np.ones_like(x), np.zeros_like(x)
    for n in range(1, 40):
        term = term * (-x / n)
        total += term / (a + n)
    logarithm = a * np.log(x) - log_gamma_of_one_plus(a)
    return -np.expm1(logarithm) - a * np.exp(logarithm) * total


def _lower_tail(a: np.ndarray, x: np.ndarray):
    """P(a, x) for large a and x < a: the integral of t^(a-1) exp(-t) over t = x (1 - v)."""
    slope = a - 1 - x
    end = np.minimum(_end_of_tail(np.maximum(slope, 0), a - 1), 1)
    return gamma_factor(a, x) * _integral(lambda v: np.exp((a - 1) * log1p_minus(-v) - slope * v), end)


def _upper_tail(a: np.ndarray, x: np.ndarray):
    """Q(a, x) for large a and x >= a: the integral over t = x (1 + v)."""
    slope = x - a + 1
    # v - log(1 + v) >= v^2 / (2 + 2 v)
    half, linear = slope + (a - 1) / 2, _NEGLIGIBLE - slope
    end = (linear + np.sqrt(linear * linear + 4 * half * _NEGLIGIBLE)) / (2 * half)
    return gamma_factor(a, x) * _integral(lambda v: np.exp((a - 1) * log1p_minus(v) - slope * v), end)


def _apply(out: np.ndarray, where: np.ndarray, function: Callable[..., Any], *inputs):
    if where.any():
        out[where] = function(*(v[where] for v in inputs))


def _incomplete_gamma(a: np.ndarray, x: np.ndarray):
    """(P, Q), of a > 0 and finite x > 0; the smaller of both has its full relative accuracy."""
    lower, upper = np.full_like(x, np.nan), np.full_like(x, np.nan)
    large = a > _LARGE
    below = x < a
    mostly_lower = a <= np.where(x <= 0.5, -0.4 / np.log(np.minimum(x, 0.5)), x / 1.1)  # P is not small
    tiny = ~large & (x <= 1.1) & mostly_lower
    small = ~large & ~tiny & ((x < a + 1) | (x <= 1.1))
    _apply(lower, large & below, _lower_tail, a, x)
    _apply(upper, large & ~below, _upper_tail, a, x)
    _apply(upper, tiny, _upper_near_zero, a, x)
    _apply(lower, small, _lower_series, a, x)
    _apply(upper, ~large & ~tiny & ~small, _upper_fraction, a, x)
    is_lower = (large & below) | small
    lower = np.where(is_lower, lower, 1 - upper)
    upper = np.where(is_lower, 1 - lower, upper)
    return lower, upper


def _of_valid_gamma(a: np.ndarray, x: np.ndarray, which: int):
    a, x = np.broadcast_arrays(a, x)
    inside = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    value = _incomplete_gamma(np.where(inside, a, 1), np.where(inside, x, 1))[which]
    value = np.clip(value, 0, 1)
    below, above = (0.0, 1.0) if which == 0 else (1.0, 0.0)
    edge = np.where((a == np.inf) & np.isfinite(x) & (x >= 0), below, np.nan)
    edge = np.where((x == np.inf) & (a > 0), above, edge)
    return np.where(inside, value, np.where((x == 0) & ((a > 0) | (which == 0)), below, edge))


def gammainc(a: np.ndarray, x: np.ndarray):
    """The lower regularised incomplete gamma function P(a, x); NaN for a <= 0 or x < 0, but P(a, 0) = 0 for every a."""
    return _of_valid_gamma(a, x, 0)


def gammaincc(a: np.ndarray, x: np.ndarray):
    """The upper regularised incomplete gamma function Q(a, x); NaN for a <= 0 or x < 0."""
    return _of_valid_gamma(a, x, 1)


def _log_gamma_ratio(a: np.ndarray, b: np.ndarray):
    """log(gamma(b) / gamma(a + b)) for b >= 10."""
    power = (a + b - 0.5) * np.log1p(a / b)
    return a * (1 - np.log(b)) - power + stirling(b) - stirling(a + b)


def _beta_factor(a: np.ndarray, b: np.ndarray, x: np.ndarray, y: np.ndarray):
    """x^a y^b / B(a, b)."""
    p, q = np.maximum(a, 10), np.maximum(b, 10)
    distance = np.where(p > q, (p + q) * y - q, p - (p + q) * x)
    low, high = -distance / p, distance / q
    exponent = p * np.where(low > -0.5, log1p_minus(np.maximum(low, -0.5)), np.log(x * (p + q) / p) - low)
    exponent += q * np.where(high > -0.5, log1p_minus(np.maximum(high, -0.5)), np.log(y * (p + q) / q) - high)
    correction = stirling(p + q) - stirling(p) - stirling(q)
    scale = np.sqrt(p / (2 * math.pi) * (q / (p + q)))
    both_large = scale * np.exp(exponent + correction)
    least, most = np.minimum(a, b), np.maximum(a, b)
    ratio = np.where(most >= 10, _log_gamma_ratio(least, np.maximum(most, 10)), gammaln(most) - gammaln(a + b))
    log_beta = gammaln(least) + ratio
    logs = a * np.where(x < 0.5, np.log(x), np.log1p(-y)) + b * np.where(y < 0.5, np.log(y), np.log1p(-x))
    return np.where(least >= 10, both_large, np.exp(logs - log_beta))


def _beta_fraction(a: np.ndarray, b: np.ndarray, x: np.ndarray, y: np.ndarray):
    """I_x(a, b) for x below a / (a + b), by Lentz's method for the fraction of Algorithm 708: no terms cancel."""
    distance = np.where(a > b, (a + b) * y - b, a - (a + b) * x)
    d = (a + 1) / (a * (1 + distance))
    c = np.full_like(x, 1e300)
    value, active = d, np.isfinite(d)
    for n in range(1, _MOST_TERMS):
        s = a + (2 * n - 1)
        w = n * x * ((b - n) / s)
        alpha = w * x * ((a + (n - 1)) / s) * (a + b + (n - 1))
        beta = n + w + (a + n) / (s + 2) * (distance + 1 + n * (1 + y))
        d = 1 / (alpha * d + beta)
        c = beta + alpha / c
        step = np.where(active, c * d, 1)
        value = value * step
        active = np.abs(step - 1) > 2 * _EPS
        if not active.any():
            break
    return _beta_factor(a, b, x, y) * value


def _beta_series(a: np.ndarray, b: np.ndarray, x: np.ndarray, y: np.ndarray):
    """I_x(a, b) for b x <= 1, by its power series, whose terms fall (DLMF 8.17.7 with 15.2.1)."""
    term, total = np.ones_like(x), np.zeros_like(x)
    for n in range(1, 200):
        term = term * ((n - b) / n * x)
        total += term / (a + n)
        if (np.abs(term) <= _EPS * np.abs(1 / a + total)).all():
            break
    power = np.exp(-b * np.where(y < 0.5, np.log(y), np.log1p(-x)))
    return _beta_factor(a, b, x, y) * power * (1 / a + total)


def _beta_tail(a: np.ndarray, b: np.ndarray, x: np.ndarray, y: np.ndarray):
    """I_x(a, b) for large a and b and x below the mode: the integral over t = x (1 - v)."""
    ratio = x / y
    slope = np.maximum((a - 1) - (b - 1) * ratio, 0)
    end = np.minimum(_end_of_tail(slope, a - 1), 1)

    def integrand(v: np.ndarray):
        w = ratio * v
        return np.exp((a - 1) * log1p_minus(-v) + (b - 1) * log1p_minus(w) - slope * v)

    return _beta_factor(a, b, x, y) / y * _integral(integrand, end)


def _incomplete_beta(a: np.ndarray, b: np.ndarray, x: np.ndarray, y: np.ndarray):
    """I_x(a, b) for 0 < x < 1, y = 1 - x."""
    large = np.minimum(a, b) > _LARGE
    falls, falls_swapped = (b * x <= 1) & (x <= 0.7), (a * y <= 1) & (y <= 0.7)
    series = ~large & (falls | falls_swapped)
    swap = np.where(large, x * (a + b - 2) > a - 1, np.where(series, ~falls, x * (a + b) > a))
    a, b = np.where(swap, b, a), np.where(swap, a, b)
    x, y = np.where(swap, y, x), np.where(swap, x, y)
    value = np.empty_like(x)
    _apply(value, large, _beta_tail, a, b, x, y)
    _apply(value, series, _beta_series, a, b, x, y)
    _apply(value, ~large & ~series, _beta_fraction, a, b, x, y)
    return np.where(swap, 1 - value, value)


def betainc(a: np.ndarray, b: np.ndarray, x: np.ndarray):
    """The regularised incomplete beta function I_x(a, b); NaN outside a > 0, b > 0, 0 <= x <= 1."""
    a, b, x = np.broadcast_arrays(a, b, x)
    valid = (a > 0) & (b > 0) & (x >= 0) & (x <= 1)
    inside = valid & (x > 0) & (x < 1) & np.isfinite(a) & np.isfinite(b)
    safe = np.where(inside, x, 0.5)
    value = _incomplete_beta(np.where(inside, a, 1), np.where(inside, b, 1), safe, 1 - safe)
    edge = np.where(valid & (x == 0), 0.0, np.where(valid & (x == 1), 1.0, np.nan))
    edge = np.where(valid & (a == np.inf) & np.isfinite(b) & (x < 1), 0.0, edge)
    edge = np.where(valid & (b == np.inf) & np.isfinite(a) & (x > 0), 1.0, edge)
    return np.where(inside, np.clip(value, 0, 1), edge)

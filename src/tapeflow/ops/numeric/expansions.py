"""What expansions are evaluated with: polynomials, exact squares, and the trapezoidal rule."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np


def polynomial(x: np.ndarray, coefficients: Iterable[float]):
    """The polynomial of x with `coefficients`, the constant first, by Horner's rule."""
    first, *rest = reversed(list(coefficients))
    total = np.full_like(x, first)
    for coefficient in rest:
        total *= x
        total += coefficient
    return total


def split_square(x: np.ndarray):
    """x^2 as the sum of a number without rounding error and a small one."""
    high = x.astype(np.float32).astype(np.float64)
    return high * high, (x - high) * (x + high)


def exp_of_negative_square(x: np.ndarray):
    """exp(-x^2), with an error that does not grow with x."""
    high, low = split_square(np.minimum(np.abs(x), 1e15))
    return np.exp(-high) * np.exp(-low)


def gaussian_rule(step: float) -> list[tuple[float, float]]:
    """(u^2, weight) of the trapezoidal rule for the integral of exp(-u^2) f(u^2) over u >= 0.

    The rule converges exponentially where f is analytic: a singularity of f at distance d from the real axis leaves an
    error of about exp(d^2 - 2 pi d / step) (Trefethen and Weideman, The exponentially convergent trapezoidal rule, SIAM
    Review 56, 2014).
    """
    count = math.ceil(6.3 / step)  # exp(-6.3^2) is below half a unit in the last place
    squares = [(k * step) ** 2 for k in range(count + 1)]
    return [(u, step * math.exp(-u) * (0.5 if u == 0 else 1.0)) for u in squares]


def log1p_minus(x: np.ndarray):
    """log(1 + x) - x without cancellation for small x.

    With r = x / (2 + x), log(1 + x) = 2 artanh(r) (DLMF 4.6.4), and 2 r - x = -x r.
    """
    r = x / (2 + x)
    series = polynomial(r * r, [2 / (2 * k + 3) for k in range(12)])
    return np.where(np.abs(x) < 0.3, r * (r * r * series - x), np.log1p(x) - x)

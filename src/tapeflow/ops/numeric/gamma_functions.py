"""The logarithm of the gamma function, its derivatives, and Hurwitz's zeta function.

Sources: DLMF 5.7.3 (series at 2), 5.11.1 and 5.11.2 (Stirling's series), 5.5 (recurrence and reflection), 5.15.1
(polygamma and zeta), 25.11.5 with 2.10.1 (Euler and Maclaurin's formula for zeta).
"""

from __future__ import annotations

import math

import numpy as np

from tapeflow.ops.numeric.expansions import polynomial

EULER = 0.57721566490153286
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
# B_2, B_4, ...: Bernoulli's numbers (DLMF 24.2.1).
BERNOULLI = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330]
_LARGE = 10.0  # from here Stirling's series has full accuracy
# The positive zero of digamma, as a sum of a number and its rounding error.
_ZERO, _ZERO_LOW = 1.4616321449683622, 9.549995429965697e-17


def _zeta_after(s: float, first: float) -> float:
    """The sum of k^-s over k = first, first + 1, ..., by Euler and Maclaurin's formula after 10 terms."""
    n = first + 10
    terms = [(first + k) ** -s for k in range(10)] + [n ** (1 - s) / (s - 1), n**-s / 2]
    factor = s * n ** (-s - 1)
    for k, number in enumerate(BERNOULLI):
        terms.append(number / math.factorial(2 * k + 2) * factor)
        factor *= (s + 2 * k + 1) * (s + 2 * k + 2) / (n * n)
    return math.fsum(terms)


_FACTORIALS = np.array([*(float(math.factorial(n)) for n in range(171)), np.inf])
# log gamma(2 + z) = z (1 - EULER) + the sum of (-1)^n (zeta(n) - 1) z^n / n over n >= 2 (DLMF 5.7.3).
_AT_TWO = [0.0, 1 - EULER, *((-1) ** n * _zeta_after(n, 2) / n for n in range(2, 28))]
# The series of digamma at its zero: (-1)^(n+1) zeta(n + 1, zero) z^n.
_AT_ZERO = [0.0, *((-1) ** (n + 1) * _zeta_after(n + 1, _ZERO) for n in range(1, 26))]


def stirling(x: np.ndarray):
    """log gamma(x) less (x - 1/2) log(x) - x + log(2 pi) / 2, for x >= 10 (DLMF 5.11.1)."""
    coefficients = [b / ((2 * k + 2) * (2 * k + 1)) for k, b in enumerate(BERNOULLI[:9])]
    return polynomial(1 / (x * x), coefficients) / x


def _positive_lgamma(x: np.ndarray):
    large = np.maximum(x, _LARGE)
    asymptotic = (large - 0.5) * (np.log(large) - 1) + (HALF_LOG_2PI - 0.5) + stirling(large)
    # Brought into [3/2, 5/2) by the recurrence; what was taken away is a product.
    z, product = np.minimum(x, _LARGE) - 2, np.ones_like(x)
    for _ in range(8):
        above = z >= 0.5
        product = np.where(above, product * (z + 1), product)
        z = np.where(above, z - 1, z)
    middle = np.log(product) + polynomial(z, _AT_TWO)
    near_one = np.where(x < 0.5, x, x - 1)
    low = polynomial(near_one, _AT_TWO) - np.log1p(near_one) - np.where(x < 0.5, np.log(x), 0)
    return np.where(x >= _LARGE, asymptotic, np.where(x < 1.5, low, middle))


def sine_of_pi(x: np.ndarray):
    """sin(pi x), exact where it is 0."""
    whole = np.round(x)
    return np.sin(math.pi * (x - whole)) * np.where(whole % 2 == 0, 1, -1)


def gammaln(x: np.ndarray):
    """log |gamma(x)|; infinite at 0, -1, -2, ..."""
    size = np.abs(x)
    positive = _positive_lgamma(np.where(size > 0, size, 1))
    # gamma(x) gamma(-x) = -pi / (x sin(pi x)) (DLMF 5.5.3)
    reflected = np.log(math.pi / np.abs(x * sine_of_pi(x))) - positive
    value = np.where(x > 0, positive, np.where(x == np.floor(x), np.inf, reflected))
    return np.where(np.isinf(x), np.inf, value)


def log_gamma_of_one_plus(x: np.ndarray):
    """log gamma(1 + x) for x >= 0, with its relative accuracy kept for small x."""
    low = np.minimum(x, 0.5)
    return np.where(x < 0.5, polynomial(low, _AT_TWO) - np.log1p(low), gammaln(1 + x))


def _positive_digamma(x: np.ndarray):
    large, shift = x, np.zeros_like(x)
    for _ in range(int(_LARGE)):
        below = large < _LARGE
        shift = np.where(below, shift - 1 / large, shift)
        large = np.where(below, large + 1, large)
    inverse = 1 / (large * large)
    series = polynomial(inverse, [b / (2 * k + 2) for k, b in enumerate(BERNOULLI[:9])])
    value = shift + np.log(large) - 0.5 / large - inverse * series
    z = (x - _ZERO) - _ZERO_LOW
    return np.where(np.abs(z) < 0.25, polynomial(np.clip(z, -0.25, 0.25), _AT_ZERO), value)


def digamma(x: np.ndarray):
    """The derivative of log gamma; NaN at -1, -2, ..., infinite at 0 with the sign opposite to the zero's."""
    positive = _positive_digamma(np.where(x > 0, x, np.where(np.isfinite(x), 1 - x, 1)))
    fraction = x - np.round(x)
    # (DLMF 5.5.4)
    value = np.where(x > 0, positive, positive - math.pi / np.tan(math.pi * fraction))
    pole = np.where(x == 0, np.copysign(np.inf, -x), np.nan)
    return np.where((x <= 0) & (x == np.floor(x)), pole, value)


def _zeta_of_positive(s: np.ndarray, q: np.ndarray):
    """Hurwitz's zeta function for s > 1 and q > 0: terms up to q + n >= 10 + s, the rest by DLMF 2.10.1.

    Where the terms are negligible before that, so is the rest.
    """
    enough = np.ceil(q * np.expm1(np.minimum(40 / s, 30))) + 1
    needed = np.maximum(np.ceil(10 + s - q), 0)
    start = np.minimum(needed, enough)
    total = np.zeros_like(q)
    for k in range(int(start.max(initial=0))):
        total = np.where(k < start, total + (q + k) ** -s, total)
    n = q + start
    term = n**-s
    rest = n ** (1 - s) / (s - 1) + term / 2
    factor = s * term / n
    for k, number in enumerate(BERNOULLI):
        rest = rest + number / math.factorial(2 * k + 2) * factor
        factor = factor * ((s + 2 * k + 1) / n) * ((s + 2 * k + 2) / n)
    return total + np.where(needed <= enough, rest, 0)


def zeta(s: np.ndarray, q: np.ndarray):
    """The sum of (q + n)^-s over n >= 0; NaN for s < 1, and for q < 0 unless s is whole.

    At the poles q = 0, -1, ... it is infinite where both sides have one sign, which is for even s, else NaN.
    """
    s, q = np.broadcast_arrays(s, q)
    given = np.isfinite(q) & (s > 1)
    safe_s, safe_q = np.where(given, s, 2), np.where(given, q, 1)
    pole = (safe_q <= 0) & (safe_q == np.floor(safe_q))
    count = np.where(safe_q > 0, 0, np.floor(-safe_q) + 1)
    positive = np.where(pole, 1, safe_q + count)
    value = _zeta_of_positive(safe_s, positive)
    negative = (safe_q < 0) & ~pole & (safe_s == np.floor(safe_s))
    if negative.any():
        # The terms before the first positive q + n are, but for a sign, a difference of two values of zeta.
        distance = np.where(negative, 1 - positive, 0.5)
        before = _zeta_of_positive(safe_s, distance) - _zeta_of_positive(safe_s, distance + count)
        value = np.where(negative, value + np.where(safe_s % 2 == 0, before, -before), value)
    value = np.where(safe_q > 0, value, np.where(negative, value, np.where(pole & (safe_s % 2 == 0), np.inf, np.nan)))
    value = np.where(given, value, np.where(s == 1, np.inf, np.nan))
    return np.where((q == np.inf) & (s > 1), 0, value)


def polygamma(order: np.ndarray, x: np.ndarray):
    """The derivative of digamma of a whole `order` >= 0 (DLMF 5.15.1)."""
    order, x = np.broadcast_arrays(order, x)
    safe = np.maximum(order, 1)
    sign = np.where(order % 2 == 0, -1.0, 1.0)
    higher = sign * _FACTORIALS[np.minimum(safe, 171).astype(int)] * zeta(safe + 1, x)
    return np.where(order == 0, digamma(x), higher)

"""Dawson's, Fresnel's, Spence's and the exponential integral.

Sources: G. B. Rybicki, Dawson's integral and the sampling theorem, Computers in Physics 3, 1989; DLMF 7.6.4, 7.6.6,
7.5.3, 7.5.4, 7.7.10 and 7.7.11 (Fresnel); 6.6.1 and 6.12.2 (exponential integral); 25.12.4 and 25.12.6 (dilogarithm),
and its expansion in Bernoulli's numbers.
"""

from __future__ import annotations

import math

import numpy as np

from tapeflow.ops.numeric.expansions import gaussian_rule, polynomial, split_square
from tapeflow.ops.numeric.gamma_functions import BERNOULLI, EULER

_STEP = 0.25
_FRESNEL_RULE = gaussian_rule(0.15)


def dawsn(x: np.ndarray):
    """exp(-x^2) times the integral of exp(t^2) from 0 to x."""
    size = np.abs(x)
    low = np.minimum(size, 1)
    near = np.exp(-low * low) * low * polynomial(low * low, [1 / (math.factorial(n) * (2 * n + 1)) for n in range(20)])
    middle = 2 * np.round(size / (2 * _STEP))  # the nearest even multiple of the step
    far = np.zeros_like(size)
    rest = np.where(size < 1e10, size - middle * _STEP, 0)
    for n in range(-27, 28, 2):
        far += np.exp(-((rest - n * _STEP) ** 2)) / (middle + n)
    value = np.where(size < 1, near, np.where(size < 1e10, far / math.sqrt(math.pi), 0.5 / size))
    value = np.where(np.isinf(x), 0, value)
    return np.where(np.isnan(x), np.nan, np.copysign(value, x))


def _fresnel(x: np.ndarray):
    """(S, C) of x >= 0."""
    low = np.minimum(x, 1.2)
    angle = math.pi / 2 * low * low
    square = angle * angle
    sine = [(-1) ** n / (math.factorial(2 * n + 1) * (4 * n + 3)) for n in range(14)]
    cosine = [(-1) ** n / (math.factorial(2 * n) * (4 * n + 1)) for n in range(14)]
    near = low * angle * polynomial(square, sine), low * polynomial(square, cosine)
    high = np.clip(x, 1.2, 1e75)
    c = math.pi / 2 * high * high
    # With c t = u^2, DLMF 7.7.10 and 7.7.11 are integrals of exp(-u^2) / (1 + (u^2 / c)^2).
    ratios = [(u, weight / (1 + (u / c) ** 2)) for u, weight in _FRESNEL_RULE]
    scale = 2 / (math.pi**1.5 * high)
    f = scale * sum(value for _, value in ratios)
    g = scale * sum(u * value for u, value in ratios) / c
    whole, rest = split_square(high)
    phase = math.pi / 2 * (np.fmod(whole, 4) + np.fmod(rest, 4))
    sin, cos = np.sin(phase), np.cos(phase)
    far = 0.5 - f * cos - g * sin, 0.5 + f * sin - g * cos
    settled = x > 1e17
    return tuple(np.where(x < 1.2, a, np.where(settled, 0.5, b)) for a, b in zip(near, far, strict=True))


def fresnel(x: np.ndarray):
    """The integrals of sin(pi t^2 / 2) and of cos(pi t^2 / 2) from 0 to x."""
    return tuple(np.where(np.isnan(x), np.nan, np.copysign(value, x)) for value in _fresnel(np.abs(x)))


def expi(x: np.ndarray):
    """The exponential integral Ei; NaN for negative x, as in TensorFlow."""
    low = np.clip(x, 0, 40)
    terms = np.ones_like(low)
    total = low.copy()
    for n in range(2, 140):
        terms = terms * (low / n)
        total += low * terms / n
    near = EULER + np.log(low) + total
    high = np.maximum(x, 40)
    series = polynomial(1 / high, [float(math.factorial(n)) for n in range(38)])
    half = np.exp(high / 2)
    above = series * half / high * half
    value = np.where(x < 40, near, np.where(x == np.inf, np.inf, above))
    return np.where(x > 0, value, np.where(x == 0, -np.inf, np.nan))


def spence(x: np.ndarray):
    """The integral of log(t) / (1 - t) from 1 to x, which is the dilogarithm of 1 - x; NaN for negative x.

    With u = log(x), the dilogarithm of 1 - x is the sum of B_n (-u)^(n+1) / (n+1)! over n >= 0.
    """
    inverted = np.where(x > 2, 1 / x, x)
    small = inverted < 0.5
    u = -np.log(np.where(small, 1 - inverted, inverted))
    coefficients = [1.0, *(b / math.factorial(2 * k + 3) for k, b in enumerate(BERNOULLI))]
    value = u * polynomial(u * u, coefficients) - u * u / 4
    product = np.where(inverted > 0, np.log(inverted) * np.log1p(-np.minimum(inverted, 0.5)), 0)
    value = np.where(small, math.pi**2 / 6 - product - value, value)  # DLMF 25.12.6
    value = np.where(x > 2, -value - np.log(x) ** 2 / 2, value)  # DLMF 25.12.4
    return np.where(x >= 0, value, np.nan)

"""Bessel functions of the orders 0 and 1.

Two methods do for all of them. Near zero it is their power series (DLMF 10.25.2, 10.31.1 and 10.31.2, 10.2.2, 10.8.1
and 10.8.2, which differ in signs). Elsewhere it is K, by the trapezoidal rule: with u^2 = z (cosh t - 1) DLMF 10.32.9
becomes

    exp(z) K_n(z) = the integral of exp(-u^2) c_n(u^2 / z) 2 / sqrt(2 z + u^2) over u >= 0, c_0 = 1, c_1(w) = 1 + w,

whose integrand is analytic but at u^2 = -2 z. J and Y are its values on the imaginary axis (DLMF 10.27.8), and I for
large x, where K is negligible beside it, its value on the negative axis (DLMF 10.34.2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.ops.numeric.expansions import gaussian_rule, polynomial
from tapeflow.ops.numeric.gamma_functions import EULER

_K_RULE = gaussian_rule(0.25)  # for x >= 2
_H_RULE = gaussian_rule(0.25)  # for x >= 4
_I_RULE = gaussian_rule(0.5)  # for x >= 22
_TERMS = 16


def _coefficients(order: int, sign: int, terms: int, harmonic: bool = False):
    """Those of sign^k (x^2/4)^k / (k! (k + order)!), times H_k + H_(k + order) where `harmonic`."""
    out = []
    for k in range(terms):
        value = sign**k / (math.factorial(k) * math.factorial(k + order))
        if harmonic:
            value *= sum(1 / i for i in range(1, k + 1)) + sum(1 / i for i in range(1, k + order + 1))
        out.append(value)
    return out


def _series(x: np.ndarray, order: int, sign: int, terms: int = _TERMS):
    """I_n (sign 1) or J_n (sign -1)."""
    return polynomial(x * x / 4, _coefficients(order, sign, terms)) * (x / 2) ** order


def _second_series(x: np.ndarray, order: int, sign: int):
    """The sum in K_n and Y_n that has harmonic numbers."""
    return polynomial(x * x / 4, _coefficients(order, sign, _TERMS, harmonic=True)) * (x / 2) ** order


def _logarithm(x: np.ndarray):
    return np.log(x / 2) + EULER


def _k_near_zero(x: np.ndarray, order: int):
    if order == 0:
        return _second_series(x, 0, 1) / 2 - _logarithm(x) * _series(x, 0, 1)
    return 1 / x + _logarithm(x) * _series(x, 1, 1) - _second_series(x, 1, 1) / 2


def _integral(z: np.ndarray, order: int, rule: Sequence[Any]):
    """exp(z) K_n(z)."""
    root = np.sqrt(z)
    if order == 0:
        return sum(2 * weight / np.sqrt(2 + u / z) for u, weight in rule) / root
    return sum(2 * weight * (1 + u / z) / np.sqrt(2 + u / z) for u, weight in rule) / root


def _k(x: np.ndarray, order: int, scaled: bool):
    low, high = np.minimum(x, 2), np.maximum(x, 2)
    near, far = _k_near_zero(low, order), _integral(high, order, _K_RULE)
    near, far = (near * np.exp(low), far) if scaled else (near, far * np.exp(-high))
    value = np.where(x < 2, near, np.where(x == np.inf, 0, far))
    return np.where(x > 0, value, np.where(x <= 0, np.inf, np.nan))  # as TensorFlow, also of negative numbers


def k0(x: np.ndarray):
    return _k(x, 0, False)


def k0e(x: np.ndarray):
    return _k(x, 0, True)


def k1(x: np.ndarray):
    return _k(x, 1, False)


def k1e(x: np.ndarray):
    return _k(x, 1, True)


def _i(x: np.ndarray, order: int, scaled: bool):
    size = np.abs(x)
    low, high = np.minimum(size, 22), np.maximum(size, 22)
    near = _series(low, order, 1, 48)
    # -z for z: the root is that of DLMF 10.34.2's second term, without the factor pi i.
    total = sum(weight * (1 - order * u / high) / np.sqrt(2 - u / high) for u, weight in _I_RULE)
    far = 2 / math.pi * total / np.sqrt(high)
    if scaled:
        near = near * np.exp(-low)
    else:
        half = np.exp(high / 2)  # exp(x) itself may overflow before I does
        far = far * half * half
    value = np.where(size < 22, near, far)
    value = np.where(np.isinf(x), 0 if scaled else np.inf, value)
    return np.where(x < 0, -value, value) if order else value


def i0(x: np.ndarray):
    return _i(x, 0, False)


def i0e(x: np.ndarray):
    return _i(x, 0, True)


def i1(x: np.ndarray):
    return _i(x, 1, False)


def i1e(x: np.ndarray):
    return _i(x, 1, True)


def _hankel(x: np.ndarray, order: int):
    """J_n(x) - i Y_n(x), for x >= 4."""
    finite = np.where(np.isfinite(x), x, 4)
    wave = np.cos(finite) - 1j * np.sin(finite)
    return 2j / math.pi * (1j**order) * wave * _integral(1j * finite, order, _H_RULE)


def _j(x: np.ndarray, order: int):
    size = np.abs(x)
    near = _series(np.minimum(size, 4), order, -1, 24)
    value = np.where(size < 4, near, _hankel(np.maximum(size, 4), order).real)
    value = np.where(np.isfinite(x), value, np.where(np.isinf(x), 0, np.nan))
    return np.where(x < 0, -value, value) if order else value


def j0(x: np.ndarray):
    return _j(x, 0)


def j1(x: np.ndarray):
    return _j(x, 1)


def _y(x: np.ndarray, order: int):
    low = np.minimum(x, 4)
    near = 2 / math.pi * _logarithm(low) * _series(low, order, -1, 24) - _second_series(low, order, -1) / math.pi
    if order:
        near = near - 2 / (math.pi * low)
    value = np.where(x < 4, near, -_hankel(np.maximum(x, 4), order).imag)
    value = np.where(x == np.inf, 0, value)
    return np.where(x > 0, value, np.where(x <= 0, -np.inf, np.nan))  # as TensorFlow, also of negative numbers


def y0(x: np.ndarray):
    return _y(x, 0)


def y1(x: np.ndarray):
    return _y(x, 1)

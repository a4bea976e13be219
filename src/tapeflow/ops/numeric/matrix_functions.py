"""The exponential, the logarithm and the square root of square matrices, computed in double.

Source: N. J. Higham, Functions of Matrices, SIAM 2008: algorithms 10.20 (exponential: scaling and squaring), 11.9
(logarithm: inverse scaling and squaring of the Schur form) and 6.3 (square root of the Schur form, by Bjorck and
Hammarling).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.ops.numeric.factorizations import schur

# The coefficients of the numerator of the Pade approximation [13/13] of exp, and the norm up to which it is exact.
_PADE = [
    math.factorial(26 - k) * math.factorial(13) / (math.factorial(26) * math.factorial(13 - k) * math.factorial(k))
    for k in range(14)
]
_PADE_NORM = 5.371920351148152
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_LOG_NORM = 0.14  # up to here 8 terms of the logarithm's approximation are exact


def _double(a: np.ndarray):
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)


def expm(a: np.ndarray):
    """The exponentials of matrices of shape (..., n, n)."""
    x = _double(a)
    norm = np.abs(x).sum(-2).max(-1, initial=0)[..., None, None]
    finite = np.isfinite(norm)
    x = np.where(finite, x, 0)
    ratio = np.where(finite, norm, 0) / _PADE_NORM
    halvings = np.maximum(np.ceil(np.log2(np.maximum(ratio, 1e-300))), 0)
    x = x * 2.0**-halvings
    one = np.eye(x.shape[-1])
    square = x @ x
    fourth = square @ square
    sixth = fourth @ square
    b = _PADE
    odd = sixth @ (b[13] * sixth + b[11] * fourth + b[9] * square)
    odd = x @ (odd + b[7] * sixth + b[5] * fourth + b[3] * square + b[1] * one)
    even = sixth @ (b[12] * sixth + b[10] * fourth + b[8] * square)
    even = even + b[6] * sixth + b[4] * fourth + b[2] * square + b[0] * one
    value = np.linalg.solve(even - odd, even + odd)
    for k in range(int(halvings.max(initial=0))):
        value = np.where(k < halvings, value @ value, value)
    return np.where(finite, value, np.nan).astype(a.dtype)


def _triangular_root(t: np.ndarray):
    """The principal square root of an upper triangular matrix."""
    t = np.ascontiguousarray(t, np.complex128)
    root = np.empty_like(t)
    _native.triangular_root(root, t)
    return root


def _triangular_log(t):
    """The principal logarithm of an upper triangular matrix."""
    one, halvings = np.eye(len(t)), 0
    x = t
    while np.linalg.norm(x - one, 1) > _LOG_NORM and halvings < 100:
        x, halvings = _triangular_root(x), halvings + 1
    rest = x - one
    # The integral of rest (1 + s rest)^-1 over s from 0 to 1 (Higham, 11.1), by Gauss's rule, which is Pade's.
    value = sum(
        weight / 2 * np.linalg.solve(one + (1 + node) / 2 * rest, rest)
        for node, weight in zip(_NODES, _WEIGHTS, strict=True)
    )
    value = value * 2.0**halvings
    np.fill_diagonal(value, np.log(np.diagonal(t)))
    return np.triu(value)


def _by_schur_form(function: Callable[..., Any], scalar: np.ufunc, a: np.ndarray):
    """`function` of each matrix of a stack, `scalar` being that of numbers.

    NaN where a matrix is not finite, or a real one has no real result.
    """
    out = np.full(a.shape, np.nan, np.complex128)
    for at in np.ndindex(a.shape[:-2]):
        if np.isfinite(a[at]).all():
            if np.array_equal(a[at], a[at].conj().T):  # the form is diagonal
                t, q = np.linalg.eigh(_double(a[at]))
                out[at] = q * scalar(t.astype(np.complex128)) @ q.conj().T
            else:
                t, q = schur(a[at])
                out[at] = q @ function(t) @ q.conj().T
            if a.dtype.kind != "c" and np.abs(out[at].imag).max(initial=0) > 1e-8 * np.abs(out[at]).max(initial=0):
                out[at] = np.nan
    return (out if a.dtype.kind == "c" else out.real).astype(a.dtype)


def sqrtm(a: np.ndarray):
    """The principal square roots of matrices of shape (..., n, n)."""
    return _by_schur_form(_triangular_root, np.sqrt, a)


def logm(a: np.ndarray):
    """The principal logarithms of complex matrices of shape (..., n, n)."""
    return _by_schur_form(_triangular_log, np.log, a)

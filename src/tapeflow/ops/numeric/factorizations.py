"""Triangular equations, LU factors and the Schur form, of stacks of matrices.

NumPy has none of them. The algorithms are those of G. H. Golub and C. F. Van Loan, Matrix Computations, 4th edition:
3.1 (substitution) and 3.4 (LU with partial pivoting). They work on blocks, so that most of the arithmetic is matrix
products. The Schur form is native.
"""

from __future__ import annotations

import math

import numpy as np

from tapeflow import _native

_BLOCK = 32


def solve_triangular(a: np.ndarray, b: np.ndarray, lower: bool):
    """The X of A @ X = b, where A is the lower or upper triangle of `a`; the other triangle is not read."""
    x = np.array(np.broadcast_to(b, (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:])))
    n = a.shape[-1]
    starts = range(0, n, _BLOCK)
    for start in starts if lower else reversed(starts):
        end = min(start + _BLOCK, n)
        rows = range(start, end) if lower else range(end - 1, start - 1, -1)
        for i in rows:
            solved = slice(start, i) if lower else slice(i + 1, end)
            if solved.start < solved.stop:
                x[..., i : i + 1, :] -= a[..., i : i + 1, solved] @ x[..., solved, :]
            x[..., i, :] /= a[..., i, i, None]
        left = slice(end, n) if lower else slice(0, start)
        if left.start < left.stop:
            x[..., left, :] -= a[..., left, start:end] @ x[..., start:end, :]
    return x


def lu(a: np.ndarray):
    """(L and U packed in one matrix, the order of rows), with partial pivoting, of matrices of shape (..., n, n)."""
    n = a.shape[-1]
    packed = a.reshape(math.prod(a.shape[:-2]), n, n).copy()
    stack = np.arange(len(packed))
    order = np.tile(np.arange(n), (len(packed), 1))
    for start in range(0, n, _BLOCK):
        end = min(start + _BLOCK, n)
        for k in range(start, end):
            pivot = k + np.argmax(np.abs(packed[:, k:, k]), axis=1)
            for rows in (packed, order):
                chosen = rows[stack, pivot]
                rows[stack, pivot] = rows[:, k]
                rows[:, k] = chosen
            packed[:, k + 1 :, k] /= packed[:, k, k, None]
            packed[:, k + 1 :, k + 1 : end] -= packed[:, k + 1 :, k, None] * packed[:, k, None, k + 1 : end]
        if end < n:
            block = packed[:, start:end, start:end].copy()
            block[:, range(end - start), range(end - start)] = 1
            packed[:, start:end, end:] = solve_triangular(block, packed[:, start:end, end:], lower=True)
            packed[:, end:, end:] -= packed[:, end:, start:end] @ packed[:, start:end, end:]
    return packed.reshape(a.shape), order.reshape(a.shape[:-1])


def schur(a: np.ndarray):
    """(T, Q) with a = Q T Q^H, T upper triangular and Q unitary, of one complex matrix.

    Raises np.linalg.LinAlgError where the iteration does not converge.
    """
    t, q = np.array(a, np.complex128, order="C"), np.eye(len(a), dtype=np.complex128)
    if not np.isfinite(t).all():
        raise np.linalg.LinAlgError("not finite")
    if not _native.schur(t, q):
        raise np.linalg.LinAlgError("the QR algorithm did not converge")
    return t, q

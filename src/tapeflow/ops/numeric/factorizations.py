"""Triangular equations, LU factors and the Schur form, of stacks of matrices.

NumPy has none of them. The algorithms are those of G. H. Golub and C. F. Van Loan, Matrix Computations, 4th edition:
3.1 (substitution), 3.4 (LU with partial pivoting), 7.5 (the shifted QR algorithm). The first two work on blocks, so
that most of the arithmetic is matrix products.
"""

from __future__ import annotations

import math

import numpy as np

_BLOCK = 32
_MOST_ITERATIONS = 30  # of the QR algorithm, for each eigenvalue


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


def _reflector(x: np.ndarray):
    """The unit vector v with (1 - 2 v v^H) x along the first axis; None for a zero x."""
    norm = np.linalg.norm(x)
    if norm == 0:
        return None
    v = x.copy()
    v[0] += norm if x[0] == 0 else norm * x[0] / abs(x[0])
    return v / np.linalg.norm(v)


def _hessenberg(a: np.ndarray):
    """(H, Q) with a = Q H Q^H and H zero below its first subdiagonal."""
    h, q = a.copy(), np.eye(len(a), dtype=a.dtype)
    for k in range(len(a) - 2):
        v = _reflector(h[k + 1 :, k])
        if v is not None:
            h[k + 1 :] -= 2 * np.outer(v, v.conj() @ h[k + 1 :])
            h[:, k + 1 :] -= 2 * np.outer(h[:, k + 1 :] @ v, v.conj())
            q[:, k + 1 :] -= 2 * np.outer(q[:, k + 1 :] @ v, v.conj())
        h[k + 2 :, k] = 0
    return h, q


def _shift(corner: np.ndarray):
    """The eigenvalue of a 2 by 2 matrix that is next to its last element (Wilkinson)."""
    (a, b), (c, d) = corner
    half = (a - d) / 2
    root = np.sqrt(half * half + b * c)
    return min(d + half + root, d + half - root, key=lambda value: abs(value - d))


def _rotation(x, y):
    """The unitary matrix that turns (x, y) into (r, 0)."""
    norm = np.hypot(abs(x), abs(y))
    return np.array([[x.conjugate(), y.conjugate()], [-y, x]]) / norm if norm else np.eye(2, dtype=complex)


def schur(a: np.ndarray):
    """(T, Q) with a = Q T Q^H, T upper triangular and Q unitary, of one complex matrix.

    Raises np.linalg.LinAlgError where the iteration does not converge.
    """
    t, q = _hessenberg(a.astype(np.complex128))
    if not np.isfinite(t).all():
        raise np.linalg.LinAlgError("not finite")
    eps, end, tries = np.finfo(float).eps, len(t) - 1, 0
    while end > 0:
        diagonal = np.abs(np.diagonal(t))
        small = np.abs(np.diagonal(t, -1)) <= eps * (diagonal[1:] + diagonal[:-1])
        below = np.flatnonzero(small[:end])
        start = int(below[-1]) + 1 if below.size else 0
        t[range(1, start + 1), range(start)] = np.where(small[:start], 0, t[range(1, start + 1), range(start)])
        if start == end:
            end, tries = end - 1, 0
            continue
        tries += 1
        if tries > _MOST_ITERATIONS:
            raise np.linalg.LinAlgError("the QR algorithm did not converge")
        exceptional = tries % 10 == 0
        shift = t[end, end] + abs(t[end, end - 1]) if exceptional else _shift(t[end - 1 : end + 1, end - 1 : end + 1])
        t[range(start, end + 1), range(start, end + 1)] -= shift
        turns = []
        for k in range(start, end):
            turn = _rotation(t[k, k], t[k + 1, k])
            t[k : k + 2, k:] = turn @ t[k : k + 2, k:]
            turns.append(turn.conj().T)
        for k, turn in zip(range(start, end), turns, strict=True):
            t[: k + 2, k : k + 2] = t[: k + 2, k : k + 2] @ turn
            q[:, k : k + 2] = q[:, k : k + 2] @ turn
        t[range(start, end + 1), range(start, end + 1)] += shift
    return np.triu(t), q

"""Decompositions of matrices: Cholesky, QR, LU, singular values, eigenvalues. LAPACK computes them.

The gradients' formulas are those of Giles, "Collected matrix derivative results" (2008), Murray, "Differentiation of
the Cholesky decomposition" (2016), and Roberts, "QR and LQ decomposition matrix backpropagation" (2020).
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array import layout, transposing
from tapeflow.ops.array.band import MatrixBandPart
from tapeflow.ops.array.diagonal import MatrixDiagPart, MatrixSetDiag
from tapeflow.ops.array.diagonal_matrix import MatrixDiag
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.tensor_diagonal import eye
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.solve import MatrixTriangularSolve, matrices, square_shape, wide
from tapeflow.ops.math import arithmetic, choice, comparison, elementwise
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.old_spelling import old_spelling
from tapeflow.ops.static import size_of
from tapeflow.ops.table import Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

DENSE = {"T": (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.complex64, dtypes.complex128)}
COMPLEX = (dtypes.complex64, dtypes.complex128)


def adjoint_of(x: Tensor):
    """The conjugate transpose of the innermost matrices."""
    return transposing.transpose(x, transposing.last_swapped(x), conjugate=x.dtype.is_complex)


def lower_with_half_diagonal(x: Tensor):
    half = arithmetic.Mul(MatrixDiagPart(x), 0.5)
    return MatrixBandPart(MatrixSetDiag(x, half), -1, 0)


def _positive_definite(x: np.ndarray):
    n = x.shape[-1]
    return x @ np.swapaxes(x, -1, -2) + n * np.eye(n)


@op("Cholesky", "input: T -> output: T", types=DENSE, shape=square_shape)
def Cholesky(xp: ModuleType, input: np.ndarray):
    matrices(input, square=True)
    lower = xp.tril(wide(input))
    whole = lower + xp.conj(xp.swapaxes(xp.tril(lower, -1), -1, -2))
    try:
        return xp.linalg.cholesky(whole).astype(input.dtype)
    except np.linalg.LinAlgError:
        out = np.empty_like(whole)
        for at in np.ndindex(whole.shape[:-2]):
            out[at] = _root_or_nan(whole[at])
        return out.astype(input.dtype)


Cholesky.batching(batching.leading(least=[2]))


def _root_or_nan(a: np.ndarray):
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        return np.tril(np.full_like(a, np.nan))


@Cholesky.gradient(needs="output")
def _(call: GradientCall, dy: Tensor):
    l = call.output
    inverse = MatrixTriangularSolve(l, eye(size_of(l, -1), dtype=l.dtype), True)
    middle = lower_with_half_diagonal(matmul(l, dy, adjoint_a=True))
    whole = matmul(matmul(inverse, middle, adjoint_a=True), inverse)
    return arithmetic.Mul(arithmetic.AddV2(whole, adjoint_of(whole)), 0.5)


@Cholesky.samples
def _(rng: SampleGenerator):
    # Only the lower triangle counts, and its gradient is spread over both: not what finite differences see.
    yield Sample(_positive_definite(rng.normal(3, 3)), differentiable=False)
    yield Sample(_positive_definite(rng.normal(2, 2, 2)), differentiable=False)
    yield Sample(_positive_definite(rng.normal(2, 70, 70)), differentiable=False)  # of several blocks
    yield Sample(rng.normal(0, 2, 2))
    yield Sample(np.stack([-np.eye(1), np.eye(1)]), expect=np.array([[[np.nan]], [[1.0]]]))
    yield Sample(rng.normal(2, 3), raises=InvalidArgumentError)
    yield Sample(rng.normal(3), raises=InvalidArgumentError)


@Cholesky.reference
def _(input: np.ndarray):
    out = np.zeros_like(input)
    for at in np.ndindex(input.shape[:-2]):
        a, l = input[at], out[at]
        for i in range(len(a)):
            for j in range(i + 1):
                rest = a[i, j] - sum(l[i, k] * l[j, k] for k in range(j))
                l[i, j] = math.sqrt(rest) if i == j else rest / l[j, j]
    return out


REAL = {"T": (dtypes.float64, dtypes.float32)}
old_spelling(Cholesky, "BatchCholesky", REAL)


@api("linalg.cholesky", v1="cholesky")
@tensor_function
def cholesky(input: TensorLike, name: str | None = None) -> Tensor:
    """The lower triangular L of L @ adjoint(L) = A, for positive definite matrices A, of which the lower triangles are
    read. The root of a matrix that is not positive definite is NaN."""
    return Cholesky(input)


def _qr_shape(call: ShapeCall):
    shape, full = shapes.at_least(call.shape(0), 2), call.attr("full_matrices")
    if shape is None:
        return [None, None]
    m, n = shape[-2:]
    k = m if full else None if m is None or n is None else min(m, n)
    return [(*shape[:-2], m, k), (*shape[:-2], k, n)]


@op("Qr", "input: T -> q: T, r: T", types=DENSE, attrs={"full_matrices": False}, shape=_qr_shape)
def Qr(xp: ModuleType, input: np.ndarray, full_matrices: bool):
    matrices(input)
    if xp is np and 0 in input.shape:
        m, n = input.shape[-2:]
        k = m if full_matrices else min(m, n)
        q = np.broadcast_to(np.eye(m, k), (*input.shape[:-2], m, k))
        return q.astype(input.dtype), np.zeros((*input.shape[:-2], k, n), input.dtype)
    q, r = xp.linalg.qr(wide(input), "complete" if full_matrices else "reduced")
    return q.astype(input.dtype), r.astype(input.dtype)


Qr.batching(batching.leading(least=[2]))


@Qr.gradient(needs="input, q, r")
def _(call: GradientCall, dq: Tensor, dr: Tensor):
    q, r = call.q, call.r
    m, n = _inner_sizes(call)
    if call.full_matrices and _known(m, n) and m > n:
        raise LookupError(
            "Qr has no gradient with full_matrices for matrices of more rows than columns"
        )
    if _known(m, n) and m >= n:
        return _tall_qr_gradient(q, r, dq, dr)
    # A wide matrix is [X, Y] with square X = Q U; then R = [U, Q^H Y]. Of a tall one Y is empty.
    m = size_of(call.input, -2) if m is None else m
    u, y = r[..., :m], call.input[..., m:]
    du, dv = dr[..., :m], dr[..., m:]
    dx = _tall_qr_gradient(q, u, arithmetic.AddV2(dq, matmul(y, dv, adjoint_b=True)), du)

    return concat([dx, matmul(q, dv)], -1)


def _tall_qr_gradient(q, r, dq, dr):
    m = arithmetic.Sub(matmul(r, dr, adjoint_b=True), matmul(dq, q, adjoint_a=True))
    half = lower_with_half_diagonal(m)
    symmetric = arithmetic.AddV2(half, adjoint_of(half))
    rhs = arithmetic.AddV2(dq, matmul(q, symmetric))
    # rhs @ R^-H, by solving with R from the other side.
    return adjoint_of(MatrixTriangularSolve(r, adjoint_of(rhs), False))


@Qr.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3, 3))
    yield Sample(rng.normal(4, 2))
    yield Sample(rng.normal(2, 2, 3))
    yield Sample(rng.normal(4, 2), full_matrices=True, differentiable=False)
    yield Sample(rng.normal(3), raises=InvalidArgumentError)


@Qr.reference
def _(input: np.ndarray, full_matrices: bool):
    """Householder's reflections."""
    *batch, m, n = input.shape
    k = m if full_matrices else min(m, n)
    qs, rs = np.zeros((*batch, m, k)), np.zeros((*batch, k, n))
    for at in np.ndindex(*batch):
        q, r = np.eye(m), input[at].copy()
        for j in range(min(m - 1, n)):
            v = np.zeros(m)
            v[j:] = r[j:, j]
            v[j] += math.copysign(np.sqrt((v**2).sum()), v[j])
            v /= np.sqrt((v**2).sum())
            r -= 2 * np.outer(v, v @ r)
            q -= 2 * np.outer(q @ v, v)
        qs[at], rs[at] = q[:, :k], r[:k]
    return qs, rs


@api("linalg.qr", v1="qr")
@tensor_function
def qr(input: TensorLike, full_matrices: bool = False, name: str | None = None):
    """Factor matrices in orthonormal columns and an upper triangle: `input = q @ r`.

    Args:
      input: matrices `[..., M, N]` of a floating (not bfloat16) or complex dtype.
      full_matrices: whether `q` is square, `[..., M, M]`, and not `[..., M, min(M, N)]`.
      name: a name for the operation (optional).

    Returns:
      (q, r), a named tuple of the dtype of `input`. The gradient needs `M >= N` and no `full_matrices`, or `M ==
      N`.

    >>> q, r = tf.linalg.qr([[3.0, 0.0], [4.0, 5.0]])
    >>> tf.linalg.matmul(q, r).numpy().round(3)
    array([[3., 0.],
           [4., 5.]], dtype=float32)
    """
    return Qr(input, bool(full_matrices))


def _svd_shape(call: ShapeCall):
    shape = shapes.at_least(call.shape(0), 2)
    empty = [(0,), (0,)]
    if shape is None:
        return [None, *([None] * 2 if call.attr("compute_uv") else empty)]
    *batch, m, n = shape
    k = None if m is None or n is None else min(m, n)
    if not call.attr("compute_uv"):
        return [(*batch, k), *empty]
    full = call.attr("full_matrices")
    return [(*batch, k), (*batch, m, m if full else k), (*batch, n, n if full else k)]


@op(
    "Svd",
    "input: T -> s: T, u: T, v: T",
    types=DENSE,
    attrs={"compute_uv": True, "full_matrices": False},
    shape=_svd_shape,
)
def Svd(xp, input, compute_uv, full_matrices):
    matrices(input)
    kind = input.dtype
    if xp is np and not np.isfinite(input).all():
        # LAPACK refuses what is not finite; its decomposition is NaN.
        finite = np.isfinite(input).all((-1, -2), keepdims=True)
        parts = _singular(xp, np.where(finite, input, 0).astype(kind), compute_uv, full_matrices)
        s = np.where(finite[..., 0], parts[0], np.nan)
        return s, *(np.where(finite, x, np.nan) if compute_uv else x for x in parts[1:])
    return _singular(xp, input, compute_uv, full_matrices)


Svd.batching(batching.decomposed)


def _singular(xp: ModuleType, input: Any, compute_uv: bool, full_matrices: bool):
    kind = input.dtype
    if not compute_uv:
        empty = xp.zeros((0,), kind)
        return xp.linalg.svd(wide(input), compute_uv=False).astype(kind), empty, empty
    u, s, vh = xp.linalg.svd(wide(input), full_matrices=full_matrices)
    return s.astype(kind), u.astype(kind), xp.conj(xp.swapaxes(vh, -1, -2)).astype(kind)


@Svd.gradient(needs="input, s, u, v")
def _(call: GradientCall, ds: Tensor, du: Tensor, dv: Tensor):
    s = call.s
    if s.dtype.is_complex:  # only in dtype: what would turn s out of the reals does not reach it
        ds = arithmetic.Mul(arithmetic.AddV2(ds, conj(ds)), 0.5)
    if not call.compute_uv:
        _, u, v = Svd(call.input)
        return matmul(u, matmul(MatrixDiag(ds), v, adjoint_b=True))
    u, v = call.u, call.v
    m, n = _inner_sizes(call)
    if call.full_matrices and m != n:
        raise LookupError("Svd has no gradient with full_matrices for matrices that are not square")
    scale = MatrixDiag(s)
    squares = elementwise.Square(s)
    gaps = arithmetic.Sub(layout.ExpandDims(squares, -2), layout.ExpandDims(squares, -1))
    inverse_gaps = inverse_or_zero(gaps)
    turn_u, turn_v = matmul(u, du, adjoint_a=True), matmul(v, dv, adjoint_a=True)
    skew_u = arithmetic.Sub(turn_u, adjoint_of(turn_u))
    skew_v = arithmetic.Sub(turn_v, adjoint_of(turn_v))
    middle = arithmetic.AddV2(
        MatrixDiag(ds),
        arithmetic.AddV2(
            matmul(arithmetic.Mul(skew_u, inverse_gaps), scale),
            matmul(scale, arithmetic.Mul(skew_v, inverse_gaps)),
        ),
    )
    inverse = MatrixDiag(elementwise.Reciprocal(s))
    if s.dtype.is_complex:
        phase = MatrixDiag(MatrixDiagPart(arithmetic.Mul(skew_u, 0.5)))
        middle = arithmetic.AddV2(middle, matmul(phase, inverse))
    out = matmul(u, matmul(middle, v, adjoint_b=True))
    # What is beside the span of the singular vectors; nothing where they span all.
    if not _known(m, n) or m > n:
        beside = arithmetic.Sub(du, matmul(u, turn_u))
        out = arithmetic.AddV2(out, matmul(beside, matmul(inverse, v, adjoint_b=True)))
    if not _known(m, n) or n > m:
        beside = arithmetic.Sub(dv, matmul(v, turn_v))
        out = arithmetic.AddV2(out, matmul(matmul(u, inverse), beside, adjoint_b=True))
    return out


def _inner_sizes(call: GradientCall):
    """The sizes of the matrices, None for unknown ones."""
    static = call.static_shape("input")
    return (None, None) if static.rank is None else static.as_list()[-2:]


def _known(m, n: int) -> bool:
    return m is not None and n is not None


def inverse_or_zero(x):
    zero = comparison.Equal(x, 0)
    return choice.SelectV2(zero, 0, elementwise.Reciprocal(choice.SelectV2(zero, 1, x)))


@Svd.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3, 2), compute_uv=False)
    yield Sample(rng.normal(2, 3, 3), compute_uv=False)
    yield Sample(rng.normal(3), raises=InvalidArgumentError)


@Svd.reference
def _(input: np.ndarray, compute_uv: bool, full_matrices: bool):
    """The roots of the eigenvalues of the smaller of A A^T and A^T A."""
    a = input if input.shape[-2] < input.shape[-1] else np.swapaxes(input, -1, -2)
    s = np.sqrt(np.sort(np.linalg.eigvals(a @ np.swapaxes(a, -1, -2)).real))[..., ::-1]
    return s, np.zeros(0), np.zeros(0)


old_spelling(Svd, "BatchSvd", {"T": (dtypes.float64, dtypes.float32, *COMPLEX)})


@api("linalg.svd", v1="svd")
@tensor_function
def svd(tensor: TensorLike, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None):
    """Compute the singular value decomposition of matrices: `tensor = u @ diag(s) @ adjoint(v)`.

    Args:
      tensor: matrices `[..., M, N]` of a floating (not bfloat16) or complex dtype.
      full_matrices: whether `u` and `v` are square, and not cut to `min(M, N)` columns.
      compute_uv: whether to compute `u` and `v` also.
      name: a name for the operation (optional).

    Returns:
      (s, u, v), or `s` alone: the singular values `[..., min(M, N)]`, real and in descending order, and the
      singular vectors as columns. Note that `v` is not transposed, unlike in NumPy.

    >>> tf.linalg.svd([[3.0, 0.0], [0.0, 4.0]], compute_uv=False)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([4., 3.], dtype=float32)>
    """
    s, u, v = Svd(tensor, bool(compute_uv), bool(full_matrices))
    s = cast(s, s.dtype.real_dtype)
    return (s, u, v) if compute_uv else s

"""Functions of whole matrices: exponential, logarithm, root, pseudo-inverse, norm, LU and what follows."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import batching
from tapeflow.ops.array import layout, transposing
from tapeflow.ops.array.diagonal_matrix import MatrixDiag
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.padding import pad
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.stacking import Pack
from tapeflow.ops.array.tensor_diagonal import eye
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.control.shape_assertions import assert_rank_at_least
from tapeflow.ops.linalg.decomposition import adjoint_of, svd
from tapeflow.ops.linalg.eigen import eigh, eigvalsh
from tapeflow.ops.linalg.einsum import Einsum
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.solve import DENSE, MatrixSolve, matrices, square_shape, wide
from tapeflow.ops.math import (
    arithmetic,
    casting,
    choice,
    comparison,
    complex_numbers,
    elementwise,
    reductions,
)
from tapeflow.ops.numeric import matrix_functions
from tapeflow.ops.static import joined, size_of
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


def _of_numpy(function: Callable[..., Any], input: Any):
    try:
        with np.errstate(all="ignore"):
            return function(input)
    except np.linalg.LinAlgError as error:
        raise invalid(str(error)) from None


@op("MatrixExponential", "input: T -> output: T", types=DENSE, shape=square_shape)
def MatrixExponential(xp: ModuleType, input: Array):
    matrices(input, square=True)
    if xp is not np:
        return importlib.import_module("jax.scipy.linalg").expm(input)
    return _of_numpy(matrix_functions.expm, input)


MatrixExponential.batching(batching.leading(least=[2]))


@MatrixExponential.gradient(needs="input")
def _(call: GradientCall, dy: Tensor):
    """The upper right block of the exponential of [[A^H, dy], [0, A^H]] (Najfeld and Havel, 1995)."""
    a = adjoint_of(call.input)
    n = size_of(a, -1)
    upper = concat([a, dy], -1)
    lower = concat([arithmetic.Mul(dy, 0), a], -1)
    return MatrixExponential(concat([upper, lower], -2))[..., :n, n:]


@MatrixExponential.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3, 3))
    yield Sample(rng.normal(2, 2, 2))
    yield Sample(rng.normal(0, 2, 2))
    yield Sample(rng.normal(2, 3), raises=InvalidArgumentError)
    yield Sample(rng.normal(2), raises=InvalidArgumentError)


@MatrixExponential.reference
def _(input: np.ndarray):
    term = np.broadcast_to(np.eye(input.shape[-1]), input.shape)
    total = term.copy()
    for n in range(1, 80):
        term = term @ input / n
        total += term
    return total


@api("linalg.expm")
@tensor_function
def expm(input: TensorLike, name: str | None = None) -> Tensor:
    """The exponentials of square matrices."""
    return MatrixExponential(input)


@op(
    "MatrixLogarithm",
    "input: T -> output: T",
    types={"T": (dtypes.complex64, dtypes.complex128)},
    shape=square_shape,
)
def MatrixLogarithm(xp: ModuleType, input: Array):
    matrices(input, square=True)
    return _of_numpy(matrix_functions.logm, input)


MatrixLogarithm.batching(batching.leading(least=[2]))


MatrixLogarithm.gradient(None)


MatrixLogarithm.compiled(never="JAX has no logarithm of matrices")


@MatrixLogarithm.samples
def _(rng: SampleGenerator):
    yield Sample(np.eye(2) * 4 + 0.3j * rng.normal(2, 2), differentiable=False)
    yield Sample(np.zeros((2, 3), complex), raises=InvalidArgumentError)


@MatrixLogarithm.reference
def _(input: np.ndarray):
    e, v = np.linalg.eig(input)
    return v @ np.diag(np.log(e)) @ np.linalg.inv(v)


@api("linalg.logm")
@tensor_function
def logm(input: TensorLike, name: str | None = None) -> Tensor:
    """The principal logarithms of complex square matrices."""
    return MatrixLogarithm(input)


@op("MatrixSquareRoot", "input: T -> output: T", types=DENSE, shape=square_shape)
def MatrixSquareRoot(xp: ModuleType, input: Array):
    matrices(input, square=True)
    return _of_numpy(matrix_functions.sqrtm, input)


MatrixSquareRoot.batching(batching.leading(least=[2]))


@MatrixSquareRoot.gradient(needs="output")
def _(call: GradientCall, dy: Tensor):
    """The G of X^H G + G X^H = dy, as one system of n^2 equations."""
    x = adjoint_of(call.output)

    known = x.shape.is_fully_defined()
    n = x.shape.as_list()[-1] if known else size_of(x, -1)
    batch = x.shape.as_list()[:-2] if known else Shape(x)[:-2]
    one = eye(n, dtype=x.dtype)
    left = Einsum([x, one], "...ij,kl->...ikjl")
    right = Einsum([one, x], "ij,...lk->...ikjl")
    flat, square = ([n * n, 1], [n * n, n * n]) if known else (Pack([n * n, 1]), Pack([n * n, n * n]))
    system = layout.Reshape(arithmetic.AddV2(left, right), joined(batch, square))
    solution = MatrixSolve(system, layout.Reshape(dy, joined(batch, flat)))
    return layout.Reshape(solution, call.shape("input"))


@MatrixSquareRoot.compiled()
def _(xp: ModuleType, input: Any):
    root = importlib.import_module("jax.scipy.linalg").sqrtm
    flat = wide(input).reshape(-1, *input.shape[-2:])
    out = xp.stack([root(a) for a in flat]) if flat.size else flat
    return (out if input.dtype.kind == "c" else out.real).reshape(input.shape)


@MatrixSquareRoot.samples
def _(rng: SampleGenerator):
    a = rng.normal(3, 3)
    yield Sample(a @ a.T + np.eye(3))
    yield Sample(np.stack([np.diag([1.0, 4.0]), np.diag([9.0, 16.0])]))
    yield Sample(rng.normal(2, 3), raises=InvalidArgumentError)


@MatrixSquareRoot.reference
def _(input: np.ndarray):
    e, v = np.linalg.eigh(input)
    return v * np.sqrt(e)[..., None, :] @ v.swapaxes(-1, -2)


@api("linalg.sqrtm", "matrix_square_root")
@tensor_function
def sqrtm(input: TensorLike, name: str | None = None) -> Tensor:
    """The principal square roots of square matrices."""
    return MatrixSquareRoot(input)


@api("linalg.adjoint")
@tensor_function
def adjoint(matrix: TensorLike, name: str | None = None):
    """The conjugate transposes of the innermost matrices."""
    return adjoint_of(convert_to_tensor(matrix))


@api("linalg.matrix_transpose", v1=("linalg.transpose", "matrix_transpose"))
@tensor_function
@graph_scope("matrix_transpose")
def matrix_transpose(a: TensorLike, name: str | None = "matrix_transpose", conjugate: bool = False):
    """Transpose the last two dimensions.

    Args:
      a: matrices `[..., M, N]` of any dtype.
      name: a name for the operation (optional).
      conjugate: whether elements are conjugated also.

    Returns:
      A tensor `[..., N, M]`.

    Raises:
      ValueError: where `a` has fewer than 2 dimensions.

    >>> tf.linalg.matrix_transpose([[[1, 2, 3]]]).shape
    TensorShape([1, 3, 1])
    """
    a = convert_to_tensor(a)
    rank = a.shape.rank
    if rank is not None and rank < 2:
        raise ValueError(
            f"Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` = {a}"
        )
    return transposing.transpose(a, transposing.last_swapped(a), conjugate=conjugate)


def _larger_size(a: Any, kind: DType):
    """The larger of the numbers of rows and columns; a scalar of dtype `kind` where they are not known."""
    m, n = size_of(a, -2), size_of(a, -1)
    if isinstance(m, int) and isinstance(n, int):
        return max(m, n)
    return casting.cast(arithmetic.maximum(m, n), kind)


def _of_rank_two(a: Tensor, validate_args: bool):
    if a.shape.rank is not None and a.shape.rank < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {a.shape.rank}).")
    if a.shape.rank is None and validate_args:
        check = assert_rank_at_least(a, 2, "Input `a` must have at least 2 dimensions.")
        with control_dependencies([] if check is None else [check]):
            return identity(a)
    return a


@api("linalg.matrix_rank")
@tensor_function
def matrix_rank(a: TensorLike, tol=None, validate_args: bool = False, name: str | None = None):
    """Count the singular values of matrices that are not zero.

    Args:
      a: `[..., M, N]` of a floating or complex dtype.
      tol: above what a singular value counts; None: `eps * max(M, N) * largest`.
      validate_args: whether a rank of `a` that is not known before is checked when a graph runs.
      name: a name for the operation (optional).

    Returns:
      An int32 tensor `[...]`.

    Raises:
      ValueError: where `a` has fewer than 2 dimensions.

    >>> tf.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
    <tf.Tensor: shape=(), dtype=int32, numpy=1>
    """
    a = _of_rank_two(convert_to_tensor(a, dtype_hint=dtypes.float32), validate_args)
    s = svd(a, compute_uv=False)
    if tol is None:
        rounding = _larger_size(a, s.dtype) * np.finfo(s.dtype.as_numpy_dtype).eps
        tol = arithmetic.Mul(reductions.reduce_max(s, -1, True), rounding)
    return reductions.reduce_sum(casting.cast(comparison.Greater(s, tol), dtypes.int32), -1)


@api("linalg.pinv")
@tensor_function
def pinv(a: Any, rcond=None, validate_args: bool = False, name: str | None = None):
    """Compute Moore-Penrose pseudo-inverses.

    Args:
      a: `[..., M, N]` of a floating or complex dtype.
      rcond: singular values up to this times the largest count as zero; None: `10 * max(M, N) * eps`.
      validate_args: whether a rank of `a` that is not known before is checked when a graph runs.
      name: a name for the operation (optional).

    Returns:
      A tensor `[..., N, M]`.

    Raises:
      TypeError: for integers.
      ValueError: where `a` has fewer than 2 dimensions.

    >>> tf.linalg.pinv([[2.0, 0.0], [0.0, 0.0]])
    <tf.Tensor: shape=(2, 2), dtype=float32, numpy=
    array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)>
    """
    a = convert_to_tensor(a)
    if not (a.dtype.is_floating or a.dtype.is_complex):
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    a = _of_rank_two(a, validate_args)
    s, u, v = svd(a)
    if rcond is None:
        rcond = 10.0 * _larger_size(a, s.dtype) * np.finfo(s.dtype.as_numpy_dtype).eps
    least = layout.expand_dims(convert_to_tensor(rcond, dtype=s.dtype), -1)  # of each matrix, or one for all
    cutoff = arithmetic.Mul(reductions.reduce_max(s, -1, True), least)
    large = comparison.Greater(s, cutoff)
    inverse = choice.SelectV2(
        large, elementwise.Reciprocal(choice.SelectV2(large, s, 1)), 0
    )
    return matmul(v, matmul(MatrixDiag(casting.cast(inverse, a.dtype)), u, adjoint_b=True))


@api("linalg.eigh_tridiagonal")
@tensor_function
def eigh_tridiagonal(
    alpha: TensorLike, beta: TensorLike, eigvals_only: bool = True, select: str = "a", select_range=None, tol=None,
    name: str | None = None,
):
    """Compute eigenvalues of self-adjoint tridiagonal matrices.

    Args:
      alpha: the main diagonal, `[..., M]` of a floating or complex dtype, of which the real part counts.
      beta: the diagonal above it, `[..., M - 1]` of that dtype.
      eigvals_only: whether to leave out the eigenvectors.
      select: "a" for all, "i" for those with indices from `select_range[0]` to `select_range[1]`, both included,
        "v" for those in the interval `(select_range[0], select_range[1]]`.
      select_range: a pair, where `select` is not "a".
      tol: not used: the results are exact to rounding.
      name: a name for the operation (optional).

    Returns:
      The real eigenvalues in ascending order, `[..., number]`; else (eigenvalues, eigenvectors `[..., M, number]`).

    Raises:
      ValueError: for another `select`.

    >>> tf.linalg.eigh_tridiagonal([2.0, 2.0], [1.0]).numpy().round(3)
    array([1., 3.], dtype=float32)
    """
    alpha, beta = convert_to_tensor(alpha), convert_to_tensor(beta)

    if select not in ("a", "i", "v"):
        raise ValueError(f"'select must have a value in {{'a', 'i', 'v'}}, got {select}.")
    above = [[0, 0]] * (beta.shape.rank - 1) if beta.shape.rank else []
    upper = pad(MatrixDiag(beta), [*above, [0, 1], [1, 0]])  # also where there is one row and no diagonal
    dense = arithmetic.AddV2(MatrixDiag(alpha), arithmetic.AddV2(upper, adjoint_of(upper)))
    values = complex_numbers.real(eigvalsh(dense))
    vectors = None if eigvals_only else eigh(dense)[1]
    if select != "a":
        low, high = select_range
        if select == "i":
            chosen = slice(int(low), int(high) + 1)
        else:
            # They are in order: those up to `low` come first, then the wanted ones.
            before = reductions.reduce_sum(casting.cast(values <= low, dtypes.int32))
            chosen = slice(before, reductions.reduce_sum(casting.cast(values <= high, dtypes.int32)))
        values = values[..., chosen]
        vectors = None if vectors is None else vectors[..., chosen]
    return values if eigvals_only else (values, vectors)

"""Functions of whole matrices: exponential, logarithm, root, pseudo-inverse, norm, LU and what follows."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, AxisLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import batching
from tapeflow.ops.array import construction, layout, selection
from tapeflow.ops.array.diagonal import MatrixDiag, diag
from tapeflow.ops.array.joining import ConcatV2, Pack, concat
from tapeflow.ops.array.rows import Rank, Shape, identity
from tapeflow.ops.array.tensor_diagonal import eye
from tapeflow.ops.control.assertions import assert_rank_at_least
from tapeflow.ops.control.flow import control_dependencies
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.linalg.decomposition import adjoint_of, eigh, eigvalsh, svd
from tapeflow.ops.linalg.einsum import Einsum
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.solve import DENSE, MatrixSolve, matrices, square_shape, wide
from tapeflow.ops.math import (
    arithmetic,
    casting,
    comparison,
    complex_numbers,
    elementwise,
    reduction,
)
from tapeflow.ops.math.conjugate import conj
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
    return layout.transpose(a, layout.last_swapped(a), conjugate=conjugate)


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
        tol = arithmetic.Mul(reduction.reduce_max(s, -1, True), rounding)
    return reduction.reduce_sum(casting.cast(comparison.Greater(s, tol), dtypes.int32), -1)


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
    cutoff = arithmetic.Mul(
        reduction.reduce_max(s, -1, True), convert_to_tensor(rcond, dtype=s.dtype)
    )
    large = comparison.Greater(s, cutoff)
    inverse = comparison.SelectV2(
        large, elementwise.Reciprocal(comparison.SelectV2(large, s, 1)), 0
    )
    return matmul(v, matmul(MatrixDiag(casting.cast(inverse, a.dtype)), u, adjoint_b=True))


ORDERS = ("euclidean", "fro", 1, 2, math.inf)


@api(v2=("linalg.norm", "norm"))
@tensor_function
def norm(
    tensor: TensorLike, ord="euclidean", axis=None, keepdims: bool | None = None, name: str | None = None
):
    """Compute norms of vectors or matrices.

    Args:
      tensor: a floating or complex tensor.
      ord: of vectors "euclidean" (as 2), 1, 2, inf or another positive number p, for `sum(|x|**p)**(1/p)`; of
        matrices "euclidean" and "fro" (the root of the sum of squares), 1 (the largest sum of a column), inf (of a
        row) or 2 (the largest singular value).
      axis: an int for norms of vectors, a pair for norms of matrices in which the first axis counts rows; None: all
        elements are one vector.
      keepdims: whether the axes stay, with size 1.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `tensor`, of its shape without the axes.

    Raises:
      ValueError: for another `ord` or `axis`.

    >>> tf.linalg.norm([[3.0, 4.0], [6.0, 8.0]], axis=1)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([ 5., 10.], dtype=float32)>
    >>> tf.linalg.norm([[3.0, 4.0], [6.0, 8.0]], ord=1, axis=(0, 1))
    <tf.Tensor: shape=(), dtype=float32, numpy=12.0>
    """
    matrix = isinstance(axis, (list, tuple)) or (np.ndim(axis) == 1 and axis is not None)
    if matrix:
        axis = tuple(int(a) for a in axis)
        if len(axis) != 2:
            raise ValueError(
                f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}"
            )
        if ord not in ORDERS:
            raise ValueError(f"'ord' must be a supported matrix norm in {list(ORDERS)}, got {ord}")
    elif ord == "fro" or (ord not in ORDERS and (isinstance(ord, str) or not np.isreal(ord) or ord <= 0)):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    tensor = convert_to_tensor(tensor)
    keep = bool(keepdims)
    if matrix and ord == 2:
        return _spectral_norm(tensor, axis, keep)
    if ord in ("euclidean", "fro", 2):
        squares = arithmetic.Mul(tensor, conj(tensor))
        return elementwise.Sqrt(reduction.reduce_sum(squares, axis, keep))
    size = elementwise.abs(tensor)
    if matrix:
        summed, largest = axis if ord == 1 else axis[::-1]
        sums = reduction.reduce_sum(size, summed, True)
        top = reduction.reduce_max(sums, largest, True)
        return top if keep else layout.Squeeze(top, list(axis))
    if ord == 1:
        return reduction.reduce_sum(size, axis, keep)
    if ord == math.inf:
        return reduction.reduce_max(size, axis, keep)
    return arithmetic.Pow(reduction.reduce_sum(arithmetic.Pow(size, ord), axis, keep), 1.0 / ord)


def _spectral_norm(tensor, axis, keep):
    rank = tensor.shape.rank
    if rank is None:
        return _spectral_norm_of_any_rank(tensor, axis, keep)
    last = [a % rank for a in axis]
    order = [d for d in range(rank) if d not in last] + last
    values = svd(layout.transpose(tensor, order), compute_uv=False)
    top = reduction.reduce_max(values, -1)
    for a in sorted(last) if keep else ():
        top = layout.ExpandDims(top, a)
    return top


def _spectral_norm_of_any_rank(tensor, axis, keep):
    rank = Rank(tensor)
    last = arithmetic.FloorMod(convert_to_tensor(list(axis)), rank)
    every = construction.range(rank)
    order = ConcatV2([selection.setdiff1d(every, last)[0], last], 0)
    values = svd(layout.transpose(tensor, order), compute_uv=False)
    top = reduction.reduce_max(values, -1)
    if not keep:
        return top
    mine = reduction.reduce_any(comparison.equal(layout.ExpandDims(every, 1), last), 1)
    return layout.Reshape(top, comparison.SelectV2(mine, 1, Shape(tensor)))


@api(v1=("linalg.norm", "norm"))
@tensor_function
def norm_v1(
    tensor: TensorLike, ord: str = "euclidean", axis: AxisLike | None = None, keepdims: bool | None = None,
    name: str | None = None, keep_dims: bool | None = None,
):
    """`norm` as 1.x spells it."""
    return norm(tensor, ord, axis, renamed("keepdims", keepdims, "keep_dims", keep_dims, False))


@api("linalg.normalize")
@tensor_function
@graph_scope("normalize/")
def normalize(
    tensor: TensorLike, ord: str = "euclidean", axis: AxisLike | None = None, name: str | None = None
):
    """Divide a tensor by its norm.

    Args:
      tensor: a floating or complex tensor.
      ord: which norm, see `tf.linalg.norm`.
      axis: the axis, or the pair of axes, along which norms are taken; None: all.
      name: a name for the operation (optional).

    Returns:
      (tensor / norm, norm): a tensor like `tensor`, and the norms with axes of size 1.

    >>> unit, size = tf.linalg.normalize([3.0, 4.0])
    >>> unit.numpy(), size.numpy()
    (array([0.6, 0.8], dtype=float32), array([5.], dtype=float32))
    """
    tensor = convert_to_tensor(tensor)
    size = norm(tensor, ord, axis, keepdims=True)
    return arithmetic.RealDiv(tensor, casting.cast(size, tensor.dtype)), size


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
    upper = diag(beta, k=1)
    dense = arithmetic.AddV2(MatrixDiag(alpha), arithmetic.AddV2(upper, adjoint_of(upper)))
    values = complex_numbers.real(eigvalsh(dense))
    vectors = None if eigvals_only else eigh(dense)[1]
    if select != "a":
        low, high = select_range
        if select == "i":
            chosen = slice(int(low), int(high) + 1)
        else:
            # They are in order: those up to `low` come first, then the wanted ones.
            before = reduction.reduce_sum(casting.cast(values <= low, dtypes.int32))
            chosen = slice(before, reduction.reduce_sum(casting.cast(values <= high, dtypes.int32)))
        values = values[..., chosen]
        vectors = None if vectors is None else vectors[..., chosen]
    return values if eigvals_only else (values, vectors)

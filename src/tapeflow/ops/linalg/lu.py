"""LU factors of matrices, and what follows from them."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array import layout, transposing
from tapeflow.ops.array.band import MatrixBandPart
from tapeflow.ops.array.diagonal import MatrixDiagPart, MatrixSetDiag
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import Rank, Shape
from tapeflow.ops.array.tensor_diagonal import eye
from tapeflow.ops.control.assert_op import Assert
from tapeflow.ops.control.assertions import assert_equal_v1
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.control.mapping import map_fn
from tapeflow.ops.control.shape_assertions import assert_rank_at_least
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.linalg.decomposition import adjoint_of
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.solve import DENSE, MatrixTriangularSolve, matrices, wide
from tapeflow.ops.math import arithmetic, casting, comparison, logic, reductions
from tapeflow.ops.numeric import factorizations
from tapeflow.ops.signature import dtype
from tapeflow.ops.static import size_of
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _lu_shape(call: ShapeCall):
    shape = shapes.square(call.shape(0))
    return [shape, None if shape is None else shape[:-1]]


@op(
    "Lu",
    "input: T -> lu: T, p: output_idx_type",
    types=DENSE,
    attrs={"output_idx_type": dtype(dtypes.int32)},
    shape=_lu_shape,
)
def Lu(xp: ModuleType, input: np.ndarray, output_idx_type: DType):
    matrices(input, square=True)
    with np.errstate(all="ignore"):
        packed, order = factorizations.lu(wide(input))
    pivots = np.diagonal(packed, axis1=-2, axis2=-1)
    if (pivots == 0).any() or np.isnan(pivots[..., :1]).any():
        raise invalid("Input is not invertible.")
    return packed.astype(input.dtype), order.astype(output_idx_type.as_numpy_dtype)


@Lu.compiled()
def _(xp: ModuleType, input: Any, output_idx_type: DType):
    matrices(input, square=True)
    packed, _, order = importlib.import_module("jax.lax").linalg.lu(wide(input))
    return packed, order


@Lu.gradient(needs="lu, p")
def _(call: GradientCall, dlu: Tensor, _: Tensor | None):
    """With P A = L U: P dA = L^-H (tril(L^H dL, -1) + triu(dU U^H)) U^-H."""
    lower, upper = _triangles(call.lu)
    d_lower, d_upper = _strictly_lower(dlu), MatrixBandPart(dlu, 0, -1)
    inner = arithmetic.AddV2(
        _strictly_lower(matmul(lower, d_lower, adjoint_a=True)),
        MatrixBandPart(matmul(d_upper, upper, adjoint_b=True), 0, -1),
    )
    left = MatrixTriangularSolve(lower, inner, True, True)
    whole = adjoint_of(MatrixTriangularSolve(upper, adjoint_of(left), False, False))
    return _unpermuted(whole, call.p)


def _strictly_lower(x: Tensor):
    return MatrixSetDiag(MatrixBandPart(x, -1, 0), arithmetic.Mul(MatrixDiagPart(x), 0))


def _triangles(lu):
    one = arithmetic.AddV2(arithmetic.Mul(MatrixDiagPart(lu), 0), 1)
    return MatrixSetDiag(MatrixBandPart(lu, -1, 0), one), MatrixBandPart(lu, 0, -1)


def _permutation(p: Any, kind: DType):
    """The matrix that brings rows into the order `p`."""
    n = size_of(p, -1)
    columns = casting.cast(range_(n), p.dtype)
    return casting.cast(comparison.Equal(layout.ExpandDims(p, -1), columns), kind)


def _unpermuted(x: Tensor, p: Tensor):
    if p.shape.rank == 1:
        return gather(x, transposing.invert_permutation(p), axis=0)
    return matmul(_permutation(p, x.dtype), x, transpose_a=True)


@Lu.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3, 3))
    yield Sample(rng.normal(2, 2, 2), output_idx_type=dtypes.int64)
    yield Sample(rng.normal(2, 70, 70), differentiable=False)  # of several blocks
    yield Sample(np.zeros((2, 2)), raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), raises=InvalidArgumentError)


@Lu.reference
def _(input: np.ndarray, output_idx_type: DType):
    packed, order = input.copy(), np.zeros(input.shape[:-1], np.int64)
    for at in np.ndindex(input.shape[:-2]):
        m, rows = packed[at], list(range(input.shape[-1]))
        for i in range(len(m)):
            j = i + int(np.argmax(np.abs(m[i:, i])))
            m[[i, j]] = m[[j, i]]
            rows[i], rows[j] = rows[j], rows[i]
            for k in range(i + 1, len(m)):
                m[k, i] /= m[i, i]
                m[k, i + 1 :] -= m[k, i] * m[i, i + 1 :]
        order[at] = rows
    return packed, order


@api("linalg.lu")
@tensor_function
def lu(input: TensorLike, output_idx_type: DType = dtypes.int32, name: str | None = None):
    """Factor square matrices in triangles: `input[p] = L @ U`.

    Args:
      input: `[..., M, M]` of a floating or complex dtype.
      output_idx_type: the dtype of the order of rows, int32 or int64.
      name: a name for the operation (optional).

    Returns:
      (lu, p): L, whose diagonal is 1, below and U on and above the diagonal of one matrix `[..., M, M]`; and the
      order of rows `[..., M]`.

    Raises:
      InvalidArgumentError: for singular matrices.

    >>> lu, p = tf.linalg.lu([[1.0, 2.0], [4.0, 4.0]])
    >>> lu.numpy(), p.numpy()
    (array([[4.  , 4.  ],
           [0.25, 1.  ]], dtype=float32), array([1, 0], dtype=int32))
    """
    return Lu(input, output_idx_type)


def _checked(lower_upper, perm, validate_args: bool):
    """Both as tensors: a stack of square matrices, and as many orders of their rows.

    Raises ValueError for shapes that do not fit as far as they are known, InvalidArgumentError for the rest, with
    `validate_args` when a graph runs.
    """
    lower_upper = convert_to_tensor(lower_upper, dtype_hint=dtypes.float32)
    perm = convert_to_tensor(perm, dtype_hint=dtypes.int32)
    rank, rows = lower_upper.shape.rank, perm.shape.rank
    if rank is not None and rank < 2:
        raise ValueError("Input `lower_upper` must have at least 2 dimensions.")
    if None not in (rank, rows) and rank != rows + 1:
        raise ValueError("`rank(lower_upper)` must equal `rank(perm) + 1`")
    sizes = (None, None) if rank is None else lower_upper.shape.as_list()[-2:]
    if None not in sizes and sizes[0] != sizes[1]:
        raise ValueError("`lower_upper` must be square.")
    n = Shape(lower_upper)[-1]
    checks = []
    if validate_args:
        checks += [
            assert_rank_at_least(lower_upper, 2, "Input `lower_upper` must have at least 2 dimensions."),
            assert_equal_v1(
                Rank(lower_upper), Rank(perm) + 1, message="`rank(lower_upper)` must equal `rank(perm) + 1`"
            ),
            assert_equal_v1(Shape(lower_upper)[-2], n, message="`lower_upper` must be square."),
        ]
    # An index out of range would be a row of zeros below.
    below = comparison.less(perm, casting.cast(n, perm.dtype))
    inside = logic.logical_and(comparison.greater_equal(perm, 0), below)
    checks.append(Assert(reductions.reduce_all(inside), ["perm must be places of rows in [0, ", n, "):", perm]))
    with control_dependencies([check for check in checks if check is not None]):
        return identity(lower_upper), identity(perm)


@api("linalg.lu_reconstruct")
@tensor_function
def lu_reconstruct(lower_upper: TensorLike, perm: Any, validate_args: bool = False, name: str | None = None):
    """Multiply triangles from `tf.linalg.lu` to get the matrices back.

    Args:
      lower_upper: the triangles `[..., M, M]`.
      perm: the orders of rows `[..., M]`.
      validate_args: whether shapes that are not known before are checked when a graph runs.
      name: a name for the operation (optional).

    Returns:
      The matrices, `[..., M, M]`.

    Raises:
      ValueError: for shapes that do not fit.
      InvalidArgumentError: for a `perm` that is no order of all rows.
    """
    lower_upper, perm = _checked(lower_upper, perm, validate_args)
    lower, upper = _triangles(lower_upper)
    product = matmul(lower, upper)
    if perm.shape.rank == 1 and product.shape.rank == 2:
        return gather(product, transposing.invert_permutation(perm), axis=0)
    orders = layout.Reshape(perm, ConcatV2([[-1], Shape(perm)[-1:]], 0))
    places = layout.Reshape(map_fn(transposing.invert_permutation, orders), Shape(perm))
    return matmul(_permutation(places, product.dtype), product)


@api("linalg.lu_solve")
@tensor_function
def lu_solve(
    lower_upper: Any, perm: TensorLike, rhs: TensorLike, validate_args: bool = False, name: str | None = None
):
    """Solve `A @ X = rhs` by the `tf.linalg.lu` of A.

    Args:
      lower_upper: the triangles `[..., M, M]`.
      perm: the orders of rows `[..., M]`.
      rhs: right sides `[..., M, K]` of the dtype of the triangles.
      validate_args: whether shapes that are not known before are checked when a graph runs.
      name: a name for the operation (optional).

    Returns:
      X, `[..., M, K]`.

    Raises:
      ValueError: for shapes that do not fit.
      InvalidArgumentError: for a `perm` with indices out of range.

    >>> a = [[1.0, 2.0], [4.0, 4.0]]
    >>> tf.linalg.lu_solve(*tf.linalg.lu(a), rhs=[[3.0], [8.0]])
    <tf.Tensor: shape=(2, 1), dtype=float32, numpy=
    array([[1.],
           [1.]], dtype=float32)>
    """
    lower_upper, order = _checked(lower_upper, perm, validate_args)
    rhs = convert_to_tensor(rhs, dtype=lower_upper.dtype)
    if rhs.shape.rank is not None and rhs.shape.rank < 2:
        raise ValueError("Input `rhs` must have at least 2 dimensions.")
    message = "`lower_upper.shape[-1]` must equal `rhs.shape[-1]`."
    if None not in (rhs.shape.rank, lower_upper.shape.rank):
        columns, rows = lower_upper.shape.as_list()[-1], rhs.shape.as_list()[-2]
        if None not in (columns, rows) and columns != rows:
            raise ValueError(message)
    if validate_args:
        checks = [
            assert_rank_at_least(rhs, 2, "Input `rhs` must have at least 2 dimensions."),
            assert_equal_v1(Shape(lower_upper)[-1], Shape(rhs)[-2], message=message),
        ]
        with control_dependencies([check for check in checks if check is not None]):
            rhs = identity(rhs)
    plain = order.shape.rank == 1 and rhs.shape.rank is not None
    ordered = gather(rhs, order, axis=-2) if plain else matmul(_permutation(order, rhs.dtype), rhs)
    # Of each triangle the other is not read.
    lower = MatrixSetDiag(lower_upper, arithmetic.AddV2(arithmetic.Mul(MatrixDiagPart(lower_upper), 0), 1))
    return MatrixTriangularSolve(lower_upper, MatrixTriangularSolve(lower, ordered, True), False)


@api("linalg.lu_matrix_inverse")
@tensor_function
def lu_matrix_inverse(lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None):
    """Invert matrices by their `tf.linalg.lu`.

    Args:
      lower_upper: the triangles `[..., M, M]`.
      perm: the orders of rows `[..., M]`.
      validate_args: whether shapes that are not known before are checked when a graph runs.
      name: a name for the operation (optional).

    Returns:
      The inverses, `[..., M, M]`.

    Raises:
      ValueError: for shapes that do not fit.
      InvalidArgumentError: for a `perm` with indices out of range.
    """
    lower_upper, perm = _checked(lower_upper, perm, validate_args)
    return lu_solve(lower_upper, perm, eye(size_of(lower_upper, -1), dtype=lower_upper.dtype), validate_args)

"""Matrix products: of two matrices, of stacks of them, with vectors, and along chosen axes."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import EagerTensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import flops, shapes
from tapeflow.ops.array import layout, transposing
from tapeflow.ops.math import casting
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.signature import dtype
from tapeflow.ops.static import as_shape, size_of, sizes_of
from tapeflow.ops.table import COMPLEX, FLOATING, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import BatchedCall, GradientCall, SampleGenerator

FACTORS = (
    *FLOATING,
    dtypes.int32,
    dtypes.int64,
    dtypes.int16,
    dtypes.uint8,
    dtypes.uint16,
    dtypes.uint32,
    dtypes.uint64,
    *COMPLEX,
)


@op(
    "MatMul",
    "a: T, b: T -> product: T",
    types={"T": FACTORS},
    attrs={"transpose_a": False, "transpose_b": False, "grad_a": False, "grad_b": False},
    shape=shapes.matmul,
    promotes="operands",
)
def MatMul(
    xp: ModuleType, a: Array, b: Array, transpose_a: bool, transpose_b: bool, grad_a: bool, grad_b: bool
):
    if a.ndim != b.ndim:
        raise invalid(
            f"In[0] and In[1] has different ndims: {shape_text(a.shape)} vs. {shape_text(b.shape)}"
        )
    if a.ndim != 2:
        raise invalid(
            "In[0] ndims must be >= 2" if a.ndim < 2 else f"In[0] is not a matrix: {a.ndim}"
        )
    if a.shape[0 if transpose_a else 1] != b.shape[1 if transpose_b else 0]:
        raise invalid(
            f"Matrix size-incompatible: In[0]: {shape_text(a.shape)}, In[1]: {shape_text(b.shape)}"
        )
    return _product(xp, a.T if transpose_a else a, b.T if transpose_b else b)


MatMul.flops(flops.matrix_product)


@MatMul.batching
def _(call: BatchedCall):
    """One product of matrices where one factor is the same for all elements."""
    a, b = call.inputs
    turned, other = call.attrs["transpose_a"], call.attrs["transpose_b"]
    if a.dtype.is_complex and (turned or other):
        return None
    if call.batched == [True, True]:
        return [BatchMatMulV2(a, b, turned, other)]
    if call.batched[1]:  # the transposed product
        rows = call.first_size(1) if other else call.size_of(1, 1)
        (product,) = _rows_by(call, b if other else _turned(b), rows, a, not turned)
        return [_turned(product)]
    rows = call.size_of(0, 1) if turned else call.first_size(0)
    return _rows_by(call, _turned(a) if turned else a, rows, b, other)


def _rows_by(call, x: Tensor, rows: TensorLike, factor: Any, turned: bool):
    """`x`, `[batch, rows, n]`, times one matrix."""
    joined = layout.Reshape(x, as_shape([call.size * rows, size_of(x, 2)]))
    columns = size_of(factor, 0 if turned else 1)
    return [layout.Reshape(MatMul(joined, factor, transpose_b=turned), as_shape([call.size, rows, columns]))]


def _turned(x: Tensor):
    """Matrices transposed; where they are vectors, without moving numbers."""
    batch, rows, columns = sizes_of(x)
    if rows == 1 or columns == 1:
        return layout.Reshape(x, as_shape([batch, columns, rows]))
    return transposing.Transpose(x, [0, 2, 1])


def _product(xp: ModuleType, a: Array, b: Array):
    if a.dtype.itemsize == 2 and a.dtype.kind not in "iu":  # half precision adds up in single
        return xp.matmul(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
    return xp.matmul(a, b)


@MatMul.gradient(needs="a, b")
def _(call: GradientCall, dy: Tensor):
    transpose_a, transpose_b = call.transpose_a, call.transpose_b
    of_a = of_b = None
    if call.wants("a"):
        b = conj(call.b)
        of_a = MatMul(b, dy, transpose_b, True) if transpose_a else MatMul(dy, b, False, not transpose_b)
    if call.wants("b"):
        a = conj(call.a)
        of_b = MatMul(dy, a, True, transpose_a) if transpose_b else MatMul(a, dy, not transpose_a)
    return of_a, of_b


@MatMul.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3, 4), rng.normal(4, 2))
    yield Sample(rng.normal(4, 3), rng.normal(4, 2), transpose_a=True)
    yield Sample(rng.normal(3, 4), rng.normal(2, 4), transpose_b=True)
    yield Sample(rng.normal(4, 3), rng.normal(2, 4), transpose_a=True, transpose_b=True)
    yield Sample(rng.normal(0, 4), rng.normal(4, 2))
    yield Sample(rng.normal(3, 0), rng.normal(0, 2))
    yield Sample(
        np.array([[1, 2]], np.int32),
        np.array([[3], [4]], np.int32),
        expect=np.array([[11]], np.int32),
    )
    yield Sample(rng.normal(3, 4), rng.normal(3, 4), raises=InvalidArgumentError)
    yield Sample(rng.normal(3), rng.normal(3, 4), raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3, 4), rng.normal(4, 5), raises=InvalidArgumentError)


@MatMul.reference
def _(a: np.ndarray, b: np.ndarray, transpose_a: bool, transpose_b: bool, grad_a: bool, grad_b: bool):
    rows = (a.T if transpose_a else a).tolist()
    columns = (b if transpose_b else b.T).tolist()
    out = [[sum(x * y for x, y in zip(r, c, strict=True)) for c in columns] for r in rows]
    return np.array(out).reshape(len(rows), len(columns))


def _stack_row(
    name: str, signature: str, types: dict[str, Any], attrs: dict[str, Any], broadcasts: bool = True
):
    rule = shapes.batch_matmul(broadcasts)

    @op(name, signature, types=types, attrs=attrs, shape=rule, broadcast=broadcasts, promotes="operands")
    def row(
        xp: ModuleType, x: Array, y: Array, adj_x: bool, adj_y: bool, grad_x: bool, grad_y: bool,
        Tout: DType | None = None,
    ):
        for i, given in enumerate((x, y)):
            if given.ndim < 2:
                raise invalid(f"In[{i}] ndims must be >= 2: {given.ndim}")
        if x.shape[-2 if adj_x else -1] != y.shape[-1 if adj_y else -2]:
            raise invalid(
                "Matrix size-incompatible: "
                f"In[0]: {shape_text(x.shape)}, In[1]: {shape_text(y.shape)} {adj_x:d} {adj_y:d}"
            )
        if not _batches_fit(x.shape[:-2], y.shape[:-2], broadcasts):
            raise invalid(
                "In[0] and In[1] must have compatible batch dimensions: "
                f"{shape_text(x.shape)} vs. {shape_text(y.shape)}"
            )
        x = xp.conj(xp.swapaxes(x, -1, -2)) if adj_x else x
        y = xp.conj(xp.swapaxes(y, -1, -2)) if adj_y else y
        if Tout is None:
            return _product(xp, x, y)
        kind = Tout.as_numpy_dtype
        return _product(xp, x.astype(kind), y.astype(kind))

    @row.samples
    def _(rng):
        kind = {} if Tout_of is None else {"Tout": Tout_of}
        yield Sample(rng.normal(2, 3, 4), rng.normal(2, 4, 2), **kind)
        yield Sample(rng.normal(2, 4, 3), rng.normal(2, 4, 2), adj_x=True, **kind)
        yield Sample(rng.normal(2, 3, 4), rng.normal(2, 2, 4), adj_y=True, **kind)
        yield Sample(rng.normal(2, 4, 3), rng.normal(2, 2, 4), adj_x=True, adj_y=True, **kind)
        yield Sample(rng.normal(0, 3, 4), rng.normal(0, 4, 2), **kind)
        if broadcasts:
            yield Sample(rng.normal(2, 1, 3, 4), rng.normal(3, 4, 2), **kind)
            yield Sample(rng.normal(3, 4), rng.normal(2, 4, 2), **kind)
        yield Sample(rng.normal(2, 3, 4), rng.normal(2, 3, 4), raises=InvalidArgumentError, **kind)
        yield Sample(rng.normal(2, 3, 4), rng.normal(3, 4, 2), raises=InvalidArgumentError, **kind)
        yield Sample(rng.normal(3, 3, 4), rng.normal(4), raises=InvalidArgumentError, **kind)

    @row.reference
    def _(x: np.ndarray, y: np.ndarray, adj_x, adj_y, grad_x, grad_y, Tout: DType | None = None):
        x = x.swapaxes(-1, -2).conj() if adj_x else x
        y = y.swapaxes(-1, -2).conj() if adj_y else y
        return (x[..., :, :, None] * y[..., None, :, :]).sum(-2)

    Tout_of = dtypes.float64 if "Tout" in attrs else None
    row.flops(flops.stacked_products)
    return row


def _batches_fit(a: Sequence[int], b: Sequence[int], broadcasts: bool):
    if not broadcasts:
        return a == b
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1], strict=False))


FLAGS = {"adj_x": False, "adj_y": False, "grad_x": False, "grad_y": False}
PAIR = "x: T, y: T -> output: T"
BatchMatMul = _stack_row("BatchMatMul", PAIR, {"T": FACTORS}, FLAGS, broadcasts=False)
BatchMatMulV2 = _stack_row("BatchMatMulV2", PAIR, {"T": FACTORS}, FLAGS)
MIXED = (*FACTORS, dtypes.int8)
BatchMatMulV3 = _stack_row(
    "BatchMatMulV3",
    "x: Ta, y: Tb -> output: Tout",
    {"Ta": MIXED, "Tb": MIXED},
    {"Tout": dtype, **FLAGS},
)


def _shares_one_matrix(x: Tensor, y: Tensor, dy: Tensor) -> bool:
    """Whether all matrices of x are multiplied by one of y, and it is known how long their rows are."""
    if y.shape.rank != 2 or x.shape.rank is None or x.shape.rank < 3 or dy.shape.rank is None:
        return False
    return bool(x.shape[-1] and dy.shape[-1])


def _stack_gradient(call: GradientCall, dy: Tensor):
    x, y = call.x, call.y
    of_x = of_y = None
    if call.wants("x"):
        if call.adj_x:
            of_x = BatchMatMulV2(y, dy, call.adj_y, True)
        else:
            of_x = BatchMatMulV2(dy, y, False, not call.adj_y)
    if call.wants("y"):
        if _shares_one_matrix(x, y, dy) and not call.adj_x:  # one product over all rows, no sum over batches
            x, dy = (layout.Reshape(each, as_shape([-1, each.shape[-1]])) for each in (x, dy))
        if call.adj_y:
            of_y = BatchMatMulV2(dy, x, True, call.adj_x)
        else:
            of_y = BatchMatMulV2(x, dy, not call.adj_x)
    return of_x, of_y


BatchMatMul.gradient(needs="x, y")(_stack_gradient)
BatchMatMulV2.gradient(needs="x, y")(_stack_gradient)


@BatchMatMulV3.gradient(needs="x, y")
def _(call: GradientCall, dy: Tensor):
    x, y = call.x, call.y
    of_x = of_y = None
    if call.wants("x"):
        if call.adj_x:
            of_x = BatchMatMulV3(y, dy, x.dtype, call.adj_y, True)
        else:
            of_x = BatchMatMulV3(dy, y, x.dtype, False, not call.adj_y)
    if call.wants("y"):
        if call.adj_y:
            of_y = BatchMatMulV3(dy, x, y.dtype, True, call.adj_x)
        else:
            of_y = BatchMatMulV3(x, dy, y.dtype, not call.adj_x)
    return of_x, of_y


@api("linalg.matmul", "matmul")
@tensor_function
def matmul(
    a,
    b,
    transpose_a=False,
    transpose_b=False,
    adjoint_a=False,
    adjoint_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    output_type=None,
    grad_a=False,
    grad_b=False,
    name=None,
):
    """Multiply matrices; dimensions before the last two broadcast.

    Args:
      a: matrices `[..., M, N]` of a numeric dtype.
      b: matrices `[..., N, K]` of that dtype.
      transpose_a, transpose_b: whether that matrix is transposed first.
      adjoint_a, adjoint_b: whether it is transposed and conjugated first.
      a_is_sparse, b_is_sparse: hints, of no effect on the result.
      output_type: the dtype of the result, and of the sums on the way to it; None: that of the matrices.
      grad_a, grad_b: marks of the gradient, of no effect on the result.
      name: a name for the operation (optional).

    Returns:
      The products, `[..., M, K]`.

    Raises:
      InvalidArgumentError: for shapes that do not fit.
      ValueError: where a matrix is to be both transposed and adjoint.

    >>> tf.linalg.matmul([[1, 2], [3, 4]], [[1, 0], [0, 2]])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 4],
           [3, 8]], dtype=int32)>
    """
    if not (adjoint_a or adjoint_b or transpose_a or transpose_b) and output_type is None:
        if a.__class__ is not EagerTensor:
            a = convert_to_tensor(a)
        if b.__class__ is not EagerTensor:
            b = convert_to_tensor(b, dtype_hint=a.dtype)
        if a.__class__ is b.__class__ is EagerTensor and a.ndim == b.ndim == 2 and a.dtype is b.dtype:
            return MatMul(a, b)
    if transpose_a and adjoint_a:
        raise ValueError(
            "Only one of `transpose_a` and `adjoint_a` can be True. Received `transpose_a`=True, `adjoint_a`=True."
        )
    if transpose_b and adjoint_b:
        raise ValueError(
            "Only one of `transpose_b` and `adjoint_b` can be True. Received `transpose_b`=True, `adjoint_b`=True."
        )
    a = convert_to_tensor(a)
    b = convert_to_tensor(b, dtype_hint=a.dtype)
    ranks = a.shape.rank, b.shape.rank
    if {a.dtype, b.dtype} == {dtypes.bfloat16, dtypes.float32} and ranks == (2, 2):
        # TensorFlow has a kernel of the two, whose sums and result are of float32 whatever is asked for.
        a, b, output_type = casting.cast(a, dtypes.float32), casting.cast(b, dtypes.float32), None
    if output_type is not None and not output_type == a.dtype == b.dtype:
        a, adjoint_a = _as_adjoint(a, transpose_a, adjoint_a)
        b, adjoint_b = _as_adjoint(b, transpose_b, adjoint_b)
        return BatchMatMulV3(a, b, dtypes.as_dtype(output_type), adjoint_a, adjoint_b)
    if ranks == (2, 2) or (None not in ranks and min(ranks) < 2 and max(ranks) <= 2):
        if adjoint_a:
            a, transpose_a = conj(a), True
        if adjoint_b:
            b, transpose_b = conj(b), True
        return MatMul(a, b, bool(transpose_a), bool(transpose_b))
    a, adjoint_a = _as_adjoint(a, transpose_a, adjoint_a)
    b, adjoint_b = _as_adjoint(b, transpose_b, adjoint_b)
    return BatchMatMulV2(a, b, adjoint_a, adjoint_b)


def _as_adjoint(x: Tensor, transpose: bool, adjoint: bool):
    """`x`, conjugated where it must be, and whether to take the adjoint of it."""
    return (conj(x), True) if transpose else (x, bool(adjoint))


@api(v1="sparse_matmul")
@tensor_function
def sparse_matmul(
    a: TensorLike, b: TensorLike, transpose_a: bool = False, transpose_b: bool = False,
    a_is_sparse: bool = False, b_is_sparse: bool = False, name: str | None = None,
):
    """The product of two float32 or bfloat16 matrices, of which the flags say that they are mostly zeros."""
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    return matmul(
        casting.cast(a, dtypes.float32), casting.cast(b, dtypes.float32), transpose_a, transpose_b
    )


@api("linalg.matvec")
@tensor_function
@graph_scope("MatVec")
def matvec(
    a: TensorLike, b: TensorLike, transpose_a: bool = False, adjoint_a: bool = False,
    a_is_sparse: bool = False, b_is_sparse: bool = False, name: str | None = None,
):
    """Multiply matrices by vectors.

    Args:
      a: matrices `[..., M, N]` of a numeric dtype.
      b: vectors `[..., N]` of the dtype of `a`; the dimensions before broadcast.
      transpose_a: whether `a` is transposed first.
      adjoint_a: whether `a` is transposed and conjugated first.
      a_is_sparse, b_is_sparse: hints, which are not used.
      name: a name for the operation (optional).

    Returns:
      Vectors `[..., M]` of their dtype.

    Raises:
      InvalidArgumentError: for sizes that do not fit.

    >>> tf.linalg.matvec([[1, 2], [3, 4]], [10, 1])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([12, 34], dtype=int32)>
    """
    product = matmul(a, layout.ExpandDims(convert_to_tensor(b), -1), transpose_a, False, adjoint_a)
    return layout.Squeeze(product, [-1])

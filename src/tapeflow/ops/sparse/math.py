"""Rows of arithmetic with sparse tensors: products, sums, reductions, softmax, elementwise with a dense tensor."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, ShapeLike, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.folding import fold_at
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.indexing.gather_nd import gather_nd
from tapeflow.ops.linalg.matrix_function import matrix_transpose
from tapeflow.ops.math import reductions
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.signature import Preferring
from tapeflow.ops.sparse.parts import checked, places, summed
from tapeflow.ops.sparse.rows import INDICES, SHAPE, dense_of, sparse_rule, values_of
from tapeflow.ops.table import FLOATING_OR_COMPLEX, INDEX, NUMERIC, REAL, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

from tapeflow.ops.sparse.elementwise import SparseDenseCwiseAdd
from tapeflow.ops.sparse.merging import OTHER, bad_parts, merged
from tapeflow.ops.sparse.reductions import SparseReduceSum

_INDICES64 = (dtypes.int64, dtypes.int32)


# Product with a dense matrix


def _matmul_rule(call: ShapeCall):
    shapes.require_ranks(call, 2, 1)
    a = shapes.with_rank(shapes.from_value(call, 2), 2)
    b = shapes.with_rank(call.shape(3), 2)
    if call.attr("adjoint_a"):
        a = a[::-1]
    if call.attr("adjoint_b"):
        b = b[::-1]
    shapes.same_dimension(a[1], b[0])
    return [(a[0], b[1])]


@op("SparseTensorDenseMatMul", "a_indices: Tindices, a_values: T, a_shape: int64, b: T -> product: T",
    types={"T": (*FLOATING_OR_COMPLEX, dtypes.int32), "Tindices": Preferring(_INDICES64)},
    attrs={"adjoint_a": False, "adjoint_b": False}, shape=_matmul_rule)  # fmt: skip
def SparseTensorDenseMatMul(
    xp: ModuleType, a_indices: np.ndarray, a_values: np.ndarray, a_shape: np.ndarray, b: Array,
    adjoint_a: bool, adjoint_b: bool,
):
    if b.ndim != 2:
        raise invalid(f"Tensor 'b' is not a matrix: {shape_text(b.shape)}")
    if a_shape.ndim != 1 or len(a_shape) != 2:
        raise invalid(
            f"Tensor 'a_shape' must have 2 elements, got shape {shape_text(a_shape.shape)}"
        )
    sizes = checked(a_indices.astype(np.int64), a_values, a_shape, in_range=False)
    if xp is np:
        _require_factors(a_indices, sizes, adjoint_a)
    rows, columns = a_indices[:, 0], a_indices[:, 1]
    values = a_values
    if adjoint_a:
        rows, columns, sizes, values = columns, rows, sizes[::-1], xp.conj(a_values)
    right = xp.conj(b).T if adjoint_b else b
    if sizes[1] != right.shape[0]:
        raise invalid(
            "Cannot multiply A and B because inner dimension does not match: "
            f"{sizes[1]} vs. {right.shape[0]}.  Did you forget a transpose?  Dimensions of A: "
            f"[{sizes[0]}, {sizes[1]}).  Dimensions of B: {shape_text(b.shape)}"
        )
    wide = np.float32 if b.dtype.itemsize <= 2 else b.dtype
    products = values[:, None].astype(wide) * right[columns].astype(wide)
    if xp is np:
        out = summed(products, rows, sizes[0])
    else:
        out = xp.zeros((sizes[0], right.shape[1]), wide).at[rows].add(products)
    return out.astype(b.dtype)


def _require_factors(indices: np.ndarray, sizes: Sequence[int], adjoint: bool) -> None:
    """Raises InvalidArgumentError for an index that is no row (m) or column (k); `adjoint` swaps them."""
    outside = (indices < 0) | (indices >= np.array(sizes, np.int64))
    if outside.any():
        i = int(outside.any(1).argmax())
        names = [("k", 0), ("m", 1)] if adjoint else [("k", 1), ("m", 0)]
        name, place = next(pair for pair in names if outside[i, pair[1]])
        raise invalid(f"{name} ({indices[i, place]}) from index[{i},{place}] out of bounds (>={sizes[place]})")


SparseTensorDenseMatMul.compiled(static="a_shape")


@SparseTensorDenseMatMul.gradient(needs="a_indices, a_values, a_shape, b")
def _(call: GradientCall, dy: Tensor):
    rows, columns = call.a_indices[:, 0], call.a_indices[:, 1]
    if call.adjoint_a:
        rows, columns = columns, rows
    b = matrix_transpose(conj(call.b)) if call.adjoint_b else call.b
    d_values = reductions.reduce_sum(gather(dy, rows) * conj(gather(b, columns)), 1)
    d_b = SparseTensorDenseMatMul(
        call.a_indices, call.a_values, call.a_shape, dy, not call.adjoint_a, False
    )
    if call.adjoint_a:
        d_values = conj(d_values)
    return None, d_values, None, matrix_transpose(conj(d_b)) if call.adjoint_b else d_b


@SparseTensorDenseMatMul.samples
def _(rng: SampleGenerator):
    values = values_of(rng)
    for a in (False, True):
        for b in (False, True):
            inner = 3 if a else 4
            dense = rng.normal(2, inner) if b else rng.normal(inner, 2)
            yield Sample(INDICES, values, SHAPE, dense, adjoint_a=a, adjoint_b=b)
    yield Sample(INDICES, values, SHAPE, rng.normal(3, 2), raises=InvalidArgumentError)
    yield Sample(INDICES, values, SHAPE, rng.normal(4), raises=InvalidArgumentError)
    yield Sample(INDICES, values, SHAPE[:1], rng.normal(4, 2), raises=InvalidArgumentError)
    yield from bad_parts(rng.normal(4, 2))
    yield Sample(INDICES[::-1], values, SHAPE, rng.normal(4, 2))  # rows against their order


@SparseTensorDenseMatMul.reference
def _(indices: np.ndarray, values: np.ndarray, shape: ShapeLike, b: np.ndarray, adjoint_a: bool, adjoint_b: bool):
    a = dense_of(indices, values, shape)
    return (a.conj().T if adjoint_a else a) @ (b.conj().T if adjoint_b else b)


@op("SparseTensorDenseAdd", "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T -> output: T",
    types={"T": NUMERIC, "Tindices": INDEX}, shape=lambda call: [call.shape(3)])  # fmt: skip
def SparseTensorDenseAdd(
    xp: ModuleType, a_indices: np.ndarray, a_values: np.ndarray, a_shape: np.ndarray, b: Array
):
    sizes = checked(a_indices, a_values, a_shape, in_range=False)
    if sizes != b.shape:
        raise invalid(
            f"Dimensions do not match: the sparse tensor has shape {shape_text(sizes)}, the dense one "
            f"{shape_text(b.shape)}"
        )
    for row, axis in np.argwhere((a_indices < 0) | (a_indices >= np.array(sizes, np.int64)))[:1]:
        raise invalid(
            f"Sparse tensor has an invalid index on dimension {axis}: a_indices({row},{axis}) = "
            f"{a_indices[row, axis]}, dense tensor shape: {shape_text(sizes)}"
        )
    out = np.array(b)
    fold_at(np.add, out, tuple(a_indices.T), a_values)
    return out


@SparseTensorDenseAdd.compiled()
def _(xp: ModuleType, a_indices: np.ndarray, a_values: np.ndarray, a_shape: np.ndarray, b):
    return b.at[tuple(a_indices.T)].add(a_values)


@SparseTensorDenseAdd.gradient(needs="a_indices")
def _(call: GradientCall, dy: Tensor):
    return None, gather_nd(dy, call.a_indices), None, dy


@SparseTensorDenseAdd.samples
def _(rng: SampleGenerator):
    yield Sample(INDICES, values_of(rng), SHAPE, rng.normal(3, 4))
    yield Sample(INDICES, values_of(rng), SHAPE, rng.normal(4, 4), raises=InvalidArgumentError)
    yield from bad_parts(rng.normal(3, 4))


SparseTensorDenseAdd.reference(
    lambda indices, values, shape, b: dense_of(indices, values, shape) + b
)


_REAL_OF = (*REAL,)


@op("SparseAdd",
    "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64, thresh: Treal "
    "-> sum_indices: int64, sum_values: T, sum_shape: int64",
    types={"T": NUMERIC, "Treal": _REAL_OF}, ranks="a_shape: 1", shape=sparse_rule())  # fmt: skip
def SparseAdd(
    xp: ModuleType, a_indices: np.ndarray, a_values: np.ndarray, a_shape: np.ndarray, b_indices: np.ndarray,
    b_values: np.ndarray, b_shape: np.ndarray, thresh: Array,
):
    sizes = checked(a_indices, a_values, a_shape)
    other = checked(b_indices, b_values, b_shape)
    if thresh.ndim:
        raise invalid(
            f"The magnitude threshold must be a scalar: got shape {shape_text(thresh.shape)}"
        )
    if len(sizes) != len(other):
        raise invalid(
            f"Ranks of input tensors must match, but saw ranks: {len(sizes)} and {len(other)}"
        )
    if sizes != other:
        raise invalid(f"Input shapes must match: got {shape_text(sizes)} and {shape_text(other)}")
    union, at_a, at_b = merged(a_indices, b_indices)
    total = np.zeros(len(union), a_values.dtype)
    fold_at(np.add, total, at_a, a_values)
    fold_at(np.add, total, at_b, b_values)
    # Only what stands in both can cancel out.
    alone = np.ones((2, len(union)), bool)
    alone[0, at_b], alone[1, at_a] = False, False
    kept = alone.any(0) | (np.abs(total) >= thresh)
    return union[kept], total[kept], np.array(sizes, np.int64)


SparseAdd.compiled(never="how many elements it returns depends on values")


@SparseAdd.gradient(needs="a_indices, b_indices, sum_indices")
def _(call: GradientCall, *dy):
    d_a, d_b = SparseAddGrad(dy[1], call.a_indices, call.b_indices, call.sum_indices)
    return None, d_a, None, None, d_b, None, None


@SparseAdd.samples
def _(rng: SampleGenerator):
    a, b = values_of(rng), rng.normal(4)
    yield Sample(INDICES, a, SHAPE, OTHER, b, SHAPE, 0.0, differentiable=(1, 4))
    yield Sample(INDICES, a, SHAPE, OTHER, b, SHAPE, np.array(0.8), differentiable=(1, 4))
    yield Sample(INDICES, a, SHAPE, OTHER[:0], b[:0], SHAPE, 0.0, differentiable=(1, 4))
    for shape in (SHAPE + 1, np.array([3, 4, 1])):
        yield Sample(INDICES, a, SHAPE, OTHER, b, shape, 0.0, raises=InvalidArgumentError)
    yield Sample(INDICES, a, SHAPE, OTHER, b, SHAPE, [0.0], raises=InvalidArgumentError)
    yield from bad_parts(OTHER, b, SHAPE, 0.0)


@SparseAdd.reference
def _(
    a_indices: np.ndarray, a: np.ndarray, shape: ShapeLike, b_indices: np.ndarray, b: np.ndarray, b_shape: np.ndarray,
    thresh: np.ndarray,
):
    total = dense_of(a_indices, a, shape) + dense_of(b_indices, b, shape)
    left, right = ({tuple(at) for at in own.tolist()} for own in (a_indices, b_indices))
    kept = [at for at in sorted(left | right) if at not in left & right or abs(total[at]) >= thresh]
    return np.array(kept), np.array([total[at] for at in kept]), shape


@op("SparseAddGrad",
    "backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64 -> a_val_grad: T, b_val_grad: T",
    types={"T": NUMERIC},
    ranks="a_indices: 2, b_indices: 2",
    shape=lambda call: [call.shape(i)[:1] for i in (1, 2)])  # fmt: skip
def SparseAddGrad(
    xp: ModuleType, backprop_val_grad: Array, a_indices: Array, b_indices: Array, sum_indices: Array
):
    if backprop_val_grad.ndim != 1 or len(backprop_val_grad) != len(sum_indices):
        raise invalid(
            "# elements in backprop_val_grad and rows in sum_indices should match (#nnz of sum): got "
            f"{backprop_val_grad.size} and {len(sum_indices) if sum_indices.ndim else 0}"
        )
    if any(x.ndim != 2 or x.shape[1] != sum_indices.shape[1] for x in (a_indices, b_indices)):
        raise invalid("The densified operands should have the same ndims")
    found = {tuple(at): g for at, g in zip(sum_indices.tolist(), backprop_val_grad, strict=True)}
    zero = backprop_val_grad.dtype.type(0)
    return tuple(
        np.array([found.get(tuple(at), zero) for at in own.tolist()], backprop_val_grad.dtype)
        for own in (a_indices, b_indices)
    )


SparseAddGrad.compiled(never="it looks at values")


@SparseAddGrad.samples
def _(rng: SampleGenerator):
    union = np.unique(np.concatenate([INDICES, OTHER]), axis=0)
    yield Sample(rng.normal(len(union)), INDICES, OTHER, union)
    yield Sample(rng.normal(2), INDICES, OTHER, union, raises=InvalidArgumentError)
    yield Sample(rng.normal(len(union)), INDICES[:, :1], OTHER, union, raises=InvalidArgumentError)


@SparseAddGrad.reference
def _(dy: np.ndarray, a_indices: np.ndarray, b_indices: np.ndarray, sum_indices: np.ndarray):
    dense = dense_of(sum_indices, dy, SHAPE)
    return dense[tuple(a_indices.T)], dense[tuple(b_indices.T)]


# Reductions


@op("SparseSoftmax", "sp_indices: int64, sp_values: T, sp_shape: int64 -> output: T",
    types={"T": (dtypes.float32, dtypes.float64, dtypes.float16)},
    ranks="sp_indices: 2, sp_values: 1, sp_shape: 1",
    shape=lambda call: [call.shape(1)])  # fmt: skip
def SparseSoftmax(xp: ModuleType, sp_indices: np.ndarray, sp_values: np.ndarray, sp_shape: np.ndarray):
    sizes = checked(sp_indices, sp_values, sp_shape)
    if len(sizes) < 2:
        raise invalid(f"Input should have rank >= 2, but got shape {shape_text(sizes)}")
    _, runs = np.unique(places(sp_indices[:, :-1], sizes[:-1]), return_inverse=True)
    count = int(runs.max()) + 1 if len(runs) else 0
    top = np.full(count, -np.inf, sp_values.dtype)
    fold_at(np.maximum, top, runs, sp_values)
    powers = np.exp(sp_values - top[runs])
    return (powers / summed(powers, runs, count)[runs]).astype(sp_values.dtype)


SparseSoftmax.compiled(never="it looks at values")


@SparseSoftmax.gradient(needs="sp_indices, sp_shape, output")
def _(call: GradientCall, dy: Tensor):
    weighted = dy * call.output
    sums = SparseReduceSum(call.sp_indices, weighted, call.sp_shape, [-1], True)
    return None, SparseDenseCwiseAdd(call.sp_indices, dy, call.sp_shape, -sums) * call.output, None


@SparseSoftmax.samples
def _(rng: SampleGenerator):
    yield Sample(INDICES, values_of(rng), SHAPE)
    yield Sample(INDICES[:0], values_of(rng)[:0], SHAPE)
    yield Sample(INDICES[:, :1], values_of(rng), SHAPE[:1], raises=InvalidArgumentError)
    yield from bad_parts()


@SparseSoftmax.reference
def _(indices, values, shape):
    out = np.zeros(len(values))
    for row in range(shape[0]):
        own = np.flatnonzero(indices[:, 0] == row) if len(indices) else []
        out[own] = np.exp(values[own]) / np.exp(values[own]).sum()
    return out

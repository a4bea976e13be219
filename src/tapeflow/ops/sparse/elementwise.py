"""Rows of sparse and dense tensors, or of two sparse ones, element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import ShapeLike, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import Reshape, expand_dims
from tapeflow.ops.array.sizes import Rank, Shape
from tapeflow.ops.indexing.gather_nd import gather_nd
from tapeflow.ops.indexing.scatter import ScatterNd
from tapeflow.ops.math import arithmetic, reductions
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.sparse.merging import OTHER, bad_parts, merged
from tapeflow.ops.sparse.parts import checked
from tapeflow.ops.sparse.rows import INDICES, SHAPE, dense_of, sparse_rule, values_of
from tapeflow.ops.sparse.shapes import elements_and_rank
from tapeflow.ops.table import NUMERIC, REAL, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


# Elementwise with a dense tensor, which is broadcast to the sparse one


def _aligned(indices, sizes, dense):
    """The elements of the dense tensor in the places of the sparse one."""
    rank = len(sizes)
    lead = rank - dense.ndim
    fits = lead >= 0 and all(d in (1, n) for d, n in zip(dense.shape, sizes[lead:], strict=True))
    if not fits:
        raise invalid(
            "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: "
            f"{shape_text(sizes)} vs. {shape_text(dense.shape)}"
        )
    at = tuple(
        indices[:, lead + k] if n > 1 else np.zeros(len(indices), np.int64)
        for k, n in enumerate(dense.shape)
    )
    return dense[at] if dense.ndim else np.repeat(dense.reshape(1), len(indices))


def _places_in(indices, dense):
    """The same as `_aligned`, of tensors: indices into `dense`."""
    rank = dense.shape.rank
    sizes = cast(Shape(dense), dtypes.int64)
    if rank is None:
        # With an axis of size 1 in front, there is one in any case.
        own = arithmetic.minimum(indices[:, Shape(indices)[1] - Rank(dense) :], sizes - 1)
        return concat([indices[:, :1] * 0, own], 1)
    own = indices[:, -rank:] if rank else indices[:, :0]
    return arithmetic.minimum(own, sizes - 1)


def _found(dense, at):
    if dense.shape.rank is None:
        return gather_nd(expand_dims(dense, 0), at)
    return gather_nd(dense, at) if dense.shape.rank else dense


def _spread(at, values, dense):
    if dense.shape.rank == 0:
        return reductions.reduce_sum(values)
    if dense.shape.rank is None:
        sizes = cast(Shape(expand_dims(dense, 0)), dtypes.int64)
        return Reshape(ScatterNd(at, values, sizes), Shape(dense))
    return ScatterNd(at, values, cast(Shape(dense), dtypes.int64))


def _elementwise(name: str, formula: Callable[..., Any]):
    def kernel(xp: ModuleType, sp_indices, sp_values, sp_shape, dense):
        sizes = checked(sp_indices, sp_values, sp_shape)
        other = _aligned(sp_indices, sizes, dense)
        if name.endswith("Div") and sp_values.dtype.kind in "iu" and (other == 0).any():
            raise invalid("Integer division by zero")
        with np.errstate(all="ignore"):
            return formula(sp_values, other).astype(sp_values.dtype)

    row = op(name, "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T",
             types={"T": NUMERIC},
             shape=lambda call: [elements_and_rank(call, 0)[:1]])(kernel)  # fmt: skip

    @row.compiled()
    def _(xp: ModuleType, sp_indices, sp_values, sp_shape, dense):
        count, rank = sp_indices.shape
        if dense.ndim > rank:
            raise invalid(f"SparseDenseBinaryOpShared broadcasts dense to sparse only; got ranks {dense.ndim}, {rank}")
        own = sp_indices[:, rank - dense.ndim :]  # what has one element along an axis has it for all
        at = xp.minimum(own, xp.asarray(dense.shape, sp_indices.dtype) - 1)
        other = dense[tuple(at.T)] if dense.ndim else xp.broadcast_to(dense, (count,))
        return formula(sp_values, other).astype(sp_values.dtype)

    @row.samples
    def _(rng: SampleGenerator):
        values = values_of(rng)
        for shape in ((3, 4), (1, 4), (3, 1), (4,), ()):
            yield Sample(INDICES, values, SHAPE, np.abs(rng.normal(*shape)) + 1)
        yield Sample(INDICES, values, SHAPE, rng.normal(2, 4), raises=InvalidArgumentError)
        yield Sample(INDICES, values, SHAPE, rng.normal(1, 3, 4), raises=InvalidArgumentError)
        yield from bad_parts(rng.normal(4))

    @row.reference
    def _(indices: Any, values: Any, shape: Sequence[Any], dense):
        return formula(values, np.broadcast_to(dense, shape)[tuple(indices.T)])

    return row


def _quotient(a, b):
    if a.dtype.kind in "iu":
        whole = a // b  # rounded down, where integers are divided towards zero
        return whole + ((a % b != 0) & ((a < 0) != (b < 0)))
    return a / b


SparseDenseCwiseAdd = _elementwise("SparseDenseCwiseAdd", lambda a, b: a + b)
SparseDenseCwiseMul = _elementwise("SparseDenseCwiseMul", lambda a, b: a * b)
SparseDenseCwiseDiv = _elementwise("SparseDenseCwiseDiv", _quotient)


@SparseDenseCwiseAdd.gradient(needs="sp_indices, dense")
def _(call: GradientCall, dy: Tensor):
    at = _places_in(call.sp_indices, call.dense)
    return None, dy, None, _spread(at, dy, call.dense)


@SparseDenseCwiseMul.gradient(needs="sp_indices, sp_values, dense")
def _(call: GradientCall, dy: Tensor):
    at = _places_in(call.sp_indices, call.dense)
    other = _found(call.dense, at)
    return None, dy * conj(other), None, _spread(at, dy * conj(call.sp_values), call.dense)


@SparseDenseCwiseDiv.gradient(needs="sp_indices, sp_values, dense")
def _(call: GradientCall, dy: Tensor):
    at = _places_in(call.sp_indices, call.dense)
    other = _found(call.dense, at)
    d_dense = dy * conj(-call.sp_values / (other * other))
    return None, dy / conj(other), None, _spread(at, d_dense, call.dense)


# The larger and the smaller of two sparse tensors


def _extremum(name: str, choose: Callable[..., Any]):
    def kernel(xp: ModuleType, a_indices, a_values, a_shape, b_indices, b_values, b_shape):
        sizes, other = checked(a_indices, a_values, a_shape), checked(b_indices, b_values, b_shape)
        if len(sizes) != len(other):
            raise invalid(
                f"Operands do not have the same ranks; got shapes: {shape_text(sizes)} and {shape_text(other)}"
            )
        if sizes != other:
            raise invalid(
                f"Operands' shapes do not match: got {shape_text(sizes)} and {shape_text(other)}"
            )
        union, at_a, at_b = merged(a_indices, b_indices)
        left, right = np.zeros((2, len(union)), a_values.dtype)
        left[at_a], right[at_b] = a_values, b_values
        return union, choose(left, right)

    row = op(name, "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64 "
             "-> output_indices: int64, output_values: T", types={"T": REAL},
             ranks="a_indices: 2, a_values: 1, a_shape: 1, b_indices: 2, b_values: 1, b_shape: 1",
             shape=lambda call: sparse_rule()(call)[:2])(kernel)  # fmt: skip
    row.gradient(None)
    row.compiled(never="how many elements it returns depends on values")

    @row.samples
    def _(rng: SampleGenerator):
        yield Sample(INDICES, values_of(rng), SHAPE, OTHER, rng.normal(4), SHAPE)
        yield Sample(INDICES, values_of(rng), SHAPE, OTHER, rng.normal(4), SHAPE + 1,
                     raises=InvalidArgumentError)  # fmt: skip
        yield from bad_parts(OTHER, rng.normal(4), SHAPE)

    @row.reference
    def _(a_indices, a: np.ndarray, shape: ShapeLike, b_indices, b: np.ndarray, b_shape):
        whole = choose(dense_of(a_indices, a, shape), dense_of(b_indices, b, shape))
        at = sorted({tuple(at) for at in (*a_indices.tolist(), *b_indices.tolist())})
        return np.array(at), np.array([whole[i] for i in at])

    return row


SparseSparseMaximum = _extremum("SparseSparseMaximum", np.maximum)
SparseSparseMinimum = _extremum("SparseSparseMinimum", np.minimum)

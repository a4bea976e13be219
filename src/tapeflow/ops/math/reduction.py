"""Reductions: sums, means, products, extremes, truths and norms over chosen axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import EagerTensor, Tensor
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import batching, flops, shapes
from tapeflow.ops.array import broadcasting, layout, transposing
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.sizes import Shape, Size
from tapeflow.ops.math import arithmetic, casting, choice, comparison, cumulative, division
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.signature import Preferring
from tapeflow.ops.static import rank_in, static_value
from tapeflow.ops.table import INDEX, NUMERIC, REAL, Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


def ranges_module() -> ModuleType:
    from tapeflow.ops.array import ranges  # a circle: it is made of this module

    return ranges


SCHEMA = "input: T, reduction_indices: Tidx -> output: T"


def normal_axes(indices, rank: int) -> tuple[int, ...]:
    """Axes counted from the front. Raises InvalidArgumentError for one out of range or named twice."""
    axes: list[int] = []
    for index in np.ravel(indices).tolist():
        if not -rank <= index < rank:
            raise invalid(
                f"Invalid reduction dimension ({index} for input with {rank} dimension(s)"
            )
        if index % rank in axes:
            raise invalid(
                f"Invalid reduction arguments: Axes contains duplicate dimension: {index % rank}"
            )
        axes.append(index % rank)
    return tuple(axes)


def _row(name: str, types, kernel, reference, foldable: bool = False):
    """The row of a reduction: `kernel(xp, input, axes, keep_dims)`; `reference` reduces a flat list of numbers."""

    @op(
        name,
        SCHEMA,
        types={"T": types, "Tidx": Preferring(INDEX)},
        attrs={"keep_dims": False},
        shape=shapes.reduction,
        promotes="weakness",
        foldable=foldable,
    )
    def row(xp: ModuleType, input: Array, reduction_indices: Array, keep_dims: bool):
        return kernel(xp, input, normal_axes(reduction_indices, input.ndim), keep_dims)

    @row.samples
    def _(rng: SampleGenerator):
        yield Sample(rng.normal(3, 4), np.array([0, 1], np.int32))
        yield Sample(rng.normal(3, 4), 1)
        yield Sample(rng.normal(2, 3, 4), np.array([-1, 0], np.int64), keep_dims=True)
        yield Sample(rng.normal(2, 3, 4), np.array([1]))
        yield Sample(rng.normal(2, 2), np.zeros((0,), np.int32))
        yield Sample(np.asarray(rng.normal()), np.zeros((0,), np.int32))
        yield Sample(rng.normal(2, 3), 2, raises=InvalidArgumentError)
        yield Sample(rng.normal(2, 3), -3, raises=InvalidArgumentError)
        yield Sample(rng.normal(2, 3), np.array([0, -2]), raises=InvalidArgumentError)

    row.reference(_by_hand(reference))
    row.batching(batching.along(1, 0))
    return row


def _by_hand(reduce):
    """A reference: every output element from the list of the elements it is made of."""

    def reference(input, reduction_indices, keep_dims: bool):
        axes = (
            sorted(int(a) % input.ndim for a in np.ravel(reduction_indices)) if input.ndim else []
        )
        others = [d for d in range(input.ndim) if d not in axes]
        kept = tuple(input.shape[d] for d in others)
        rows = input.transpose(others + axes).reshape((math.prod(kept), -1) if input.size else kept)
        out = np.array([reduce(row.tolist()) for row in rows]).reshape(kept)
        shape = tuple(1 if d in axes else n for d, n in enumerate(input.shape))
        return out.reshape(shape) if keep_dims else out

    return reference


def _wide(x):
    """Half precision adds up in single."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x


def _kept_shape(call: GradientCall, name: str = "input"):
    """The shape of the input with ones in place of the reduced axes."""
    static = call.static_shape(name)
    indices = static_value(call.reduction_indices)
    if indices is not None and static.rank is not None:
        axes = normal_axes(indices, static.rank)
        dims = [1 if d in axes else n for d, n in enumerate(static.as_list())]
        if None not in dims:
            return np.array(dims, np.int32)
    dynamic, rank = call.shape(name), rank_in(call, name)
    range_ = ranges_module().range
    axes = layout.Reshape(casting.cast(call.reduction_indices, dtypes.int32), [-1, 1])
    hits = comparison.Equal(division.FloorMod(axes, rank), range_(rank))
    return choice.SelectV2(Any(hits, 0), 1, dynamic)


def _kept(call: GradientCall, y: Tensor):
    """`y`, of the output's shape, with ones in place of the reduced axes."""
    if y.__class__ is not EagerTensor:
        known = static_value(call.reduction_indices)
        if known is not None:
            at = np.ravel(known)
            rank = call.static_shape("input").rank
            if rank is not None:
                at = np.array(normal_axes(at, rank))
            # Of axes of one sign, each new one is put where it stays: those nearest to their end come first.
            if (at >= 0).all() or (at < 0).all():
                for axis in sorted(at.tolist(), key=lambda a: a if a >= 0 else -a):
                    y = layout.ExpandDims(y, axis)
                return y
    return layout.Reshape(y, _kept_shape(call))


def _spread(call: GradientCall, dy: Tensor):
    """`dy`, each element where those are that were reduced to it."""
    shape = call.shape("input")
    if not call.keep_dims and dy.shape.rank != 0:
        dy = _kept(call, dy)
    return broadcasting.BroadcastTo(dy, shape)


def _aligned(call: GradientCall, y: Tensor):
    """`y`, of the output's shape, so that it broadcasts with the input."""
    return y if call.keep_dims or y.shape.rank == 0 else _kept(call, y)


def _sum(xp: ModuleType, input: Array, axes: Sequence[int], keep_dims: bool):
    return xp.sum(_wide(input), axes, keepdims=keep_dims).astype(input.dtype)


Sum = _row("Sum", NUMERIC, _sum, sum, foldable=True)
Sum.flops(flops.reduction)


@Sum.gradient(needs="reduction_indices")
def _(call: GradientCall, dy: Tensor):
    return _spread(call, dy), None


def _mean(xp: ModuleType, input: Array, axes, keep_dims: bool):
    if input.dtype.kind not in "iu":
        return xp.mean(_wide(input), axes, keepdims=keep_dims).astype(input.dtype)
    total = xp.sum(input, axes, keepdims=keep_dims, dtype=input.dtype.kind + "8")
    return quotient(xp, total, math.prod(input.shape[a] for a in axes)).astype(input.dtype)


def quotient(xp: ModuleType, total, count: int):
    """Integers by counts, rounded towards zero, a count of 0 as 1."""
    count = xp.maximum(count, 1).astype(total.dtype)
    size = xp.where(total < 0, -total, total) // count
    return xp.where(total < 0, -size, size)


Mean = _row("Mean", NUMERIC, _mean, lambda v: math.fsum(v) / len(v))
Mean.flops(flops.each_input())


@Mean.gradient(needs="reduction_indices")
def _(call: GradientCall, dy: Tensor):
    inputs, outputs = call.static_shape("input").num_elements(), dy.shape.num_elements()
    if inputs is None or outputs is None:
        ratio = division.RealDiv(
            casting.cast(Prod(call.shape("input"), 0), dy.dtype), casting.cast(Size(dy), dy.dtype)
        )
    else:
        ratio = float(inputs // max(outputs, 1))
    return _spread(call, division.RealDiv(dy, ratio)), None


Prod = _row(
    "Prod",
    NUMERIC,
    lambda xp, x, axes, keep: xp.prod(_wide(x), axes, keepdims=keep).astype(x.dtype),
    math.prod,
    foldable=True,
)


@Prod.gradient(needs="input, reduction_indices")
def _(call: GradientCall, dy: Tensor):
    """Each element's slope is the product of the others: those before it times those after it."""
    x, rank = call.input, call.static_shape("input").rank
    dy = _spread(call, dy)
    if rank == 0:
        return dy, None

    indices = static_value(call.reduction_indices)
    if rank is None or indices is None:
        order, back, count = _moved_to_front(call)
    else:
        axes = normal_axes(indices, rank)
        order, count = [*axes, *(d for d in range(rank) if d not in axes)], len(axes)
        if count == 0:
            return dy, None
        back = np.argsort(order).astype(np.int32)
    moved = transposing.Transpose(x, order)
    shape = Shape(moved)
    reduced = Prod(shape[:count], 0, True)
    others = Prod(shape[count:], 0, True)
    flat = layout.Reshape(moved, _joined(reduced, others))
    before = cumulative.Cumprod(flat, 0, exclusive=True)
    after = cumulative.Cumprod(flat, 0, exclusive=True, reverse=True)
    slope = layout.Reshape(conj(arithmetic.Mul(before, after)), shape)
    return arithmetic.Mul(dy, transposing.Transpose(slope, back)), None


def _moved_to_front(call):
    """The order of dimensions that begins with the reduced ones, its inverse, and how many are reduced."""
    range_ = ranges_module().range
    from tapeflow.ops.indexing.unique import setdiff1d

    rank = rank_in(call, "input")
    axes = layout.Reshape(casting.cast(call.reduction_indices, dtypes.int32), [-1])
    axes = division.FloorMod(axes, arithmetic.Maximum(rank, 1))
    order = _joined(axes, setdiff1d(range_(rank), axes)[0])
    return order, transposing.InvertPermutation(order), Size(axes)


def _joined(*vectors):
    return ConcatV2(list(vectors), 0)


def _lowest(dtype: DType):
    return -math.inf if dtype.kind not in "iu" else np.iinfo(dtype).min


def _highest(dtype: DType):
    return math.inf if dtype.kind not in "iu" else np.iinfo(dtype).max


def _extreme(name: str, function: str, limit, reference):
    def kernel(xp: ModuleType, input: Array, axes, keep_dims: bool):
        initial = np.asarray(limit(input.dtype)).astype(input.dtype)
        return getattr(xp, function)(input, axes, keepdims=keep_dims, initial=initial)

    row = _row(name, REAL, kernel, reference, foldable=True)

    @row.gradient(needs="input, output, reduction_indices")
    def _(call: GradientCall, dy: Tensor):
        """Those that are the extreme share its gradient."""
        chosen = comparison.Equal(_aligned(call, call.output), call.input)
        chosen = casting.Cast(chosen, dy.dtype)
        count = _aligned(call, Sum(chosen, call.reduction_indices, call.keep_dims))
        return arithmetic.Mul(division.RealDiv(chosen, count), _aligned(call, dy)), None

    return row


Max = _extreme("Max", "max", _lowest, max)
Min = _extreme("Min", "min", _highest, min)


def _truth(name: str, function: str, reference):
    @op(
        name,
        "input: bool, reduction_indices: Tidx -> output: bool",
        types={"Tidx": Preferring(INDEX)},
        attrs={"keep_dims": False},
        shape=shapes.reduction,
        foldable=True,
    )
    def row(xp: ModuleType, input: Array, reduction_indices: Array, keep_dims: bool):
        axes = normal_axes(reduction_indices, input.ndim)
        return getattr(xp, function)(input, axes, keepdims=keep_dims)

    row.gradient(None)

    @row.samples
    def _(rng: SampleGenerator):
        table = np.array([[True, True, False], [True, False, False]])
        yield Sample(table, 0)
        yield Sample(table, np.array([0, 1], np.int64), keep_dims=True)
        yield Sample(table, np.zeros((0,), np.int32))
        yield Sample(table, 2, raises=InvalidArgumentError)

    row.reference(_by_hand(reference))
    return row


All = _truth("All", "all", lambda v: False not in v)
Any = _truth("Any", "any", lambda v: True in v)


def _norm(xp: ModuleType, input: Array, axes, keep_dims: bool):
    x = xp.abs(_wide(input))
    return xp.sqrt(xp.sum(x * x, axes, keepdims=keep_dims)).astype(input.dtype)


EuclideanNorm = _row("EuclideanNorm", NUMERIC, _norm, lambda v: math.hypot(*v))


@EuclideanNorm.gradient(needs="input, output, reduction_indices")
def _(call: GradientCall, dy: Tensor):
    scale = division.RealDiv(_aligned(call, call.output), _aligned(call, dy))
    return division.RealDiv(call.input, scale), None

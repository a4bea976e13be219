"""Reductions: sums, means, products, extremes, truths and norms over chosen axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow import _native
from tapeflow._native import EagerTensor, Tensor, Variable
from tapeflow.api import api, api_value
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, AxisLike, DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array import broadcasting, layout
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.rows import Rank, Shape, Size, StopGradient
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.math import (
    arithmetic,
    casting,
    comparison,
    complex_numbers,
    cumulative,
    elementwise,
)
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.signature import Preferring
from tapeflow.ops.static import rank_in, static_value
from tapeflow.ops.table import INDEX, NUMERIC, REAL, Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


def _construction() -> ModuleType:
    from tapeflow.ops.array import construction  # a circle: it is made of this module

    return construction


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
    range_ = _construction().range
    axes = layout.Reshape(casting.cast(call.reduction_indices, dtypes.int32), [-1, 1])
    hits = comparison.Equal(arithmetic.FloorMod(axes, rank), range_(rank))
    return comparison.SelectV2(Any(hits, 0), 1, dynamic)


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


@Mean.gradient(needs="reduction_indices")
def _(call: GradientCall, dy: Tensor):
    inputs, outputs = call.static_shape("input").num_elements(), dy.shape.num_elements()
    if inputs is None or outputs is None:
        ratio = arithmetic.RealDiv(
            casting.cast(Prod(call.shape("input"), 0), dy.dtype), casting.cast(Size(dy), dy.dtype)
        )
    else:
        ratio = float(inputs // max(outputs, 1))
    return _spread(call, arithmetic.RealDiv(dy, ratio)), None


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
    moved = layout.Transpose(x, order)
    shape = Shape(moved)
    reduced = Prod(shape[:count], 0, True)
    others = Prod(shape[count:], 0, True)
    flat = layout.Reshape(moved, _joined(reduced, others))
    before = cumulative.Cumprod(flat, 0, exclusive=True)
    after = cumulative.Cumprod(flat, 0, exclusive=True, reverse=True)
    slope = layout.Reshape(conj(arithmetic.Mul(before, after)), shape)
    return arithmetic.Mul(dy, layout.Transpose(slope, back)), None


def _moved_to_front(call):
    """The order of dimensions that begins with the reduced ones, its inverse, and how many are reduced."""
    range_ = _construction().range
    from tapeflow.ops.array.selection import setdiff1d

    rank = rank_in(call, "input")
    axes = layout.Reshape(casting.cast(call.reduction_indices, dtypes.int32), [-1])
    axes = arithmetic.FloorMod(axes, arithmetic.Maximum(rank, 1))
    order = _joined(axes, setdiff1d(range_(rank), axes)[0])
    return order, layout.InvertPermutation(order), Size(axes)


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
        return arithmetic.Mul(arithmetic.RealDiv(chosen, count), _aligned(call, dy)), None

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
    scale = arithmetic.RealDiv(_aligned(call, call.output), _aligned(call, dy))
    return arithmetic.RealDiv(call.input, scale), None


@cache
def _first_axes(rank: int) -> EagerTensor:
    # Eager also while a graph is built, whose tensors must not outlive it.
    return _native.tensor_of(np.arange(rank, dtype=np.int32), dtypes.int32)


def all_axes(x: Tensor, axis):
    """`axis`, or every axis of the tensor `x` where it is None."""
    if axis is not None:
        return axis
    if x.__class__ is EagerTensor:
        return _first_axes(x.ndim)
    rank = x.shape.rank
    if rank is not None:
        return _first_axes(rank)
    return _construction().range(Rank(x))


def _reduced(row, x: Tensor, axis, keepdims: bool):
    """`row` of `x`; over all axes of a tensor of unknown rank it is known to be a scalar."""
    out = row(x, all_axes(x, axis), bool(keepdims))
    if out.__class__ is not EagerTensor and axis is None and not keepdims and out.shape.rank is None:
        out.set_shape([])
    return out


@api(v2=("math.reduce_sum", "reduce_sum"))
@tensor_function
def reduce_sum(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
):
    """Add the elements along `axis`.

    Args:
      input_tensor: a numeric tensor.
      axis: the axis, or a list of axes, in [-rank, rank), to reduce; None: all.
      keepdims: whether these axes stay, with size 1.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of the input (integers wrap around on overflow), of its shape without the axes; 0 where
      there are no elements.

    Raises:
      InvalidArgumentError: for an axis out of range, and one named twice.

    >>> x = tf.constant([[1, 2, 3], [4, 5, 6]])
    >>> tf.math.reduce_sum(x)
    <tf.Tensor: shape=(), dtype=int32, numpy=21>
    >>> tf.math.reduce_sum(x, axis=0)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([5, 7, 9], dtype=int32)>
    >>> tf.math.reduce_sum(x, axis=1, keepdims=True)
    <tf.Tensor: shape=(2, 1), dtype=int32, numpy=
    array([[ 6],
           [15]], dtype=int32)>
    """
    x = convert_to_tensor(input_tensor)
    return _reduced(Sum, x, axis, keepdims)


@api(v2=("math.reduce_mean", "reduce_mean"))
@tensor_function
def reduce_mean(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
):
    """Compute the mean of the elements along `axis`.

    Args:
      input_tensor: a numeric tensor. The means of integers are integers, rounded towards zero: cast them first.
      axis: the axis, or a list of axes, in [-rank, rank), to reduce; None: all.
      keepdims: whether these axes stay, with size 1.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of the input, of its shape without the axes; NaN where there are no elements.

    Raises:
      InvalidArgumentError: for an axis out of range, and one named twice.

    >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> tf.math.reduce_mean(x)
    <tf.Tensor: shape=(), dtype=float32, numpy=2.5>
    >>> tf.math.reduce_mean(x, axis=0)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([2., 3.], dtype=float32)>
    """
    x = convert_to_tensor(input_tensor)
    return _reduced(Mean, x, axis, keepdims)


@api(v2=("math.reduce_prod", "reduce_prod"))
@tensor_function
def reduce_prod(input_tensor, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None):
    """Multiply the elements along `axis`.

    Args:
      input_tensor: a numeric tensor.
      axis: the axis, or a list of axes, in [-rank, rank), to reduce; None: all.
      keepdims: whether these axes stay, with size 1.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of the input, of its shape without the axes; 1 where there are no elements.

    >>> tf.math.reduce_prod([[1, 2], [3, 4]], axis=1)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 2, 12], dtype=int32)>
    """
    x = convert_to_tensor(input_tensor)
    return _reduced(Prod, x, axis, keepdims)


@api(v2=("math.reduce_max", "reduce_max"))
@tensor_function
def reduce_max(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
):
    """Compute the largest element along `axis`.

    Args:
      input_tensor: a real tensor.
      axis: the axis, or a list of axes, in [-rank, rank), to reduce; None: all.
      keepdims: whether these axes stay, with size 1.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of the input, of its shape without the axes; NaN where one is among the elements, the
      lowest number of the dtype (-inf) where there are none. The gradient is shared by equal largest elements.

    >>> x = tf.constant([[1, 5], [3, 2]])
    >>> tf.math.reduce_max(x)
    <tf.Tensor: shape=(), dtype=int32, numpy=5>
    >>> tf.math.reduce_max(x, axis=0)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([3, 5], dtype=int32)>
    """
    x = convert_to_tensor(input_tensor)
    return _reduced(Max, x, axis, keepdims)


@api(v2=("math.reduce_min", "reduce_min"))
@tensor_function
def reduce_min(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
):
    """Compute the smallest element along `axis`.

    Args:
      input_tensor: a real tensor.
      axis: the axis, or a list of axes, in [-rank, rank), to reduce; None: all.
      keepdims: whether these axes stay, with size 1.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of the input, of its shape without the axes; NaN where one is among the elements, the
      highest number of the dtype (inf) where there are none. The gradient is shared by equal smallest elements.

    >>> x = tf.constant([[1, 5], [3, 2]])
    >>> tf.math.reduce_min(x, axis=1)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
    """
    x = convert_to_tensor(input_tensor)
    return _reduced(Min, x, axis, keepdims)


def _booleans(x):
    # A tensor of another dtype is for the op to refuse; an empty list has no dtype of its own.
    tensor = isinstance(x, (Tensor, Variable))
    return convert_to_tensor(x) if tensor else convert_to_tensor(x, dtypes.bool)


@api(v2=("math.reduce_all", "reduce_all"))
@tensor_function
def reduce_all(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
):
    """Return whether all elements along `axis` are true.

    Args:
      input_tensor: a bool tensor.
      axis: the axis, or a list of axes, in [-rank, rank), to reduce; None: all.
      keepdims: whether these axes stay, with size 1.
      name: a name for the operation (optional).

    Returns:
      A bool tensor of the shape of the input without the axes; True where there are no elements.

    >>> tf.math.reduce_all([[True, True], [False, True]], axis=1)
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>
    """
    x = _booleans(input_tensor)
    return _reduced(All, x, axis, keepdims)


@api(v2=("math.reduce_any", "reduce_any"))
@tensor_function
def reduce_any(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
):
    """Return whether any element along `axis` is true.

    Args:
      input_tensor: a bool tensor.
      axis: the axis, or a list of axes, in [-rank, rank), to reduce; None: all.
      keepdims: whether these axes stay, with size 1.
      name: a name for the operation (optional).

    Returns:
      A bool tensor of the shape of the input without the axes; False where there are no elements.

    >>> tf.math.reduce_any([[False, False], [False, True]], axis=1)
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([False,  True])>
    """
    x = _booleans(input_tensor)
    return _reduced(Any, x, axis, keepdims)


@api("math.reduce_euclidean_norm")
@tensor_function
def reduce_euclidean_norm(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
):
    """Compute the square root of the sum of squares along `axis`.

    Args:
      input_tensor: a numeric tensor.
      axis: the axis, or a list of axes, in [-rank, rank), to reduce; None: all.
      keepdims: whether these axes stay, with size 1.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of the input (integers are truncated), of its shape without the axes.

    >>> tf.math.reduce_euclidean_norm([[3.0, 4.0], [6.0, 8.0]], axis=1)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([ 5., 10.], dtype=float32)>
    """
    x = convert_to_tensor(input_tensor)
    return _reduced(EuclideanNorm, x, axis, keepdims)


@api("math.reduce_variance")
@tensor_function
def reduce_variance(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
):
    """Compute the mean squared distance of the elements from their mean along `axis`.

    Args:
      input_tensor: a floating or complex tensor.
      axis: the axis, or a list of axes, in [-rank, rank), to reduce; None: all.
      keepdims: whether these axes stay, with size 1.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of the input (of complex numbers, of their real part), of its shape without the axes.
      The divisor is the number of elements, not one less.

    Raises:
      TypeError: for integers.

    >>> tf.math.reduce_variance([[1.0, 3.0], [2.0, 8.0]], axis=1)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 9.], dtype=float32)>
    """
    x = convert_to_tensor(input_tensor)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise TypeError(f"Input must be either real or complex. Received integer type {x.dtype}.")
    axis = all_axes(x, axis)
    difference = arithmetic.Sub(x, Mean(x, axis, True))
    if x.dtype.is_complex:
        squares = complex_numbers.real(arithmetic.Mul(conj(difference), difference))
    else:
        squares = elementwise.Square(difference)
    return Mean(squares, axis, bool(keepdims))


@api("math.reduce_std")
@tensor_function
def reduce_std(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
):
    """Compute the standard deviation along `axis`: the square root of `tf.math.reduce_variance`.

    Args:
      input_tensor: a floating or complex tensor.
      axis: the axis, or a list of axes, in [-rank, rank), to reduce; None: all.
      keepdims: whether these axes stay, with size 1.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of the input (of complex numbers, of their real part), of its shape without the axes.

    Raises:
      TypeError: for integers.

    >>> tf.math.reduce_std([[1.0, 3.0], [2.0, 8.0]], axis=1)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 3.], dtype=float32)>
    """
    return elementwise.Sqrt(reduce_variance(input_tensor, axis, keepdims))


@api(v2=("math.reduce_logsumexp", "reduce_logsumexp"))
@tensor_function
@graph_scope("ReduceLogSumExp")
def reduce_logsumexp(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
):
    """Compute `log(sum(exp(x)))` along `axis` without overflow.

    Args:
      input_tensor: a floating tensor.
      axis: the axis, or a list of axes, in [-rank, rank), to reduce; None: all.
      keepdims: whether these axes stay, with size 1.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of the input, of its shape without the axes; -inf where there are no elements.

    >>> tf.math.reduce_logsumexp([1000.0, 1000.0])
    <tf.Tensor: shape=(), dtype=float32, numpy=1000.6931762695312>
    """
    x = convert_to_tensor(input_tensor)
    axis = all_axes(x, axis)
    top = Max(x, axis, True)
    top = StopGradient(comparison.SelectV2(comparison.IsFinite(top), top, 0))
    total = elementwise.Log(Sum(elementwise.Exp(arithmetic.Sub(x, top)), axis, bool(keepdims)))
    if not keepdims:
        top = layout.Reshape(top, Shape(total))
    return arithmetic.AddV2(total, top)


@api(v2="math.count_nonzero")
@tensor_function
@graph_scope("count_nonzero")
def count_nonzero(
    input: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None,
    dtype: DTypeLike = dtypes.int64, name: str | None = None,
):
    """Count the elements along `axis` that are not zero.

    Args:
      input: a tensor of any numeric dtype, of bool (True counts), or of strings (what is not empty counts).
      axis: the axis, or a list of axes, in [-rank, rank), to count along; None: all.
      keepdims: whether these axes stay, with size 1.
      dtype: the dtype of the counts.
      name: a name for the operation (optional).

    Returns:
      A tensor of `dtype`, of the shape of `input` without the axes.

    >>> tf.math.count_nonzero([[0, 1, 0], [1, 1, 0]], axis=1)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 2])>
    """
    x = convert_to_tensor(input)
    zero = b"" if x.dtype == dtypes.string else False if x.dtype.is_bool else 0
    hits = casting.cast(comparison.NotEqual(x, zero), dtypes.int64)
    return casting.cast(Sum(hits, all_axes(x, axis), bool(keepdims)), dtype)


@api(v1=("math.count_nonzero", "count_nonzero"))
@tensor_function
@graph_scope("count_nonzero")
def count_nonzero_v1(
    input_tensor: TensorLike | None = None, axis: AxisLike | None = None, keepdims: bool | None = None,
    dtype: DTypeLike = dtypes.int64, name: str | None = None, reduction_indices=None, keep_dims: bool | None = None,
    input: TensorLike | None = None,
):
    """`count_nonzero` as 1.x spells it."""
    return count_nonzero(
        renamed("input", input, "input_tensor", input_tensor),
        renamed("axis", axis, "reduction_indices", reduction_indices),
        renamed("keepdims", keepdims, "keep_dims", keep_dims, False),
        dtype,
        name,
    )


def _v1(function):
    """`function` with the argument names of 1.x."""

    @tensor_function
    def reduction(
        input_tensor: Tensor, axis: int | None = None, keepdims: bool | None = None, name: str | None = None,
        reduction_indices=None, keep_dims: bool | None = None,
    ):
        return function(
            input_tensor,
            renamed("axis", axis, "reduction_indices", reduction_indices),
            renamed("keepdims", keepdims, "keep_dims", keep_dims, False),
            name,
        )

    reduction.__name__ = reduction.__qualname__ = function.__name__
    reduction.__doc__ = (
        f"{function.__doc__}\n\n`reduction_indices` is `axis`, `keep_dims` is `keepdims`."
    )
    return reduction


reduce_sum_v1 = _v1(reduce_sum)
api_value("reduce_sum_v1", v1=("math.reduce_sum", "reduce_sum"))
reduce_mean_v1 = _v1(reduce_mean)
api_value("reduce_mean_v1", v1=("math.reduce_mean", "reduce_mean"))
reduce_prod_v1 = _v1(reduce_prod)
api_value("reduce_prod_v1", v1=("math.reduce_prod", "reduce_prod"))
reduce_max_v1 = _v1(reduce_max)
api_value("reduce_max_v1", v1=("math.reduce_max", "reduce_max"))
reduce_min_v1 = _v1(reduce_min)
api_value("reduce_min_v1", v1=("math.reduce_min", "reduce_min"))
reduce_all_v1 = _v1(reduce_all)
api_value("reduce_all_v1", v1=("math.reduce_all", "reduce_all"))
reduce_any_v1 = _v1(reduce_any)
api_value("reduce_any_v1", v1=("math.reduce_any", "reduce_any"))
reduce_logsumexp_v1 = _v1(reduce_logsumexp)
api_value("reduce_logsumexp_v1", v1=("math.reduce_logsumexp", "reduce_logsumexp"))

"""The reductions that programs call: sums, means, products, extremes, truths, norms and moments over chosen axes."""

from __future__ import annotations

from functools import cache

import numpy as np

from tapeflow import _native
from tapeflow._native import EagerTensor, Tensor, Variable
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops.array import layout
from tapeflow.ops.array.rows import StopGradient
from tapeflow.ops.array.sizes import Rank, Shape
from tapeflow.ops.math import (
    arithmetic,
    casting,
    choice,
    comparison,
    complex_numbers,
    elementwise,
    float_kinds,
)
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.math.reduction import (
    All,
    Any,
    EuclideanNorm,
    Max,
    Mean,
    Min,
    Prod,
    Sum,
    ranges_module,
)


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
    return ranges_module().range(Rank(x))


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
    top = StopGradient(choice.SelectV2(float_kinds.IsFinite(top), top, 0))
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

"""Normalisation made of other ops: moments, batch normalisation, unit vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, FloatLike, IntLike, Tensor, TensorLike, Variable
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops.array.layout import Reshape, Squeeze
from tapeflow.ops.array.like import ZerosLike
from tapeflow.ops.array.rows import StopGradient
from tapeflow.ops.array.sizes import Shape, Size
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math import arithmetic, casting, comparison, elementwise, reductions
from tapeflow.ops.math.division_no_nan import DivNoNan
from tapeflow.ops.nn.batch_norm import FusedBatchNormV3
from tapeflow.ops.static import as_shape, product, rank_of, sizes_of, static_value

_NARROW = (dtypes.float16, dtypes.bfloat16)


@api(v2="nn.moments")
@tensor_function
@graph_scope("moments/")
def moments(
    x: TensorLike, axes: AxisLike, shift: TensorLike | None = None, keepdims: bool = False, name: str | None = None
):
    """Compute the mean and the variance along axes.

    Args:
      x: a floating or complex tensor; half precision is computed in float32.
      axes: a list of axes.
      shift: not used.
      keepdims: whether the axes stay, with size 1.
      name: a name for the operation (optional).

    Returns:
      (mean, variance), of the dtype of `x` and of its shape without the axes. The divisor of the variance is the
      number of elements.

    >>> mean, variance = tf.nn.moments(tf.constant([[1.0, 3.0], [2.0, 8.0]]), axes=[1])
    >>> mean.numpy(), variance.numpy()
    (array([2., 5.], dtype=float32), array([1., 9.], dtype=float32))
    """
    x = convert_to_tensor(x)
    wide = casting.cast(x, dtypes.float32) if x.dtype in _NARROW else x
    mean = reductions.reduce_mean(wide, axes, True)
    variance = reductions.reduce_mean(
        arithmetic.squared_difference(wide, StopGradient(mean)), axes, True
    )
    if not keepdims:
        mean, variance = _without(mean, axes), _without(variance, axes)
    if x.dtype in _NARROW:
        return casting.cast(mean, x.dtype), casting.cast(variance, x.dtype)
    return mean, variance


def _without(x: Tensor, axes):
    """`x` without its `axes` (None: all), which are of length 1."""
    known = None if axes is None else static_value(axes)
    if x.shape.is_fully_defined() and (axes is None or known is not None):
        sizes = x.shape.as_list()
        gone = range(len(sizes)) if axes is None else _axis_set(known, len(sizes))
        return Reshape(x, as_shape([d for i, d in enumerate(sizes) if i not in gone]))
    if axes is None:
        return Reshape(x, [])
    # The sum over one element is that element.
    return reductions.reduce_sum(x, axes) if known is None else Squeeze(x, np.ravel(known).tolist())


def _axis_set(axes, rank: int):
    return {int(a) % rank for a in np.ravel(axes)}


@api(v1="nn.moments")
@tensor_function
@graph_scope("moments/")
def moments_v1(
    x: TensorLike, axes: AxisLike, shift: TensorLike | None = None, name: str | None = None,
    keep_dims: bool | None = None, keepdims: bool | None = None,
):
    """`moments` with the 1.x spelling `keep_dims`."""
    return moments(x, axes, shift, renamed("keepdims", keepdims, "keep_dims", keep_dims, False))


@api(v2="nn.weighted_moments")
@tensor_function
@graph_scope("weighted_moments/")
def weighted_moments(x: Any, axes: AxisLike, frequency_weights, keepdims: bool = False, name: str | None = None):
    """Compute the mean and the variance along axes of elements that count differently.

    Args:
      x: a floating tensor.
      axes: a list of axes.
      frequency_weights: how often each element counts; it broadcasts with `x`.
      keepdims: whether the axes stay, with size 1.
      name: a name for the operation (optional).

    Returns:
      (mean, variance), of the dtype of `x` and of its shape without the axes.
    """
    x = convert_to_tensor(x)
    weights = convert_to_tensor(frequency_weights)
    kind = x.dtype
    if kind in _NARROW:
        x = casting.cast(x, dtypes.float32)
    if weights.dtype != x.dtype:
        weights = casting.cast(weights, x.dtype)
    # Weights that were broadcast still count once for every element.
    spread = weights + ZerosLike(x)
    total = reductions.reduce_sum(spread, axes, True)
    mean = DivNoNan(reductions.reduce_sum(weights * x, axes, True), total)
    squares = weights * arithmetic.squared_difference(x, mean)
    variance = DivNoNan(reductions.reduce_sum(squares, axes, True), total)
    if not keepdims:
        mean, variance = _without(mean, axes), _without(variance, axes)
    if kind in _NARROW:
        return casting.cast(mean, kind), casting.cast(variance, kind)
    return mean, variance


@api(v1="nn.weighted_moments")
@tensor_function
@graph_scope("weighted_moments/")
def weighted_moments_v1(
    x: TensorLike, axes: AxisLike, frequency_weights, name: str | None = None, keep_dims: bool | None = None,
    keepdims: bool | None = None,
):
    """`weighted_moments` with the 1.x spelling `keep_dims`."""
    keep = renamed("keepdims", keepdims, "keep_dims", keep_dims, False)
    return weighted_moments(x, axes, frequency_weights, keep)


@api(v2="nn.sufficient_statistics")
@tensor_function
@graph_scope("sufficient_statistics/")
def sufficient_statistics(x, axes, shift=None, keepdims=False, name=None):
    """Compute what mean and variance along axes can be made of.

    Args:
      x: a floating tensor.
      axes: a list of axes.
      shift: what is subtracted first, near the mean for precision (optional).
      keepdims: whether the axes stay, with size 1.
      name: a name for the operation (optional).

    Returns:
      (count, sum of x - shift, sum of its squares, shift): the count is a scalar, all are of the dtype of `x`.

    >>> count, total, squares, _ = tf.nn.sufficient_statistics([[1.0, 3.0]], axes=[1])
    >>> count.numpy(), total.numpy(), squares.numpy()
    (np.float32(2.0), array([4.], dtype=float32), array([10.], dtype=float32))
    """
    x = convert_to_tensor(x)
    gone = static_value(axes)
    if gone is None or x.shape.rank is None:
        gone = Reshape(casting.cast(axes, dtypes.int32), [-1])
        count = reductions.reduce_prod(gather(Shape(x), gone % rank_of(x)))
    else:
        sizes = sizes_of(x)
        gone = sorted(_axis_set(gone, len(sizes)))
        count = convert_to_tensor(product([sizes[a] for a in gone]))
    count = casting.cast(count, x.dtype)
    if shift is None:
        first, second = x, elementwise.square(x)
    else:
        shift = convert_to_tensor(shift, dtype=x.dtype)
        first, second = x - shift, arithmetic.squared_difference(x, shift)
    return (
        count,
        reductions.reduce_sum(first, gone, keepdims),
        reductions.reduce_sum(second, gone, keepdims),
        shift,
    )


@api(v1="nn.sufficient_statistics")
@tensor_function
@graph_scope("sufficient_statistics/")
def sufficient_statistics_v1(
    x: TensorLike, axes: AxisLike, shift: TensorLike | None = None, keep_dims: bool | None = None,
    name: str | None = None, keepdims: bool | None = None,
):
    """`sufficient_statistics` with the 1.x spelling `keep_dims`."""
    keep = renamed("keepdims", keepdims, "keep_dims", keep_dims, False)
    return sufficient_statistics(x, axes, shift, keep)


@api("nn.normalize_moments")
@tensor_function
@graph_scope("normalize/")
def normalize_moments(counts, mean_ss, variance_ss, shift: TensorLike, name: str | None = None):
    """Compute mean and variance from what `tf.nn.sufficient_statistics` gave.

    Args:
      counts: how many elements there were.
      mean_ss: their sum, of differences from the shift.
      variance_ss: the sum of their squares, likewise.
      shift: what was subtracted before, or None.
      name: a name for the operation (optional).

    Returns:
      (mean, variance), of the dtype and shape of the sums.
    """
    divisor = elementwise.reciprocal(convert_to_tensor(counts))
    mean_part = mean_ss * divisor
    mean = mean_part if shift is None else mean_part + shift
    return mean, variance_ss * divisor - elementwise.square(mean_part)


@api("nn.batch_normalization")
@tensor_function
@graph_scope("batchnorm")
def batch_normalization(
    x: TensorLike, mean: TensorLike, variance: TensorLike, offset: Variable, scale,
    variance_epsilon: TensorLike, name: str | None = None,
):
    """Compute `scale * (x - mean) / sqrt(variance + variance_epsilon) + offset`, with broadcasting.

    Args:
      x: a floating tensor.
      mean, variance: its moments, see `tf.nn.moments`, which broadcast to it.
      offset: what is added at the end, or None.
      scale: what the normalised numbers are multiplied by, or None.
      variance_epsilon: a small number that is added to the variance.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `x`.

    >>> tf.nn.batch_normalization(tf.constant([1.0, 3.0]), 2.0, 1.0, None, 10.0, 0.0)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([-10.,  10.], dtype=float32)>
    """
    x = convert_to_tensor(x)
    rate = elementwise.rsqrt(convert_to_tensor(variance) + variance_epsilon)
    if scale is not None:
        rate = rate * scale
    start = -mean * rate if offset is None else offset - mean * rate
    return x * _like(rate, x) + _like(start, x)


def _like(value: Tensor, x: Tensor):
    return value if value.dtype == x.dtype else casting.cast(value, x.dtype)


@api(v2="nn.batch_norm_with_global_normalization")
@tensor_function
def batch_norm_with_global_normalization(
    input: TensorLike, mean: Any, variance: Any, beta: Any, gamma: TensorLike | None, variance_epsilon,
    scale_after_normalization, name: str | None = None,
):
    """Normalise a batch as `tf.nn.batch_normalization`, with or without the scale.

    Args:
      input: a floating tensor.
      mean, variance: its moments, which broadcast to it.
      beta: what is added at the end.
      gamma: the scale; it is not used unless `scale_after_normalization`.
      variance_epsilon: a small number that is added to the variance.
      scale_after_normalization: whether to multiply by `gamma`.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `input`.
    """
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon)


@api(v1="nn.batch_norm_with_global_normalization")
@tensor_function
def batch_norm_with_global_normalization_v1(
    t: TensorLike | None = None, m=None, v=None, beta: TensorLike | None = None, gamma: TensorLike | None = None,
    variance_epsilon=None, scale_after_normalization=None, name: str | None = None, input: TensorLike | None = None,
    mean: TensorLike | None = None, variance: TensorLike | None = None,
):
    """`batch_norm_with_global_normalization` with the 1.x spellings `t`, `m` and `v`."""
    return batch_norm_with_global_normalization(
        renamed("input", input, "t", t),
        renamed("mean", mean, "m", m),
        renamed("variance", variance, "v", v),
        beta,
        gamma,
        variance_epsilon,
        scale_after_normalization,
    )


@api(v1="nn.fused_batch_norm")
@tensor_function
def fused_batch_norm(
    x: TensorLike, scale, offset: TensorLike, mean: Any = None, variance: Any = None, epsilon: FloatLike = 0.001,
    data_format: str = "NHWC", is_training: bool = True, name: str | None = None, exponential_avg_factor: float = 1.0,
):
    """(y, mean, variance) of batch normalisation over all dimensions but the channels.

    While training the statistics are the batch's, folded into the given ones by `exponential_avg_factor`; else
    `mean` and `variance` are used and must be given (ValueError).
    """
    if (not is_training or exponential_avg_factor != 1.0) and (mean is None or variance is None):
        raise ValueError(
            "Both `mean` and `variance` must be a 1D tensor when `is_training` is False or "
            f"`exponential_avg_factor` != 1.0. Received: `mean` {mean!r} and `variance` {variance!r}"
        )
    x = convert_to_tensor(x)
    scale = convert_to_tensor(scale)
    mean = convert_to_tensor([], dtype=scale.dtype) if mean is None else mean
    variance = convert_to_tensor([], dtype=scale.dtype) if variance is None else variance
    # Smaller values lose the division's precision in float32.
    epsilon = max(epsilon, 1.001e-5)
    out = FusedBatchNormV3(
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon=epsilon,
        exponential_avg_factor=exponential_avg_factor,
        data_format=data_format,
        is_training=bool(is_training),
    )
    return out[0], out[1], out[2]


@api("linalg.l2_normalize", "math.l2_normalize", "nn.l2_normalize")
@tensor_function
@graph_scope("l2_normalize")
def l2_normalize(
    x: TensorLike, axis: AxisLike | None = None, epsilon: TensorLike = 1e-12, name: str | None = None,
    dim: IntLike | None = None,
):
    """Divide by the 2-norm along an axis.

    Args:
      x: a floating or complex tensor.
      axis: the axis, or a list of axes; None: all.
      epsilon: the least value of the squared norm, so that zeros stay zeros.
      name: a name for the operation (optional).
      dim: the old name of `axis`.

    Returns:
      A tensor of the dtype and shape of `x`.

    >>> tf.math.l2_normalize([[3.0, 4.0], [0.0, 0.0]], axis=1).numpy().round(3)
    array([[0.6, 0.8],
           [0. , 0. ]], dtype=float32)
    """
    axis = renamed("axis", axis, "dim", dim)
    x = convert_to_tensor(x)
    if x.dtype.is_complex:
        size = elementwise.square(elementwise.abs(x))
        norm = elementwise.rsqrt(
            arithmetic.maximum(reductions.reduce_sum(size, axis, True), epsilon)
        )
        return x * casting.cast(norm, x.dtype)
    total = reductions.reduce_sum(elementwise.square(x), axis, True)
    return x * elementwise.rsqrt(arithmetic.maximum(total, epsilon))


@api("math.zero_fraction", "nn.zero_fraction")
@tensor_function
@graph_scope("zero_fraction")
def zero_fraction(value: TensorLike, name: str | None = None):
    """The share of zeros among the elements of `value`, a float32 scalar (NaN if there are none)."""
    value = convert_to_tensor(value)
    zeros = casting.cast(comparison.equal(value, ZerosLike(value)), dtypes.float32)
    return reductions.reduce_sum(zeros) / casting.cast(Size(value), dtypes.float32)

"""`keras.backend`: reductions, whose dtypes are floats where they were bool."""

from __future__ import annotations

import builtins

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, computes_tensors
from tapeflow.keras import settings
from tapeflow.keras.backend.elementwise import maximum
from tapeflow.ops.array.construction import zeros_like as zeros_like_of
from tapeflow.ops.math.argmax import argmax as argmax_of
from tapeflow.ops.math.argmax import argmin as argmin_of
from tapeflow.ops.math.casting import cast as cast_tensor
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.cumulative import cumprod as cumprod_of
from tapeflow.ops.math.cumulative import cumsum as cumsum_of
from tapeflow.ops.math.elementwise import sqrt as sqrt_of
from tapeflow.ops.math.reductions import (
    reduce_all,
    reduce_any,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_std,
    reduce_sum,
    reduce_variance,
)


def _number(x):
    x = convert_to_tensor(x)
    return cast_tensor(x, settings.floatx()) if x.dtype == dtypes.bool else x


@computes_tensors
def sum(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Sum numbers along axes.

    Args:
      x: a tensor.
      axis: an axis, or several; None for all.
      keepdims: whether these axes stay, with size 1.

    Returns:
      A tensor without these axes.
    """
    return reduce_sum(x, axis, keepdims)


@computes_tensors
def prod(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Multiply numbers along axes.

    Args:
      x: a tensor.
      axis: an axis, or several; None for all.
      keepdims: whether these axes stay, with size 1.

    Returns:
      A tensor without these axes.
    """
    return reduce_prod(x, axis, keepdims)


@computes_tensors
def mean(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Compute the mean along axes; of bools as floats.

    Args:
      x: a tensor.
      axis: an axis, or several; None for all.
      keepdims: whether these axes stay, with size 1.

    Returns:
      A tensor without these axes.
    """
    return reduce_mean(_number(x), axis, keepdims)


@computes_tensors
def var(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Compute the variance along axes; of bools as floats.

    Args:
      x: a tensor.
      axis: an axis, or several; None for all.
      keepdims: whether these axes stay, with size 1.

    Returns:
      A tensor without these axes.
    """
    return reduce_variance(_number(x), axis, keepdims)


@computes_tensors
def std(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Compute the standard deviation along axes; of bools as floats.

    Args:
      x: a tensor.
      axis: an axis, or several; None for all.
      keepdims: whether these axes stay, with size 1.

    Returns:
      A tensor without these axes.
    """
    return reduce_std(_number(x), axis, keepdims)


@computes_tensors
def max(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Find the largest number along axes.

    Args:
      x: a tensor.
      axis: an axis, or several; None for all.
      keepdims: whether these axes stay, with size 1.

    Returns:
      A tensor without these axes.
    """
    return reduce_max(x, axis, keepdims)


@computes_tensors
def min(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Find the smallest number along axes.

    Args:
      x: a tensor.
      axis: an axis, or several; None for all.
      keepdims: whether these axes stay, with size 1.

    Returns:
      A tensor without these axes.
    """
    return reduce_min(x, axis, keepdims)


@computes_tensors
def any(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Compute whether any element along axes is true.

    Args:
      x: a tensor.
      axis: an axis, or several; None for all.
      keepdims: whether these axes stay, with size 1.

    Returns:
      A tensor without these axes.
    """
    return reduce_any(cast_tensor(x, dtypes.bool), axis, keepdims)


@computes_tensors
def all(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Compute whether all elements along axes are true.

    Args:
      x: a tensor.
      axis: an axis, or several; None for all.
      keepdims: whether these axes stay, with size 1.

    Returns:
      A tensor without these axes.
    """
    return reduce_all(cast_tensor(x, dtypes.bool), axis, keepdims)


@computes_tensors
def logsumexp(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False):
    """Compute log(sum(exp(x))) along axes, without overflow.

    Args:
      x: a tensor.
      axis: an axis, or several; None for all.
      keepdims: whether these axes stay, with size 1.

    Returns:
      A tensor without these axes.
    """
    return reduce_logsumexp(x, axis, keepdims)


@computes_tensors
def argmax(x: TensorLike, axis: AxisLike = -1):
    """Find where the largest number along an axis is.

    Args:
      x: a tensor.
      axis: the axis, an integer.

    Returns:
      An int64 tensor without that axis.
    """
    return argmax_of(x, axis)


@computes_tensors
def argmin(x: TensorLike, axis: AxisLike = -1):
    """Find where the smallest number along an axis is.

    Args:
      x: a tensor.
      axis: the axis, an integer.

    Returns:
      An int64 tensor without that axis.
    """
    return argmin_of(x, axis)


@computes_tensors
def cumsum(x: TensorLike, axis: AxisLike = 0):
    """Compute the sums so far along an axis, each with the number itself.

    Args:
      x: a tensor.
      axis: the axis, an integer.

    Returns:
      A tensor of the shape of x.
    """
    return cumsum_of(x, axis)


@computes_tensors
def cumprod(x: TensorLike, axis: AxisLike = 0):
    """Compute the products so far along an axis, each with the number itself.

    Args:
      x: a tensor.
      axis: the axis, an integer.

    Returns:
      A tensor of the shape of x.
    """
    return cumprod_of(x, axis)


@computes_tensors
def sqrt(x: TensorLike):
    """The root; of negative numbers, 0."""
    x = convert_to_tensor(x)
    return sqrt_of(maximum(x, zeros_like_of(x)))


@computes_tensors
def clip(x: TensorLike, min_value, max_value):
    """Cut numbers off at two limits.

    Args:
      x: a tensor.
      min_value: the lower limit; None for none.
      max_value: the upper limit; None for none.

    Returns:
      A tensor of the shape of x.
    """
    if isinstance(min_value, (int, float)) and isinstance(max_value, (int, float)):
        max_value = builtins.max(max_value, min_value)
    low = -np.inf if min_value is None else min_value
    return clip_by_value(x, low, np.inf if max_value is None else max_value)

boundaries(globals())

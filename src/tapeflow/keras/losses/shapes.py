"""The shapes of true and predicted values, and of weights, made to fit."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2
from tapeflow.keras import settings
from tapeflow.ops.array.layout import expand_dims, reshape, squeeze
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.math.reductions import reduce_all
from tapeflow.ops.static import joined, rank_of


def pair(y_true: Any, y_pred: Any, one_rank: bool = False):
    """Labels and predictions as tensors of one dtype; with `one_rank`, as far as possible of one rank."""
    y_pred = convert_to_tensor(y_pred)
    if keras_2():
        return cast(y_true, y_pred.dtype), y_pred
    if not (y_pred.dtype.is_floating or y_pred.dtype.is_complex):
        y_pred = cast(y_pred, settings.floatx())
    y_true = cast(y_true, y_pred.dtype)
    return squeeze_or_expand(y_true, y_pred)[:2] if one_rank else (y_true, y_pred)


def check_alike(y_true: Tensor, y_pred: Any):
    """Raises ValueError where the shapes of labels and predictions are known to differ."""
    if not y_true.shape.is_compatible_with(y_pred.shape):
        raise ValueError(
            f"y_true and y_pred must have the same shape. Received: y_true.shape={y_true.shape}, "
            f"y_pred.shape={y_pred.shape}"
        )


def without_last(x: TensorLike, extra):
    """Remove the last axis of `x`, if that is of size 1 and `extra` is 1; both may be unknown yet.

    Args:
      x: a tensor.
      extra: by how much its rank exceeds the wanted one, a number or a scalar tensor.

    Returns:
      The tensor with one axis less, or as it is.
    """
    shape = shape_of(x)
    lone = logical_and(equal(extra, 1), reduce_all(equal(shape[-1:], 1)))
    return reshape(x, shape[: rank_of(x) - cast(lone, dtypes.int32)])


def _matched_later(y_true: TensorLike, y_pred: TensorLike, sample_weight):
    """`squeeze_or_expand` where a rank is not known yet."""
    if y_true is not None and y_pred is not None:
        extra = rank_of(y_pred) - rank_of(y_true)
        y_true, y_pred = without_last(y_true, -extra), without_last(y_pred, extra)
    if sample_weight is not None and sample_weight.shape.rank != 0:
        rank = rank_of(y_pred)
        sample_weight = without_last(sample_weight, rank_of(sample_weight) - rank)
        missing = maximum(rank - rank_of(sample_weight), 0)
        sample_weight = reshape(sample_weight, joined(shape_of(sample_weight), missing))
    return y_true, y_pred, sample_weight


def _same_rank(x, y, kept=None):
    """Where one of two tensors has one axis more than the other, and that is of size 1, both with as many axes.

    Keras 2 takes the axis away; Keras 3 gives it to the other one, if that is a vector. What is `kept` stays as it is.
    """
    swap = len(x.shape) < len(y.shape)
    more, less = (y, x) if swap else (x, y)
    if len(more.shape) == len(less.shape) + 1 and more.shape[-1] == 1:
        if len(less.shape) == 1 and not keras_2():
            less = expand_dims(less, -1)
        elif more is not kept:
            more = squeeze(more, [-1])
    return (less, more) if swap else (more, less)


def squeeze_or_expand(y_true: Any, y_pred: Any, sample_weight: Any = None):
    """Bring labels and weights to the rank of predictions by a last axis of size 1.

    Args:
      y_true: labels, or None.
      y_pred: predictions.
      sample_weight: weights, or None.

    Returns:
      The three, as far as given.
    """
    if any(x is not None and x.shape.rank is None for x in (y_true, y_pred, sample_weight)):
        return _matched_later(y_true, y_pred, sample_weight)
    if y_true is not None and y_pred is not None:
        y_true, y_pred = _same_rank(y_true, y_pred)
    if sample_weight is not None and len(sample_weight.shape):
        if keras_2() or len(sample_weight.shape) > len(y_pred.shape):
            sample_weight, y_pred = _same_rank(sample_weight, y_pred, y_pred if keras_2() else None)
        rank = len(y_pred.shape)
        while len(sample_weight.shape) < rank:
            sample_weight = expand_dims(sample_weight, -1)
    return y_true, y_pred, sample_weight


boundaries(globals())

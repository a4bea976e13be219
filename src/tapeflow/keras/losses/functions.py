"""Losses as functions: one number per example."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, computes_tensors
from tapeflow.core.release import keras_2
from tapeflow.keras import settings
from tapeflow.keras.losses.shapes import check_alike, pair, without_last
from tapeflow.ops.array.layout import squeeze
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.math.arithmetic import maximum, squared_difference
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import log, square
from tapeflow.ops.math.logic import logical_or
from tapeflow.ops.math.reductions import reduce_all, reduce_max, reduce_mean, reduce_sum
from tapeflow.ops.nn.loss import (
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from tapeflow.ops.nn.normalization import l2_normalize
from tapeflow.ops.nn.sigmoid_loss import sigmoid_cross_entropy_with_logits
from tapeflow.ops.nn.softplus import softplus
from tapeflow.ops.static import rank_of, size_of


@computes_tensors
def mean_squared_error(y_true: TensorLike, y_pred: TensorLike):
    """Mean over the last axis of (y_pred - y_true)^2.

    Args:
      y_true: labels, `(batch, ..., d)`.
      y_pred: predictions of the same shape.

    Returns:
      One number per example, `(batch, ...)`.

    >>> print(tf.keras.losses.mean_squared_error([[0.0, 1.0]], [[1.0, 3.0]]).numpy())
    [2.5]
    """
    y_true, y_pred = pair(y_true, y_pred, one_rank=True)
    return reduce_mean(squared_difference(y_pred, y_true), axis=-1)


@computes_tensors
def mean_absolute_error(y_true: Any, y_pred: Any):
    """Mean over the last axis of |y_pred - y_true|.

    Args:
      y_true: labels, `(batch, ..., d)`.
      y_pred: predictions of the same shape.

    Returns:
      One number per example, `(batch, ...)`.
    """
    y_true, y_pred = pair(y_true, y_pred, one_rank=True)
    return reduce_mean(abs_(y_pred - y_true), axis=-1)


@computes_tensors
def mean_absolute_percentage_error(y_true: Any, y_pred: Any):
    """100 times the mean over the last axis of |y_true - y_pred| / |y_true|.

    Labels nearer to 0 than `keras.config.epsilon()` count as that number.

    Args:
      y_true: labels, `(batch, ..., d)`.
      y_pred: predictions of the same shape.

    Returns:
      One number per example, `(batch, ...)`.
    """
    y_true, y_pred = pair(y_true, y_pred, one_rank=True)
    return 100.0 * reduce_mean(
        abs_((y_true - y_pred) / maximum(abs_(y_true), settings.epsilon())), axis=-1
    )


@computes_tensors
def mean_squared_logarithmic_error(y_true, y_pred):
    """Mean over the last axis of (log(1 + y_true) - log(1 + y_pred))^2.

    Numbers below `keras.config.epsilon()`, also negative ones, count as that number.

    Args:
      y_true: labels, `(batch, ..., d)`.
      y_pred: predictions of the same shape.

    Returns:
      One number per example, `(batch, ...)`.
    """
    y_true, y_pred = pair(y_true, y_pred, one_rank=True)
    logs = [log(maximum(y, settings.epsilon()) + 1.0) for y in (y_pred, y_true)]
    return reduce_mean(squared_difference(*logs), axis=-1)


def _signs(y_true):
    """Labels -1 and 1, made of 0 and 1 where those were given."""
    binary = reduce_all(logical_or(equal(y_true, 0), equal(y_true, 1)))
    return where(binary, 2.0 * y_true - 1.0, y_true)


@computes_tensors
def hinge(y_true: TensorLike, y_pred: TensorLike):
    """Mean over the last axis of max(1 - y_true * y_pred, 0).

    Args:
      y_true: labels -1 and 1, or 0 and 1, which then become -1 and 1.
      y_pred: scores, `(batch, ..., d)`.

    Returns:
      One number per example, `(batch, ...)`.
    """
    y_true, y_pred = pair(y_true, y_pred)
    return reduce_mean(maximum(1.0 - _signs(y_true) * y_pred, 0.0), axis=-1)


@computes_tensors
def squared_hinge(y_true: TensorLike, y_pred: TensorLike):
    """Mean over the last axis of max(1 - y_true * y_pred, 0)^2.

    Args:
      y_true: labels -1 and 1, or 0 and 1, which then become -1 and 1.
      y_pred: scores, `(batch, ..., d)`.

    Returns:
      One number per example, `(batch, ...)`.
    """
    y_true, y_pred = pair(y_true, y_pred)
    return reduce_mean(square(maximum(1.0 - _signs(y_true) * y_pred, 0.0)), axis=-1)


@computes_tensors
def categorical_hinge(y_true: Any, y_pred: Any):
    """max(0, 1 + largest wrong score - right score).

    Args:
      y_true: one-hot labels, `(batch, ..., classes)`.
      y_pred: scores of the same shape.

    Returns:
      One number per example, `(batch, ...)`.
    """
    y_true, y_pred = pair(y_true, y_pred)
    right = reduce_sum(y_true * y_pred, axis=-1)
    wrong = (1.0 - y_true) * y_pred
    return maximum(reduce_max(wrong, axis=-1) - right + 1.0, 0.0)


@computes_tensors
def huber(y_true: Any, y_pred: Any, delta: float = 1.0):
    """Mean over the last axis of e^2 / 2 for |e| <= delta, delta |e| - delta^2 / 2 beyond, with e = y_pred - y_true.

    Args:
      y_true: labels, `(batch, ..., d)`.
      y_pred: predictions of the same shape.
      delta: where the loss goes over from a parabola to a straight line.

    Returns:
      One number per example, `(batch, ...)`.

    >>> print(tf.keras.losses.huber([[0.0, 0.0]], [[0.5, 3.0]]).numpy())
    [1.3125]
    """
    if keras_2():
        y_pred = cast(y_pred, settings.floatx())
    y_true, y_pred = pair(y_true, y_pred, one_rank=True)
    error = abs_(y_pred - y_true)
    value = where(error <= delta, 0.5 * square(error), delta * error - 0.5 * delta * delta)
    return reduce_mean(value, axis=-1)


@computes_tensors
def log_cosh(y_true: Any, y_pred: Any):
    """Mean over the last axis of log(cosh(y_pred - y_true)).

    It is near e^2 / 2 for small errors e, and |e| - log 2 for large ones.

    Args:
      y_true: labels, `(batch, ..., d)`.
      y_pred: predictions of the same shape.

    Returns:
      One number per example, `(batch, ...)`.
    """
    y_true, y_pred = pair(y_true, y_pred, one_rank=True)
    x = y_pred - y_true
    return reduce_mean(x + softplus(-2.0 * x) - 0.6931471805599453, axis=-1)


@computes_tensors
def categorical_crossentropy(
    y_true: Any, y_pred: TensorLike, from_logits: bool = False, label_smoothing=0.0, axis: AxisLike = -1
):
    """-sum y_true * log(y_pred) over classes; y_pred are probabilities, or logits.

    Probabilities are divided by their sum, and cut off at `keras.config.epsilon()`.

    Args:
      y_true: one-hot labels or probabilities, `(batch, ..., classes)`.
      y_pred: predictions of the same shape.
      from_logits: whether predictions are logits, of which the softmax is taken.
      label_smoothing: from 0 to 1: labels become `y * (1 - label_smoothing) + label_smoothing / classes`.
      axis: the axis of the classes.

    Returns:
      One number per example, without the axis of the classes.

    Raises:
      ValueError: for shapes that differ.

    >>> print(f"{tf.keras.losses.categorical_crossentropy([[0.0, 1.0]], [[0.5, 0.5]])[0]:.4f}")
    0.6931
    """
    y_true, y_pred = pair(y_true, y_pred)
    if label_smoothing:
        classes = size_of(y_true, -1)
        classes = classes if isinstance(classes, int) else cast(classes, y_true.dtype)
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / classes
    check_alike(y_true, y_pred)
    if from_logits:
        return softmax_cross_entropy_with_logits(labels=y_true, logits=y_pred, axis=axis)
    epsilon = settings.epsilon()
    y_pred = y_pred / reduce_sum(y_pred, axis, True)
    return -reduce_sum(y_true * log(clip_by_value(y_pred, epsilon, 1.0 - epsilon)), axis)


@computes_tensors
def sparse_categorical_crossentropy(
    y_true: TensorLike, y_pred: Any, from_logits: bool = False, ignore_class: int | None = None, axis=-1
):
    """-log of the probability of class y_true; y_pred are probabilities, or logits.

    Probabilities are cut off at `keras.config.epsilon()`.

    Args:
      y_true: the numbers of the classes, `(batch, ...)`; a last axis of 1 goes.
      y_pred: predictions, `(batch, ..., classes)`.
      from_logits: whether predictions are logits, of which the softmax is taken.
      ignore_class: examples of this class count 0; None for none.
      axis: the axis of the classes.

    Returns:
      One number per example, without the axis of the classes.

    >>> print(f"{tf.keras.losses.sparse_categorical_crossentropy([1], [[0.5, 0.5]])[0]:.4f}")
    0.6931
    """
    y_pred = convert_to_tensor(y_pred)
    if not (keras_2() or y_pred.dtype.is_floating):
        y_pred = cast(y_pred, settings.floatx())
    labels = cast(y_true, dtypes.int64)
    rank = y_pred.shape.rank
    if rank is None or labels.shape.rank is None:
        labels = without_last(labels, rank_of(labels) - rank_of(y_pred) + 1)
    elif labels.shape.rank == rank and labels.shape[-1] == 1:
        labels = squeeze(labels, [-1])
    if not from_logits:
        epsilon = settings.epsilon()
        y_pred = log(clip_by_value(y_pred, epsilon, 1.0 - epsilon))
    if axis != -1 and (rank is None or axis != rank - 1):
        if rank is None:
            raise ValueError(
                f"Cannot compute sparse categorical crossentropy with `axis={axis}`: the rank of the predictions is "
                "not known."
            )
        axis %= rank
        y_pred = transpose(y_pred, [*[i for i in range(rank) if i != axis], axis])
    if ignore_class is None:
        return sparse_softmax_cross_entropy_with_logits(labels=labels, logits=y_pred)
    kept = labels != cast(ignore_class, dtypes.int64)
    safe = where(kept, labels, cast(0, dtypes.int64))
    value = sparse_softmax_cross_entropy_with_logits(labels=safe, logits=y_pred)
    return counting_where(kept, value * cast(kept, value.dtype))


def counting_where(mask: Tensor, values: Tensor):
    """The losses of examples, of which in Keras 3 only some count in a mean."""
    if not keras_2():
        values._keras_mask = mask  # type: ignore[attr-defined]
    return values


@computes_tensors
def binary_crossentropy(
    y_true: Any, y_pred: TensorLike, from_logits: bool = False, label_smoothing=0.0, axis: AxisLike = -1
):
    """Mean over the last axis of -(y log(p) + (1 - y) log(1 - p)); y_pred are p, or logits.

    Probabilities are cut off at `keras.config.epsilon()`.

    Args:
      y_true: labels 0 and 1, or probabilities, `(batch, ..., d)`.
      y_pred: predictions of the same shape.
      from_logits: whether predictions are logits, of which the sigmoid is taken.
      label_smoothing: from 0 to 1: labels become `y * (1 - label_smoothing) + label_smoothing / 2`.
      axis: the axis of the mean.

    Returns:
      One number per example, without that axis.

    Raises:
      ValueError: for shapes that differ; Keras 2 broadcasts them.

    >>> print(f"{tf.keras.losses.binary_crossentropy([[0.0, 1.0]], [[0.5, 0.5]])[0]:.4f}")
    0.6931
    """
    y_true, y_pred = pair(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    if not keras_2():  # which broadcasts them
        check_alike(y_true, y_pred)
    if from_logits:
        value = sigmoid_cross_entropy_with_logits(labels=y_true, logits=y_pred)
    else:
        epsilon = settings.epsilon()
        p = clip_by_value(y_pred, epsilon, 1.0 - epsilon)
        least = epsilon if keras_2() else 0.0
        value = -(y_true * log(p + least) + (1.0 - y_true) * log(1.0 - p + least))
    return reduce_mean(value, axis=axis)


@computes_tensors
def kl_divergence(y_true: Any, y_pred: Any):
    """Sum over the last axis of y_true * log(y_true / y_pred), of probabilities.

    Numbers are cut off at `keras.config.epsilon()` and 1.

    Args:
      y_true: labels, `(batch, ..., d)`.
      y_pred: predictions of the same shape.

    Returns:
      One number per example, `(batch, ...)`.
    """
    y_true, y_pred = pair(y_true, y_pred)
    epsilon = settings.epsilon()
    y_true, y_pred = (clip_by_value(y, epsilon, 1.0) for y in (y_true, y_pred))
    return reduce_sum(y_true * log(y_true / y_pred), axis=-1)


@computes_tensors
def poisson(y_true: TensorLike, y_pred: TensorLike):
    """Mean over the last axis of y_pred - y_true * log(y_pred).

    Args:
      y_true: labels, `(batch, ..., d)`.
      y_pred: predictions of the same shape.

    Returns:
      One number per example, `(batch, ...)`.
    """
    y_true, y_pred = pair(y_true, y_pred)
    return reduce_mean(y_pred - y_true * log(y_pred + settings.epsilon()), axis=-1)


@computes_tensors
def cosine_similarity(y_true: TensorLike, y_pred: TensorLike, axis: AxisLike = -1):
    """Minus the cosine of the angle between the vectors along `axis`: -1 for one direction, 1 for opposite ones.

    Args:
      y_true: labels, `(batch, ..., d)`.
      y_pred: predictions of the same shape.
      axis: the axis of the vectors.

    Returns:
      One number per example, without that axis.

    >>> print(tf.keras.losses.cosine_similarity([[1.0, 0.0]], [[2.0, 0.0]]).numpy())
    [-1.]
    """
    y_true, y_pred = pair(y_true, y_pred, one_rank=True)
    return -reduce_sum(l2_normalize(y_true, axis=axis) * l2_normalize(y_pred, axis=axis), axis=axis)


mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence = kl_divergence
logcosh = log_cosh

boundaries(globals())

"""Metrics as functions: one number per example."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2
from tapeflow.keras import settings
from tapeflow.keras.losses.shapes import pair, squeeze_or_expand, without_last
from tapeflow.ops.array.layout import reshape, squeeze
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.indexing.top_k import in_top_k
from tapeflow.ops.math.argmax import argmax
from tapeflow.ops.math.arithmetic import squared_difference
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import square
from tapeflow.ops.math.reductions import reduce_any, reduce_mean, reduce_sum
from tapeflow.ops.nn.normalization import l2_normalize
from tapeflow.ops.static import rank_of, size_of


def _matches(a, b):
    return cast(equal(a, b), settings.floatx())


def binary_accuracy(y_true: Tensor, y_pred: Tensor, threshold: float = 0.5):
    """Whether y_pred > threshold equals y_true.

    Args:
      y_true: labels 0 and 1.
      y_pred: probabilities of the same shape.
      threshold: the number above which a prediction counts as 1.

    Returns:
      1.0 or 0.0 for each number; under Keras 2 the mean of these over the last axis.

    >>> print(tf.keras.metrics.binary_accuracy([[1.0, 1.0]], [[0.7, 0.2]]).numpy())
    [[1. 0.]]
    """
    y_pred = convert_to_tensor(y_pred)
    if keras_2():
        decided = cast(y_pred > cast(threshold, y_pred.dtype), y_pred.dtype)
        return reduce_mean(_matches(cast(y_true, y_pred.dtype), decided), axis=-1)
    y_true, y_pred, _ = squeeze_or_expand(convert_to_tensor(y_true), y_pred)
    if not y_pred.dtype.is_floating:
        y_pred = cast(y_pred, settings.floatx())
    return _matches(y_true, cast(y_pred > cast(threshold, y_pred.dtype), y_true.dtype))


def categorical_accuracy(y_true: TensorLike, y_pred: TensorLike):
    """Whether the largest prediction is at the largest label.

    Args:
      y_true: one-hot labels, `(batch, ..., classes)`.
      y_pred: probabilities or scores of the same shape.

    Returns:
      1.0 or 0.0 for each example, `(batch, ...)`.
    """
    return _matches(argmax(y_true, axis=-1), argmax(y_pred, axis=-1))


def sparse_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike):
    """Whether the largest prediction is at y_true.

    Args:
      y_true: the numbers of the classes, `(batch, ...)`; a last axis of 1 goes.
      y_pred: probabilities or scores, `(batch, ..., classes)`.

    Returns:
      1.0 or 0.0 for each example, `(batch, ...)`.
    """
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    y_true = _class_numbers(y_true, y_pred)
    matches = _matches(cast(y_true, dtypes.int64), argmax(y_pred, axis=-1))
    if (matches.shape.rank or 0) > 1 and matches.shape[-1] == 1:
        matches = squeeze(matches, [-1])
    return matches


def _class_numbers(y_true: Tensor, y_pred: Tensor):
    """The labels, without a last axis of size 1 where predictions have one for the classes."""
    if y_true.shape.rank is None or y_pred.shape.rank is None:
        return without_last(y_true, rank_of(y_true) - rank_of(y_pred) + 1)
    alike = y_true.shape.rank == y_pred.shape.rank
    return squeeze(y_true, [-1]) if alike and y_true.shape[-1] == 1 else y_true


def _in_top(targets: Tensor, y_pred: Tensor, k: int):
    rows = reshape(y_pred, [-1, size_of(y_pred, -1)])
    hits = in_top_k(reshape(targets, [-1]), cast(rows, "float32"), k)
    known = targets.shape.is_fully_defined()
    return cast(reshape(hits, targets.shape if known else shape_of(targets)), settings.floatx())


def top_k_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike, k: int = 5):
    """Whether the largest label is among the k largest predictions.

    Args:
      y_true: one-hot labels, `(batch, ..., classes)`.
      y_pred: probabilities or scores of the same shape.
      k: how many of the largest predictions count.

    Returns:
      1.0 or 0.0 for each example, `(batch, ...)`.
    """
    return _in_top(argmax(y_true, axis=-1), convert_to_tensor(y_pred), k)


def sparse_top_k_categorical_accuracy(
    y_true: TensorLike, y_pred: TensorLike, k: int = 5, from_sorted_ids: bool = False
):
    """Whether y_true is among the k largest predictions.

    Args:
      y_true: the numbers of the classes, `(batch, ...)`.
      y_pred: probabilities or scores, `(batch, ..., classes)`; with `from_sorted_ids` the numbers of classes, best
        first.
      k: how many of the largest predictions count.
      from_sorted_ids: whether predictions are the numbers of classes instead of scores.

    Returns:
      1.0 or 0.0 for each example, `(batch, ...)`.
    """
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    if from_sorted_ids:
        labels = reshape(cast(_class_numbers(y_true, y_pred), y_pred.dtype), [-1, 1])
        first = reshape(y_pred, [-1, size_of(y_pred, -1)])[:, :k]
        return cast(reduce_any(equal(first, labels), axis=-1), settings.floatx())
    return _in_top(cast(_class_numbers(y_true, y_pred), dtypes.int64), y_pred, k)


def accuracy(y_true: TensorLike, y_pred: TensorLike):
    """Whether y_pred equals y_true.

    Args:
      y_true: labels.
      y_pred: predicted labels of the same shape.

    Returns:
      1.0 or 0.0 for each number.
    """
    y_pred = convert_to_tensor(y_pred)
    y_true = cast(y_true, y_pred.dtype)
    if not keras_2():
        y_true, y_pred, _ = squeeze_or_expand(y_true, y_pred)
    return _matches(y_true, y_pred)


def cosine_proximity(y_true: Tensor, y_pred: Tensor, axis: AxisLike = -1):
    """The cosine of the angle between the vectors along `axis`.

    Args:
      y_true: labels, `(batch, ..., d)`.
      y_pred: predictions of the same shape.
      axis: the axis of the vectors.

    Returns:
      One number per example, from -1 to 1.
    """
    y_true, y_pred = pair(y_true, y_pred, one_rank=True)
    return reduce_sum(l2_normalize(y_true, axis=axis) * l2_normalize(y_pred, axis=axis), axis=axis)


def pearson_correlation(y_true: Tensor, y_pred: Tensor, axis: int = -1):
    """The correlation of labels and predictions along `axis`.

    Args:
      y_true: labels, `(batch, ..., d)`.
      y_pred: predictions of the same shape.
      axis: the axis along which they are correlated.

    Returns:
      One number per example, from -1 to 1.
    """
    y_true, y_pred = pair(y_true, y_pred)
    parts = [
        l2_normalize(y - reduce_mean(y, axis=axis, keepdims=True), axis=axis, epsilon=1e-12)
        for y in (y_true, y_pred)
    ]
    return reduce_sum(parts[0] * parts[1], axis=axis)


def concordance_correlation(y_true: Tensor, y_pred: Tensor, axis: int = -1):
    """Lin's concordance of labels and predictions along `axis`: correlation, less where mean or spread differ.

    Args:
      y_true: labels, `(batch, ..., d)`.
      y_pred: predictions of the same shape.
      axis: the axis along which they are compared.

    Returns:
      One number per example, from -1 to 1.
    """
    y_true, y_pred = pair(y_true, y_pred)
    true_mean, mean = (reduce_mean(y, axis=axis, keepdims=True) for y in (y_true, y_pred))
    true_part, part = y_true - true_mean, y_pred - mean
    shared = reduce_mean(true_part * part, axis=axis)
    spread = reduce_mean(square(true_part), axis=axis) + reduce_mean(square(part), axis=axis)
    apart = reduce_sum(squared_difference(true_mean, mean), axis=axis)
    return divide_no_nan(2.0 * shared, spread + apart + settings.epsilon())


def relative_error(y_true: Tensor, y_pred: Tensor, normalizer):
    """|y_true - y_pred| / normalizer, 0 where that is 0."""
    return divide_no_nan(abs_(y_true - y_pred), normalizer)

boundaries(globals())

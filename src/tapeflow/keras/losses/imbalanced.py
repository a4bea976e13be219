"""Losses for classes that are rare, regions, embeddings and sequences, as functions."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, computes_tensors
from tapeflow.core.release import keras_2
from tapeflow.keras import settings
from tapeflow.keras.losses.functions import counting_where
from tapeflow.keras.losses.shapes import check_alike, pair
from tapeflow.ops.array.construction import fill
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.tensor_diagonal import eye
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.arithmetic import pow as pow_
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.comparison import equal, not_equal
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.math.elementwise import log
from tapeflow.ops.math.logic import logical_and, logical_not
from tapeflow.ops.math.reductions import reduce_logsumexp, reduce_mean, reduce_sum
from tapeflow.ops.math.trigonometric import sigmoid
from tapeflow.ops.nn.sigmoid_loss import sigmoid_cross_entropy_with_logits
from tapeflow.ops.nn.softmax import softmax
from tapeflow.ops.nn.softplus import softplus
from tapeflow.ops.recurrent.ctc_functions import ctc_loss
from tapeflow.ops.static import size_of


@computes_tensors
def binary_focal_crossentropy(
    y_true, y_pred: Any, apply_class_balancing: bool = False, alpha=0.25, gamma: float = 2.0,
    from_logits: bool = False, label_smoothing=0.0, axis: AxisLike = -1,
):
    """Binary cross-entropy times (1 - p of the right class)^gamma (Lin et al. 2017), mean over the axis.

    Args:
      y_true: labels 0 and 1, or probabilities, `(batch, ..., d)`.
      y_pred: predictions of the same shape.
      apply_class_balancing: whether class 1 is weighted by `alpha`, and class 0 by `1 - alpha`.
      alpha: the weight of class 1, from 0 to 1.
      gamma: how much less examples count that are already right; 0 for no difference.
      from_logits: whether predictions are logits, of which the sigmoid is taken.
      label_smoothing: from 0 to 1: labels become `y * (1 - label_smoothing) + label_smoothing / 2`.
      axis: the axis of the mean.

    Returns:
      One number per example, without that axis.
    """
    y_true, y_pred = pair(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    if not keras_2():  # which broadcasts them
        check_alike(y_true, y_pred)
    if from_logits:
        value = sigmoid_cross_entropy_with_logits(labels=y_true, logits=y_pred)
        p = sigmoid(y_pred)
    else:
        epsilon = settings.epsilon()
        p = clip_by_value(y_pred, epsilon, 1.0 - epsilon)
        least = epsilon if keras_2() else 0.0
        value = -(y_true * log(p + least) + (1.0 - y_true) * log(1.0 - p + least))
    right = y_true * p + (1.0 - y_true) * (1.0 - p)
    value = pow_(1.0 - right, cast(gamma, right.dtype)) * value
    if apply_class_balancing:
        value = (y_true * alpha + (1.0 - y_true) * (1.0 - alpha)) * value
    return reduce_mean(value, axis=axis)


@computes_tensors
def categorical_focal_crossentropy(
    y_true: Any, y_pred: Any, alpha: TensorLike = 0.25, gamma: TensorLike = 2.0, from_logits: bool = False,
    label_smoothing=0.0, axis: AxisLike = -1,
):
    """Categorical cross-entropy, each class times alpha (1 - p)^gamma.

    Args:
      y_true: one-hot labels or probabilities, `(batch, ..., classes)`.
      y_pred: predictions of the same shape.
      alpha: the weight of the classes, a number or one for each.
      gamma: how much less examples count that are already right; 0 for no difference.
      from_logits: whether predictions are logits, of which the softmax is taken.
      label_smoothing: from 0 to 1: labels become `y * (1 - label_smoothing) + label_smoothing / classes`.
      axis: the axis of the classes.

    Returns:
      One number per example, without that axis.
    """
    y_true, y_pred = pair(y_true, y_pred)
    if label_smoothing:
        classes = size_of(y_true, -1)
        classes = classes if isinstance(classes, int) else cast(classes, y_true.dtype)
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / classes
    if keras_2():
        check_alike(y_true, y_pred)
    p = softmax(y_pred, axis=axis) if from_logits else y_pred
    p = p / reduce_sum(p, axis, True)
    epsilon = settings.epsilon()
    p = clip_by_value(p, epsilon, 1.0 - epsilon)
    value = -y_true * log(p) * alpha * pow_(1.0 - p, cast(gamma, p.dtype))
    return reduce_sum(value, axis=axis)


@computes_tensors
def categorical_generalized_cross_entropy(y_true: TensorLike, y_pred: TensorLike, q: float):
    """(1 - p^q) / q for the probability p of class y_true (Zhang & Sabuncu 2018), which wrong labels disturb less.

    Args:
      y_true: the numbers of the classes, `(batch, ...)`.
      y_pred: probabilities, `(batch, ..., classes)`.
      q: from 0, near the cross-entropy, to 1, the mean absolute error.

    Returns:
      One number per example, `(batch, ...)`.
    """
    y_pred = convert_to_tensor(y_pred)
    hot = one_hot(cast(y_true, dtypes.int32), size_of(y_pred, -1), dtype=y_pred.dtype)
    p = reduce_sum(y_pred * hot, axis=-1)
    return (1.0 - pow_(p, cast(q, p.dtype))) / q


@computes_tensors
def dice(y_true: Any, y_pred: Any, axis=None):
    """1 - 2 sum(y_true * y_pred) / (sum(y_true) + sum(y_pred)), for how regions overlap.

    Args:
      y_true: labels, `(batch, ..., d)`.
      y_pred: predictions of the same shape.
      axis: the axes of the sums; None for all, which gives one number.

    Returns:
      The loss, without these axes.
    """
    y_true, y_pred = pair(y_true, y_pred)
    both = reduce_sum(y_true * y_pred, axis=axis)
    sizes = reduce_sum(y_true, axis=axis) + reduce_sum(y_pred, axis=axis)
    return 1.0 - divide_no_nan(2.0 * both, sizes + settings.epsilon())


@computes_tensors
def tversky(y_true: Any, y_pred: Any, alpha: float = 0.5, beta: float = 0.5, axis=None):
    """1 - the Tversky index, which counts false positives alpha and false negatives beta times.

    Args:
      y_true: labels, `(batch, ..., d)`.
      y_pred: predictions of the same shape.
      alpha: the weight of false positives.
      beta: the weight of false negatives; with 0.5 for both it is the Dice loss.
      axis: the axes of the sums; None for all, which gives one number.

    Returns:
      The loss, without these axes.
    """
    y_true, y_pred = pair(y_true, y_pred)
    both = reduce_sum(y_true * y_pred, axis=axis)
    wrong = reduce_sum((1.0 - y_true) * y_pred, axis=axis)
    missed = reduce_sum(y_true * (1.0 - y_pred), axis=axis)
    index = divide_no_nan(both, both + wrong * alpha + missed * beta + settings.epsilon())
    return 1.0 - index


@computes_tensors
def circle(
    y_true: TensorLike, y_pred: TensorLike, ref_labels=None, ref_embeddings=None, remove_diagonal: bool = True,
    gamma: float = 80, margin: float = 0.4,
):
    """The circle loss (Sun et al. 2020) of embeddings of length 1: equal labels are to be near, different ones apart.

    Args:
      y_true: the numbers of the classes, `(batch,)`.
      y_pred: the embeddings, `(batch, d)`.
      ref_labels: classes of the embeddings to compare with; None for `y_true`.
      ref_embeddings: embeddings to compare with; None for `y_pred`.
      remove_diagonal: whether the i-th embedding is not compared with the i-th one.
      gamma: the factor of the distances.
      margin: by how much similar pairs may be apart, and different ones near.

    Returns:
      One number per example, `(batch,)`.
    """
    y_pred = convert_to_tensor(y_pred)
    labels = reshape(convert_to_tensor(y_true), [-1])
    others = y_pred if ref_embeddings is None else convert_to_tensor(ref_embeddings, y_pred.dtype)
    other_labels = labels if ref_labels is None else reshape(convert_to_tensor(ref_labels), [-1])
    distances = maximum(1.0 - matmul(y_pred, others, transpose_b=True), 0.0)
    alike = equal(reshape(labels, [-1, 1]), reshape(cast(other_labels, labels.dtype), [1, -1]))
    apart = logical_not(alike)
    if remove_diagonal:
        diagonal = eye(*(size_of(distances, i) for i in (0, 1))) > 0
        alike = logical_and(alike, logical_not(diagonal))
    pull = maximum(distances + margin, 0.0) * (distances - margin)
    push = maximum(1.0 + margin - distances, 0.0) * ((1.0 - margin) - distances)
    none = fill(shape_of(distances), cast(float("-inf"), distances.dtype))
    far = reduce_logsumexp(where(alike, gamma * pull, none), axis=1)
    near = reduce_logsumexp(where(apart, gamma * push, none), axis=1)
    values = softplus(far + near)
    return counting_where(values > 0, values)


@computes_tensors
def ctc(y_true: TensorLike, y_pred: TensorLike):
    """The loss of connectionist temporal classification (Graves et al. 2006); class 0 is the blank.

    Args:
      y_true: the numbers of the classes, `(batch, length)`, 0 for padding.
      y_pred: logits, `(batch, time, classes)`.

    Returns:
      One number per example, `(batch,)`.

    Raises:
      ValueError: for labels and logits of another rank.
    """
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    if y_true.shape.rank != 2:
        raise ValueError(
            "Targets `y_true` are expected to be a tensor of shape `(batch_size, max_length)` in "
            f"integer format. Received: y_true.shape={y_true.shape}"
        )
    if y_pred.shape.rank != 3:
        raise ValueError(
            "Logits `y_pred` are expected to be a tensor of shape `(batch_size, max_length, "
            f"num_classes)`. Received: y_pred.shape={y_pred.shape}"
        )
    sizes = shape_of(y_pred)
    labels = cast(y_true, dtypes.int32)
    lengths = reduce_sum(cast(not_equal(labels, 0), dtypes.int32), axis=-1)
    return ctc_loss(
        labels, y_pred, lengths, fill([sizes[0]], sizes[1]), logits_time_major=False, blank_index=0
    )

boundaries(globals())

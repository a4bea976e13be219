"""`tf.losses` (1.x): losses with weights, reduced to a scalar and collected."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.context import name_scope_v1
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.layout import squeeze
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.rows import identity, stop_gradient
from tapeflow.ops.array.sizes import rank
from tapeflow.ops.control.flow import cond
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.math.arithmetic import minimum, squared_difference
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal, not_equal
from tapeflow.ops.math.division_no_nan import divide_no_nan as div_no_nan
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import log, square
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.nn.activation import relu
from tapeflow.ops.nn.loss import (
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from tapeflow.ops.nn.sigmoid_loss import sigmoid_cross_entropy_with_logits
from tapeflow.v1.loss_reduction import (
    LOSSES,
    Reduction,
    add_loss,
    add_loss_to,
    check_weights,
    compute_weighted_loss,
    get_losses,
    get_regularization_loss,
    get_regularization_losses,
    get_total_loss,
)

__all__ = [
    "Reduction", "absolute_difference", "add_loss", "compute_weighted_loss", "cosine_distance", "get_losses",
    "get_regularization_loss", "get_regularization_losses", "get_total_loss", "hinge_loss", "huber_loss", "log_loss",
    "mean_pairwise_squared_error", "mean_squared_error", "sigmoid_cross_entropy", "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
]  # fmt: skip


def _required(**arguments):
    for name, value in arguments.items():
        if value is None:
            raise ValueError(f"Argument `{name}` must not be None.")


def _pair(labels, predictions):
    """Both as float32 of one shape. Raises ValueError when shapes differ."""
    predictions, labels = cast(predictions, dtypes.float32), cast(labels, dtypes.float32)
    if not TensorShape(predictions.shape).is_compatible_with(labels.shape):
        raise ValueError(f"Shapes {predictions.shape} and {labels.shape} are incompatible")
    return labels, predictions


@public
def absolute_difference(
    labels: TensorLike, predictions: Any, weights: TensorLike = 1.0, scope=None, loss_collection: str | None = LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
):
    """|predictions - labels|.

    Args:
      labels: the true values, a tensor of the shape of the predictions.
      predictions: a tensor of floats.
      weights: a number, or a tensor that broadcasts to the losses; 0 leaves a sample out.
      scope: the name scope of the operations (optional).
      loss_collection: the name of the collection of the graph that the loss is added to; None: none.
      reduction: how the losses are combined: a constant of `tf.compat.v1.losses.Reduction`.
    """
    _required(labels=labels, predictions=predictions)
    with name_scope_v1(scope, "absolute_difference", (predictions, labels, weights)) as scope:
        labels, predictions = _pair(labels, predictions)
        value = abs_(predictions - labels)
        return compute_weighted_loss(value, weights, scope, loss_collection, reduction)


@public
def mean_squared_error(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike = 1.0, scope=None,
    loss_collection: str | None = LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
):
    """(predictions - labels)^2.

    Args:
      labels: the true values, a tensor of the shape of the predictions.
      predictions: a tensor of floats.
      weights: a number, or a tensor that broadcasts to the losses; 0 leaves a sample out.
      scope: the name scope of the operations (optional).
      loss_collection: the name of the collection of the graph that the loss is added to; None: none.
      reduction: how the losses are combined: a constant of `tf.compat.v1.losses.Reduction`.
    """
    _required(labels=labels, predictions=predictions)
    with name_scope_v1(scope, "mean_squared_error", (predictions, labels, weights)) as scope:
        labels, predictions = _pair(labels, predictions)
        value = squared_difference(predictions, labels)
        return compute_weighted_loss(value, weights, scope, loss_collection, reduction)


@public
def cosine_distance(
    labels: TensorLike, predictions: Any, axis: int | None = None, weights: TensorLike = 1.0, scope=None,
    loss_collection: str | None = LOSSES, reduction=Reduction.SUM_BY_NONZERO_WEIGHTS, dim: int | None = None,
):
    """1 - the cosine between vectors along `axis`, which must be of length 1 already.

    Args:
      labels: the true values, a tensor of the shape of the predictions.
      predictions: a tensor of floats.
      axis: the axis of the vectors.
      weights: a number, or a tensor that broadcasts to the losses; 0 leaves a sample out.
      scope: the name scope of the operations (optional).
      loss_collection: the name of the collection of the graph that the loss is added to; None: none.
      reduction: how the losses are combined: a constant of `tf.compat.v1.losses.Reduction`.
      dim: the old name of `axis`.
    """
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify argument `axis`.")
    _required(labels=labels, predictions=predictions)
    with name_scope_v1(scope, "cosine_distance_loss", (predictions, labels, weights)) as scope:
        labels, predictions = _pair(labels, predictions)
        value = 1 - reduce_sum(predictions * labels, axis=axis, keepdims=True)
        return compute_weighted_loss(value, weights, scope, loss_collection, reduction)


@public
def hinge_loss(
    labels: Any, logits: Any, weights: TensorLike = 1.0, scope=None, loss_collection: str | None = LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
):
    """max(0, 1 - (2 labels - 1) * logits), for labels 0 and 1.

    Args:
      labels: the true values, a tensor of the shape of the predictions.
      logits: a tensor of unnormalized predictions.
      weights: a number, or a tensor that broadcasts to the losses; 0 leaves a sample out.
      scope: the name scope of the operations (optional).
      loss_collection: the name of the collection of the graph that the loss is added to; None: none.
      reduction: how the losses are combined: a constant of `tf.compat.v1.losses.Reduction`.
    """
    _required(labels=labels, logits=logits)
    with name_scope_v1(scope, "hinge_loss", (logits, labels, weights)) as scope:
        labels, logits = _pair(labels, logits)
        value = relu(1.0 - (2 * labels - 1.0) * logits)
        return compute_weighted_loss(value, weights, scope, loss_collection, reduction)


@public
def huber_loss(
    labels: TensorLike, predictions: Any, weights: TensorLike = 1.0, delta: TensorLike = 1.0, scope=None,
    loss_collection: str | None = LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
):
    """e^2 / 2 for |e| <= delta, delta |e| - delta^2 / 2 beyond.

    Args:
      labels: the true values, a tensor of the shape of the predictions.
      predictions: a tensor of floats.
      weights: a number, or a tensor that broadcasts to the losses; 0 leaves a sample out.
      delta: where the loss becomes linear.
      scope: the name scope of the operations (optional).
      loss_collection: the name of the collection of the graph that the loss is added to; None: none.
      reduction: how the losses are combined: a constant of `tf.compat.v1.losses.Reduction`.
    """
    _required(labels=labels, predictions=predictions)
    with name_scope_v1(scope, "huber_loss", (predictions, labels, weights)) as scope:
        labels, predictions = _pair(labels, predictions)
        error = abs_(predictions - labels)
        inner = minimum(error, delta)
        value = 0.5 * inner * inner + delta * (error - inner)
        return compute_weighted_loss(value, weights, scope, loss_collection, reduction)


@public
def log_loss(
    labels: Any, predictions: Any, weights: TensorLike = 1.0, epsilon: TensorLike = 1e-7, scope=None,
    loss_collection: str | None = LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
):
    """-labels * log(predictions) - (1 - labels) * log(1 - predictions).

    Args:
      labels: the true values, a tensor of the shape of the predictions.
      predictions: a tensor of floats.
      weights: a number, or a tensor that broadcasts to the losses; 0 leaves a sample out.
      epsilon: what is added so that logarithms are finite.
      scope: the name scope of the operations (optional).
      loss_collection: the name of the collection of the graph that the loss is added to; None: none.
      reduction: how the losses are combined: a constant of `tf.compat.v1.losses.Reduction`.
    """
    _required(labels=labels, predictions=predictions)
    with name_scope_v1(scope, "log_loss", (predictions, labels, weights)) as scope:
        labels, predictions = _pair(labels, predictions)
        value = -labels * log(predictions + epsilon) - (1 - labels) * log(1 - predictions + epsilon)
        return compute_weighted_loss(value, weights, scope, loss_collection, reduction)


@public
def mean_pairwise_squared_error(
    labels, predictions, weights: TensorLike = 1.0, scope=None, loss_collection: str | None = LOSSES
):
    """Mean over pairs of elements of a sample of the squared error of their difference.

    Args:
      labels: the true values, a tensor of the shape of the predictions.
      predictions: a tensor of floats.
      weights: a number, or a tensor that broadcasts to the losses; 0 leaves a sample out.
      scope: the name scope of the operations (optional).
      loss_collection: the name of the collection of the graph that the loss is added to; None: none.
    """
    _required(labels=labels, predictions=predictions)
    with name_scope_v1(
        scope, "mean_pairwise_squared_error", (predictions, labels, weights)
    ) as scope:
        labels, predictions = _pair(labels, predictions)
        errors = predictions - labels
        weights = cast(weights, dtypes.float32)
        with control_dependencies(check_weights(weights, errors)):
            errors = identity(errors)
        known = errors.shape.rank
        axes = range_(1, rank(errors)) if known is None else list(range(1, known))
        spread = weights + zeros_like(errors)
        present = reduce_sum(cast(not_equal(spread, 0.0), dtypes.float32), axis=axes, keepdims=True)
        squares = reduce_sum(square(errors), axis=axes, keepdims=True)
        sums = reduce_sum(errors, axis=axes, keepdims=True)
        mean_of_squares = 2.0 * div_no_nan(squares, present - 1)
        square_of_mean = 2.0 * div_no_nan(square(sums), present * (present - 1))
        weighted = (mean_of_squares - square_of_mean) * weights
        return add_loss_to(reduce_sum(weighted), loss_collection)


@public
def sigmoid_cross_entropy(
    multi_class_labels: TensorLike, logits: TensorLike, weights: float = 1.0, label_smoothing: Any = 0, scope=None,
    loss_collection: str | None = LOSSES, reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
):
    """Cross-entropy of independent labels and sigmoid(logits).

    Args:
      multi_class_labels: a tensor of 0 and 1, `[batch, classes]`.
      logits: a tensor of unnormalized predictions.
      weights: a number, or a tensor that broadcasts to the losses; 0 leaves a sample out.
      label_smoothing: how far labels are drawn to their mean, from 0 to 1.
      scope: the name scope of the operations (optional).
      loss_collection: the name of the collection of the graph that the loss is added to; None: none.
      reduction: how the losses are combined: a constant of `tf.compat.v1.losses.Reduction`.
    """
    _required(multi_class_labels=multi_class_labels, logits=logits)
    with name_scope_v1(
        scope, "sigmoid_cross_entropy_loss", (logits, multi_class_labels, weights)
    ) as scope:
        logits = convert_to_tensor(logits)
        labels = cast(multi_class_labels, logits.dtype)
        if not TensorShape(logits.shape).is_compatible_with(labels.shape):
            raise ValueError(f"Shapes {logits.shape} and {labels.shape} are incompatible")
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        value = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return compute_weighted_loss(value, weights, scope, loss_collection, reduction)


@public
def softmax_cross_entropy(
    onehot_labels: TensorLike, logits: Any, weights: float = 1.0, label_smoothing: Any = 0, scope=None,
    loss_collection: str | None = LOSSES, reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
):
    """Cross-entropy of rows of probabilities and softmax(logits).

    Args:
      onehot_labels: a tensor of probabilities, `[batch, classes]`.
      logits: a tensor of unnormalized predictions.
      weights: a number, or a tensor that broadcasts to the losses; 0 leaves a sample out.
      label_smoothing: how far labels are drawn to their mean, from 0 to 1.
      scope: the name scope of the operations (optional).
      loss_collection: the name of the collection of the graph that the loss is added to; None: none.
      reduction: how the losses are combined: a constant of `tf.compat.v1.losses.Reduction`.
    """
    _required(onehot_labels=onehot_labels, logits=logits)
    with name_scope_v1(
        scope, "softmax_cross_entropy_loss", (logits, onehot_labels, weights)
    ) as scope:
        logits = convert_to_tensor(logits)
        labels = cast(onehot_labels, logits.dtype)
        if not TensorShape(logits.shape).is_compatible_with(labels.shape):
            raise ValueError(f"Shapes {logits.shape} and {labels.shape} are incompatible")
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + label_smoothing / logits.shape[-1]
        value = softmax_cross_entropy_with_logits(labels=stop_gradient(labels), logits=logits)
        return compute_weighted_loss(value, weights, scope, loss_collection, reduction)


@public
def sparse_softmax_cross_entropy(
    labels: TensorLike, logits: TensorLike, weights: TensorLike = 1.0, scope=None, loss_collection: str | None = LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
):
    """Cross-entropy of class numbers and softmax(logits).

    Args:
      labels: the true values, a tensor of the shape of the predictions.
      logits: a tensor of unnormalized predictions.
      weights: a number, or a tensor that broadcasts to the losses; 0 leaves a sample out.
      scope: the name scope of the operations (optional).
      loss_collection: the name of the collection of the graph that the loss is added to; None: none.
      reduction: how the losses are combined: a constant of `tf.compat.v1.losses.Reduction`.
    """
    _required(labels=labels, logits=logits)
    with name_scope_v1(
        scope, "sparse_softmax_cross_entropy_loss", (logits, labels, weights)
    ) as scope:
        logits, labels = convert_to_tensor(logits), convert_to_tensor(labels)
        if (
            labels.shape.rank is not None
            and labels.shape.rank == logits.shape.rank
            and labels.shape[-1] == 1
        ):
            labels = squeeze(labels, [-1])
        weights = convert_to_tensor(weights)
        if weights.shape.rank and labels.shape.rank is not None:
            if weights.shape.rank - labels.shape.rank == 1:
                weights = squeeze(weights, [-1])
        elif weights.shape.rank is None:
            given = weights
            weights = cond(
                equal(rank(given) - rank(labels), 1), lambda: squeeze(given, [-1]), lambda: given
            )
        value = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return compute_weighted_loss(value, weights, scope, loss_collection, reduction)

"""Losses that take predictions first, and collect themselves.

Weights have the first axes of the losses: one for each example, or for each element.
"""

from __future__ import annotations

from tapeflow.contrib.framework.scoping import add_arg_scope
from tapeflow.core import dtypes
from tapeflow.core.annotations import FloatLike, Tensor, TensorLike
from tapeflow.core.context import name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.construction import ones_like
from tapeflow.ops.array.layout import reshape, squeeze
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.math.arithmetic import squared_difference
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import not_equal
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import log, square
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.nn.activation import relu
from tapeflow.ops.nn.loss import (
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from tapeflow.ops.nn.sigmoid_loss import sigmoid_cross_entropy_with_logits
from tapeflow.v1.loss_reduction import add_loss as _add_loss
from tapeflow.v1.loss_reduction import get_losses, get_regularization_losses, get_total_loss

__all__ = [
    "absolute_difference", "add_loss", "compute_weighted_loss", "cosine_distance", "get_losses",
    "get_regularization_losses", "get_total_loss", "hinge_loss", "log_loss",
    "mean_pairwise_squared_error", "mean_squared_error", "sigmoid_cross_entropy",
    "softmax_cross_entropy", "sparse_softmax_cross_entropy",
]  # fmt: skip


@add_arg_scope
def add_loss(loss: TensorLike, loss_collection: str | None = "losses"):
    """Puts a loss into a collection, unless that is None."""
    if loss_collection:
        _add_loss(loss, loss_collection)


def _prepared(values, weights):
    """(values, weights) as float32, of known ranks; those of the weights without a last axis of size one."""
    values = cast(values, dtypes.float32)
    weights = cast(convert_to_tensor(weights), dtypes.float32)
    for name, each in (("losses", values), ("weights", weights)):
        if each.shape.rank is None:
            raise ValueError(f"{name}.get_shape().ndims cannot be None")
    if weights.shape.rank > 1 and weights.shape.as_list()[-1] in (1, None):
        weights = squeeze(weights, [-1])
    return values, weights


def _weighted(values, weights):
    """The sum of values times weights. Raises ValueError for weights of a higher rank."""
    if weights.shape.rank > values.shape.rank:
        raise ValueError(f"Weights of shape {weights.shape} do not fit losses of shape {values.shape}")
    return reduce_sum(_inner(values, weights.shape.rank) * weights)


def _inner(values, rank):
    """The sum over all axes but the first `rank`."""
    return reduce_sum(values, axis=list(range(rank, values.shape.rank)))


def _present(values, weights):
    """For each example how many of its elements have a weight that is not zero."""
    elements = _inner(ones_like(values), max(weights.shape.rank, 1))
    return _inner(elements * cast(not_equal(weights, 0.0), dtypes.float32), 1)


@add_arg_scope
def compute_weighted_loss(losses: TensorLike, weights: FloatLike = 1.0, scope: str | None = None):
    """The weighted sum of losses by the number of those with a weight; it joins the collection.

    Raises ValueError for tensors of unknown rank.
    """
    with name_scope(scope or "weighted_loss"):
        losses = convert_to_tensor(losses)
        values, weights = _prepared(losses, weights)
        total, number = _weighted(values, weights), reduce_sum(_present(values, weights))
        mean = cast(divide_no_nan(total, number, name="value"), losses.dtype)
        add_loss(mean)
        return mean


def _floats(predictions: TensorLike, labels):
    """Predictions and labels as float32, of shapes that fit."""
    predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return cast(predictions, dtypes.float32), cast(labels, dtypes.float32)


@add_arg_scope
def absolute_difference(predictions: Tensor, labels: Tensor | None = None, weights: FloatLike = 1.0, scope=None):
    """The weighted mean of |predictions - labels|."""
    with name_scope(scope or "absolute_difference") as scope:
        predictions, labels = _floats(predictions, labels)
        return compute_weighted_loss(abs_(predictions - labels), weights, scope=scope)


@add_arg_scope
def cosine_distance(
    predictions: Tensor, labels: Tensor | None = None, axis=None, weights: FloatLike = 1.0, scope=None,
    dim: int | None = None,
):
    """1 - the cosines of unit vectors along an axis. Raises ValueError without one."""
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with name_scope(scope or "cosine_distance_loss") as scope:
        predictions, labels = _floats(predictions, labels)
        return compute_weighted_loss(1 - reduce_sum(predictions * labels, [axis]), weights, scope=scope)


@add_arg_scope
def hinge_loss(logits: Tensor, labels: Tensor | None = None, scope=None):
    """max(0, 1 - logits * labels) of each example, with labels 0 and 1 as -1 and 1; not collected."""
    with name_scope(scope or "hinge_loss"):
        logits, labels = _floats(logits, labels)
        return relu(1.0 - (2.0 * labels - 1.0) * logits)


@add_arg_scope
def log_loss(
    predictions: Tensor, labels: Tensor | None = None, weights: FloatLike = 1.0, epsilon: float = 1e-7, scope=None
):
    """The weighted mean of the surprise at labels 0 and 1."""
    with name_scope(scope or "log_loss") as scope:
        predictions, labels = _floats(predictions, labels)
        losses = -labels * log(predictions + epsilon) - (1.0 - labels) * log(1.0 - predictions + epsilon)
        return compute_weighted_loss(losses, weights, scope=scope)


@add_arg_scope
def mean_squared_error(
    predictions: TensorLike, labels: TensorLike | None = None, weights: FloatLike = 1.0, scope=None
):
    """The weighted mean of (predictions - labels)^2."""
    with name_scope(scope or "mean_squared_error") as scope:
        predictions, labels = _floats(predictions, labels)
        return compute_weighted_loss(squared_difference(predictions, labels), weights, scope=scope)


@add_arg_scope
def mean_pairwise_squared_error(
    predictions: Tensor, labels: Tensor | None = None, weights: FloatLike = 1.0, scope=None
):
    """The sum over examples of the mean, over pairs of their elements, of the squared difference of differences.

    Raises ValueError for tensors of unknown rank.
    """
    with name_scope(scope or "mean_pairwise_squared_error"):
        predictions, labels = _floats(predictions, labels)
        differences, weights = _prepared(predictions - labels, weights)
        number = _present(differences, weights)
        squares = divide_no_nan(_inner(square(differences), 1), number)
        sums = divide_no_nan(square(_inner(differences, 1)), square(number))
        pairs = 2.0 * (squares - sums)
        loss = _weighted(pairs, weights)
        add_loss(loss)
        return loss


@add_arg_scope
def sigmoid_cross_entropy(
    logits: TensorLike, multi_class_labels: TensorLike, weights: FloatLike = 1.0, label_smoothing: int = 0,
    scope: str | None = None
):
    """The weighted mean of the cross-entropy of independent classes."""
    with name_scope(scope or "sigmoid_cross_entropy_loss") as scope:
        logits, labels = convert_to_tensor(logits), convert_to_tensor(multi_class_labels)
        logits.shape.assert_is_compatible_with(labels.shape)
        labels = cast(labels, logits.dtype)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


@add_arg_scope
def softmax_cross_entropy(
    logits: TensorLike, onehot_labels: TensorLike, weights: FloatLike = 1.0, label_smoothing: float = 0,
    scope: str | None = None
):
    """The weighted mean of the cross-entropy of exclusive classes."""
    with name_scope(scope or "softmax_cross_entropy_loss") as scope:
        logits, labels = convert_to_tensor(logits), convert_to_tensor(onehot_labels)
        logits.shape.assert_is_compatible_with(labels.shape)
        labels = cast(labels, logits.dtype)
        if label_smoothing > 0:
            classes = cast(shape_of(labels)[1], logits.dtype)
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        losses = softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


@add_arg_scope
def sparse_softmax_cross_entropy(
    logits: TensorLike, labels: TensorLike, weights: FloatLike = 1.0, scope: str | None = None,
):
    """`softmax_cross_entropy` of class numbers."""
    with name_scope(scope or "sparse_softmax_cross_entropy_loss") as scope:
        labels = convert_to_tensor(labels)
        labels = reshape(labels, [shape_of(labels)[0]])
        losses = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)

"""`tf.contrib.losses`: losses that take predictions first, and collect themselves."""

from __future__ import annotations

from tapeflow.compat.v1 import losses as _losses
from tapeflow.compat.v1.losses import (
    add_loss,
    get_losses,
    get_regularization_losses,
    get_total_loss,
)
from tapeflow.contrib.framework.scoping import add_arg_scope
from tapeflow.ops.casting import cast
from tapeflow.ops.layout import squeeze

__all__ = [
    "absolute_difference", "add_loss", "compute_weighted_loss", "cosine_distance", "get_losses",
    "get_regularization_losses", "get_total_loss", "hinge_loss", "log_loss",
    "mean_pairwise_squared_error", "mean_squared_error", "sigmoid_cross_entropy",
    "softmax_cross_entropy", "sparse_softmax_cross_entropy",
]  # fmt: skip


@add_arg_scope
def compute_weighted_loss(losses, weights=1.0, scope=None):
    """The weighted mean of losses, which joins the collection."""
    return _losses.compute_weighted_loss(losses, weights, scope)


@add_arg_scope
def absolute_difference(predictions, labels=None, weights=1.0, scope=None):
    """The weighted mean of |predictions - labels|."""
    return _losses.absolute_difference(labels, predictions, weights, scope)


@add_arg_scope
def cosine_distance(predictions, labels=None, axis=None, weights=1.0, scope=None, dim=None):
    """1 - the cosines of unit vectors along an axis. Raises ValueError without one."""
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    return _losses.cosine_distance(labels, predictions, axis, weights, scope)


@add_arg_scope
def hinge_loss(logits, labels=None, scope=None):
    """max(0, 1 - logits * labels) of each example, with labels 0 and 1 as -1 and 1; not collected."""
    from tapeflow.ops.activation import relu
    from tapeflow.ops.construction import ones_like

    labels = cast(labels, "float32")
    signs = 2 * labels - ones_like(labels)
    return relu(ones_like(labels) - signs * logits)


@add_arg_scope
def log_loss(predictions, labels=None, weights=1.0, epsilon=1e-7, scope=None):
    """The weighted mean of the surprise at labels 0 and 1."""
    return _losses.log_loss(labels, predictions, weights, epsilon, scope)


@add_arg_scope
def mean_squared_error(predictions, labels=None, weights=1.0, scope=None):
    """The weighted mean of (predictions - labels)^2."""
    return _losses.mean_squared_error(labels, predictions, weights, scope)


@add_arg_scope
def mean_pairwise_squared_error(predictions, labels=None, weights=1.0, scope=None):
    """The mean over pairs of elements of the squared difference of differences."""
    return _losses.mean_pairwise_squared_error(labels, predictions, weights, scope)


@add_arg_scope
def sigmoid_cross_entropy(logits, multi_class_labels, weights=1.0, label_smoothing=0, scope=None):
    """The weighted mean of the cross-entropy of independent classes."""
    return _losses.sigmoid_cross_entropy(multi_class_labels, logits, weights, label_smoothing, scope)


@add_arg_scope
def softmax_cross_entropy(logits, onehot_labels, weights=1.0, label_smoothing=0, scope=None):
    """The weighted mean of the cross-entropy of exclusive classes."""
    return _losses.softmax_cross_entropy(onehot_labels, logits, weights, label_smoothing, scope)


@add_arg_scope
def sparse_softmax_cross_entropy(logits, labels, weights=1.0, scope=None):
    """`softmax_cross_entropy` of class numbers."""
    labels = labels if labels.shape.rank != 2 else squeeze(labels, [1])
    return _losses.sparse_softmax_cross_entropy(labels, logits, weights, scope)

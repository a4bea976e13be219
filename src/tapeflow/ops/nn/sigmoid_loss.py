"""Cross-entropies of independent classes, and the Poisson loss."""

from __future__ import annotations

import math
from typing import Any

from tapeflow.api import api
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops.array.construction import ones_like, zeros_like
from tapeflow.ops.array.like import ZerosLike
from tapeflow.ops.math import choice, comparison, elementwise, logic
from tapeflow.ops.nn.loss import require_both


def _pair(labels, logits):
    logits = convert_to_tensor(logits)
    labels = convert_to_tensor(labels, dtype=logits.dtype)
    if not logits.shape.is_compatible_with(labels.shape):
        raise ValueError(
            f"`logits` and `labels` must have the same shape, received ({logits.shape} vs {labels.shape})."
        )
    return labels, logits


@api("nn.sigmoid_cross_entropy_with_logits")
@tensor_function
@graph_scope("logistic_loss")
def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None):
    """Compute the cross-entropy of independent probabilities, given as logits, without overflow.

    It is `-labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits))`.

    Args:
      labels: the true probabilities, of the shape and dtype of `logits`.
      logits: a floating tensor.
      name: a name for the operation (optional).

    Returns:
      A tensor of losses of their dtype and shape.

    Raises:
      ValueError: where the shapes differ, or one is missing.

    >>> tf.nn.sigmoid_cross_entropy_with_logits([1.0, 0.0], [0.0, 0.0]).numpy().round(4)
    array([0.6931, 0.6931], dtype=float32)
    """
    require_both("sigmoid_cross_entropy_with_logits", labels, logits)
    labels, logits = _pair(labels, logits)
    # max(x, 0) - x * z + log(1 + exp(-|x|)), with branches chosen so that the gradient at 0 is right.
    zeros = ZerosLike(logits)
    positive = comparison.greater_equal(logits, zeros)
    upper = choice.where(positive, logits, zeros)
    size = choice.where(positive, -logits, logits)
    return upper - logits * labels + elementwise.log1p(elementwise.exp(size))


@api(v2="nn.weighted_cross_entropy_with_logits")
@tensor_function
@graph_scope("logistic_loss")
def weighted_cross_entropy_with_logits(labels: Any, logits: Any, pos_weight, name: str | None = None):
    """Compute `tf.nn.sigmoid_cross_entropy_with_logits` with the term of positive labels multiplied by a weight.

    It is `-pos_weight * labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits))`.

    Args:
      labels: the true probabilities, of the shape and dtype of `logits`.
      logits: a floating tensor.
      pos_weight: the weight, a number or a tensor that broadcasts: above 1, what is missed costs more than what is
        wrongly found.
      name: a name for the operation (optional).

    Returns:
      A tensor of losses of their dtype and shape.

    Raises:
      ValueError: where the shapes differ.
    """
    labels, logits = _pair(labels, logits)
    weight = 1 + (pos_weight - 1) * labels
    zeros = ZerosLike(logits)
    negative = choice.where(comparison.less(logits, zeros), -logits, zeros)
    return (1 - labels) * logits + weight * (
        elementwise.log1p(elementwise.exp(-elementwise.abs(logits))) + negative
    )


@api(v1="nn.weighted_cross_entropy_with_logits")
@tensor_function
@graph_scope("logistic_loss")
def weighted_cross_entropy_with_logits_v1(
    labels: TensorLike | None = None, logits: TensorLike | None = None, pos_weight=None, name: str | None = None,
    targets: TensorLike | None = None,
):
    """`weighted_cross_entropy_with_logits` with the 1.x spelling `targets` of `labels`."""
    if labels is not None and targets is not None:
        raise ValueError("Cannot specify both 'targets' and 'labels'.")
    return weighted_cross_entropy_with_logits(
        targets if labels is None else labels, logits, pos_weight
    )


@api("nn.log_poisson_loss")
@tensor_function
@graph_scope("log_poisson_loss")
def log_poisson_loss(
    targets: TensorLike, log_input: TensorLike, compute_full_loss: bool = False, name: str | None = None
):
    """Compute `exp(log_input) - log_input * targets`, the loss of a Poisson rate given as its logarithm.

    Args:
      targets: a floating tensor of counts.
      log_input: the logarithms of the rates, of the shape and dtype of `targets`.
      compute_full_loss: whether to add Stirling's approximation of `log(targets!)`, for targets above 1.
      name: a name for the operation (optional).

    Returns:
      A tensor of losses of their dtype and shape.

    Raises:
      ValueError: where the shapes differ.
    """
    log_input = convert_to_tensor(log_input)
    targets = convert_to_tensor(targets, dtype=log_input.dtype)
    if not log_input.shape.is_compatible_with(targets.shape):
        raise ValueError(
            "`log_input` and `targets` must have the same shape, received "
            f"({log_input.shape} vs {targets.shape})."
        )
    loss = elementwise.exp(log_input) - log_input * targets
    if compute_full_loss:
        stirling = (
            targets * elementwise.log(targets)
            - targets
            + 0.5 * elementwise.log(2 * math.pi * targets)
        )
        small = logic.logical_and(
            comparison.greater_equal(targets, ZerosLike(targets)),
            comparison.less_equal(targets, ones_like(targets)),
        )
        loss = loss + choice.where(small, zeros_like(targets), stirling)
    return loss

"""The heads of `tf.contrib.learn`, and their losses."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.compat import v1
from tapeflow.contrib.learn.multi_heads import LossOnlyHead, MultiHead, no_op_train_fn
from tapeflow.contrib.learn.single_heads import (
    BinaryLogisticHead,
    BinarySvmHead,
    Head,
    Losses,
    MultiClassHead,
    MultiLabelHead,
    RegressionHead,
)
from tapeflow.core.annotations import Tensor
from tapeflow.v1.metrics.weighting import broadcast_weights

__all__ = [
    "Head", "binary_svm_head", "loss_only_head", "multi_class_head", "multi_head", "multi_label_head",
    "no_op_train_fn", "poisson_regression_head", "regression_head",
]  # fmt: skip


def _weighted(losses: Tensor, weights: Tensor | None) -> Losses:
    with v1.name_scope("loss") as scope:
        if weights is None:
            mean = v1.reduce_mean(losses, name=scope)
            return mean, mean
        weights = broadcast_weights(weights, losses)
        weighted = v1.multiply(losses, weights, name="weighted_loss")
        total = v1.cast(v1.reduce_sum(weights), v1.float32)
        return (
            v1.reduce_mean(weighted, name=scope),
            v1.div(v1.reduce_sum(weighted), total, name="weighted_average_loss"),
        )


def _as_column(values: Any):
    values = v1.convert_to_tensor(values)
    return v1.expand_dims(values, 1) if values.shape.rank == 1 else values


def _squared(labels: Any, logits: Any, weights: Tensor | None = None) -> Losses:
    labels, logits = _as_column(labels), _as_column(logits)
    logits.shape.assert_is_compatible_with(labels.shape)
    return _weighted(v1.squared_difference(logits, v1.cast(labels, v1.float32)), weights)


def _poisson(labels: Any, logits: Any, weights: Tensor | None = None) -> Losses:
    labels, logits = _as_column(labels), _as_column(logits)
    logits.shape.assert_is_compatible_with(labels.shape)
    return _weighted(v1.nn.log_poisson_loss(labels, logits, compute_full_loss=True), weights)


def _logistic(labels: Any, logits: Any, weights: Tensor | None = None) -> Losses:
    labels = _as_column(v1.cast(labels, v1.float32))
    return _weighted(v1.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits), weights)


def _softmax(labels: Any, logits: Any, weights: Tensor | None = None) -> Losses:
    labels = v1.convert_to_tensor(labels)
    if not labels.dtype.is_integer:
        raise ValueError(f"Labels dtype should be integer Instead got {labels.dtype}.")
    is_column = labels.shape.rank == 2
    losses = v1.nn.sparse_softmax_cross_entropy_with_logits(
        labels=v1.squeeze(labels, (1,)) if is_column else labels, logits=logits
    )
    return _weighted(v1.expand_dims(losses, 1) if is_column else losses, weights)


def _sigmoid(labels: Any, logits: Any, weights: Tensor | None = None) -> Losses:
    labels = v1.cast(labels, v1.float32)
    return _weighted(v1.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits), weights)


def _hinge(labels: Any, logits: Any, weights: Tensor | None = None) -> Losses:
    column = v1.Assert(
        v1.less_equal(v1.rank(labels), 2), ("labels shape should be either [batch_size, 1] or [batch_size]",)
    )
    with v1.control_dependencies([] if column is None else [column]):
        labels = v1.reshape(labels, (-1, 1))
    return _weighted(
        v1.losses.hinge_loss(labels, logits, scope="hinge_loss", reduction=v1.losses.Reduction.NONE), weights
    )


def _own(loss_fn: Callable[..., Any] | None) -> Callable[..., Losses] | None:
    """The loss of a user as a loss of heads. Raises ValueError where it lacks an argument."""
    if loss_fn is None:
        return None
    function = loss_fn
    while isinstance(function, functools.partial):
        function = function.func
    names = inspect.signature(function).parameters
    for name in ("labels", "logits", "weights"):
        if name not in names:
            raise ValueError(f"Argument {name} not found in loss_fn.")

    def loss(labels: Any, logits: Any, weights: Tensor | None = None):
        found = loss_fn(labels, logits) if weights is None else loss_fn(labels, logits, weights)
        return found, found

    return loss


def regression_head(
    label_name: str | None = None, weight_column_name: str | None = None, label_dimension: int = 1,
    enable_centered_bias: bool = False, head_name: str | None = None, link_fn: Callable[..., Any] | None = None,
) -> Head:  # fmt: skip
    """Make a head of numbers, trained by squared errors.

    Args:
      label_name: the key of the labels, where these are a dict.
      weight_column_name: the feature with the weights of examples.
      label_dimension: how many numbers an example has.
      enable_centered_bias: whether a bias is learned first, from the labels alone.
      head_name: completes the keys of metrics, and names the scope.
      link_fn: a function of logits that gives the numbers; None: they are the logits.
    """
    return RegressionHead(
        link_fn or v1.identity, label_dimension, _squared, label_name, weight_column_name, enable_centered_bias,
        head_name,
    )  # fmt: skip


def poisson_regression_head(
    label_name: str | None = None, weight_column_name: str | None = None, label_dimension: int = 1,
    enable_centered_bias: bool = False, head_name: str | None = None,
) -> Head:  # fmt: skip
    """Make a head of counts, whose logarithms the logits are; see `regression_head`."""
    return RegressionHead(
        v1.exp, label_dimension, _poisson, label_name, weight_column_name, enable_centered_bias, head_name
    )


def multi_class_head(
    n_classes: int, label_name: str | None = None, weight_column_name: str | None = None,
    enable_centered_bias: bool = False, head_name: str | None = None, thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None, loss_fn: Callable[..., Any] | None = None,
    label_keys: Sequence[str] | None = None,
) -> Head:  # fmt: skip
    """Make a head of examples that are of one class each; of two classes, there is one logit.

    Args:
      n_classes: how many classes there are, at least 2.
      label_name, weight_column_name, enable_centered_bias, head_name: see `regression_head`.
      thresholds: of the metrics of two classes; None: 0.5.
      metric_class_ids: classes that have metrics of their own, where there are more than two.
      loss_fn: a function of labels, logits and weights that returns a scalar; None: the cross-entropy.
      label_keys: the names of more than two classes, where labels are names.

    Raises:
      ValueError: for what does not go together, and for a `loss_fn` without these arguments.
    """
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    loss = _own(loss_fn)
    common = label_name, weight_column_name, enable_centered_bias, head_name, thresholds
    if n_classes == 2:
        if metric_class_ids:
            raise ValueError("metric_class_ids invalid for n_classes==2.")
        if label_keys:
            raise ValueError("label_keys is not supported for n_classes=2.")
        return BinaryLogisticHead(1, loss or _logistic, *common)
    return MultiClassHead(label_keys, n_classes, loss or _softmax, *common, metric_class_ids=metric_class_ids)


def binary_svm_head(
    label_name: str | None = None, weight_column_name: str | None = None, enable_centered_bias: bool = False,
    head_name: str | None = None, thresholds: Sequence[float] | None = None,
) -> Head:  # fmt: skip
    """Make a head of two classes, trained by the hinge loss; see `multi_class_head`."""
    return BinarySvmHead(1, _hinge, label_name, weight_column_name, enable_centered_bias, head_name, thresholds)


def multi_label_head(
    n_classes: int, label_name: str | None = None, weight_column_name: str | None = None,
    enable_centered_bias: bool = False, head_name: str | None = None, thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None, loss_fn: Callable[..., Any] | None = None,
) -> Head:  # fmt: skip
    """Make a head of examples that are of any number of classes.

    Labels are `[batch, n_classes]`, ones for an example's classes, or sparse numbers of classes. See
    `multi_class_head`.
    """
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    return MultiLabelHead(
        n_classes, _own(loss_fn) or _sigmoid, label_name, weight_column_name, enable_centered_bias, head_name,
        thresholds, metric_class_ids=metric_class_ids,
    )  # fmt: skip


def loss_only_head(loss_fn: Callable[..., Any], head_name: str | None = None) -> Head:
    """Make a head without logits, for losses that others are trained with.

    Args:
      loss_fn: a function without arguments that returns a scalar, or a list of scalars.
      head_name: completes the keys of metrics, and names the scope.
    """
    return LossOnlyHead(loss_fn, head_name)


def multi_head(heads: Sequence[Any], loss_weights: Sequence[float] | None = None) -> Head:
    """Make a head of several, which have names; the loss is the sum of theirs.

    Args:
      heads: the heads.
      loss_weights: factors of the losses; None: 1.

    Raises:
      ValueError: for another number of weights than of heads, and heads without names.
    """
    if loss_weights and len(loss_weights) != len(heads):
        raise ValueError("heads and loss_weights must have same size")
    return MultiHead(heads, loss_weights)

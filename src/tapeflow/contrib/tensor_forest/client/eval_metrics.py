"""Metrics of forests, by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.compat import v1
from tapeflow.contrib.learn.spec import PredictionKey
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.public import boundaries

INFERENCE_PROB_NAME = PredictionKey.PROBABILITIES
INFERENCE_PRED_NAME = PredictionKey.CLASSES
FEATURE_IMPORTANCE_NAME = "global_feature_importance"


def _numbers(targets: Tensor):
    """The classes' numbers, as a vector."""
    return v1.cast(v1.reshape(targets, [-1]), v1.int32)


def _one_hot(targets: Tensor, probabilities):
    return v1.one_hot(_numbers(targets), v1.shape(probabilities)[1])


def _top_5(probabilities, targets: Tensor):
    return v1.metrics.mean(v1.nn.in_top_k(probabilities, _numbers(targets), 5))


def _r2(probabilities, targets: Tensor, weights: Tensor | None = None):
    targets = v1.cast(targets, v1.float32)
    total = v1.reduce_sum(v1.squared_difference(targets, v1.reduce_mean(targets, 0)), 0)
    rest = v1.reduce_sum(v1.squared_difference(targets, probabilities), 0)
    return v1.metrics.mean(1 - v1.reduce_sum(rest / total), weights)


def _accuracy(predictions: TensorLike, targets, weights: TensorLike | None = None):
    return v1.metrics.accuracy(targets, predictions, weights)


def _precision(predictions: TensorLike, targets, weights=None):
    return v1.metrics.precision(targets, predictions, weights)


def _recall(predictions: TensorLike, targets, weights=None):
    return v1.metrics.recall(targets, predictions, weights)


def _sigmoid_entropy(probabilities, targets: Tensor, weights: Tensor | None = None):
    return v1.metrics.mean(v1.losses.sigmoid_cross_entropy(_one_hot(targets, probabilities), probabilities), weights)


def _softmax_entropy(probabilities, targets: Tensor, weights: Tensor | None = None):
    return v1.metrics.mean(v1.losses.sparse_softmax_cross_entropy(v1.cast(targets, v1.int32), probabilities), weights)


def _log_loss(probabilities, targets: Tensor, weights: Tensor | None = None):
    return v1.metrics.mean(v1.losses.log_loss(_one_hot(targets, probabilities), probabilities), weights)


def _predictions(predictions: Tensor, unused_targets, **unused_kwargs):
    return predictions


_THRESHOLDS = np.arange(0, 1, 0.01, dtype=np.float32).tolist()


def _auc(probs, targets, weights=None):
    return v1.metrics.auc(targets, probs[:, 1:2], weights)


def _precision_at_thresholds(predictions: Tensor, targets: Tensor, weights: Tensor | None = None):
    return v1.metrics.precision_at_thresholds(targets, predictions[:, 1:2], _THRESHOLDS, weights)


def _recall_at_thresholds(predictions: Tensor, targets: Tensor, weights: Tensor | None = None):
    return v1.metrics.recall_at_thresholds(targets, predictions[:, 1:2], _THRESHOLDS, weights)


# name: (function of predictions and labels, key of the predictions)
_METRICS: dict[str, tuple[Any, str]] = {
    "auc": (_auc, INFERENCE_PROB_NAME),
    "sigmoid_entropy": (_sigmoid_entropy, INFERENCE_PROB_NAME),
    "softmax_entropy": (_softmax_entropy, INFERENCE_PROB_NAME),
    "accuracy": (_accuracy, INFERENCE_PRED_NAME),
    "r2": (_r2, PredictionKey.SCORES),
    "predictions": (_predictions, INFERENCE_PRED_NAME),
    "classification_log_loss": (_log_loss, INFERENCE_PROB_NAME),
    "precision": (_precision, INFERENCE_PRED_NAME),
    "precision_at_thresholds": (_precision_at_thresholds, INFERENCE_PROB_NAME),
    "recall": (_recall, INFERENCE_PRED_NAME),
    "recall_at_thresholds": (_recall_at_thresholds, INFERENCE_PROB_NAME),
    "top_5": (_top_5, INFERENCE_PROB_NAME),
}


def get_metric(metric_name: str):
    """The function of predictions and labels that makes a metric, by name. Raises KeyError for another name."""
    return _METRICS[metric_name][0]


def get_prediction_key(metric_name: str):
    """The key of the predictions that a metric takes. Raises KeyError for another name."""
    return _METRICS[metric_name][1]


boundaries(globals())

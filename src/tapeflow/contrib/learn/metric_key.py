"""The keys of the metrics of `tf.contrib.learn`, and the streaming metrics of them that `tf.metrics` lacks."""

from __future__ import annotations

from typing import Any

from tapeflow.compat import v1
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.v1.metrics.weighting import broadcast_weights


class MetricKey:
    """What metrics are called; those of a class or a threshold are completed by `%`."""

    LOSS = "loss"
    AUC = "auc"
    AUC_PR = "auc_precision_recall"
    CLASS_AUC = "auc/class%d"
    CLASS_AUC_PR = "auc_precision_recall/class%d"
    PREDICTION_MEAN = "labels/prediction_mean"
    CLASS_PREDICTION_MEAN = "labels/prediction_mean/class%d"
    CLASS_LOGITS_MEAN = "labels/logits_mean/class%d"
    CLASS_PROBABILITY_MEAN = "labels/probability_mean/class%d"
    LABEL_MEAN = "labels/actual_label_mean"
    CLASS_LABEL_MEAN = "labels/actual_label_mean/class%d"
    ACCURACY = "accuracy"
    ACCURACY_BASELINE = "accuracy/baseline_label_mean"
    ACCURACY_MEAN = "accuracy/threshold_%f_mean"
    PRECISION_MEAN = "precision/positive_threshold_%f_mean"
    RECALL_MEAN = "recall/positive_threshold_%f_mean"


def key_of(name: str, head_name: str | None) -> str:
    """The key of a metric or a summary of a head."""
    return f"{name}/{head_name}" if head_name else name


def _of_class(values: Tensor, weights: Any, class_id: int | None) -> tuple[Any, Any]:
    """The values, and their weights as floats of the same shape; or those of a class."""
    if weights is not None:
        weights = broadcast_weights(v1.cast(weights, v1.float32), values)
    if class_id is None:
        return values, weights
    return values[:, class_id], None if weights is None else weights[:, class_id]


def mean_of(values: TensorLike, weights: Tensor | None, class_id: int | None = None):
    """The mean of values, or of the column of a class."""
    return v1.metrics.mean(*_of_class(v1.cast(values, v1.float32), weights, class_id))


def part_of(classes: Tensor, weights: Tensor | None, class_id: int):
    """The part of numbers of classes that are this class, in the dtype of the numbers, as means are."""
    return v1.metrics.mean(v1.cast(v1.equal(v1.cast(classes, v1.int64), class_id), classes.dtype), weights)


def auc_of(
    predictions: TensorLike, labels: Tensor, weights: Any, class_id: int | None = None,
    curve: str = "ROC",
):  # fmt: skip
    """The area under a curve, of all classes or of one."""
    predictions, weights = _of_class(v1.cast(predictions, v1.float32), weights, class_id)
    labels = v1.cast(labels, v1.bool)
    return v1.metrics.auc(labels if class_id is None else labels[:, class_id], predictions, weights, curve=curve)


def at_threshold(predictions: Tensor, labels: Tensor, weights: Tensor | None, threshold: float) -> dict[str, Any]:
    """Accuracy, precision and recall of what is at least a threshold, by their keys."""
    floats = None if weights is None else v1.cast(weights, v1.float32)

    def only(metric):
        return tuple(v1.squeeze(value) for value in metric(labels, predictions, (threshold,), floats))

    above = v1.cast(v1.greater_equal(predictions, threshold), v1.float32)
    return {
        MetricKey.ACCURACY_MEAN % threshold: v1.metrics.accuracy(labels, above, weights),
        MetricKey.PRECISION_MEAN % threshold: only(v1.metrics.precision_at_thresholds),
        MetricKey.RECALL_MEAN % threshold: only(v1.metrics.recall_at_thresholds),
    }

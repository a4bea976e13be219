"""`tf.contrib.metrics`: the metrics of `tf.metrics` with predictions first, under the names of before."""

from __future__ import annotations

from tapeflow.compat.v1 import metrics as _metrics
from tapeflow.core.convert import convert_to_tensor
from tapeflow.graph.collections import add_to_collections
from tapeflow.ops.casting import cast
from tapeflow.ops.comparison import equal
from tapeflow.ops.histogram import confusion_matrix_v1 as confusion_matrix
from tapeflow.ops.reduction import reduce_mean, reduce_sum

# Those of tf.metrics, by their names here; the arguments labels and predictions are the other way round.
_STREAMING = {
    "sparse_recall_at_top_k": "recall_at_top_k",
    "streaming_accuracy": "accuracy",
    "streaming_auc": "auc",
    "streaming_false_negatives": "false_negatives",
    "streaming_false_negatives_at_thresholds": "false_negatives_at_thresholds",
    "streaming_false_positives": "false_positives",
    "streaming_false_positives_at_thresholds": "false_positives_at_thresholds",
    "streaming_mean_absolute_error": "mean_absolute_error",
    "streaming_mean_cosine_distance": "mean_cosine_distance",
    "streaming_mean_iou": "mean_iou",
    "streaming_mean_relative_error": "mean_relative_error",
    "streaming_mean_squared_error": "mean_squared_error",
    "streaming_precision": "precision",
    "streaming_precision_at_thresholds": "precision_at_thresholds",
    "streaming_recall": "recall",
    "streaming_recall_at_thresholds": "recall_at_thresholds",
    "streaming_root_mean_squared_error": "root_mean_squared_error",
    "streaming_sensitivity_at_specificity": "sensitivity_at_specificity",
    "streaming_sparse_average_precision_at_k": "average_precision_at_k",
    "streaming_sparse_precision_at_k": "precision_at_k",
    "streaming_sparse_precision_at_top_k": "precision_at_top_k",
    "streaming_sparse_recall_at_k": "recall_at_k",
    "streaming_specificity_at_sensitivity": "specificity_at_sensitivity",
    "streaming_true_negatives": "true_negatives",
    "streaming_true_negatives_at_thresholds": "true_negatives_at_thresholds",
    "streaming_true_positives": "true_positives",
    "streaming_true_positives_at_thresholds": "true_positives_at_thresholds",
}
streaming_mean = _metrics.mean
streaming_mean_tensor = _metrics.mean_tensor
streaming_percentage_less = _metrics.percentage_below


def _predictions_first(name, metric):
    def streaming(predictions, labels, *args, **kwargs):
        return metric(labels, predictions, *args, **kwargs)

    streaming.__name__ = streaming.__qualname__ = name
    streaming.__doc__ = metric.__doc__
    return streaming


for _name, _metric in _STREAMING.items():
    globals()[_name] = _predictions_first(_name, getattr(_metrics, _metric))

__all__ = [
    "accuracy", "aggregate_metric_map", "aggregate_metrics", "confusion_matrix", "f1_score",
    "streaming_mean", "streaming_mean_tensor", "streaming_percentage_less", *_STREAMING,
]  # fmt: skip


def accuracy(predictions, labels, weights=None, name=None):
    """The share of predictions that equal the labels. Raises ValueError for tensors of different dtypes."""
    predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
    if labels.dtype != predictions.dtype:
        raise ValueError(
            f"Dtype of predictions and labels should match. Given predictions={predictions.dtype!r} and "
            f"labels={labels.dtype!r}"
        )
    right = cast(equal(predictions, labels), "float32")
    if weights is not None:
        return reduce_sum(right * weights) / reduce_sum(cast(weights, "float32") + right * 0)
    return reduce_mean(right)


def aggregate_metrics(*value_update_tuples):
    """(values, updates) of pairs of both. Raises ValueError for none."""
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples):
    """({name: value}, {name: update}) of {name: (value, update)}."""
    return (
        {name: value for name, (value, _) in names_to_tuples.items()},
        {name: update for name, (_, update) in names_to_tuples.items()},
    )


def f1_score(
    labels, predictions, weights=None, num_thresholds=200, metrics_collections=None,
    updates_collections=None, name=None,
):  # fmt: skip
    """(value, update): the best harmonic mean of precision and recall over thresholds."""
    from tapeflow.ops.reduction import reduce_max

    inner = [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)]
    levels = [-1e-7, *inner, 1.0 + 1e-7]
    parts = [
        metric(labels, predictions, levels, weights)
        for metric in (_metrics.precision_at_thresholds, _metrics.recall_at_thresholds)
    ]

    def best(precision, recall):
        return reduce_max(2 * precision * recall / (precision + recall + 1e-7))

    value, update = (best(p, r) for p, r in zip(*parts))
    for collections, tensor in ((metrics_collections, value), (updates_collections, update)):
        if collections:
            add_to_collections(collections, tensor)
    return value, update

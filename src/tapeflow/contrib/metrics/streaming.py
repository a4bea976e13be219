"""The metrics of `tf.metrics` with predictions first, under the names of before."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.annotations import Collections, TensorLike
from tapeflow.ops.indexing.top_k import in_top_k_v1 as in_top_k
from tapeflow.ops.math.casting import cast
from tapeflow.v1 import metrics as _metrics
from tapeflow.v1.metrics.ranking import average_precision

# Those of tf.metrics, by their names here; the arguments labels and predictions are the other way round.
_STREAMING = {
    "streaming_accuracy": "accuracy",
    "streaming_auc": "auc",
    "streaming_false_negatives": "false_negatives",
    "streaming_false_positives": "false_positives",
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
    "streaming_sparse_recall_at_k": "recall_at_k",
    "streaming_specificity_at_sensitivity": "specificity_at_sensitivity",
    "streaming_true_negatives": "true_negatives",
    "streaming_true_positives": "true_positives",
}
streaming_mean = _metrics.mean
streaming_mean_tensor = _metrics.mean_tensor
streaming_percentage_less = _metrics.percentage_below


def _predictions_first(name: str, metric):
    def streaming(predictions: TensorLike, labels: TensorLike, *args, **kwargs):
        return metric(labels, predictions, *args, **kwargs)

    streaming.__name__ = streaming.__qualname__ = name
    streaming.__doc__ = metric.__doc__
    return streaming


for _name, _metric in _STREAMING.items():
    globals()[_name] = _predictions_first(_name, getattr(_metrics, _metric))

__all__ = [
    "sparse_recall_at_top_k", "streaming_mean", "streaming_mean_tensor", "streaming_percentage_less",
    "streaming_recall_at_k", "streaming_sparse_average_precision_at_top_k", "streaming_sparse_precision_at_top_k",
    *_STREAMING,
]  # fmt: skip


def streaming_recall_at_k(
    predictions: TensorLike, labels: TensorLike, k, weights: TensorLike | None = None,
    metrics_collections: Collections | None = None, updates_collections: Collections | None = None,
    name: str | None = None,
):
    """The share of examples whose label, of [batch], is among the k classes of the highest scores."""
    hits = cast(in_top_k(predictions, labels, k), dtypes.float32)
    return streaming_mean(hits, weights, metrics_collections, updates_collections, name or f"recall_at_{k}")


def streaming_sparse_precision_at_top_k(
    top_k_predictions, labels: TensorLike, class_id=None, weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None, name: str | None = None,
):  # fmt: skip
    """`tf.metrics.precision_at_top_k`, with the predictions first. Raises ValueError for ones of rank 1."""
    return _metrics.precision_at_top_k(
        labels, _ranked(top_k_predictions), None, class_id, weights, metrics_collections, updates_collections, name
    )  # fmt: skip


def sparse_recall_at_top_k(
    labels: TensorLike, top_k_predictions, class_id=None, weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None, name: str | None = None,
):  # fmt: skip
    """`tf.metrics.recall_at_top_k`. Raises ValueError for predictions of rank 1."""
    return _metrics.recall_at_top_k(
        labels, _ranked(top_k_predictions), None, class_id, weights, metrics_collections, updates_collections, name
    )  # fmt: skip


def streaming_sparse_average_precision_at_top_k(
    top_k_predictions, labels, weights=None, metrics_collections=None, updates_collections=None,
    name: str | None = None,
):
    """The average precision of classes that are given, the best one first. Raises ValueError for ones of rank 1."""
    collections = (metrics_collections, updates_collections)
    top = _ranked(top_k_predictions)
    return average_precision(labels, top, weights, collections, name, "average_precision_at_top_k")


def _ranked(top_k_predictions):
    top = cast(top_k_predictions, dtypes.int64)
    top.shape.with_rank_at_least(2)
    return top

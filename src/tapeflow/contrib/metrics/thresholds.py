"""Metrics of counts of true and false predictions: rates, curves, and the best point of a curve."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Collections, Tensor, TensorLike
from tapeflow.core.context import name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.ranges import linspace
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.control.grouping import control_dependencies, group
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.argmax import argmax, argmin
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import greater_equal
from tapeflow.ops.math.cumulative import cumsum
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.reductions import reduce_max, reduce_sum
from tapeflow.ops.math.rounding import floor
from tapeflow.ops.state.variable_scatter import scatter_add
from tapeflow.v1 import metrics as _metrics
from tapeflow.v1.metrics.counting import counts_at_thresholds, levels, shares_checked
from tapeflow.v1.metrics.streaming import collected, graph_only, metric_variable, ratio
from tapeflow.v1.metrics.weighting import fitted
from tapeflow.v1.variable_scoping import variable_scope

_EPSILON = 1e-7
_ALL = ("tp", "fn", "tn", "fp")


def _counter(kind: str, full: str):
    def metric(predictions: TensorLike, labels: TensorLike, thresholds, weights=None):
        values, updates = counts_at_thresholds(labels, predictions, thresholds, weights, (kind,))
        return values[kind], updates[kind]

    metric.__name__ = metric.__qualname__ = f"streaming_{full}_at_thresholds"
    metric.__doc__ = f"How many {full.replace('_', ' ')} there were, for each threshold."
    return metric


streaming_true_positives_at_thresholds = _counter("tp", "true_positives")
streaming_false_negatives_at_thresholds = _counter("fn", "false_negatives")
streaming_false_positives_at_thresholds = _counter("fp", "false_positives")
streaming_true_negatives_at_thresholds = _counter("tn", "true_negatives")


def _rate(name: str, wrong: str, right: str, of: str):
    """A metric: the share of wrong ones among wrong and right ones."""

    def metric(
        predictions: Tensor, labels: Tensor, weights: Tensor | None = None,
        metrics_collections: Collections | None = None, updates_collections: Collections | None = None,
        name: str | None = None,
    ):
        with variable_scope(name, default, (predictions, labels, weights)):
            predictions, labels, weights = fitted(
                cast(predictions, dtypes.bool), cast(labels, dtypes.bool), weights
            )
            (bad, more_bad), (good, more_good) = (
                getattr(_metrics, kind)(labels, predictions, weights) for kind in (wrong, right)
            )
            value = ratio(bad, bad + good, "value")
            update = ratio(more_bad, more_bad + more_good, "update_op")
            return collected(value, update, metrics_collections, updates_collections)

    default = name
    metric.__name__ = metric.__qualname__ = f"streaming_{name}"
    metric.__doc__ = f"The share of {wrong.replace('_', ' ')} among {of}."
    return metric


streaming_false_positive_rate = _rate(
    "false_positive_rate", "false_positives", "true_negatives", "the negative labels"
)
streaming_false_negative_rate = _rate(
    "false_negative_rate", "false_negatives", "true_positives", "the positive labels"
)


def _at_levels(
    compute: Callable[..., Any], labels: TensorLike, predictions: TensorLike, thresholds: Sequence[float], weights,
    kinds: Sequence[str], collections: Sequence[Any], name: str | None, default: str,
):
    """(value, update) of a function of counts at thresholds."""
    with variable_scope(name, default, (predictions, labels, weights)):
        values, updates = counts_at_thresholds(labels, predictions, thresholds, weights, kinds)
        value, update = identity(compute(values), "value"), identity(compute(updates), "update_op")
        return collected(value, update, *collections)


def _rate_at_thresholds(name: str, wrong: str, right: str):
    def metric(
        predictions: Tensor, labels: Tensor, thresholds: Sequence[float], weights: Tensor | None = None,
        metrics_collections: Collections | None = None, updates_collections: Collections | None = None,
        name: str | None = None,
    ):
        return _at_levels(
            lambda counts: counts[wrong] / (_EPSILON + counts[wrong] + counts[right]), labels, predictions,
            thresholds, weights, (wrong, right), (metrics_collections, updates_collections), name, default,
        )  # fmt: skip

    default = f"{name}_at_thresholds"
    metric.__name__ = metric.__qualname__ = f"streaming_{default}"
    metric.__doc__ = f"`streaming_{name}`, for each threshold."
    return metric


streaming_false_positive_rate_at_thresholds = _rate_at_thresholds("false_positive_rate", "fp", "tn")
streaming_false_negative_rate_at_thresholds = _rate_at_thresholds("false_negative_rate", "fn", "tp")


def streaming_curve_points(
    labels: Any = None, predictions: Any = None, weights: Any = None, num_thresholds: int = 200,
    metrics_collections: Collections | None = None, updates_collections: Collections | None = None,
    curve: str = "ROC", name: str | None = None,
):  # fmt: skip
    """Points [num_thresholds, 2] of ROC (false positive rate, recall) or PR (recall, precision).

    Raises ValueError for another curve.
    """
    with variable_scope(name, "curve_points", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        values, updates = counts_at_thresholds(labels, predictions, levels(num_thresholds), weights, _ALL)
        tp, fn, tn, fp = (values[kind] for kind in _ALL)
        epsilon = 1e-6
        recall = (tp + epsilon) / (tp + fn + epsilon)
        if curve == "ROC":
            x, y = fp / (fp + tn + epsilon), recall
        else:
            x, y = recall, (tp + epsilon) / (tp + fp + epsilon)
        update = group(*updates.values())
        return collected(stack([x, y], axis=1), update, metrics_collections, updates_collections)


def recall_at_precision(
    labels: TensorLike, predictions: TensorLike, precision: float, weights: TensorLike | None = None,
    num_thresholds: int = 200, metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None, name: str | None = None, strict_mode: bool = False,
):  # fmt: skip
    """The recall at the threshold whose precision is nearest; in strict mode, the nearest above, or 0.0.

    Raises ValueError for a precision outside [0, 1].
    """
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")

    def recall(counts: dict[str, Any]):
        tp, fp, fn = counts["tp"], counts["fp"], counts["fn"]
        precisions = tp / (tp + fp + _EPSILON)
        if not strict_mode:
            place = argmin(abs_(precisions - precision), 0, output_type=dtypes.int32)
        else:
            place = argmax(1.0 / (precisions - precision + _EPSILON), 0, output_type=dtypes.int32)
        found = gather(tp, place) / (gather(tp, place) + gather(fn, place) + _EPSILON)
        if not strict_mode:
            return found
        return where(gather(precisions, place) >= precision, found, zeros_like(found))

    return _at_levels(
        recall, labels, predictions, levels(num_thresholds), weights, _ALL,
        (metrics_collections, updates_collections), name, "recall_at_precision",
    )  # fmt: skip


def precision_at_recall(
    labels: TensorLike, predictions: TensorLike, target_recall: float, weights: TensorLike | None = None,
    num_thresholds: int = 200, metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None, name: str | None = None,
):  # fmt: skip
    """The precision at the highest threshold whose recall is at least the target.

    Raises ValueError for a target outside [0, 1], RuntimeError eagerly.
    """
    graph_only("precision_at_recall")
    if target_recall < 0 or target_recall > 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")

    def precision(counts: dict[str, Any]):
        tp, fp, fn = counts["tp"], counts["fp"], counts["fn"]
        enough = greater_equal(tp / (tp + fn + _EPSILON), target_recall)
        place = reduce_sum(cast(enough, dtypes.int64)) - 1
        hits = gather(tp, place) + _EPSILON
        return hits / (hits + gather(fp, place))

    return _at_levels(
        precision, labels, predictions, levels(num_thresholds), weights, _ALL,
        (metrics_collections, updates_collections), name, "precision_at_recall",
    )  # fmt: skip


def f1_score(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None, num_thresholds: int = 200,
    metrics_collections: Collections | None = None, updates_collections: Collections | None = None,
    name: str | None = None,
):
    """The best harmonic mean of precision and recall over thresholds."""

    def best(counts: dict[str, Any]):
        precision = counts["tp"] / (_EPSILON + counts["tp"] + counts["fp"])
        recall = counts["tp"] / (_EPSILON + counts["tp"] + counts["fn"])
        return reduce_max(2.0 * precision * recall / (precision + recall + _EPSILON))

    predictions = convert_to_tensor(predictions)
    with control_dependencies(shares_checked(predictions)):
        predictions = identity(predictions)
    return _at_levels(
        best, labels, predictions, levels(num_thresholds), weights, ("tp", "fp", "fn"),
        (metrics_collections, updates_collections), name, "f1",
    )  # fmt: skip


PrecisionRecallData = namedtuple(
    "PrecisionRecallData", ["tp", "fp", "tn", "fn", "precision", "recall", "thresholds"]
)


def precision_recall_at_equal_thresholds(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None, num_thresholds: int | None = None,
    use_locking: bool | None = None, name: str | None = None,
):
    """(counts, precision, recall and thresholds, as vectors; update) for thresholds that are evenly spaced in [0, 1].

    The cost does not depend on the number of thresholds, by default 201. Raises TypeError for labels that are not
    bools.
    """
    number = 201 if num_thresholds is None else num_thresholds
    labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
    if labels.dtype != dtypes.bool:
        raise TypeError(f"labels must be of type {dtypes.bool!r}, not {labels.dtype!r}")
    with variable_scope(name, "precision_recall_at_equal_thresholds", (labels, predictions, weights)):
        with control_dependencies(shares_checked(predictions)):
            predictions, labels, weights = fitted(predictions, labels, 1.0 if weights is None else weights)
        truth, weights = cast(labels, dtypes.float64), cast(weights, dtypes.float64)
        flat = reshape(predictions, [-1])
        buckets = cast(floor(flat * (number - 1)), dtypes.int32)
        with name_scope("variables"):
            hits = metric_variable([number], dtypes.float64, name="tp_buckets")
            misses = metric_variable([number], dtypes.float64, name="fp_buckets")
        update = group(
            scatter_add(hits, buckets, reshape(truth * weights, [-1])),
            scatter_add(misses, buckets, reshape((1.0 - truth) * weights, [-1])),
        )
        tp, fp = cumsum(hits, reverse=True), cumsum(misses, reverse=True)
        tn, fn = fp[0] - fp, tp[0] - tp
        least = cast(_EPSILON, dtypes.float64)
        precision, recall = tp / maximum(least, tp + fp), tp / maximum(least, tp + fn)
        parts = (tp, fp, tn, fn, precision, recall, linspace(0.0, 1.0, number))
        return PrecisionRecallData(*(cast(part, flat.dtype) for part in parts)), update

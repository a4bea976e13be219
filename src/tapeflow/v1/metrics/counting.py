"""Metrics that count how often predictions and labels are true or false, at one threshold or at several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Collections, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.ops.array.construction import ones_like
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.rows import identity
from tapeflow.ops.control.assertions import assert_greater_equal, assert_less_equal
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.argmax import argmax
from tapeflow.ops.math.arithmetic import maximum, minimum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import equal, greater
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import log
from tapeflow.ops.math.logic import logical_and, logical_not
from tapeflow.ops.math.reductions import reduce_min, reduce_sum
from tapeflow.v1.metrics.streaming import (
    accumulated,
    collected,
    graph_only,
    metric_variable,
    ratio,
)
from tapeflow.v1.metrics.weighting import broadcast_weights, fitted
from tapeflow.v1.variable_scoping import variable_scope

__all__ = [
    "auc", "false_negatives", "false_negatives_at_thresholds", "false_positives",
    "false_positives_at_thresholds", "precision", "precision_at_thresholds", "recall",
    "recall_at_thresholds", "sensitivity_at_specificity", "specificity_at_sensitivity",
    "true_negatives", "true_negatives_at_thresholds", "true_positives", "true_positives_at_thresholds",
]  # fmt: skip

_EPSILON = 1e-7
# Which of (label, prediction) each count counts.
_KINDS = {"tp": (True, True), "fn": (True, False), "tn": (False, False), "fp": (False, True)}
_NAMES = {
    "tp": "true_positives", "fn": "false_negatives", "tn": "true_negatives", "fp": "false_positives",
}  # fmt: skip


def _count(kind: str, labels: Tensor, predictions: Tensor, weights):
    """(count so far, the operation that adds to it)."""
    label, prediction = _KINDS[kind]
    hit = logical_and(
        labels if label else logical_not(labels), predictions if prediction else logical_not(predictions)
    )
    values = cast(hit, dtypes.float32)
    count = metric_variable([], dtypes.float32, name="count")
    if weights is not None:
        values, _, weights = fitted(values, None, weights)
        values = values * broadcast_weights(cast(weights, dtypes.float32), values)
    return accumulated(count, reduce_sum(values))


def _counter(kind: str):
    full = _NAMES[kind]

    def metric(
        labels: Tensor, predictions: Tensor, weights: Tensor | None = None,
        metrics_collections: Collections | None = None, updates_collections: Collections | None = None,
        name: str | None = None,
    ):
        graph_only(full)
        with variable_scope(name, full, (predictions, labels, weights)):
            predictions, labels, weights = fitted(
                cast(predictions, dtypes.bool), cast(labels, dtypes.bool), weights
            )
            value, update = _count(kind, labels, predictions, weights)
            return collected(
                convert_to_tensor(value), update, metrics_collections, updates_collections
            )

    metric.__name__ = metric.__qualname__ = full
    metric.__doc__ = f"How many {full.replace('_', ' ')} there were, weighted."
    return metric


true_positives = _counter("tp")
false_negatives = _counter("fn")
true_negatives = _counter("tn")
false_positives = _counter("fp")


def shares_checked(predictions: Any):
    """Assertions that predictions are in [0, 1]."""
    text = "predictions must be in [0, 1]"
    checks = [
        assert_greater_equal(predictions, cast(0.0, predictions.dtype), text),
        assert_less_equal(predictions, cast(1.0, predictions.dtype), text),
    ]
    return [check for check in checks if check is not None]


def counts_at_thresholds(
    labels: TensorLike, predictions: TensorLike, thresholds: Sequence[float], weights: float | None,
    kinds: Sequence[str],
):
    """({kind: counts for each threshold}, {kind: the operations that add to them}).

    Kinds are "tp", "fn", "tn" and "fp".
    """
    predictions, labels, weights = fitted(
        cast(predictions, dtypes.float32), cast(labels, dtypes.bool), weights
    )
    number = len(thresholds)
    limits = reshape(convert_to_tensor(list(thresholds), dtypes.float32), [number, 1])
    guessed = greater(reshape(predictions, [1, -1]), limits)
    truth = logical_and(reshape(labels, [1, -1]), equal(limits, limits))
    factor = None
    if weights is not None:
        factor = broadcast_weights(cast(weights, dtypes.float32), predictions)
        factor = reshape(factor, [1, -1])
    values, updates = {}, {}
    for kind in kinds:
        label, prediction = _KINDS[kind]
        hit = logical_and(
            truth if label else logical_not(truth), guessed if prediction else logical_not(guessed)
        )
        hits = cast(hit, dtypes.float32)
        if factor is not None:
            hits = hits * factor
        count = metric_variable([number], dtypes.float32, name=_NAMES[kind])
        values[kind], updates[kind] = accumulated(count, reduce_sum(hits, 1))
    return values, updates


def _at_thresholds(
    labels: TensorLike, predictions: Tensor, thresholds: Sequence[float], weights: float | None,
    kinds: Sequence[str],
):
    """`counts_at_thresholds` of predictions in [0, 1]."""
    with control_dependencies(shares_checked(predictions)):
        predictions = identity(predictions)
    return counts_at_thresholds(labels, predictions, thresholds, weights, kinds)


def _counter_at_thresholds(kind: str):
    full = f"{_NAMES[kind]}_at_thresholds"

    def metric(
        labels: TensorLike, predictions: TensorLike, thresholds, weights=None,
        metrics_collections: Collections | None = None,
        updates_collections: Collections | None = None, name: str | None = None,
    ):  # fmt: skip
        graph_only(full)
        with variable_scope(name, _NAMES[kind], (predictions, labels, weights)):
            values, updates = _at_thresholds(
                labels, convert_to_tensor(predictions), thresholds, weights, (kind,)
            )
            return collected(values[kind], updates[kind], metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = full
    metric.__doc__ = f"How many {_NAMES[kind].replace('_', ' ')} there were, for each threshold."
    return metric


true_positives_at_thresholds = _counter_at_thresholds("tp")
false_negatives_at_thresholds = _counter_at_thresholds("fn")
true_negatives_at_thresholds = _counter_at_thresholds("tn")
false_positives_at_thresholds = _counter_at_thresholds("fp")


def _share(
    labels, predictions, weights: float | None, other: str, collections: Sequence[Any], name: str | None,
    default: str,
):
    """tp / (tp + other), of what was seen."""
    with variable_scope(name, default, (predictions, labels, weights)):
        predictions, labels, weights = fitted(
            cast(predictions, dtypes.bool), cast(labels, dtypes.bool), weights
        )
        counts = []
        for kind in ("tp", other):
            with variable_scope(None, _NAMES[kind]):
                counts.append(_count(kind, labels, predictions, weights))
        (hits, more_hits), (misses, more_misses) = counts
        value = ratio(hits, hits + misses, "value")
        update = ratio(more_hits, more_hits + more_misses, "update_op")
        return collected(value, update, *collections)


def precision(
    labels: TensorLike, predictions: TensorLike, weights: float | None = None,
    metrics_collections: Collections | None = None, updates_collections: Collections | None = None,
    name: str | None = None,
):
    """The share of true positives among the positives that were predicted."""
    graph_only("precision")
    collections = (metrics_collections, updates_collections)
    return _share(labels, predictions, weights, "fp", collections, name, "precision")


def recall(
    labels: TensorLike, predictions: TensorLike, weights: float | None = None,
    metrics_collections: Collections | None = None, updates_collections: Collections | None = None,
    name: str | None = None,
):
    """The share of true positives among the positive labels."""
    graph_only("recall")
    collections = (metrics_collections, updates_collections)
    return _share(labels, predictions, weights, "fn", collections, name, "recall")


def _shares_at_thresholds(
    labels: TensorLike, predictions: TensorLike, thresholds: Sequence[float], weights, other: str,
    collections: Sequence[Any], name: str | None, default: str,
):
    with variable_scope(name, default, (predictions, labels, weights)):
        values, updates = _at_thresholds(
            labels, convert_to_tensor(predictions), thresholds, weights, ("tp", other)
        )

        def shares(counts: dict[str, Any]):
            return counts["tp"] / (_EPSILON + counts["tp"] + counts[other])

        kind = default.partition("_")[0]
        value = identity(shares(values), f"{kind}_value")
        return collected(value, identity(shares(updates), f"{kind}_update_op"), *collections)


def precision_at_thresholds(
    labels: TensorLike, predictions: TensorLike, thresholds: Sequence[float], weights: TensorLike | None = None,
    metrics_collections: Collections | None = None, updates_collections: Collections | None = None,
    name: str | None = None,
):  # fmt: skip
    """Precision, for each threshold."""
    graph_only("precision_at_thresholds")
    collections = (metrics_collections, updates_collections)
    return _shares_at_thresholds(
        labels, predictions, thresholds, weights, "fp", collections, name, "precision_at_thresholds"
    )


def recall_at_thresholds(
    labels: TensorLike, predictions: TensorLike, thresholds: Sequence[float], weights: TensorLike | None = None,
    metrics_collections: Collections | None = None, updates_collections: Collections | None = None,
    name: str | None = None,
):  # fmt: skip
    """Recall, for each threshold."""
    graph_only("recall_at_thresholds")
    collections = (metrics_collections, updates_collections)
    return _shares_at_thresholds(
        labels, predictions, thresholds, weights, "fn", collections, name, "recall_at_thresholds"
    )


def levels(num_thresholds: int):
    """Thresholds from just below 0 to just above 1."""
    inner = [(i + 1) * 1.0 / (num_thresholds - 1) for i in range(num_thresholds - 2)]
    return [0.0 - _EPSILON, *inner, 1.0 + _EPSILON]


def auc(
    labels: TensorLike, predictions: TensorLike, weights: float | None = None, num_thresholds: int = 200,
    metrics_collections: Collections | None = None, updates_collections: Collections | None = None,
    curve: str = "ROC", name: str | None = None, summation_method: str = "trapezoidal", thresholds=None,
):  # fmt: skip
    """The area under the curve ROC (true over false positive rate) or PR (precision over recall).

    Raises ValueError for another curve or method of summation.
    """
    graph_only("auc")
    with variable_scope(name, "auc", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        if thresholds is None:
            limits = levels(num_thresholds)
        else:
            limits = [0.0 - _EPSILON, *sorted(thresholds), 1.0 + _EPSILON]
        values, updates = _at_thresholds(
            labels, convert_to_tensor(predictions), limits, weights, ("tp", "fn", "tn", "fp")
        )

        def area(counts: dict[str, Any]):
            if curve == "PR" and summation_method == "careful_interpolation":
                return _interpolated(counts)
            hits = (counts["tp"] + 1e-6) / (counts["tp"] + counts["fn"] + 1e-6)
            if curve == "ROC":
                x, y = counts["fp"] / (counts["fp"] + counts["tn"] + 1e-6), hits
            else:
                x, y = hits, (counts["tp"] + 1e-6) / (counts["tp"] + counts["fp"] + 1e-6)
            widths = x[:-1] - x[1:]
            if summation_method in ("trapezoidal", "careful_interpolation"):
                return reduce_sum(widths * ((y[:-1] + y[1:]) / 2.0))
            if summation_method == "minoring":
                return reduce_sum(widths * minimum(y[:-1], y[1:]))
            if summation_method == "majoring":
                return reduce_sum(widths * maximum(y[:-1], y[1:]))
            raise ValueError(f"Invalid summation_method: {summation_method}")

        value, update = identity(area(values), "value"), identity(area(updates), "update_op")
        return collected(value, update, metrics_collections, updates_collections)


def _interpolated(counts: dict[str, Any]):
    """The area under PR, with the counts interpolated between thresholds (Davis & Goadrich 2006)."""
    tp, fp, fn = counts["tp"], counts["fp"], counts["fn"]
    steps = tp[:-1] - tp[1:]
    positives = tp + fp
    slope = divide_no_nan(steps, maximum(positives[:-1] - positives[1:], 0))
    offset = tp[1:] - slope * positives[1:]
    both = logical_and(positives[:-1] > 0, positives[1:] > 0)
    growth = where(both, divide_no_nan(positives[:-1], maximum(positives[1:], 0)), ones_like(positives[1:]))
    return reduce_sum(divide_no_nan(slope * (steps + offset * log(growth)), maximum(tp[1:] + fn[1:], 0)))


def sensitivity_at_specificity(
    labels: Any, predictions: Any, specificity, weights: Any = None, num_thresholds=200,
    metrics_collections: Collections | None = None, updates_collections: Collections | None = None,
    name: str | None = None,
):  # fmt: skip
    """The sensitivity at the threshold whose specificity is nearest. Raises ValueError for one outside [0, 1]."""
    graph_only("sensitivity_at_specificity")
    if specificity < 0 or specificity > 1:
        raise ValueError(f"`specificity` must be in the range [0, 1]. Currently, `specificity` got {specificity}.")
    with variable_scope(name, "sensitivity_at_specificity", (predictions, labels, weights)):
        values, updates = _at_thresholds(
            labels, convert_to_tensor(predictions), levels(num_thresholds), weights,
            ("tp", "fn", "tn", "fp"),
        )  # fmt: skip

        def found(counts):
            specificities = counts["tn"] / (counts["tn"] + counts["fp"] + _EPSILON)
            place = cast(argmax(-abs_(specificities - specificity), 0), dtypes.int32)
            hits = gather(counts["tp"], place)
            return hits / (hits + gather(counts["fn"], place) + _EPSILON)

        value, update = identity(found(values), "value"), identity(found(updates), "update_op")
        return collected(value, update, metrics_collections, updates_collections)


def specificity_at_sensitivity(
    labels: Sequence[int], predictions: TensorLike, sensitivity: float, weights: Any = None,
    num_thresholds: int = 200, metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None, name: str | None = None,
):  # fmt: skip
    """The specificity at the threshold whose sensitivity is nearest. Raises ValueError for one outside [0, 1]."""
    graph_only("specificity_at_sensitivity")
    if sensitivity < 0 or sensitivity > 1:
        raise ValueError(f"`sensitivity` must be in the range [0, 1]. Currently, `sensitivity` got {sensitivity}.")
    with variable_scope(name, "specificity_at_sensitivity", (predictions, labels, weights)):
        values, updates = _at_thresholds(
            labels, convert_to_tensor(predictions), levels(num_thresholds), weights,
            ("tp", "fn", "tn", "fp"),
        )  # fmt: skip

        def found(counts: dict[str, Any]):
            sensitivities = counts["tp"] / (counts["tp"] + counts["fn"] + _EPSILON)
            distances = abs_(sensitivities - sensitivity)
            # Of several that are as near, the one with the largest threshold.
            last = argmax(cast(equal(distances, reduce_min(distances)), dtypes.int32)[::-1], 0)
            place = num_thresholds - 1 - cast(last, dtypes.int32)
            rights = gather(counts["tn"], place)
            return rights / (rights + gather(counts["fp"], place) + _EPSILON)

        value, update = identity(found(values), "value"), identity(found(updates), "update_op")
        return collected(value, update, metrics_collections, updates_collections)


boundaries(globals())

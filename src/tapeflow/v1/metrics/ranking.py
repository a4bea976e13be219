"""Metrics of the k classes that are predicted best: precision, recall and average precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Collections, Tensor, TensorLike
from tapeflow.core.convert import constant, convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.sparse_tensor import SparseTensor, SparseTensorValue
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.ops.array.construction import ones_like
from tapeflow.ops.array.layout import expand_dims, squeeze
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.indexing.top_k import top_k
from tapeflow.ops.math.arithmetic import minimum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal, not_equal
from tapeflow.ops.math.cumulative import cumsum
from tapeflow.ops.math.division import divide
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.math.reductions import reduce_any, reduce_sum
from tapeflow.ops.sparse.functions import to_dense
from tapeflow.v1.metrics.streaming import (
    accumulated,
    collected,
    graph_only,
    metric_variable,
    ratio,
)
from tapeflow.v1.metrics.weighting import broadcast_weights
from tapeflow.v1.variable_scoping import variable_scope

__all__ = [
    "average_precision_at_k", "precision_at_k", "precision_at_top_k", "recall_at_k", "recall_at_top_k",
    "sparse_average_precision_at_k", "sparse_precision_at_k",
]  # fmt: skip
_NONE = -(2**63)


def _dense(labels, rank):
    """Labels as [..., number of labels]; places without one hold _NONE."""
    if isinstance(labels, (SparseTensor, SparseTensorValue)):
        labels = SparseTensor.from_value(labels)

        numbers = cast(labels.values, dtypes.int64)
        labels = to_dense(
            SparseTensor(labels.indices, numbers, labels.dense_shape),
            default_value=constant(_NONE, dtypes.int64),
        )
    labels = cast(convert_to_tensor(labels), dtypes.int64)
    if labels.shape.rank is not None and labels.shape.rank == rank - 1:
        labels = expand_dims(labels, -1)
    return labels


def _counts(labels: TensorLike, top: Tensor, class_id: int | None):
    """(hits, labels, guesses) as numbers of [...]: of one class, or of all."""
    same = equal(expand_dims(top, -1), expand_dims(labels, -2))
    is_hit = reduce_any(same, -1)
    known = not_equal(labels, constant(_NONE, dtypes.int64))
    if class_id is not None:
        wanted = cast(class_id, dtypes.int64)
        guessed = equal(top, wanted)
        is_hit = logical_and(is_hit, guessed)
        labelled = cast(reduce_any(equal(labels, wanted), -1), dtypes.float64)
        guesses = cast(reduce_any(guessed, -1), dtypes.float64)
        return cast(reduce_any(is_hit, -1), dtypes.float64), labelled, guesses
    hits = reduce_sum(cast(is_hit, dtypes.float64), -1)
    guesses = reduce_sum(cast(ones_like(top), dtypes.float64), -1)
    return hits, reduce_sum(cast(known, dtypes.float64), -1), guesses


def _weighted(values: Tensor, weights: Tensor | None):
    if weights is None:
        return values
    weights = cast(weights, dtypes.float64)
    if weights.shape.rank is not None and values.shape.rank is not None:
        if weights.shape.rank == values.shape.rank + 1:
            weights = squeeze(weights, [-1])
    return values * broadcast_weights(weights, values)


def _accumulated(values: Tensor, name: str):
    total = metric_variable([], dtypes.float64, name=name)
    return accumulated(total, reduce_sum(values))


def _share(
    kind: str, labels: TensorLike, top: Tensor, k: int | None, class_id: int | None, weights,
    collections: Sequence[Any], name: str | None,
):
    suffix = f"at_{'k' if k is None else k}" + ("" if class_id is None else f"_class{class_id}")
    with variable_scope(name, f"{kind}_{suffix}", (top, labels, weights)):
        top = cast(top, dtypes.int64)
        labels = _dense(labels, top.shape.rank)
        hits, labelled, guesses = _counts(labels, top, class_id)
        others = guesses - hits if kind == "precision" else labelled - hits
        right, more_right = _accumulated(_weighted(hits, weights), f"true_positive_{suffix}")
        missed = "false_positive" if kind == "precision" else "false_negative"
        wrong, more_wrong = _accumulated(_weighted(others, weights), f"{missed}_{suffix}")
        value = divide(right, right + wrong, name=f"{get_default_graph().get_name_scope()}/")
        update = divide(more_right, more_right + more_wrong, name="update")
        return collected(value, update, *collections)


def precision_at_k(
    labels: TensorLike, predictions: Any, k: int, class_id: int | None = None, weights: TensorLike | None = None,
    metrics_collections: Collections | None = None, updates_collections: Collections | None = None,
    name: str | None = None,
):  # fmt: skip
    """The share of labels among the k classes of the highest scores; with class_id, of that class only."""
    graph_only("precision_at_k")
    top = top_k(convert_to_tensor(predictions), k)[1]
    return _share(
        "precision", labels, top, k, class_id, weights, (metrics_collections, updates_collections), name
    )


def precision_at_top_k(
    labels: TensorLike, predictions_idx: Any, k=None, class_id=None, weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None, name: str | None = None,
):  # fmt: skip
    """`precision_at_k` of classes that are given."""
    graph_only("precision_at_top_k")
    return _share(
        "precision", labels, predictions_idx, k, class_id, weights,
        (metrics_collections, updates_collections), name,
    )  # fmt: skip


def recall_at_k(
    labels: TensorLike, predictions: TensorLike, k: int, class_id: int | None = None,
    weights: TensorLike | None = None, metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None, name: str | None = None,
):  # fmt: skip
    """The share of labels that are among the k classes of the highest scores; with class_id, of that class only."""
    graph_only("recall_at_k")
    top = top_k(convert_to_tensor(predictions), k)[1]
    return _share(
        "recall", labels, top, k, class_id, weights, (metrics_collections, updates_collections), name
    )


def recall_at_top_k(
    labels: TensorLike, predictions_idx: Any, k=None, class_id=None, weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None, name: str | None = None,
):  # fmt: skip
    """`recall_at_k` of classes that are given."""
    graph_only("recall_at_top_k")
    return _share(
        "recall", labels, predictions_idx, k, class_id, weights,
        (metrics_collections, updates_collections), name,
    )  # fmt: skip


def average_precision_at_k(
    labels: Any, predictions: Any, k: int, weights: TensorLike | None = None,
    metrics_collections: Collections | None = None, updates_collections: Collections | None = None,
    name: str | None = None,
):
    """The mean over the examples of the precisions at the places of hits, among the k best, by the number of labels."""
    graph_only("average_precision_at_k")
    if k < 1:
        raise ValueError(f"Invalid k={k}.")
    top = top_k(convert_to_tensor(predictions), k)[1]
    collections = (metrics_collections, updates_collections)
    return average_precision(labels, top, weights, collections, name, f"average_precision_at_{k}")


def average_precision(labels, top, weights, collections, name, default):
    """`average_precision_at_k` of classes that are given, the best one first."""
    with variable_scope(name, default, (top, labels, weights)):
        top = cast(top, dtypes.int64)
        if top.shape.rank is None or top.shape.as_list()[-1] is None:
            raise ValueError("The last axis of the predictions must be known.")
        k = top.shape.as_list()[-1]
        labels = _dense(labels, top.shape.rank)
        hit = reduce_any(equal(expand_dims(top, -1), expand_dims(labels, -2)), -1)
        hits = cast(hit, dtypes.float64)
        places = cast(range_(1, k + 1), dtypes.float64)
        summed = reduce_sum(cumsum(hits, axis=-1) / places * hits, -1)
        relevant = reduce_sum(cast(not_equal(labels, constant(_NONE, dtypes.int64)), dtypes.float64), -1)
        average = divide_no_nan(summed, minimum(relevant, cast(k, dtypes.float64)))
        ones = ones_like(average)
        count, more_count = _accumulated(_weighted(ones, weights), "max")
        total, more_total = _accumulated(_weighted(average, weights), "total")
        value = ratio(total, count, "mean")
        update = ratio(more_total, more_count, "update")
        return collected(value, update, *collections)


def sparse_precision_at_k(
    labels: TensorLike, predictions: Any, k, class_id=None, weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None, name: str | None = None,
):  # fmt: skip
    """`precision_at_k` under its older name."""
    return precision_at_k(
        labels, predictions, k, class_id, weights, metrics_collections, updates_collections, name
    )


def sparse_average_precision_at_k(
    labels: TensorLike, predictions: Any, k, weights: TensorLike | None = None,
    metrics_collections: Collections | None = None, updates_collections: Collections | None = None,
    name: str | None = None,
):
    """`average_precision_at_k` under its older name."""
    return average_precision_at_k(
        labels, predictions, k, weights, metrics_collections, updates_collections, name
    )


boundaries(globals())

"""Areas under curves: from histograms, from all values, and with intervals of confidence."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

from tapeflow.contrib.metrics.moments import streaming_concat
from tapeflow.core import dtypes
from tapeflow.core.annotations import Collections, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.graph.build.collections import GraphKeys
from tapeflow.ops.array.construction import ones_like, zeros_like
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.padding import pad
from tapeflow.ops.array.reorder import reverse
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import size
from tapeflow.ops.control.assertions import assert_greater_equal, assert_less_equal
from tapeflow.ops.control.flow import cond_v1
from tapeflow.ops.control.grouping import control_dependencies, group
from tapeflow.ops.control.shape_assertions import assert_rank
from tapeflow.ops.indexing.boolean_mask import boolean_mask
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.indexing.top_k import top_k
from tapeflow.ops.indexing.unique import unique, unique_with_counts
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import equal, greater
from tapeflow.ops.math.cumulative import cumsum
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import exp, log, sqrt, square
from tapeflow.ops.math.logic import logical_and, logical_not, logical_or
from tapeflow.ops.math.reductions import reduce_max, reduce_min, reduce_sum
from tapeflow.ops.math.segment_functions import segment_sum
from tapeflow.ops.statistics.histogram import histogram_fixed_width
from tapeflow.v1.metrics.streaming import collected
from tapeflow.v1.metrics.weighting import fitted, squeezed
from tapeflow.v1.variable_getting import get_variable
from tapeflow.v1.variable_scoping import variable_scope

_EPSILON = 1e-7


def auc_using_histogram(
    boolean_labels: TensorLike, scores: TensorLike, score_range: Sequence[float], nbins: int = 100,
    collections: Collections | None = None, check_shape: bool = True, name: str | None = None,
):
    """(area under ROC, update) from histograms of the scores of positive and of negative labels.

    Args:
      boolean_labels: bools [n].
      scores: numbers [n].
      score_range: the least and the greatest score.
      nbins: the number of bins.
      collections: the collections of the histograms; by default those of local variables.
      check_shape: whether ranks are checked when the graph runs.
      name: the name of the variable scope.
    Raises:
      ValueError: for labels that are not bools.
    """
    with variable_scope(name, "auc_using_histogram", [boolean_labels, scores, score_range]):
        scores, labels = squeezed(scores, boolean_labels)
        if labels.dtype != dtypes.bool:
            raise ValueError(f"Argument boolean_labels should have dtype bool.  Found: {labels.dtype}")
        checks = [assert_rank(labels, 1), assert_rank(scores, 1)] if check_shape else []
        with control_dependencies([check for check in checks if check is not None]):
            chosen = [boolean_mask(scores, labels), boolean_mask(scores, logical_not(labels))]
        held, updates = [], []
        for kind, values in zip(("true", "false"), chosen):
            bins = histogram_fixed_width(values, convert_to_tensor(score_range), nbins, dtypes.int64)
            held.append(get_variable(
                f"hist_{kind}_acc", initializer=zeros_like(bins), trainable=False,
                collections=collections or [GraphKeys.LOCAL_VARIABLES],
            ))  # fmt: skip
            updates.append(held[-1].assign_add(bins))
        x, y = (cast(reverse(h / reduce_sum(h), [0]), dtypes.float32) for h in (held[1], held[0]))
        heights = cumsum(y)
        before = pad(heights[:-1], [[1, 0]])
        return reduce_sum(x * (heights + before) / 2.0, name="auc"), group(*updates, name="update_op")


def _binary(labels: TensorLike):
    """Labels as a vector of integers, which are 0 or 1."""
    labels = reshape(cast(labels, dtypes.int64), [-1])
    checks = [
        assert_greater_equal(labels, zeros_like(labels), message="labels must be 0 or 1, at least one is <0"),
        assert_less_equal(labels, ones_like(labels), message="labels must be 0 or 1, at least one is >1"),
    ]
    with control_dependencies([check for check in checks if check is not None]):
        return identity(labels)


def streaming_dynamic_auc(
    labels: Tensor, predictions: Tensor, curve: str = "ROC", metrics_collections: Sequence[Any] = (),
    updates_collections: Sequence[Any] = (), name: str | None = None, weights: TensorLike | None = None,
):
    """The area under ROC or PR through the points of all predictions, which are kept.

    Raises ValueError for another curve.
    """
    if curve not in ("PR", "ROC"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with variable_scope(name, "dynamic_auc"):
        labels.shape.assert_is_compatible_with(predictions.shape)
        predictions = reshape(cast(predictions, dtypes.float64), [-1])
        scores, more_scores = streaming_concat(predictions, name="concat_preds")
        truths, more_truths = streaming_concat(_binary(labels), name="concat_labels")
        updates, factors = [more_truths, more_scores], ones_like(truths, dtypes.float64)
        if weights is not None:
            weights = reshape(cast(weights, dtypes.float64), [-1])
            factors, more = streaming_concat(weights, name="concat_weights")
            updates.append(more)
        value = _area(truths, scores, factors, curve)
        return collected(value, group(*updates), metrics_collections, updates_collections)


def _area(labels: Tensor, predictions: Tensor, weights: Tensor, curve: str):
    positive = greater(labels, 0)
    hits = where(positive, weights, zeros_like(weights))
    total, good = reduce_sum(weights), reduce_sum(hits)

    def area():
        ordered, order = top_k(predictions, size(predictions))
        # The points between predictions that differ.
        ends = pad(cumsum(unique_with_counts(ordered)[2]), [[1, 0]])

        def summed(values: Tensor):
            return gather(pad(cumsum(gather(values, order)), [[1, 0]]), ends)

        found = summed(hits)
        if curve == "ROC":
            x, y = summed(weights - hits) / (total - good), found / good
        else:
            x = found / good
            y = where(greater(ends, 0), found / summed(weights), ones_like(found))
        return reduce_sum((y[1:] + y[:-1]) / 2.0 * abs_(x[1:] - x[:-1]))

    return cond_v1(logical_or(equal(good, 0.0), equal(good, total)), lambda: zeros_like(total), area)


AucData = namedtuple("AucData", ["auc", "lower", "upper"])


def auc_with_confidence_intervals(
    labels: TensorLike, predictions: TensorLike, weights: Tensor | None = None, alpha: float = 0.95,
    logit_transformation: bool = True, metrics_collections: Sequence[Any] = (),
    updates_collections: Sequence[Any] = (), name: str | None = None,
):  # fmt: skip
    """(area under ROC with the ends of its interval of confidence `alpha`, update), from the placements of all scores.

    See DeLong, DeLong and Clarke-Pearson 1988; `logit_transformation` keeps the interval within [0, 1]. Raises
    ValueError for an alpha outside (0, 1).
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.02f}")
    with variable_scope(name, "auc_with_confidence_intervals", [labels, predictions, weights]):
        if weights is None:
            weights = ones_like(predictions)
        predictions, labels, weights = fitted(predictions, labels, weights)
        enough = reduce_sum(weights) >= cast(1.0, weights.dtype)
        weights = reshape(weights, [-1])
        predictions = reshape(cast(predictions, dtypes.float64), [-1])
        # A batch without weight changes nothing.
        batch = (predictions, _binary(labels), weights)
        predictions, labels, weights = (part[: where(enough, size(part), 0)] for part in batch)
        scores, more_scores = streaming_concat(predictions, name="concat_preds")
        truths, more_truths = streaming_concat(labels, name="concat_labels")
        factors, more_factors = streaming_concat(weights, name="concat_weights")
        both = logical_and(equal(reduce_min(truths), 0), equal(reduce_max(truths), 1))
        value = _placement_area(truths, scores, cast(factors, dtypes.float32), alpha, logit_transformation, both)
        update = group(more_truths, more_scores, more_factors)
        return collected(value, update, metrics_collections, updates_collections)


def _placement_area(
    labels: Tensor, predictions: Tensor, weights: Tensor, alpha: float, logit: bool, is_valid: Tensor
):
    _, order = top_k(predictions, size(predictions))
    order = reverse(order, [0])
    truth = cast(gather(labels, order), dtypes.float32)
    weights, _, ties = gather(weights, order), None, unique(gather(predictions, order))[1]
    good, bad = weights * truth, weights * (1.0 - truth)

    def placements(others: Tensor):
        """For each value the share of the others that are below it, those that equal it counted half."""
        tied = segment_sum(others, ties)
        below = cumsum(tied, exclusive=True)
        return gather((below + tied / 2.0) / (reduce_sum(tied) + _EPSILON), ties)

    above_bad, above_good = placements(bad) * truth, placements(good) * (1.0 - truth)
    many, few = reduce_sum(good), reduce_sum(bad)
    area_1 = reduce_sum(good * above_bad) / (many + _EPSILON)
    area_0 = reduce_sum(bad * (1.0 - above_good)) / (few + _EPSILON)
    auc = where(few < many, area_1, area_0)
    variance_1 = reduce_sum(good * square(above_bad - area_1)) / (many - 1.0 + _EPSILON)
    variance_0 = reduce_sum(bad * square(1.0 - above_good - area_0)) / (few - 1.0 + _EPSILON)
    error = sqrt(variance_0 / (few + _EPSILON) + variance_1 / (many + _EPSILON))
    z = NormalDist().inv_cdf((1.0 - alpha) / 2.0)
    if logit:
        middle = log(auc / (1.0 - auc + _EPSILON))
        width = z * error / (auc * (1.0 - auc + _EPSILON))
        ends = [1.0 / (1.0 + exp(-end) + _EPSILON) for end in (middle + width, middle - width)]
    else:
        ends = [auc + z * error, auc - z * error]
    extreme = logical_or(equal(auc, 1.0), equal(auc, 0.0))
    found = [auc, *(where(extreme, auc, end) for end in ends)]
    return AucData(*(where(is_valid, each, zeros_like(each)) for each in found))

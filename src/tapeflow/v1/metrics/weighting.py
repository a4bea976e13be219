"""Labels, predictions and weights brought to shapes that fit each other."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.construction import ones_like
from tapeflow.ops.array.layout import expand_dims, squeeze
from tapeflow.ops.array.sizes import rank, shape
from tapeflow.ops.control.assert_op import Assert
from tapeflow.ops.control.flow import cond_v1 as cond
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.math.arithmetic import multiply
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.logic import logical_or
from tapeflow.ops.math.reductions import reduce_all

__all__ = ["assert_broadcastable", "broadcast_weights", "fitted", "squeezed"]


def squeezed(
    labels: TensorLike, predictions: TensorLike, expected_rank_diff: int = 0, name: str | None = None
):
    """Labels and predictions; the one with an axis of size 1 too many, at the end, loses it."""
    labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
    a, b = labels.shape.rank, predictions.shape.rank
    if a is not None and b is not None:
        difference = b - a
        if difference == expected_rank_diff + 1 and predictions.shape.as_list()[-1] in (1, None):
            predictions = squeeze(predictions, [-1])
        elif difference == expected_rank_diff - 1 and labels.shape.as_list()[-1] in (1, None):
            labels = squeeze(labels, [-1])
        return labels, predictions
    difference = rank(predictions) - rank(labels)
    if b is None or predictions.shape.as_list()[-1] in (1, None):
        whole = predictions
        predictions = cond(
            equal(expected_rank_diff + 1, difference), lambda: squeeze(whole, [-1]), lambda: whole
        )
    if a is None or labels.shape.as_list()[-1] in (1, None):
        all_labels = labels
        labels = cond(
            equal(expected_rank_diff - 1, difference),
            lambda: squeeze(all_labels, [-1]),
            lambda: all_labels,
        )
    return labels, predictions


def fitted(predictions: Any, labels: Any = None, weights: Any = None):
    """(predictions, labels, weights): axes of size 1 too many squeezed, weights given one that they lack."""
    predictions = convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = squeezed(labels, predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
    if weights is None:
        return predictions, labels, None
    weights = convert_to_tensor(weights)
    a, b = weights.shape.rank, predictions.shape.rank
    if a == 0:
        return predictions, labels, weights
    if a is None or b is None:
        given, difference = weights, rank(weights) - rank(predictions)

        def by_rank():
            return cond(equal(difference, -1), lambda: expand_dims(given, -1), lambda: given)

        if a is None or weights.shape.as_list()[-1] in (1, None):
            longer = cond(equal(difference, 1), lambda: squeeze(given, [-1]), by_rank)
        else:
            longer = by_rank()
        scalar = equal(rank(given), 0)
        return predictions, labels, cond(scalar, lambda: given, lambda: longer)
    if a - b == 1:
        weights = squeeze(weights, [-1])
    elif b - a == 1:
        weights = expand_dims(weights, -1)
    return predictions, labels, weights


def assert_broadcastable(weights: TensorLike, values: TensorLike):
    """An operation that fails where weights are neither a scalar nor of the values' rank, with sizes of 1 or the same.

    None where that is known beforehand. Raises ValueError where it is known to fail.
    """
    weights, values = convert_to_tensor(weights), convert_to_tensor(values)
    have, want = weights.shape, values.shape
    if have.rank == 0:
        return None
    if have.rank is not None and want.rank is not None:
        sizes = list(zip(have.as_list(), want.as_list(), strict=False))
        bad = have.rank != want.rank or any(
            w is not None and w != 1 and v is not None and v != w for w, v in sizes
        )
        if bad:
            raise ValueError(
                f"weights can not be broadcast to values. values.rank={want.rank}. "
                f"weights.rank={have.rank}. values.shape={want}. weights.shape={have}."
            )
        if all(w == 1 or (w is not None and w == v) for w, v in sizes):
            return None
    same_rank = equal(rank(weights), rank(values))

    def fits():
        return reduce_all(logical_or(equal(shape(weights), 1), equal(shape(weights), shape(values))))

    fine = cond(equal(rank(weights), 0), lambda: equal(0, 0), lambda: cond(same_rank, fits, lambda: same_rank))
    text = "weights can not be broadcast to values."
    return Assert(fine, [text, "weights.shape=", shape(weights), "values.shape=", shape(values)])


def broadcast_weights(weights: TensorLike, values: TensorLike):
    """The weights in the shape of the values; see `assert_broadcastable`."""
    values = convert_to_tensor(values)
    weights = convert_to_tensor(weights)
    if weights.shape.is_fully_defined() and weights.shape == values.shape:
        return weights
    check = assert_broadcastable(weights, values)
    with control_dependencies([] if check is None else [check]):
        return multiply(cast(weights, values.dtype) if weights.dtype.is_bool else weights,
                        ones_like(cast(values, weights.dtype)))

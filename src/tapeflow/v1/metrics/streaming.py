"""Metrics that are means over all that was seen: each returns (value, the operation that takes more into account)."""

from __future__ import annotations

from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Collections, DTypeLike, ShapeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.graph.build.collections import GraphKeys
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.ops.array.construction import ones_like, zeros, zeros_like
from tapeflow.ops.array.diagonal import diag_part
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import size
from tapeflow.ops.control.grouping import control_dependencies, group
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import equal, greater, less, not_equal
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import sqrt, square
from tapeflow.ops.math.reductions import reduce_mean, reduce_sum
from tapeflow.ops.state.variable import VariableV1
from tapeflow.ops.state.variable_scatter import scatter_add
from tapeflow.ops.statistics.confusion import confusion_matrix_v1
from tapeflow.v1.metrics.weighting import broadcast_weights, fitted, squeezed
from tapeflow.v1.variable_scoping import variable_scope

__all__ = [
    "accuracy", "mean", "mean_absolute_error", "mean_cosine_distance", "mean_iou",
    "mean_per_class_accuracy", "mean_relative_error", "mean_squared_error", "mean_tensor",
    "metric_variable", "percentage_below", "root_mean_squared_error",
]  # fmt: skip


def graph_only(name: str):
    """Raises RuntimeError where operations run at once."""
    if context.executing_eagerly():
        raise RuntimeError(f"tf.metrics.{name} is not supported when eager execution is enabled.")


def metric_variable(shape: ShapeLike, dtype: DTypeLike, validate_shape: bool = True, name: str | None = None):
    """A local variable of zeros, in the collection of the metrics' variables."""
    return VariableV1(
        lambda: zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=validate_shape,
        name=name,
    )


def added(variable, value):
    """The variable's value once `value` is added to it."""
    return convert_to_tensor(variable.assign_add(value))


def accumulated(variable, value):
    """(the variable's value, its value once `value` is added to it); of both at once, the first is that from before."""
    before = convert_to_tensor(variable)
    return before, added(variable, value)


def collected(value: TensorLike, update: TensorLike, metrics_collections, updates_collections):
    """(value, update), put into the collections."""
    graph = get_default_graph()
    if metrics_collections:
        graph.add_to_collections(metrics_collections, value)
    if updates_collections:
        graph.add_to_collections(updates_collections, update)
    return value, update


def ratio(numerator: TensorLike, denominator: TensorLike, name: str):
    """A quotient; 0 where the denominator is not positive."""
    return where(
        greater(denominator, 0), divide_no_nan(numerator, denominator), zeros_like(numerator), name=name
    )


def mean(
    values, weights: TensorLike | None = None, metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None, name: str | None = None,
):
    """The weighted mean of all values."""
    graph_only("mean")
    with variable_scope(name, "mean", (values, weights)):
        values = cast(values, dtypes.float32)
        total = metric_variable([], dtypes.float32, name="total")
        count = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            number = cast(size(values), dtypes.float32)
        else:
            values, _, weights = fitted(values, None, weights)
            weights = broadcast_weights(cast(weights, dtypes.float32), values)
            values = values * weights
            number = reduce_sum(weights)
        seen, more = accumulated(total, reduce_sum(values))
        number_seen = convert_to_tensor(count)
        with control_dependencies([values]):
            further = added(count, number)
        return collected(
            ratio(seen, number_seen, "value"), ratio(more, further, "update_op"),
            metrics_collections, updates_collections,
        )  # fmt: skip


def mean_tensor(
    values, weights: TensorLike | None = None, metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None, name: str | None = None
):
    """The weighted mean of tensors, for each element."""
    graph_only("mean_tensor")
    with variable_scope(name, "mean", (values, weights)):
        values = cast(values, dtypes.float32)
        total = metric_variable(values.shape, dtypes.float32, name="total_tensor")
        count = metric_variable(values.shape, dtypes.float32, name="count_tensor")
        number = ones_like(values)
        if weights is not None:
            values, _, weights = fitted(values, None, weights)
            weights = broadcast_weights(cast(weights, dtypes.float32), values)
            values, number = values * weights, number * weights
        seen, more = accumulated(total, values)
        number_seen = convert_to_tensor(count)
        with control_dependencies([values]):
            further = added(count, number)
        return collected(
            ratio(seen, number_seen, "value"), ratio(more, further, "update_op"),
            metrics_collections, updates_collections,
        )  # fmt: skip


def accuracy(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name: str | None = None
):
    """How often predictions equal labels."""
    graph_only("accuracy")
    predictions, labels, weights = fitted(predictions, labels, weights)
    if labels.dtype != predictions.dtype:
        predictions = cast(predictions, labels.dtype)
    right = cast(equal(predictions, labels), dtypes.float32)
    return mean(right, weights, metrics_collections, updates_collections, name or "accuracy")


def mean_absolute_error(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name: str | None = None
):
    """The mean of |predictions - labels|."""
    graph_only("mean_absolute_error")
    predictions, labels, weights = fitted(predictions, labels, weights)
    errors = abs_(predictions - labels)
    return mean(
        errors, weights, metrics_collections, updates_collections, name or "mean_absolute_error"
    )


def mean_squared_error(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name: str | None = None
):
    """The mean of (predictions - labels)^2."""
    graph_only("mean_squared_error")
    predictions, labels, weights = fitted(predictions, labels, weights)
    errors = square(labels - predictions)
    return mean(
        errors, weights, metrics_collections, updates_collections, name or "mean_squared_error"
    )


def root_mean_squared_error(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None, name: str | None = None,
):
    """The square root of the mean of (predictions - labels)^2."""
    graph_only("root_mean_squared_error")
    value, update = mean_squared_error(
        labels, predictions, weights, None, None, name or "root_mean_squared_error"
    )
    return collected(sqrt(value), sqrt(update), metrics_collections, updates_collections)


def mean_relative_error(
    labels, predictions, normalizer, weights=None, metrics_collections=None, updates_collections=None,
    name: str | None = None,
):  # fmt: skip
    """The mean of |labels - predictions| / normalizer; 0 where that is 0."""
    graph_only("mean_relative_error")
    predictions, labels, weights = fitted(predictions, labels, weights)
    predictions, normalizer = _same_shape(predictions, normalizer)
    errors = where(
        equal(normalizer, 0.0), zeros_like(labels), abs_(labels - predictions) / normalizer
    )
    return mean(
        errors, weights, metrics_collections, updates_collections, name or "mean_relative_error"
    )


def _same_shape(predictions, normalizer):
    normalizer, predictions = squeezed(normalizer, predictions)
    predictions.shape.assert_is_compatible_with(normalizer.shape)
    return predictions, normalizer


def mean_cosine_distance(
    labels, predictions, dim, weights=None, metrics_collections=None, updates_collections=None,
    name: str | None = None,
):  # fmt: skip
    """1 - the mean of the cosines between predictions and labels, which are unit vectors along `dim`."""
    graph_only("mean_cosine_distance")
    predictions, labels, weights = fitted(predictions, labels, weights)
    cosines = reduce_sum(predictions * labels, [dim], keepdims=True)
    value, update = mean(cosines, weights, None, None, name or "mean_cosine_distance")
    return collected(1.0 - value, 1.0 - update, metrics_collections, updates_collections)


def percentage_below(
    values: TensorLike, threshold: float, weights: TensorLike | None = None,
    metrics_collections: Collections | None = None, updates_collections: Collections | None = None,
    name: str | None = None,
):
    """The share of values below a threshold."""
    graph_only("percentage_below")
    below = cast(less(values, threshold), dtypes.float32)
    return mean(
        below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold"
    )


def _streamed_matrix(labels: Tensor, predictions: Tensor, num_classes: int, weights):
    """(the matrix so far, the operation that adds to it): rows are labels, columns predictions."""
    matrix = metric_variable([num_classes, num_classes], dtypes.float64, name="total_confusion_matrix")

    def flat(x: Tensor):
        return reshape(x, [-1]) if x.shape.rank is None or x.shape.rank > 1 else x

    predictions = flat(cast(predictions, dtypes.int64))
    labels = flat(cast(labels, dtypes.int64))
    if weights is not None:
        weights = flat(convert_to_tensor(weights))
    now = confusion_matrix_v1(labels, predictions, num_classes, dtypes.float64, weights=weights)
    return accumulated(matrix, now)


def mean_iou(
    labels: TensorLike, predictions: TensorLike, num_classes: int, weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None, name: str | None = None,
):  # fmt: skip
    """The mean over the classes of intersection / union."""
    graph_only("mean_iou")
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        predictions.shape.assert_is_compatible_with(labels.shape)
        matrix, update = _streamed_matrix(labels, predictions, num_classes, weights)
        rows = cast(reduce_sum(matrix, 0), dtypes.float32)
        columns = cast(reduce_sum(matrix, 1), dtypes.float32)
        both = cast(diag_part(matrix), dtypes.float32)
        either = rows + columns - both
        valid = reduce_sum(cast(not_equal(either, 0), dtypes.float32))
        shares = both / where(greater(either, 0), either, ones_like(either))
        value = where(greater(valid, 0), reduce_sum(shares) / valid, zeros_like(valid), name="mean_iou")
        return collected(value, update, metrics_collections, updates_collections)


def mean_per_class_accuracy(
    labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None,
    name: str | None = None,
):  # fmt: skip
    """The mean over the classes of the share of labels that were predicted."""
    graph_only("mean_per_class_accuracy")

    with variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels = cast(labels, dtypes.int64)
        if labels.shape.rank is None or labels.shape.rank > 1:
            labels = reshape(labels, [-1])
        predictions = convert_to_tensor(predictions)
        if predictions.shape.rank is None or predictions.shape.rank > 1:
            predictions = reshape(predictions, [-1])
        total = metric_variable([num_classes], dtypes.float32, name="total")
        count = metric_variable([num_classes], dtypes.float32, name="count")
        ones = ones_like(cast(labels, dtypes.float32))
        right = cast(equal(cast(predictions, dtypes.int64), labels), dtypes.float32)
        if weights is not None:
            weights = cast(weights, dtypes.float32)
            if weights.shape.rank is None or weights.shape.rank > 1:
                weights = reshape(weights, [-1])
            right, ones = right * weights, ones * weights
        value = reduce_mean(ratio(count.read_value(), total.read_value(), "shares"), name="mean_accuracy")
        more = scatter_add(total, labels, ones)
        further = scatter_add(count, labels, right)
        update = group(more, further)
        with control_dependencies([update]):
            update = identity(ratio(count.read_value(), total.read_value(), "update_op"))
        return collected(value, update, metrics_collections, updates_collections)


boundaries(globals())

"""Metrics of all values: these themselves, their number, and how two of them go together."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.annotations import Collections, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.construction import fill
from tapeflow.ops.array.diagonal import diag_part
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import squeeze
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.sizes import size
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.math.arithmetic import minimum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.math.elementwise import sqrt
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.state.assignment import assign
from tapeflow.ops.statistics.confusion import confusion_matrix_v1
from tapeflow.v1.metrics.streaming import added, collected, graph_only, metric_variable
from tapeflow.v1.metrics.weighting import broadcast_weights, fitted
from tapeflow.v1.variable_scoping import variable_scope


def streaming_concat(
    values, axis: int = 0, max_size=None, metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None, name: str | None = None
):
    """All values so far, side by side along an axis, or the first `max_size` of them.

    Raises ValueError for values whose other axes are not known.
    """
    with variable_scope(name, "streaming_concat", (values,)):
        values = convert_to_tensor(values)
        rank = values.shape.rank
        if rank is None:
            raise ValueError("`values` must have known statically known rank")
        place = axis + rank if axis < 0 else axis
        if not 0 <= place < rank:
            raise ValueError(f"axis = {axis!r} not in [0, {rank!r})")
        others = [n for i, n in enumerate(values.shape.as_list()) if i != place]
        if None in others:
            raise ValueError(
                "all dimensions of `values` other than the dimension to concatenate along must have statically "
                "known size"
            )
        array = metric_variable([0, *others], values.dtype, validate_shape=False, name="array")
        number = metric_variable([], dtypes.int32, name="size")
        held = identity(array.read_value())
        held.set_shape([None, *others])
        # The axis comes first in the variable.
        inwards = [place, *(i for i in range(rank) if i != place)]
        outwards = [0 if i == place else i + 1 if i < place else i for i in range(rank)]
        batch = transpose(values, inwards)
        if max_size is not None:
            batch = batch[: minimum(shape_of(batch)[0], max_size - shape_of(held)[0])]
        kept = concat([held, batch], 0)
        with control_dependencies([assign(array, kept, validate_shape=False)]):
            update = identity(convert_to_tensor(number.assign(shape_of(kept)[0])), name="update_op")
        value = transpose(held, outwards, name="concat")
        return collected(value, update, metrics_collections, updates_collections)


def count(
    values, weights: TensorLike | None = None, metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None, name: str | None = None,
):
    """The number of values, or the sum of their weights. Raises RuntimeError eagerly."""
    graph_only("count")
    with variable_scope(name, "count", (values, weights)):
        held = metric_variable([], dtypes.float32, name="count")
        values = convert_to_tensor(values)
        if weights is None:
            number = cast(size(values), dtypes.float32)
        else:
            values, _, weights = fitted(cast(values, dtypes.float32), None, weights)
            number = reduce_sum(broadcast_weights(cast(weights, dtypes.float32), values))
        with control_dependencies([values]):
            update = added(held, number)
        return collected(convert_to_tensor(held), update, metrics_collections, updates_collections)


def _weighted_like(weights, values):
    return None if weights is None else broadcast_weights(cast(weights, dtypes.float32), values)


def streaming_covariance(
    predictions, labels, weights=None, metrics_collections=None, updates_collections=None,
    name: str | None = None,
):
    """The covariance of predictions and labels, not biased; NaN for a single one.

    Means and the sum of products of differences are brought up to date batch by batch (Chan, Golub and LeVeque 1979).
    """
    with variable_scope(name, "covariance", (predictions, labels, weights)):
        predictions, labels, weights = fitted(predictions, labels, weights)
        number, mean_x, mean_y, comoment = (
            metric_variable([], dtypes.float32, name=each)
            for each in ("count", "mean_prediction", "mean_label", "comoment")
        )
        weights = _weighted_like(weights, labels)
        factor = 1.0 if weights is None else weights
        batch = cast(size(labels), dtypes.float32) if weights is None else reduce_sum(weights)
        x = divide_no_nan(reduce_sum(predictions * factor), batch)
        y = divide_no_nan(reduce_sum(labels * factor), batch)
        products = reduce_sum((predictions - x) * (labels - y) * factor)
        # Values of before are read before anything is changed.
        before = [identity(each.read_value()) for each in (number, mean_x, mean_y)]
        with control_dependencies([*before, x, y, products]):
            total = added(number, batch)
            share = divide_no_nan(batch, total)
            moved = [added(mean_x, (x - before[1]) * share), added(mean_y, (y - before[2]) * share)]
            shift = (before[1] - x) * (before[2] - y) * divide_no_nan(before[0] * batch, total)
            sums = added(comoment, products + shift)
        value = _unbiased(convert_to_tensor(comoment), convert_to_tensor(number), "covariance")
        with control_dependencies(moved):
            update = _unbiased(sums, total, "update_op")
        return collected(value, update, metrics_collections, updates_collections)


def _unbiased(comoment, number, name: str):
    return where(number <= 1.0, fill([], float("nan")), comoment / (number - 1.0), name=name)


def streaming_pearson_correlation(
    predictions: TensorLike, labels: TensorLike, weights: TensorLike | None = None,
    metrics_collections: Collections | None = None, updates_collections: Collections | None = None,
    name: str | None = None,
):
    """The correlation of predictions and labels."""
    with variable_scope(name, "pearson_r", (predictions, labels, weights)):
        predictions, labels, weights = fitted(predictions, labels, weights)
        weights = _weighted_like(weights, labels)
        pairs = (
            streaming_covariance(predictions, labels, weights, name="covariance"),
            streaming_covariance(predictions, predictions, weights, name="variance_predictions"),
            streaming_covariance(labels, labels, weights, name="variance_labels"),
        )
        value, update = (both / (sqrt(x) * sqrt(y)) for both, x, y in zip(*pairs))
        return collected(
            identity(value, "pearson_r"), identity(update, "update_op"), metrics_collections, updates_collections
        )


def cohen_kappa(
    labels, predictions_idx, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """Cohen's kappa: how much labels and predicted classes agree beyond chance.

    Raises ValueError for fewer than two classes, RuntimeError eagerly.
    """
    graph_only("cohen_kappa")
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2.Found: {num_classes}")
    with variable_scope(name, "cohen_kappa", (labels, predictions_idx, weights)):
        labels = convert_to_tensor(labels)
        labels.shape.with_rank_at_most(2)
        if labels.shape.rank == 2:
            labels = squeeze(labels, [-1])
        predictions, labels, weights = fitted(predictions_idx, labels, weights)
        whole = weights is None or weights.dtype.is_integer
        dtype = dtypes.int64 if whole else dtypes.float32
        table = confusion_matrix_v1(labels, predictions, num_classes, dtype, weights=weights)
        parts = (diag_part(table), reduce_sum(table, 0), reduce_sum(table, 1))
        held = [metric_variable((num_classes,), dtype, name=each) for each in ("po", "pe_row", "pe_col")]
        updates = [added(variable, part) for variable, part in zip(held, parts)]
        value = _kappa(*map(convert_to_tensor, held), "value")
        return collected(value, _kappa(*updates, "update_op"), metrics_collections, updates_collections)


def _kappa(agreed, rows, columns, name: str):
    total = cast(reduce_sum(rows), dtypes.float64)
    chance = reduce_sum(divide_no_nan(cast(rows * columns, dtypes.float64), total))
    return divide_no_nan(cast(reduce_sum(agreed), dtypes.float64) - chance, total - chance, name=name)

"""Metrics of one batch, and what metrics are put together with."""

from __future__ import annotations

from collections.abc import Sequence

from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.context import name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.construction import ones_like
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.reductions import reduce_mean, reduce_sum

__all__ = ["accuracy", "aggregate_metric_map", "aggregate_metrics"]


def accuracy(
    predictions: TensorLike, labels: TensorLike, weights: Sequence[float] | None = None, name: str | None = None
):
    """The share of predictions that equal the labels.

    Raises ValueError for labels of floats and for tensors of different dtypes.
    """
    predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
    if not (labels.dtype.is_integer or labels.dtype in (dtypes.bool, dtypes.string)):
        raise ValueError(f"Labels should have bool, integer, or string dtype, not {labels.dtype!r}")
    if labels.dtype != predictions.dtype:
        raise ValueError(
            f"Dtypes of predictions and labels should match. Given: predictions ({predictions.dtype!r}) and "
            f"labels ({labels.dtype!r})"
        )
    with name_scope(name or "accuracy"):
        right = cast(equal(predictions, labels), dtypes.float32)
        if weights is None:
            return reduce_mean(right)
        return reduce_sum(right * weights) / reduce_sum(weights * ones_like(right))


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

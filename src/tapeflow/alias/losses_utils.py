"""`tensorflow.python.keras.utils.losses_utils`: how losses of Keras 2 are weighted, reduced and added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import replicas
from tapeflow.core.convert import convert_to_tensor
from tapeflow.keras.losses.reduction import Reduction, compute_weighted_loss
from tapeflow.keras.losses.shapes import squeeze_or_expand
from tapeflow.ops.math.casting import cast
from tapeflow.v1.metrics.weighting import squeezed

__all__ = [
    "ReductionV2",
    "cast_losses_to_common_dtype",
    "compute_weighted_loss",
    "reduce_weighted_loss",
    "scale_loss_for_distribution",
    "squeeze_or_expand_dimensions",
]

ReductionV2 = Reduction


def reduce_weighted_loss(weighted_losses: Any, reduction: str = Reduction.SUM_OVER_BATCH_SIZE) -> Any:
    """The losses of examples as one number, or as they are for the reduction "none"."""
    return compute_weighted_loss(weighted_losses, reduction=reduction)


def cast_losses_to_common_dtype(losses: Sequence[Any]) -> Sequence[Any]:
    """The losses in the widest floating dtype of them; as they are where none is floating."""
    tensors = [convert_to_tensor(loss) for loss in losses]
    floating = [x.dtype for x in tensors if x.dtype.is_floating]
    if not floating:
        return losses
    widest = max(floating, key=lambda dtype: dtype.size)
    return [cast(x, widest) for x in tensors]


def scale_loss_for_distribution(loss_value: Any) -> Any:
    """The part of a loss that one of the replicas has."""
    count = replicas.count()
    return loss_value * (1.0 / count) if count > 1 else loss_value


def squeeze_or_expand_dimensions(y_pred: Any, y_true: Any = None, sample_weight: Any = None) -> tuple[Any, ...]:
    """Predictions, labels and weights (if given) with one rank, by an axis of size 1 at the end."""
    if y_true is not None:
        y_true, y_pred = squeezed(y_true, y_pred)
    if sample_weight is None:
        return y_pred, y_true
    return y_pred, y_true, squeeze_or_expand(None, y_pred, sample_weight)[2]

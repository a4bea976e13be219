"""What becomes of the losses of the examples of a batch: weights, and a sum or a mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow.core import replicas
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2
from tapeflow.keras.losses.shapes import squeeze_or_expand
from tapeflow.ops.array.layout import expand_dims, squeeze
from tapeflow.ops.array.sizes import size
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.math.reductions import reduce_mean, reduce_sum

if TYPE_CHECKING:
    import numpy as np


class Reduction:
    """What becomes of the losses of the examples of a batch."""

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"
    MEAN = "mean"
    MEAN_WITH_SAMPLE_WEIGHT = "mean_with_sample_weight"

    @classmethod
    def all(cls):
        """All kinds."""
        return (
            cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE, cls.MEAN,
            cls.MEAN_WITH_SAMPLE_WEIGHT, None,
        )  # fmt: skip

    @classmethod
    def validate(cls, key: str):
        """Raises ValueError for an unknown kind."""
        if key not in cls.all():
            if not keras_2():
                known = {kind for kind in cls.all() if kind != cls.AUTO}
                raise ValueError(
                    f"Invalid value for argument `reduction`. Expected one of {known}. Received: reduction={key}"
                )
            raise ValueError(f'Invalid Reduction Key: {key}. Expected keys are "{cls.all()}"')


def compute_weighted_loss(
    losses: Any, sample_weight: np.ndarray | None = None, reduction: str = Reduction.SUM_OVER_BATCH_SIZE
):
    """Multiply losses by weights, and reduce them.

    Args:
      losses: one number per example.
      sample_weight: weights that broadcast against them; None for 1.
      reduction: one of `Reduction`.

    Returns:
      A scalar, or the weighted losses for "none".

    Raises:
      ValueError: for an unknown reduction.
    """
    Reduction.validate(reduction)
    losses = convert_to_tensor(losses)
    if sample_weight is not None:
        weights = cast(sample_weight, losses.dtype)
        _, losses, weights = squeeze_or_expand(None, losses, weights)
        losses = losses * weights
    if reduction in (Reduction.NONE, None):
        return losses
    if reduction == Reduction.MEAN_WITH_SAMPLE_WEIGHT and sample_weight is not None:
        return divide_no_nan(reduce_sum(losses), reduce_sum(weights + losses * 0.0))
    total = reduce_sum(losses)
    if reduction == Reduction.SUM:
        return total
    count = losses.shape.num_elements()
    if count is None:
        return total / cast(maximum(size(losses), 1), losses.dtype)
    return total / cast(count, losses.dtype) if count != 0 else total * 0.0


def with_mask(sample_weight: Any, mask: Any, dtype: Any, reduction: str | None):
    """The weights of examples without those that are masked; for a mean, what counts is weighted up to the whole."""
    mask = cast(mask, dtype)
    if reduction in (Reduction.AUTO, Reduction.SUM_OVER_BATCH_SIZE, Reduction.MEAN):
        mask = mask * divide_no_nan(cast(size(mask), dtype), reduce_sum(mask))
    if sample_weight is None:
        return mask
    weight = cast(convert_to_tensor(sample_weight), dtype)
    if mask.shape.rank == weight.shape.rank + 1 and mask.shape[-1] == 1:
        if weight.shape.rank == 1:
            weight = expand_dims(weight, -1)
        else:
            mask = squeeze(mask, [-1])
    elif weight.shape.rank == mask.shape.rank + 1 and weight.shape[-1] == 1:
        if mask.shape.rank == 1:
            mask = expand_dims(mask, -1)
        else:
            weight = squeeze(weight, [-1])
    while weight.shape.rank < mask.shape.rank:
        weight = expand_dims(weight, -1)
    return weight * mask


def reduced(values: Any, sample_weight: np.ndarray | None, reduction: str):
    """The losses of examples as a Loss gives them."""
    if reduction == Reduction.AUTO:
        reduction = Reduction.SUM_OVER_BATCH_SIZE
    averages = reduction in (Reduction.SUM_OVER_BATCH_SIZE, Reduction.MEAN)
    count = values.shape.num_elements()
    if count is not None and sample_weight is None and averages:
        found = reduce_mean(values) if count else reduce_sum(values)
    else:
        found = compute_weighted_loss(values, sample_weight, reduction)
    means = averages or reduction == Reduction.MEAN_WITH_SAMPLE_WEIGHT
    return replicas.part_of(found) if means and replicas.several() else found


boundaries(globals())

"""Examples of a batch that are repeated or left out by rates."""

from __future__ import annotations

from collections.abc import Sequence

from tapeflow.compat import v1
from tapeflow.core.annotations import FloatLike, Tensor, TensorLike
from tapeflow.train.moving_averages import assign_moving_average

__all__ = ["resample_at_rate", "weighted_resample"]


def resample_at_rate(
    inputs: Sequence[TensorLike], rates: TensorLike, scope: str | None = None, seed: int | None = None,
    back_prop: bool = False,
) -> list[Tensor]:  # fmt: skip
    """Repeat each example as often as a Poisson distribution says.

    Args:
      inputs: tensors with an example in each row.
      rates: `[batch]`, how often each example comes on average.
      scope: a name for the operations (optional).
      seed: an integer that makes the numbers repeatable (optional).
      back_prop: whether gradients may flow through the numbers of rows.

    Returns:
      The tensors of the examples that are drawn.
    """
    with v1.name_scope(scope, "resample_at_rate", [*inputs, rates]):
        means = v1.convert_to_tensor(rates, name="rates")
        counts = v1.cast(v1.random_poisson(means, (), means.dtype, seed=seed), v1.int32)
        rows = v1.repeat(v1.range(v1.shape(counts)[0]), counts)
        if not back_prop:
            rows = v1.stop_gradient(rows)
        return [v1.gather(each, rows) for each in inputs]


def weighted_resample(
    inputs: Sequence[TensorLike], weights: TensorLike, overall_rate: FloatLike, scope: str | None = None,
    mean_decay: float = 0.999, seed: int | None = None,
) -> tuple[list[Tensor], Tensor]:  # fmt: skip
    """Repeat examples in proportion to their weights.

    Args:
      inputs: tensors with an example in each row.
      weights: `[batch]`, of floats.
      overall_rate: how often an example of the mean weight comes on average.
      scope: a name for the operations and the local variable of the mean (optional).
      mean_decay: the decay of the moving mean of weights.
      seed: an integer that makes the numbers repeatable (optional).

    Returns:
      (the tensors of the examples that are drawn, the rate of each).
    """
    given = v1.convert_to_tensor(weights)
    with v1.name_scope(scope, "weighted_resample", list(inputs)) as name:
        with v1.variable_scope(scope, "estimate_mean", list(inputs)):
            estimated = v1.get_local_variable("estimated_mean", initializer=v1.cast(0, given.dtype))
            mean = assign_moving_average(estimated, v1.reduce_mean(given), mean_decay)
        rates = given * overall_rate / v1.cast(mean, given.dtype)
        drawn = resample_at_rate([rates, *inputs], rates, scope=name, seed=seed)
    return drawn[1:], drawn[0]

"""`combine_adversarial_loss`: a loss with an adversarial one, by a weight or by the sizes of their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.compat import v1
from tapeflow.core.annotations import Tensor


def _norm(gradients: Sequence[Tensor]):
    """The norm of all gradients together, over the largest part, so that squares do not overflow."""
    known = [gradient for gradient in gradients if gradient is not None]
    if not known:
        return 0.0
    largest = v1.reduce_max(v1.stack([v1.reduce_max(v1.abs(gradient)) for gradient in known]))
    return largest * v1.global_norm([gradient / largest for gradient in known])


def _check(losses: Sequence[Tensor], weight_factor, gradient_ratio: float | None):
    for loss in losses:
        loss.shape.assert_is_compatible_with([])
    if weight_factor is None and gradient_ratio is None:
        raise ValueError("`weight_factor` and `gradient_ratio` cannot both be `None.`")
    if weight_factor is not None and gradient_ratio is not None:
        raise ValueError("`weight_factor` and `gradient_ratio` cannot both be specified.")


def combine_adversarial_loss(
    main_loss: Any, adversarial_loss: Any, weight_factor=None, gradient_ratio=None,
    gradient_ratio_epsilon: float = 1e-6, variables: Sequence[Any] | None = None, scalar_summaries: bool = True,
    gradient_summaries: bool = True, scope: str | None = None,
):  # fmt: skip
    """The sum of a loss and an adversarial loss with a weight.

    Args:
      weight_factor: the weight, or None.
      gradient_ratio: the size that the gradient of the main loss shall have, over that of the adversarial loss.
      gradient_ratio_epsilon: what is added to the divisor.
      variables: which gradients are meant; by default of all trainable variables.

    Raises ValueError for both or none of the two, and for losses that are not scalars.
    """
    _check([main_loss, adversarial_loss], weight_factor, gradient_ratio)
    if variables is None:
        variables = v1.trainable_variables()
    with v1.name_scope(scope, "adversarial_loss", [main_loss, adversarial_loss]):
        if gradient_summaries or gradient_ratio is not None:
            main_norm = _norm(v1.gradients(main_loss, variables))
            adversarial_norm = _norm(v1.gradients(adversarial_loss, variables))
        if scalar_summaries:
            v1.summary.scalar("main_loss", main_loss)
            v1.summary.scalar("adversarial_loss", adversarial_loss)
        if gradient_summaries:
            v1.summary.scalar("main_loss_gradients", main_norm)
            v1.summary.scalar("adversarial_loss_gradients", adversarial_norm)
        given = weight_factor if weight_factor is not None else gradient_ratio
        if v1.get_static_value(v1.convert_to_tensor(given)) == 0:
            return main_loss
        if weight_factor is not None:
            return main_loss + v1.stop_gradient(weight_factor) * adversarial_loss
        factor = main_norm / (adversarial_norm + gradient_ratio_epsilon) / gradient_ratio
        v1.summary.scalar("adversarial_coefficient", factor)
        return main_loss + v1.stop_gradient(factor) * adversarial_loss

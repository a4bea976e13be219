"""An optimizer around another one, that scales the loss up and the gradients down again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tapeflow.compat.v1 as tf
from tapeflow.core.annotations import TensorLike, Variable

if TYPE_CHECKING:
    from tapeflow.contrib.mixed_precision.managers import (
        ExponentialUpdateLossScaleManager,
        FixedLossScaleManager,
    )
    from tapeflow.train.gradient_descent import GradientDescentOptimizer


class LossScaleOptimizer(tf.train.Optimizer):
    """Minimizes by another optimizer with the loss scaled; a step whose gradients are not finite is left out.

    Args:
      opt: the other optimizer, a `tf.train.Optimizer`.
      loss_scale_manager: a `LossScaleManager`, which is notified after each step whether gradients were finite.

    Raises ValueError for an `opt` that is no optimizer.
    """

    def __init__(
        self, opt: int | GradientDescentOptimizer,
        loss_scale_manager: ExponentialUpdateLossScaleManager | FixedLossScaleManager,
    ):
        if not isinstance(opt, tf.train.Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got {type(opt)}.')
        super().__init__(use_locking=False, name="LossScaleOptimizer")
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager

    def compute_gradients(
        self, loss: Any, var_list: Sequence[Variable] | None = None, gate_gradients: int = tf.train.Optimizer.GATE_OP,
        aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False,
        grad_loss: TensorLike | None = None,
    ):
        """The pairs (gradient, variable) of the loss, computed from the scaled loss."""
        scale = self._loss_scale_manager.get_loss_scale()

        def scaled():
            value = loss() if callable(loss) else loss
            return value * tf.cast(scale, value.dtype.base_dtype)

        pairs = self._opt.compute_gradients(
            scaled if tf.executing_eagerly() else scaled(),
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        inverse = tf.reciprocal(tf.convert_to_tensor(scale))
        return [(g if g is None else g * tf.cast(inverse, g.dtype.base_dtype), v) for g, v in pairs]

    def apply_gradients(
        self, grads_and_vars: Sequence[Any], global_step: Variable | None = None, name: str | None = None
    ):
        """An op that applies the gradients if all are finite, and lets the manager know."""
        pairs = list(grads_and_vars)
        finite = [tf.reduce_all(tf.is_finite(g)) for g, _ in pairs]
        all_finite = tf.reduce_all(tf.stack(finite))
        applied = tf.cond(
            all_finite, lambda: self._opt.apply_gradients(pairs, global_step, name), lambda: tf.no_op()
        )
        update = self._loss_scale_manager.update_loss_scale(all_finite)
        if tf.executing_eagerly():
            return None
        return tf.group(applied, update)

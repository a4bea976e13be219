"""An optimizer of 1.x around another one, whose loss is multiplied with a loss scale."""

from __future__ import annotations

from typing import Any

from tapeflow.core import replicas
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import boundaries
from tapeflow.ops.control.grouping import group, no_op
from tapeflow.ops.control.smart_cond import smart_cond
from tapeflow.ops.math.casting import cast
from tapeflow.train.loss_scale import DynamicLossScale, FixedLossScale, LossScale
from tapeflow.train.optimizer import Optimizer


class MixedPrecisionLossScaleOptimizer(Optimizer):
    """Multiplies the loss with a loss scale, and divides the gradients by it.

    With a `DynamicLossScale`, a step whose gradients are not all finite changes nothing but the scale.

    Args:
      opt: the `tf.compat.v1.train.Optimizer` that updates the variables.
      loss_scale: a `tf.compat.v1.mixed_precision.LossScale`, a number, or "dynamic".

    Raises:
      ValueError: for another optimizer or loss scale.
    """

    def __init__(self, opt: Optimizer, loss_scale: Any):
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(opt._use_locking, opt.get_name())
        self._optimizer = opt
        self._loss_scale = _loss_scale(loss_scale)

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """(gradient, variable) pairs, see `Optimizer.compute_gradients`."""
        scale = self._loss_scale()

        def scaled(value: Any) -> Any:
            return value * cast(scale, value.dtype)

        wanted = (lambda: scaled(loss())) if callable(loss) else scaled(loss)
        pairs = self._optimizer.compute_gradients(wanted, *args, **kwargs)
        return [(_divided(gradient, scale), variable) for gradient, variable in pairs]

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Change the variables, and count the step, if all gradients are finite; see `Optimizer.apply_gradients`."""
        if replicas.several():
            return replicas.apply_once(
                lambda pairs: self.apply_gradients(pairs, global_step, name), grads_and_vars
            )
        pairs = tuple(grads_and_vars)
        if not isinstance(self._loss_scale, DynamicLossScale):
            return self._optimizer.apply_gradients(pairs, global_step, name)
        name = name or self.get_name()
        updated, finite = self._loss_scale.update([gradient for gradient, _ in pairs])

        def apply() -> Any:
            return group(self._optimizer.apply_gradients(pairs, global_step, f"{name}-wrapped"))

        applied = smart_cond(finite, apply, no_op)
        return group(applied, updated, name=name)

    def variables(self) -> list[Any]:
        """The variables of the optimizer inside, and those of the loss scale."""
        scale = self._loss_scale
        own = [scale.current_loss_scale, scale.good_steps] if isinstance(scale, DynamicLossScale) else []
        return [*self._optimizer.variables(), *own]

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {"base_optimizer": self._optimizer, "loss_scale": self._loss_scale}


def _loss_scale(given: Any) -> LossScale:
    if given is None:
        raise ValueError("loss_scale cannot be None")
    if isinstance(given, (int, float)):
        return FixedLossScale(given)
    if given == "dynamic":
        return DynamicLossScale()
    if isinstance(given, LossScale):
        return given
    raise ValueError(f"Could not interpret loss scale identifier: {given}")


def _divided(gradient: Any, scale: Any) -> Any:
    if gradient is None:
        return None
    if isinstance(gradient, IndexedSlices):
        values = _divided(gradient.values, scale)
        return IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return gradient * cast(1 / scale, gradient.dtype)


boundaries(globals())

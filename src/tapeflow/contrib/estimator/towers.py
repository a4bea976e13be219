"""`replicate_model_fn`: a model function on several devices, from before there were strategies."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.estimator import ModeKeys

if TYPE_CHECKING:
    from tapeflow.train.gradient_descent import GradientDescentOptimizer

MEAN = v1.losses.Reduction.SUM_BY_NONZERO_WEIGHTS


class TowerOptimizer(v1.train.Optimizer):
    """An optimizer for model functions under `replicate_model_fn`; all towers are one here.

    Args:
      optimizer_or_optimizer_fn: an optimizer, or a function that makes one.
    """

    def __init__(self, optimizer_or_optimizer_fn: GradientDescentOptimizer):
        given = optimizer_or_optimizer_fn
        self._optimizer = given if isinstance(given, v1.train.Optimizer) else given()
        super().__init__(False, "TowerOptimizer")

    def compute_gradients(self, loss: TensorLike, *args, **kwargs):
        """Those of the optimizer."""
        return self._optimizer.compute_gradients(loss, *args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, **kwargs):
        """Applies gradients as the optimizer does."""
        return self._optimizer.apply_gradients(grads_and_vars, global_step, **kwargs)

    def get_slot(self, *args, **kwargs):
        """A slot of the optimizer."""
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        """The names of the optimizer's slots."""
        return self._optimizer.get_slot_names(*args, **kwargs)

    def get_name(self):
        """The name of the optimizer."""
        return self._optimizer.get_name()

    def variables(self):
        """The variables of the optimizer."""
        return self._optimizer.variables()


def replicate_model_fn(
    model_fn: Callable[..., Any], loss_reduction: str = MEAN, devices: Sequence[str] | None = None
):
    """A model function for an Estimator that runs on several devices.

    Args:
      loss_reduction: how losses of towers become one; not NONE.
      devices: their names; all of them stand for the one that trains here, so that batches are not split.

    Raises ValueError for NONE, and in a training without an operation for it.
    """
    if loss_reduction == v1.losses.Reduction.NONE:
        raise ValueError(
            f"Tower losses need to be reduced in some way, yet {loss_reduction} reduction is specified."
        )
    wanted = set(inspect.signature(model_fn).parameters)

    def replicated(
        features: dict[str, Any], labels: Tensor, mode: str, params: dict[str, Any] | None = None, config=None
    ):
        offered = {"labels": labels, "mode": mode, "params": params, "config": config}
        spec = model_fn(features, **{name: offered[name] for name in offered if name in wanted})
        if mode == ModeKeys.TRAIN and spec.train_op is None:
            raise ValueError("There was no train_op in the model function.")
        return spec

    if "params" in wanted:
        return replicated
    return lambda features, labels, mode, config: replicated(features, labels, mode, None, config)

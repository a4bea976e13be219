"""`tf.contrib.optimizer_v2`: the optimizers of `tf.train`, with losses that are scaled by replicas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow import train
from tapeflow.compat import v1
from tapeflow.core import context
from tapeflow.core.annotations import TensorLike
from tapeflow.core.structures import nest

__all__ = [
    "AdadeltaOptimizer", "AdagradOptimizer", "AdamOptimizer", "GradientDescentOptimizer", "MomentumOptimizer",
    "OptimizerV2", "RMSPropOptimizer",
]  # fmt: skip


class OptimizerV2(train.Optimizer):
    """Base of these optimizers; settings are numbers, tensors, or functions without arguments that return them.

    Args:
      use_locking: accepted for compatibility; updates never overlap.
      name: prefix of the names of the variables that the optimizer makes.
    """

    def minimize(  # type: ignore[override]  # TensorFlow's arguments
        self, loss: Any, global_step=None, var_list=None, gate_gradients: int = train.Optimizer.GATE_OP,
        aggregation_method: int | None = None, name: str | None = None, grad_loss: TensorLike | None = None,
        stop_gradients: Sequence[Any] | None = None, scale_loss_by_num_replicas: bool = False,
    ):  # fmt: skip
        """Make a step down: compute the gradients of a loss, and apply them.

        Args:
          loss: a scalar tensor; eagerly, a function that returns it.
          global_step: a variable that counts steps.
          var_list: the variables to change; None: all that can be trained, eagerly all that the loss reads.
          gate_gradients: one of GATE_NONE, GATE_OP and GATE_GRAPH.
          aggregation_method: accepted for compatibility.
          name: of the operation that is returned.
          grad_loss: the gradient of the loss; None: 1.
          stop_gradients: tensors that are constants here; in graphs alone.
          scale_loss_by_num_replicas: whether the loss is divided by the number of replicas.

        Raises:
          ValueError: where no variable has a gradient.
        """
        pairs = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, grad_loss, stop_gradients, scale_loss_by_num_replicas
        )
        if all(gradient is None for gradient, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {[str(var) for _, var in pairs]} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(  # type: ignore[override]  # TensorFlow's arguments
        self, loss: Any, var_list=None, gate_gradients: int = train.Optimizer.GATE_OP,
        aggregation_method: int | None = None, grad_loss: TensorLike | None = None,
        stop_gradients: Sequence[Any] | None = None, scale_loss_by_num_replicas: bool = False,
    ):  # fmt: skip
        """(gradient, variable) pairs; see `minimize`."""
        replicas = v1.distribute.get_strategy().num_replicas_in_sync if scale_loss_by_num_replicas else 1
        if replicas > 1:
            loss = (lambda whole=loss: whole() / replicas) if callable(loss) else loss / replicas
        if stop_gradients is None or callable(loss) or context.executing_eagerly():
            return super().compute_gradients(loss, var_list, gate_gradients, aggregation_method, grad_loss=grad_loss)
        variables = v1.trainable_variables() if var_list is None else nest.flatten(var_list)
        if not variables:
            raise ValueError("No variables to optimize.")
        gradients = v1.gradients(loss, variables, grad_loss, stop_gradients=stop_gradients)
        return list(zip(gradients, variables, strict=True))


class AdadeltaOptimizer(OptimizerV2, train.AdadeltaOptimizer):
    """Adadelta (Zeiler 2012)."""


class AdagradOptimizer(OptimizerV2, train.AdagradOptimizer):
    """Adagrad (Duchi et al. 2011)."""


class AdamOptimizer(OptimizerV2, train.AdamOptimizer):
    """Adam (Kingma & Ba 2015)."""


class GradientDescentOptimizer(OptimizerV2, train.GradientDescentOptimizer):
    """Steps against the gradient."""


class MomentumOptimizer(OptimizerV2, train.MomentumOptimizer):
    """Steps against the gradient, with momentum."""


class RMSPropOptimizer(OptimizerV2, train.RMSPropOptimizer):
    """RMSProp (Tieleman & Hinton 2012), whose mean of squares begins with `epsilon`, which is added nowhere else."""

    def __init__(
        self, learning_rate: float, decay: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-10,
        use_locking: bool = False, centered: bool = False, name: str = "RMSProp",
    ):  # fmt: skip
        super().__init__(learning_rate, decay, momentum, epsilon, use_locking, centered, name)

    def _update_of(self, dtype):
        update = super()._update_of(dtype)
        return update._replace(scalars=(*update.scalars[:-1], self._number(0.0, dtype)))

    def _slots_for(self, update, var):
        epsilon = self._call_if_callable(self._settings[3])
        self._slot(var, "rms", lambda variable: v1.fill(v1.shape(variable), v1.cast(epsilon, variable.dtype)))
        return super()._slots_for(update, var)

"""`tf.contrib.tpu`: the estimator of programs written for TPUs, and what they train with on one device."""

from __future__ import annotations

from tapeflow.compat.v1.losses import Reduction
from tapeflow.core.public import boundaries
from tapeflow.estimator.tpu import (
    InputPipelineConfig,
    RunConfig,
    TPUConfig,
    TPUEstimator,
    TPUEstimatorSpec,
)
from tapeflow.ops.array.rows import identity
from tapeflow.train import Optimizer

__all__ = [
    "CrossShardOptimizer", "InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec",
    "cross_replica_sum",
]  # fmt: skip


class CrossShardOptimizer(Optimizer):
    """An optimizer that combines the gradients of all shards; there is one shard, whose gradients it hands on.

    Args:
      opt: the optimizer that applies them.
      reduction: `Reduction.MEAN` or `Reduction.SUM`.
      name: the name of the optimizer.
      group_assignment: not used.

    Raises:
      ValueError: another reduction.
    """

    def __init__(self, opt, reduction=Reduction.MEAN, name="CrossShardOptimizer", group_assignment=None):
        if reduction not in (Reduction.SUM, Reduction.MEAN):
            raise ValueError(f"Unsupported reduction: {reduction}.")
        super().__init__(False, name)
        self._opt = opt

    def compute_gradients(self, loss, var_list=None, **kwargs):
        """Return the (gradient, variable) pairs of the optimizer inside."""
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Let the optimizer inside apply the gradients."""
        return self._opt.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, *args, **kwargs):
        """Return a slot of the optimizer inside."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        """Return the names of the slots of the optimizer inside."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self):
        """Return the variables of the optimizer inside."""
        return self._opt.variables()


def cross_replica_sum(x, group_assignment=None, name=None):
    """Return the sum of a tensor over all replicas; there is one, so that it is the tensor.

    Args:
      x: a tensor.
      group_assignment: not used.
      name: the name of the operation.
    """
    return identity(x, name=name)


boundaries(globals())

"""Optimizers that shrink weights by a share of themselves, apart from the gradient (Loshchilov & Hutter 2017)."""

from __future__ import annotations

from tapeflow import train
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.casting import cast

__all__ = [
    "AdamWOptimizer", "DecoupledWeightDecayExtension", "MomentumWOptimizer",
    "extend_with_decoupled_weight_decay",
]  # fmt: skip


class DecoupledWeightDecayExtension:
    """What an optimizer with decayed weights has besides: `class MyW(DecoupledWeightDecayExtension, MyOptimizer)`.

    Where the gradient is one of some rows, these shrink alone.

    Args:
      weight_decay: a number, a tensor, or a function of none.
    """

    _adds_up = False  # a row shrinks once, however often it comes

    def __init__(self, weight_decay: float, **kwargs):
        self._decay_var_list = None
        self._weight_decay = weight_decay
        super().__init__(**kwargs)

    def minimize(
        self, loss, global_step=None, var_list=None, gate_gradients=1, aggregation_method=None,
        colocate_gradients_with_ops=False, name=None, grad_loss=None, decay_var_list=None,
    ):  # fmt: skip
        """See Optimizer; only the variables of decay_var_list shrink, by default all."""
        self._decay_var_list = None if decay_var_list is None else {id(v) for v in decay_var_list}
        return super().minimize(
            loss, global_step=global_step, var_list=var_list, gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, name=name, grad_loss=grad_loss,
        )  # fmt: skip

    def apply_gradients(self, grads_and_vars, global_step=None, name=None, decay_var_list=None):
        """See Optimizer; only the variables of decay_var_list shrink."""
        if decay_var_list is not None:
            self._decay_var_list = {id(v) for v in decay_var_list}
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _share(self, var):
        """The part by which a variable shrinks; None for one that does not."""
        if self._decay_var_list is not None and id(var) not in self._decay_var_list:
            return None
        return cast(self._call_if_callable(self._weight_decay), var.dtype.base_dtype)

    def _apply_dense(self, grad, var):
        share = self._share(var)
        if share is not None:
            var.assign_sub(share * var)
        return super()._apply_dense(grad, var)

    def _apply_sparse(self, values, indices, var):
        share = self._share(var)
        if share is not None:
            var.scatter_sub(IndexedSlices(share * gather(var, indices), indices))
        return super()._apply_sparse(values, indices, var)


def extend_with_decoupled_weight_decay(base_optimizer):
    """The class of that optimizer with decayed weights; its first argument is the weight decay."""

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):
        """An optimizer with decayed weights."""

        def __init__(self, weight_decay: float, *args, **kwargs):
            self._decay_var_list, self._weight_decay = None, weight_decay
            base_optimizer.__init__(self, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(extend_with_decoupled_weight_decay(train.MomentumOptimizer)):  # type: ignore[misc]
    """MomentumOptimizer with decayed weights."""

    def __init__(
        self, weight_decay: float, learning_rate: float, momentum: float, use_locking: bool = False,
        name: str = "MomentumW", use_nesterov: bool = False,
    ):  # fmt: skip
        super().__init__(weight_decay, learning_rate, momentum, use_locking, name, use_nesterov)


class AdamWOptimizer(extend_with_decoupled_weight_decay(train.AdamOptimizer)):  # type: ignore[misc]
    """AdamOptimizer with decayed weights."""

    def __init__(
        self, weight_decay: float, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999,
        epsilon: float = 1e-8, use_locking: bool = False, name: str = "AdamW",
    ):  # fmt: skip
        super().__init__(weight_decay, learning_rate, beta1, beta2, epsilon, use_locking, name)

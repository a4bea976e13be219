"""Rules of updates: variants of Adam, rates by layer, and steps by sign."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from tapeflow import train
from tapeflow.core.annotations import Tensor, TensorLike, Variable
from tapeflow.core.dtypes import DType
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.ops.array.construction import ones_like
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.linalg.norms import norm
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import exp, sign, sqrt, square
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.state import training
from tapeflow.train.global_step import get_global_step
from tapeflow.train.updating import Update

__all__ = [
    "AdaMaxOptimizer", "AddSignOptimizer", "LARSOptimizer", "LazyAdamOptimizer", "NadamOptimizer",
    "PowerSignOptimizer", "RegAdagradOptimizer",
]  # fmt: skip


class LazyAdamOptimizer(train.AdamOptimizer):
    """Adam whose averages of rows move only when the rows have a gradient."""

    def _apply_sparse(self, values: Tensor, indices: Tensor, var):
        power1, power2, lr, beta1, beta2, epsilon = self._settings(var.dtype)
        rate = lr * sqrt(1 - power2) / (1 - power1)
        m, v = self._slot(var, "m"), self._slot(var, "v")
        m_rows = beta1 * gather(m, indices) + (1 - beta1) * values
        v_rows = beta2 * gather(v, indices) + (1 - beta2) * square(values)
        m.scatter_update(IndexedSlices(m_rows, indices))
        v.scatter_update(IndexedSlices(v_rows, indices))
        var.scatter_sub(IndexedSlices(rate * m_rows / (sqrt(v_rows) + epsilon), indices))


class NadamOptimizer(train.AdamOptimizer):
    """Adam with Nesterov's momentum (Dozat 2015)."""

    def _apply_dense(self, grad: Tensor, var):
        power1, power2, lr, beta1, beta2, epsilon = self._settings(var.dtype)
        rate = lr * sqrt(1 - power2) / (1 - power1)
        m, v = self._slot(var, "m"), self._slot(var, "v")
        m.assign(beta1 * m + (1 - beta1) * grad)
        v.assign(beta2 * v + (1 - beta2) * square(grad))
        var.assign_sub(rate * (beta1 * m + (1 - beta1) * grad) / (sqrt(v) + epsilon))


class AdaMaxOptimizer(train.AdamOptimizer):
    """Adam with the largest gradient in the place of the root of the squares' mean (Kingma & Ba 2015)."""

    def __init__(
        self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
        use_locking: bool = False, name: str = "AdaMax",
    ):  # fmt: skip
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _prepare(self, var=None):
        if var is None:
            return
        self._by_dtype = {}
        start = self._number(self._beta1, var.dtype)
        self._powers = (self._non_slot("beta1_power", lambda: start, var.dtype),)

    def _get_beta_accumulators(self):
        """The variable that holds beta1^t."""
        return self._powers[0]

    def _update_of(self, dtype: DType):
        return Update(training.AdaMax, (("m", 0.0), ("v", 0.0)), self._settings(dtype))

    def _apply_sparse(self, values: Tensor, indices: Tensor, var: Any):
        power1, lr, beta1, beta2, epsilon = self._settings(var.dtype)
        m, v = self._slot(var, "m"), self._slot(var, "v")
        m_rows = beta1 * gather(m, indices) + (1 - beta1) * values
        v_rows = maximum(beta2 * gather(v, indices), abs_(values))
        m.scatter_update(IndexedSlices(m_rows, indices))
        v.scatter_update(IndexedSlices(v_rows, indices))
        var.scatter_sub(IndexedSlices(lr / (1 - power1) * m_rows / (v_rows + epsilon), indices))


class LARSOptimizer(train.MomentumOptimizer):
    """Momentum with a rate for each layer, from the norms of its weights and gradients (You et al. 2017).

    `weight_decay` counts in the rate only: the loss, or the gradients, have the decay itself.
    """

    def __init__(
        self, learning_rate: float, momentum: float = 0.9, weight_decay: float = 0.0001, eeta: float = 0.001,
        epsilon: float = 0.0, name: str = "LARSOptimizer", skip_list=None, use_nesterov: bool = False,
    ):  # fmt: skip
        if momentum < 0.0:
            raise ValueError(f"momentum should be positive: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay should be positive: {weight_decay}")
        super().__init__(learning_rate, momentum, False, name, use_nesterov)
        self._weight_decay, self._eeta, self._epsilon = weight_decay, eeta, epsilon
        self._skip_list = skip_list

    def compute_lr(self, grad: Tensor, var: Any):
        """The rate of a variable, unless `skip_list` has a part of its name."""
        rate = self._number(self._learning_rate, var.dtype.base_dtype)
        if self._skip_list is not None and any(name in var.name for name in self._skip_list):
            return rate
        w, g = norm(var, ord=2), norm(grad, ord=2)
        trust = self._eeta * w / (g + self._weight_decay * w + self._epsilon)
        return rate * where(logical_and(w > 0, g > 0), trust, ones_like(trust))

    def _apply_dense(self, grad: Tensor, var: Variable):
        update = self._update_of(var.dtype)
        scalars = (self.compute_lr(grad, var), *update.scalars[1:])
        update.rule.apply(var, self._slots_for(update, var), scalars, grad, **update.attrs)


class RegAdagradOptimizer(train.AdagradOptimizer):
    """Adagrad whose accumulators stay as they are within `avoid_updating_slots`: for steps of a regularizer."""

    def __init__(
        self, learning_rate: float, initial_accumulator_value: float = 0.1, use_locking: bool = False,
        name: str = "RegAdagrad",
    ):
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._should_update_slots = True

    @contextlib.contextmanager
    def avoid_updating_slots(self):
        """Steps taken within use the accumulators, and do not change them."""
        before, self._should_update_slots = self._should_update_slots, False
        try:
            yield
        finally:
            self._should_update_slots = before

    def _update_of(self, dtype: DType):
        return super()._update_of(dtype)._replace(attrs={"update_slots": self._should_update_slots})


class _SignOptimizer(train.Optimizer):
    """Steps that depend on whether the gradient agrees with its moving average in sign (Bello et al. 2017)."""

    def __init__(self, learning_rate: float, beta: float, sign_decay_fn, use_locking: bool, name: str):
        super().__init__(use_locking, name)
        self._learning_rate, self._beta, self._sign_decay_fn = learning_rate, beta, sign_decay_fn
        self._decay = 1.0

    def apply_gradients(
        self, grads_and_vars: Sequence[Any], global_step: Variable | None = None, name: str | None = None
    ):
        """See Optimizer; `sign_decay_fn` is called with the step, by default the graph's."""
        if self._sign_decay_fn is not None:
            self._decay = self._sign_decay_fn(get_global_step() if global_step is None else global_step)
        return super().apply_gradients(grads_and_vars, global_step, name)

    def _agreement(self, grad: TensorLike, m: Variable, dtype: DType):
        return cast(self._decay, dtype) * sign(grad) * sign(m)

    def _apply_dense(self, grad, var):
        dtype = var.dtype.base_dtype
        m = self._slot(var, "m")
        m.assign(self._beta * m + (1.0 - self._beta) * grad)
        step = self._scale(self._agreement(grad, m, dtype)) * grad
        var.assign_sub(self._number(self._learning_rate, dtype) * step)


class AddSignOptimizer(_SignOptimizer):
    """(alpha + sign(g) * sign(m)) * g."""

    def __init__(
        self, learning_rate: float = 0.1, alpha: float = 1.0, beta: float = 0.9, sign_decay_fn=None,
        use_locking: bool = False, name: str = "AddSignOptimizer",
    ):  # fmt: skip
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = alpha

    def _scale(self, agreement: Tensor):
        return self._alpha + agreement


class PowerSignOptimizer(_SignOptimizer):
    """base ^ (sign(g) * sign(m)) * g."""

    def __init__(
        self, learning_rate: float = 0.1, base: float = 2.718281828459045, beta: float = 0.9,
        sign_decay_fn=None, use_locking: bool = False, name: str = "PowerSignOptimizer",
    ):  # fmt: skip
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._base = base

    def _scale(self, agreement: Tensor):
        import math

        return exp(math.log(self._base) * agreement)

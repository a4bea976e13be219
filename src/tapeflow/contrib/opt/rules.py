"""Rules of updates: Adam's relatives, rates by layer, and steps by sign."""

from __future__ import annotations

from tapeflow import train
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.ops.arithmetic import maximum
from tapeflow.ops.casting import cast
from tapeflow.ops.comparison import where
from tapeflow.ops.elementwise import abs as abs_
from tapeflow.ops.elementwise import exp, sign, sqrt, square
from tapeflow.ops.gather import gather
from tapeflow.ops.matrix_function import norm
from tapeflow.train.global_step import get_global_step

__all__ = [
    "AdaMaxOptimizer", "AddSignOptimizer", "LARSOptimizer", "LazyAdamOptimizer", "NadamOptimizer",
    "PowerSignOptimizer",
]  # fmt: skip


class LazyAdamOptimizer(train.AdamOptimizer):
    """Adam whose averages of rows move only when the rows have a gradient."""

    def _apply_sparse(self, values, indices, var):
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

    def _apply_dense(self, grad, var):
        power1, power2, lr, beta1, beta2, epsilon = self._settings(var.dtype)
        rate = lr * sqrt(1 - power2) / (1 - power1)
        m, v = self._slot(var, "m"), self._slot(var, "v")
        m.assign(beta1 * m + (1 - beta1) * grad)
        v.assign(beta2 * v + (1 - beta2) * square(grad))
        var.assign_sub(rate * (beta1 * m + (1 - beta1) * grad) / (sqrt(v) + epsilon))


class AdaMaxOptimizer(train.AdamOptimizer):
    """Adam with the largest gradient in the place of the root of the squares' mean (Kingma & Ba 2015)."""

    def __init__(
        self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="AdaMax"
    ):  # fmt: skip
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _apply_dense(self, grad, var):
        power1, _, lr, beta1, beta2, epsilon = self._settings(var.dtype)
        m, v = self._slot(var, "m"), self._slot(var, "v")
        m.assign(beta1 * m + (1 - beta1) * grad)
        v.assign(maximum(beta2 * v, abs_(grad)))
        var.assign_sub(lr / (1 - power1) * m / (v + epsilon))

    def _apply_sparse(self, values, indices, var):
        power1, _, lr, beta1, beta2, epsilon = self._settings(var.dtype)
        m, v = self._slot(var, "m"), self._slot(var, "v")
        m_rows = beta1 * gather(m, indices) + (1 - beta1) * values
        v_rows = maximum(beta2 * gather(v, indices), abs_(values))
        m.scatter_update(IndexedSlices(m_rows, indices))
        v.scatter_update(IndexedSlices(v_rows, indices))
        var.scatter_sub(IndexedSlices(lr / (1 - power1) * m_rows / (v_rows + epsilon), indices))


class LARSOptimizer(train.Optimizer):
    """Momentum with a rate for each layer, from the norms of its weights and gradients (You et al. 2017)."""

    def __init__(
        self, learning_rate, momentum=0.9, weight_decay=0.0001, eeta=0.001, epsilon=0.0, name="LARSOptimizer",
        skip_list=None, use_nesterov=False,
    ):  # fmt: skip
        if momentum < 0.0:
            raise ValueError(f"momentum should be positive: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay should be positive: {weight_decay}")
        super().__init__(False, name)
        self._learning_rate, self._momentum, self._weight_decay = learning_rate, momentum, weight_decay
        self._eeta, self._epsilon, self._skip_list = eeta, epsilon, skip_list
        self._use_nesterov = use_nesterov

    def _apply_dense(self, grad, var):
        dtype = var.dtype.base_dtype
        rate = self._number(self._learning_rate, dtype)
        if not self._skip_list or not any(name in var.name for name in self._skip_list):
            w, g = norm(var, ord=2), norm(grad, ord=2)
            trust = self._eeta * w / (g + self._weight_decay * w + self._epsilon)
            one = cast(1.0, dtype)
            rate = rate * where(w > 0, where(g > 0, trust, one), one)
            grad = grad + self._weight_decay * var
        accumulator = self._slot(var, "momentum")
        accumulator.assign(self._momentum * accumulator + grad)
        step = grad + self._momentum * accumulator if self._use_nesterov else accumulator
        var.assign_sub(rate * step)


class _SignOptimizer(train.Optimizer):
    """Steps that depend on whether the gradient agrees with its moving average in sign (Bello et al. 2017)."""

    def __init__(self, learning_rate, beta, sign_decay_fn, use_locking, name):
        super().__init__(use_locking, name)
        self._learning_rate, self._beta, self._sign_decay_fn = learning_rate, beta, sign_decay_fn

    def _agreement(self, grad, m, dtype):
        decay = 1.0 if self._sign_decay_fn is None else cast(self._sign_decay_fn(get_global_step()), dtype)
        return decay * sign(grad) * sign(m)

    def _apply_dense(self, grad, var):
        dtype = var.dtype.base_dtype
        m = self._slot(var, "m")
        m.assign(self._beta * m + (1.0 - self._beta) * grad)
        step = self._scale(self._agreement(grad, m, dtype)) * grad
        var.assign_sub(self._number(self._learning_rate, dtype) * step)


class AddSignOptimizer(_SignOptimizer):
    """(alpha + sign(g) * sign(m)) * g."""

    def __init__(
        self, learning_rate=0.1, alpha=1.0, beta=0.9, sign_decay_fn=None, use_locking=False,
        name="AddSignOptimizer",
    ):  # fmt: skip
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = alpha

    def _scale(self, agreement):
        return self._alpha + agreement


class PowerSignOptimizer(_SignOptimizer):
    """base ^ (sign(g) * sign(m)) * g."""

    def __init__(
        self, learning_rate=0.1, base=2.718281828459045, beta=0.9, sign_decay_fn=None, use_locking=False,
        name="PowerSignOptimizer",
    ):  # fmt: skip
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._base = base

    def _scale(self, agreement):
        import math

        return exp(math.log(self._base) * agreement)

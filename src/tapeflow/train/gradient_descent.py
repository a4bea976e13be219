"""Gradient descent, with momentum and with proximal steps."""

from __future__ import annotations

from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.ops.training import (
    ResourceApplyGradientDescent,
    ResourceApplyMomentum,
    ResourceApplyProximalGradientDescent,
    ResourceSparseApplyMomentum,
    ResourceSparseApplyProximalGradientDescent,
)
from tapeflow.train.optimizer import Optimizer


class GradientDescentOptimizer(Optimizer):
    """var -= learning_rate * gradient."""

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _apply_dense(self, grad, var):
        ResourceApplyGradientDescent(var, self._number(self._learning_rate, var.dtype), grad)

    def _apply_sparse(self, values, indices, var):
        rate = self._number(self._learning_rate, var.dtype)
        var.scatter_sub(IndexedSlices(values * rate, indices))


class MomentumOptimizer(Optimizer):
    """accumulator = momentum * accumulator + gradient; var -= learning_rate * accumulator."""

    def __init__(
        self, learning_rate, momentum, use_locking=False, name="Momentum", use_nesterov=False
    ):
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum = learning_rate, momentum
        self._use_nesterov = use_nesterov

    def _apply_dense(self, grad, var):
        dtype = var.dtype
        ResourceApplyMomentum(
            var,
            self._slot(var, "momentum"),
            self._number(self._learning_rate, dtype),
            grad,
            self._number(self._momentum, dtype),
            use_nesterov=self._use_nesterov,
        )

    def _apply_sparse(self, values, indices, var):
        dtype = var.dtype
        ResourceSparseApplyMomentum(
            var,
            self._slot(var, "momentum"),
            self._number(self._learning_rate, dtype),
            values,
            indices,
            self._number(self._momentum, dtype),
            use_nesterov=self._use_nesterov,
        )


class ProximalGradientDescentOptimizer(Optimizer):
    """Gradient descent, then shrinking by L1 and L2 (Duchi & Singer 2009)."""

    def __init__(
        self,
        learning_rate,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="ProximalGradientDescent",
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _numbers(self, dtype):
        return [self._number(value, dtype) for value in (self._learning_rate, self._l1, self._l2)]

    def _apply_dense(self, grad, var):
        ResourceApplyProximalGradientDescent(var, *self._numbers(var.dtype), grad)

    def _apply_sparse(self, values, indices, var):
        ResourceSparseApplyProximalGradientDescent(var, *self._numbers(var.dtype), values, indices)

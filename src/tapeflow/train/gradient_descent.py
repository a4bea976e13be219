"""Gradient descent, with momentum and with proximal steps."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import boundaries
from tapeflow.ops.state import training
from tapeflow.train.optimizer import Optimizer
from tapeflow.train.updating import Update


class GradientDescentOptimizer(Optimizer):
    """var -= learning_rate * gradient."""

    def __init__(self, learning_rate: float, use_locking: bool = False, name: str = "GradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    _adds_up = True

    def _update_of(self, dtype: DType):
        rate = self._number(self._learning_rate, dtype)
        return Update(training.GradientDescent, (), (rate,))

    def _apply_sparse(self, values: Tensor, indices: Tensor, var: Any):
        rate = self._number(self._learning_rate, var.dtype)
        var.scatter_sub(IndexedSlices(values * rate, indices))


class MomentumOptimizer(Optimizer):
    """accumulator = momentum * accumulator + gradient; var -= learning_rate * accumulator."""

    def __init__(
        self, learning_rate: float, momentum: float, use_locking: bool = False, name: str = "Momentum",
        use_nesterov: bool = False,
    ):
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum = learning_rate, momentum
        self._use_nesterov = use_nesterov

    def _update_of(self, dtype: DType):
        scalars = [self._number(value, dtype) for value in (self._learning_rate, self._momentum)]
        attrs = {"use_nesterov": self._use_nesterov}
        return Update(training.Momentum, (("momentum", 0.0),), tuple(scalars), attrs)


class ProximalGradientDescentOptimizer(Optimizer):
    """Gradient descent, then shrinking by L1 and L2 (Duchi & Singer 2009)."""

    def __init__(
        self, learning_rate: float, l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
        use_locking: bool = False, name: str = "ProximalGradientDescent",
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _update_of(self, dtype: DType):
        settings = (self._learning_rate, self._l1, self._l2)
        scalars = tuple(self._number(value, dtype) for value in settings)
        return Update(training.ProximalGradientDescent, (), scalars)


boundaries(globals())

"""Optimizers with a step size per weight: Adam, Adagrad, Adadelta, RMSProp, FTRL."""

from __future__ import annotations

from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.ops.casting import cast
from tapeflow.ops.construction import ones_like
from tapeflow.ops.elementwise import sqrt
from tapeflow.ops.training import (
    ResourceApplyAdadelta,
    ResourceApplyAdagrad,
    ResourceApplyAdagradDA,
    ResourceApplyAdam,
    ResourceApplyCenteredRMSProp,
    ResourceApplyFtrl,
    ResourceApplyFtrlV2,
    ResourceApplyProximalAdagrad,
    ResourceApplyRMSProp,
    ResourceSparseApplyAdadelta,
    ResourceSparseApplyAdagrad,
    ResourceSparseApplyAdagradDA,
    ResourceSparseApplyCenteredRMSProp,
    ResourceSparseApplyFtrl,
    ResourceSparseApplyFtrlV2,
    ResourceSparseApplyProximalAdagrad,
    ResourceSparseApplyRMSProp,
)
from tapeflow.train.optimizer import Optimizer


class AdamOptimizer(Optimizer):
    """Adam (Kingma & Ba 2015)."""

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        use_locking=False,
        name="Adam",
    ):
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _prepare(self, var=None):
        if var is None:
            return
        self._by_dtype = {}
        dtype = var.dtype
        self._powers = (
            self._non_slot("beta1_power", lambda: self._number(self._beta1, dtype), dtype),
            self._non_slot("beta2_power", lambda: self._number(self._beta2, dtype), dtype),
        )

    def _get_beta_accumulators(self):
        """The variables that hold beta1^t and beta2^t; there once gradients were applied."""
        return self._powers

    def _settings(self, dtype):
        """beta1^t, beta2^t, rate, beta1, beta2 and epsilon, once per step and dtype."""
        found = self._by_dtype.get(dtype)
        if found is None:
            found = self._by_dtype[dtype] = self._settings_of(dtype)
        return found

    def _settings_of(self, dtype):
        powers = [p if p.dtype == dtype else cast(p, dtype) for p in self._powers]
        numbers = (self._lr, self._beta1, self._beta2, self._epsilon)
        return (*powers, *[self._number(value, dtype) for value in numbers])

    def _apply_dense(self, grad, var):
        m, v = self._slot(var, "m"), self._slot(var, "v")
        ResourceApplyAdam(var, m, v, *self._settings(var.dtype), grad)

    def _apply_sparse(self, values, indices, var):
        power1, power2, lr, beta1, beta2, epsilon = self._settings(var.dtype)
        rate = lr * sqrt(1 - power2) / (1 - power1)
        m, v = self._slot(var, "m"), self._slot(var, "v")
        m.assign(m * beta1)
        m.scatter_add(IndexedSlices(values * (1 - beta1), indices))
        v.assign(v * beta2)
        v.scatter_add(IndexedSlices(values * values * (1 - beta2), indices))
        var.assign_sub(rate * m / (sqrt(v) + epsilon))

    def _finish(self, update_ops=None, name_scope=None):
        for power, beta in zip(self._powers, (self._beta1, self._beta2)):
            power.assign(power * self._number(beta, power.dtype))


class AdagradOptimizer(Optimizer):
    """Adagrad (Duchi et al. 2011). Raises ValueError for initial_accumulator_value <= 0."""

    def __init__(
        self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="Adagrad"
    ):
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_accumulator_value must be positive: {initial_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial = float(initial_accumulator_value)

    def _apply_dense(self, grad, var):
        accumulator = self._slot(var, "accumulator", self._initial)
        ResourceApplyAdagrad(var, accumulator, self._number(self._learning_rate, var.dtype), grad)

    def _apply_sparse(self, values, indices, var):
        accumulator = self._slot(var, "accumulator", self._initial)
        rate = self._number(self._learning_rate, var.dtype)
        ResourceSparseApplyAdagrad(var, accumulator, rate, values, indices)


class ProximalAdagradOptimizer(Optimizer):
    """Adagrad, then shrinking by L1 and L2."""

    def __init__(
        self,
        learning_rate,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="ProximalAdagrad",
    ):
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_accumulator_value must be positive: {initial_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._settings = (learning_rate, l1_regularization_strength, l2_regularization_strength)
        self._initial = float(initial_accumulator_value)

    def _apply_dense(self, grad, var):
        numbers = [self._number(value, var.dtype) for value in self._settings]
        ResourceApplyProximalAdagrad(
            var, self._slot(var, "accumulator", self._initial), *numbers, grad
        )

    def _apply_sparse(self, values, indices, var):
        numbers = [self._number(value, var.dtype) for value in self._settings]
        accumulator = self._slot(var, "accumulator", self._initial)
        ResourceSparseApplyProximalAdagrad(var, accumulator, *numbers, values, indices)


class AdagradDAOptimizer(Optimizer):
    """Adagrad by dual averaging, for sparse linear models."""

    def __init__(
        self,
        learning_rate,
        global_step,
        initial_gradient_squared_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="AdagradDA",
    ):
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError(
                "initial_gradient_squared_accumulator_value must be positive: "
                f"{initial_gradient_squared_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._settings = (learning_rate, l1_regularization_strength, l2_regularization_strength)
        self._global_step = global_step
        self._initial = float(initial_gradient_squared_accumulator_value)

    def _arguments(self, var):
        slots = (
            self._slot(var, "gradient_accumulator"),
            self._slot(var, "gradient_squared_accumulator", self._initial),
        )
        numbers = [self._number(value, var.dtype) for value in self._settings]
        return slots, (*numbers, cast(self._global_step, "int64"))

    def _apply_dense(self, grad, var):
        slots, numbers = self._arguments(var)
        ResourceApplyAdagradDA(var, *slots, grad, *numbers)

    def _apply_sparse(self, values, indices, var):
        slots, numbers = self._arguments(var)
        ResourceSparseApplyAdagradDA(var, *slots, values, indices, *numbers)


class AdadeltaOptimizer(Optimizer):
    """Adadelta (Zeiler 2012)."""

    def __init__(
        self, learning_rate=0.001, rho=0.95, epsilon=1e-8, use_locking=False, name="Adadelta"
    ):
        super().__init__(use_locking, name)
        self._settings = (learning_rate, rho, epsilon)

    def _arguments(self, var):
        slots = (self._slot(var, "accum"), self._slot(var, "accum_update"))
        return (*slots, *[self._number(value, var.dtype) for value in self._settings])

    def _apply_dense(self, grad, var):
        ResourceApplyAdadelta(var, *self._arguments(var), grad)

    def _apply_sparse(self, values, indices, var):
        ResourceSparseApplyAdadelta(var, *self._arguments(var), values, indices)


class RMSPropOptimizer(Optimizer):
    """RMSProp (Hinton 2012); with `centered`, by an estimate of the gradient's variance."""

    def __init__(
        self,
        learning_rate,
        decay=0.9,
        momentum=0.0,
        epsilon=1e-10,
        use_locking=False,
        centered=False,
        name="RMSProp",
    ):
        super().__init__(use_locking, name)
        self._settings = (learning_rate, decay, momentum, epsilon)
        self._centered = centered

    def _arguments(self, var):
        rms = self._slot(var, "rms", ones_like)
        slots = (self._slot(var, "mg"), rms) if self._centered else (rms,)
        slots = (*slots, self._slot(var, "momentum"))
        return (*slots, *[self._number(value, var.dtype) for value in self._settings])

    def _apply_dense(self, grad, var):
        row = ResourceApplyCenteredRMSProp if self._centered else ResourceApplyRMSProp
        row(var, *self._arguments(var), grad)

    def _apply_sparse(self, values, indices, var):
        row = ResourceSparseApplyCenteredRMSProp if self._centered else ResourceSparseApplyRMSProp
        row(var, *self._arguments(var), values, indices)


class FtrlOptimizer(Optimizer):
    """FTRL-proximal (McMahan et al. 2013)."""

    def __init__(
        self,
        learning_rate,
        learning_rate_power=-0.5,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="Ftrl",
        accum_name=None,
        linear_name=None,
        l2_shrinkage_regularization_strength=0.0,
        beta=None,
    ):
        super().__init__(use_locking, name)
        for label, value, wrong in (
            (
                "initial_accumulator_value",
                initial_accumulator_value,
                initial_accumulator_value < 0.0,
            ),
            (
                "l1_regularization_strength",
                l1_regularization_strength,
                l1_regularization_strength < 0.0,
            ),
            (
                "l2_regularization_strength",
                l2_regularization_strength,
                l2_regularization_strength < 0.0,
            ),
            (
                "l2_shrinkage_regularization_strength",
                l2_shrinkage_regularization_strength,
                l2_shrinkage_regularization_strength < 0.0,
            ),
        ):
            if wrong:
                raise ValueError(f"{label} {value} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power} needs to be negative or zero"
            )
        self._rate, self._power = learning_rate, learning_rate_power
        self._initial = float(initial_accumulator_value)
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        if beta:
            self._l2 = self._l2 + beta / (2.0 * learning_rate)
        self._shrinkage = l2_shrinkage_regularization_strength
        self._labels = {"accum": accum_name, "linear": linear_name}

    def _slot_label(self, name):
        return self._labels.get(name) or self._name

    def _arguments(self, var):
        slots = (self._slot(var, "accum", self._initial), self._slot(var, "linear"))
        settings = [self._rate, self._l1, self._l2, self._power]
        if self._shrinkage > 0:
            settings.insert(3, self._shrinkage)
        return slots, [self._number(value, var.dtype) for value in settings]

    def _apply_dense(self, grad, var):
        slots, numbers = self._arguments(var)
        row = ResourceApplyFtrlV2 if self._shrinkage > 0 else ResourceApplyFtrl
        row(var, *slots, grad, *numbers)

    def _apply_sparse(self, values, indices, var):
        slots, numbers = self._arguments(var)
        row = ResourceSparseApplyFtrlV2 if self._shrinkage > 0 else ResourceSparseApplyFtrl
        row(var, *slots, values, indices, *numbers)

"""Optimizers with a step size per weight: Adam, Adagrad, Adadelta, RMSProp, FTRL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Variable
from tapeflow.core.dtypes import DType
from tapeflow.core.public import boundaries
from tapeflow.ops.array.construction import ones_like
from tapeflow.ops.math.casting import cast
from tapeflow.ops.state import training
from tapeflow.train.optimizer import Optimizer
from tapeflow.train.updating import Update


class AdamOptimizer(Optimizer):
    """Adam (Kingma & Ba 2015)."""

    _adds_up = True

    def __init__(
        self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
        use_locking: bool = False, name: str = "Adam",
    ):
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _prepare(self, var=None):
        if var is None:
            return
        self._by_dtype = {}
        dtype = var.dtype
        self._powers = (
            self._non_slot("beta1_power", lambda: self._number(self._beta1, dtype), dtype, var),
            self._non_slot("beta2_power", lambda: self._number(self._beta2, dtype), dtype, var),
        )

    def _get_beta_accumulators(self):
        """The variables of this graph that hold beta1^t and beta2^t; None before gradients were applied."""
        own = self._non_slots.here()
        return own.get("beta1_power"), own.get("beta2_power")

    def _settings(self, dtype: DType):
        """beta1^t, beta2^t, rate, beta1, beta2 and epsilon, once per step and dtype."""
        found = self._by_dtype.get(dtype)
        if found is None:
            found = self._by_dtype[dtype] = self._settings_of(dtype)
        return found

    def _settings_of(self, dtype: DType):
        powers = [p if p.dtype == dtype else cast(p, dtype) for p in self._powers]
        numbers = (self._lr, self._beta1, self._beta2, self._epsilon)
        return (*powers, *[self._number(value, dtype) for value in numbers])

    def _update_of(self, dtype: DType):
        return Update(training.Adam, (("m", 0.0), ("v", 0.0)), self._settings(dtype))

    def _finish(self, update_ops: Sequence[Any] | None = None, name_scope: str | None = None):
        for power, beta in zip(self._powers, (self._beta1, self._beta2)):
            power.assign(power * self._number(beta, power.dtype))


class AdagradOptimizer(Optimizer):
    """Adagrad (Duchi et al. 2011). Raises ValueError for initial_accumulator_value <= 0."""

    def __init__(
        self, learning_rate: float, initial_accumulator_value: float = 0.1, use_locking: bool = False,
        name: str = "Adagrad",
    ):
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_accumulator_value must be positive: {initial_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial = float(initial_accumulator_value)

    def _update_of(self, dtype: DType):
        scalars = (self._number(self._learning_rate, dtype),)
        return Update(training.Adagrad, (("accumulator", self._initial),), scalars)


class ProximalAdagradOptimizer(Optimizer):
    """Adagrad, then shrinking by L1 and L2."""

    def __init__(
        self, learning_rate: float, initial_accumulator_value: float = 0.1, l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0, use_locking: bool = False, name: str = "ProximalAdagrad",
    ):
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_accumulator_value must be positive: {initial_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._settings = (learning_rate, l1_regularization_strength, l2_regularization_strength)
        self._initial = float(initial_accumulator_value)

    def _update_of(self, dtype: DType):
        scalars = tuple(self._number(value, dtype) for value in self._settings)
        return Update(training.ProximalAdagrad, (("accumulator", self._initial),), scalars)


class AdagradDAOptimizer(Optimizer):
    """Adagrad by dual averaging, for sparse linear models."""

    def __init__(
        self, learning_rate: float, global_step: Variable, initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0, use_locking: bool = False,
        name: str = "AdagradDA",
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

    def _update_of(self, dtype: DType):
        slots = (
            ("gradient_accumulator", 0.0),
            ("gradient_squared_accumulator", self._initial),
        )
        scalars = [self._number(value, dtype) for value in self._settings]
        # The number of the step that is made: the program counts it once it is done.
        step = cast(self._global_step, "int64") + 1
        return Update(training.AdagradDA, slots, (*scalars, step))


class AdadeltaOptimizer(Optimizer):
    """Adadelta (Zeiler 2012)."""

    def __init__(
        self, learning_rate: float = 0.001, rho: float = 0.95, epsilon: float = 1e-8, use_locking: bool = False,
        name: str = "Adadelta",
    ):
        super().__init__(use_locking, name)
        self._settings = (learning_rate, rho, epsilon)

    def _update_of(self, dtype: DType):
        scalars = tuple(self._number(value, dtype) for value in self._settings)
        return Update(training.Adadelta, (("accum", 0.0), ("accum_update", 0.0)), scalars)


class RMSPropOptimizer(Optimizer):
    """RMSProp (Hinton 2012); with `centered`, by an estimate of the gradient's variance."""

    def __init__(
        self, learning_rate: float, decay: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-10,
        use_locking: bool = False, centered: bool = False, name: str = "RMSProp",
    ):
        super().__init__(use_locking, name)
        self._settings = (learning_rate, decay, momentum, epsilon)
        self._centered = centered

    def _update_of(self, dtype: DType):
        rule, slots = training.RMSProp, [("rms", ones_like), ("momentum", 0.0)]
        if self._centered:
            rule = training.CenteredRMSProp
            slots.insert(0, ("mg", 0.0))
        scalars = tuple(self._number(value, dtype) for value in self._settings)
        return Update(rule, tuple(slots), scalars)

    def _slots_for(self, update, var):
        self._slot(var, "rms", ones_like)  # the first: slots are named by their order
        return super()._slots_for(update, var)


class FtrlOptimizer(Optimizer):
    """FTRL-proximal (McMahan et al. 2013)."""

    def __init__(
        self, learning_rate: float, learning_rate_power: float = -0.5, initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0, use_locking: bool = False,
        name: str = "Ftrl", accum_name: str | None = None, linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0, beta: Any = None,
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

    def _slot_label(self, name: str):
        return self._labels.get(name) or self._name

    def _update_of(self, dtype: DType):
        settings = [self._rate, self._l1, self._l2, self._power]
        if self._shrinkage > 0:
            settings.insert(3, self._shrinkage)
        return Update(
            training.FtrlV2 if self._shrinkage > 0 else training.Ftrl,
            (("accum", self._initial), ("linear", 0.0)),
            tuple(self._number(value, dtype) for value in settings),
        )


boundaries(globals())

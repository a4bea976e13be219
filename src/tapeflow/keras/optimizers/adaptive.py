"""Optimizers that divide by a root of past squared gradients: RMSprop, Adagrad, Adadelta and Ftrl."""

from __future__ import annotations

from tapeflow.core.annotations import Tensor, Variable
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2
from tapeflow.keras import settings
from tapeflow.keras.optimizers.arguments import with_shared_arguments
from tapeflow.keras.optimizers.optimizer import Optimizer
from tapeflow.keras.optimizers.variables import SlotList
from tapeflow.ops.state import training
from tapeflow.train.updating import Update


@with_shared_arguments
class RMSprop(Optimizer):
    """RMSProp (Hinton 2012): gradients divided by the root of the mean of their squares.

    v = rho v + (1 - rho) g^2, w -= learning_rate * g / sqrt(v + epsilon); under Keras 2 / (sqrt(v) + epsilon).

    Args:
      learning_rate: a number, a `LearningRateSchedule`, or a function without arguments that gives a number.
      rho: the weight of the past in the mean of squares, from 0 to 1.
      momentum: the weight of the past velocity, from 0 to 1.
      epsilon: a small number that keeps divisions finite; None for `keras.config.epsilon()`.
      centered: divide by an estimate of the gradient's standard deviation, with its mean subtracted.

    Raises:
      ValueError: for a momentum outside of 0 to 1.
    """

    def __init__(
        self, learning_rate: float = 0.001, rho: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-7,
        centered: bool = False, name: str = "RMSprop", **kwargs,
    ):
        super().__init__(name, **kwargs)
        if isinstance(momentum, (int, float)) and not 0 <= momentum <= 1:
            raise ValueError(
                f"`momentum` must be between [0, 1]. Received: momentum={momentum} (of type "
                f"{type(momentum)})."
            )
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("rho", rho)
        self._set_hyper("momentum", momentum)
        self.__dict__["_momentum"] = (
            callable(momentum) or hasattr(momentum, "dtype") or momentum > 0
        )
        self.__dict__["epsilon"] = settings.epsilon() if epsilon is None else epsilon
        self.__dict__["centered"] = centered

    _slot_lists = (
        SlotList("rms", "velocity", "_velocities"),
        SlotList("momentum", "momentum", "_momentums"),
        SlotList("mg", "average_gradient", "_average_gradients"),
    )
    _slot_groups = (("rms",), ("momentum",), ("mg",))

    def _slot_values(self, var: Variable):
        names = [
            "rms",
            *(["momentum"] if self._momentum else []),
            *(["mg"] if self.centered else []),
        ]
        return tuple((name, 0.0) for name in names)

    _adds_up = True

    def _update_of(self, dtype: DType):
        names, scalars = ["rms"], [self._rate(dtype), self._setting("rho", dtype)]
        attrs = {"epsilon_in_root": not keras_2()}
        rule = training.KerasCenteredRMSProp if self.centered else training.KerasRMSProp
        if self.centered:
            names.insert(0, "mg")
        if self._momentum:
            rule, attrs = training.CenteredRMSProp if self.centered else training.RMSProp, {}
            names.append("momentum")
            scalars.append(self._setting("momentum", dtype))
        slots = tuple((name, 0.0) for name in names)
        return Update(rule, slots, (*scalars, convert_to_tensor(self.epsilon, dtype)), attrs)

    def _slots_for(self, update: Update, var: Variable):
        self._slot(var, "rms")  # the first in the order of weights
        return super()._slots_for(update, var)

    def get_config(self):
        config = self._config_of("rho", "momentum")
        return {**config, "epsilon": self.epsilon, "centered": self.centered}


@with_shared_arguments
class Adagrad(Optimizer):
    """Adagrad (Duchi et al. 2011): gradients divided by the root of the sum of their squares so far.

    Args:
      learning_rate: a number, a `LearningRateSchedule`, or a function without arguments that gives a number.
      initial_accumulator_value: the sum of squares to start from, at least 0.
      epsilon: a small number that keeps divisions finite; None for `keras.config.epsilon()`.

    Raises:
      ValueError: for a negative sum.
    """

    def __init__(
        self, learning_rate: float = 0.001, initial_accumulator_value: float = 0.1, epsilon: float = 1e-7,
        name: str = "Adagrad", **kwargs,
    ):
        if initial_accumulator_value < 0.0:
            raise ValueError(
                f"initial_accumulator_value must be non-negative: {initial_accumulator_value}"
            )
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self.__dict__["initial_accumulator_value"] = float(initial_accumulator_value)
        self.__dict__["epsilon"] = settings.epsilon() if epsilon is None else epsilon

    _slot_lists = (SlotList("accumulator", "accumulator", "_accumulators"),)

    def _slot_values(self, var: Variable | None):
        return (("accumulator", self.initial_accumulator_value),)

    def _update_of(self, dtype: DType):
        scalars = (self._rate(dtype), convert_to_tensor(self.epsilon, dtype))
        rule = training.AdagradV2 if keras_2() else training.KerasAdagrad
        return Update(rule, self._slot_values(None), scalars)

    def get_config(self):
        config = self._config_of()
        return {**config, "initial_accumulator_value": self.initial_accumulator_value, "epsilon": self.epsilon}


@with_shared_arguments
class Adadelta(Optimizer):
    """Adadelta (Zeiler 2012): steps as large as those before, by the ratio of means of squares.

    Args:
      learning_rate: a number, a `LearningRateSchedule`, or a function without arguments that gives a number.
      rho: the weight of the past in the means of squares, from 0 to 1.
      epsilon: a small number that keeps divisions finite; None for `keras.config.epsilon()`.
    """

    def __init__(
        self, learning_rate: float = 0.001, rho: float = 0.95, epsilon: float = 1e-7, name: str = "Adadelta",
        **kwargs,
    ):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("rho", rho)
        self.__dict__["epsilon"] = settings.epsilon() if epsilon is None else epsilon

    _slot_lists = (
        SlotList("accum_grad", "accumulated_grad", "_accumulated_grads"),
        SlotList("accum_var", "accumulated_delta_var", "_accumulated_delta_vars"),
    )

    def _slot_values(self, var):
        return (("accum_grad", 0.0), ("accum_var", 0.0))

    def _update_of(self, dtype: DType):
        epsilon = convert_to_tensor(self.epsilon, dtype)
        scalars = (self._rate(dtype), self._setting("rho", dtype), epsilon)
        return Update(training.Adadelta, self._slot_values(None), scalars)

    def get_config(self):
        return {**self._config_of("rho"), "epsilon": self.epsilon}


@with_shared_arguments
class Ftrl(Optimizer):
    """FTRL-proximal (McMahan et al. 2013): weights follow from the sums of all gradients, and become exactly 0 by l1.

    Args:
      learning_rate: a number, a `LearningRateSchedule`, or a function without arguments that gives a number.
      learning_rate_power: the power of the sum of squares that rates are divided by, at most 0.
      initial_accumulator_value: the sum of squares to start from, at least 0.
      l1_regularization_strength: the factor of the absolute values of the weights, at least 0.
      l2_regularization_strength: the factor of their squares, at least 0.
      l2_shrinkage_regularization_strength: the factor of a penalty on squares that is added to gradients alone, at
        least 0.
      beta: a term that keeps the first steps small.

    Raises:
      ValueError: for negative strengths and a positive power.
    """

    _slots_by_variable = True

    def __init__(
        self, learning_rate: float = 0.001, learning_rate_power=-0.5, initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0, name: str = "Ftrl",
        l2_shrinkage_regularization_strength: float = 0.0, beta: float = 0.0, **kwargs,
    ):
        super().__init__(name, **kwargs)
        for label, value in (
            ("initial_accumulator_value", initial_accumulator_value),
            ("l1_regularization_strength", l1_regularization_strength),
            ("l2_regularization_strength", l2_regularization_strength),
            ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength),
        ):
            if value < 0.0:
                received = f"{value}" if keras_2() else f"{label}={value}"
                raise ValueError(f"`{label}` needs to be positive or zero. Received: {received}.")
        if learning_rate_power > 0.0:
            raise ValueError(
                "`learning_rate_power` needs to be negative or zero. Received: "
                f"{'' if keras_2() else 'learning_rate_power='}{learning_rate_power}."
            )
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("learning_rate_power", learning_rate_power)
        self._set_hyper("l1_regularization_strength", l1_regularization_strength)
        self._set_hyper("l2_regularization_strength", l2_regularization_strength)
        self._set_hyper("beta", beta)
        self.__dict__["initial_accumulator_value"] = float(initial_accumulator_value)
        self.__dict__["l2_shrinkage_regularization_strength"] = l2_shrinkage_regularization_strength

    _slot_lists = (SlotList("accumulator", "accumulator", "_accumulators"), SlotList("linear", "linear", "_linears"))

    def _slot_values(self, var):
        return (("accumulator", self.initial_accumulator_value), ("linear", 0.0))

    def _update_of(self, dtype: DType):
        rate = self._rate(dtype)
        l2 = self._setting("l2_regularization_strength", dtype)
        l2 = l2 + self._setting("beta", dtype) / (2.0 * rate)
        scalars = [rate, self._setting("l1_regularization_strength", dtype), l2]
        if self.l2_shrinkage_regularization_strength > 0.0:
            scalars.append(convert_to_tensor(self.l2_shrinkage_regularization_strength, dtype))
        scalars.append(self._setting("learning_rate_power", dtype))
        rule = training.FtrlV2 if self.l2_shrinkage_regularization_strength > 0 else training.Ftrl
        return Update(rule, self._slot_values(None), tuple(scalars))

    def _apply_slices(self, grad: Tensor, var: Variable):
        if keras_2():
            super()._apply_slices(grad, var)
        else:  # Keras 3 updates all rows, which does not leave those without a gradient as they are
            self._apply_dense(convert_to_tensor(grad), var)

    def get_config(self):
        config = self._config_of(
            "learning_rate_power",
            "l1_regularization_strength",
            "l2_regularization_strength",
            "beta",
        )
        return {
            **config,
            "initial_accumulator_value": self.initial_accumulator_value,
            "l2_shrinkage_regularization_strength": self.l2_shrinkage_regularization_strength,
        }


boundaries(globals())

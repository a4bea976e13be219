"""The settings of optimizers: numbers, tensors, functions or schedules, which become variables when first used."""

from __future__ import annotations

import numpy as np

from tapeflow.checkpoint.following import attached
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import boundary, public_methods
from tapeflow.core.release import keras_2
from tapeflow.core.variables import dtype_of, graph_parts
from tapeflow.keras.optimizers import schedules, variables
from tapeflow.keras.session import set_values
from tapeflow.ops.math.casting import cast


@public_methods
class Hyperparameters:
    """The part of Optimizer that has settings."""

    def _set_hyper(self, name: str, value):
        """Sets a setting; a number may be changed later by assignment."""
        if isinstance(value, schedules.LearningRateSchedule) or callable(value):
            self._hyper[name] = value
        elif name in self._hyper_variables:
            variable = self._hyper_variables[name]
            if graph_parts(variable) is not None and not hasattr(value, "graph"):
                set_values([(variable, value)])
            else:
                variable.assign(value)
            self._hyper[name] = value
        else:
            number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
            self._hyper[name] = float(value) if number else value
        self._numbers.clear()

    def _setting(self, name: str, dtype: DType):
        """A setting as a scalar tensor (or variable) of a dtype."""
        variable = self._hyper_variables.get(name)
        if variable is not None:
            return variable if dtype_of(variable) == dtype else cast(variable, dtype)
        value = self._hyper[name]
        if type(value) is float and name == "learning_rate" and context.inside_graph():
            # What is traced reads the rate of the moment, which callbacks change.
            variable = self._hyper_variable(name)
            return variable if dtype_of(variable) == dtype else cast(variable, dtype)
        if type(value) is float:
            key = (name, dtype)
            found = self._numbers.get(key)
            if found is None:
                found = self._numbers[key] = self._number(value, dtype)
            return found
        if isinstance(value, schedules.LearningRateSchedule):
            value = value(self.iterations)
        elif callable(value):
            value = value()
        value = convert_to_tensor(value)
        return value if value.dtype == dtype else cast(value, dtype)

    @staticmethod
    def _number(value: float, dtype: DType):
        """A number as a tensor that outlives the graph being built."""
        with context.eager_mode():
            return convert_to_tensor(value, dtype)

    def _rate(self, dtype: DType):
        """The learning rate of the moment."""
        rate = self._setting("learning_rate", dtype)
        if self._decay:
            rate = rate / (1.0 + self._decay * cast(self.iterations, dtype))
        return rate

    def _hyper_variable(self, name: str):
        """A setting as a variable; what stays a function or schedule is returned itself."""
        if name not in self._hyper_variables:
            value = self._hyper[name]
            if callable(value):
                return value
            dtype = dtypes.bool if isinstance(value, bool) else dtypes.float32
            with context.init_scope():
                self._hyper_variables[name] = variables.make(lambda: value, f"{self._name}/{name}", dtype)
            graph = context.current_graph()
            if graph is not None and not graph.building_function:
                # One initializer is to find them all.
                for other, number in self._hyper.items():
                    if type(number) is float:
                        self._hyper_variable(other)
        return self._hyper_variables[name]

    @property
    def learning_rate(self):
        """The learning rate: a variable, or what a schedule or function gives now; in Keras 2 these themselves."""
        if "learning_rate" not in self._hyper:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute 'learning_rate'")
        rate = self._hyper_variable("learning_rate")
        if keras_2() or not callable(rate):
            return rate
        return rate(self.iterations) if isinstance(rate, schedules.LearningRateSchedule) else rate()

    @learning_rate.setter
    def learning_rate(self, value: TensorLike):
        self._set_hyper("learning_rate", value)

    @property
    def iterations(self):
        """The number of updates: an int64 variable, or in Keras 3 a tensor where gradients are accumulated."""
        if self.gradient_accumulation_steps and not keras_2():
            return self._counter // int(self.gradient_accumulation_steps)
        return self._counter

    @iterations.setter
    def iterations(self, variable):
        if self._iterations is not None:
            raise RuntimeError(
                "Cannot set `iterations` to a new Variable after the Optimizer weights have been "
                f"created. Here it is attempting to set `iterations` to {variable}."
            )
        self.__dict__["_iterations"] = variable

    @property
    def _counter(self):
        """The variable that counts calls of apply_gradients; in Keras 2, updates."""
        if self._iterations is None:
            name = "iter" if keras_2() else "iteration"
            self.__dict__["_iterations"] = variables.make(lambda: 0, f"{self._name}/{name}", dtypes.int64)
            for name, value in self._trackable_children().items():
                attached(self, name, value)
        return self._iterations

    @boundary
    def __getattr__(self, name: str):
        hyper = self.__dict__.get("_hyper", {})
        if name == "lr":
            name = "learning_rate"
        if name in hyper:
            plain = not keras_2() and name != "learning_rate" and name not in self._hyper_variables
            return hyper[name] if plain else self._hyper_variable(name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __dir__(self):
        return [*super().__dir__(), *self._hyper]

    @boundary
    def __setattr__(self, name: str, value: float | Tensor):
        if name == "lr":
            name = "learning_rate"
        if name in self.__dict__.get("_hyper", ()):
            scheduled = isinstance(self._hyper[name], schedules.LearningRateSchedule)
            if scheduled and not callable(value) and not keras_2():
                raise TypeError(
                    "This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` "
                    "constructor argument, hence its learning rate is not settable. If you need the learning rate to "
                    "be settable, you should instantiate the optimizer with a float `learning_rate` argument."
                )
            self._set_hyper(name, value)
        elif name in self.__dict__:
            self.__dict__[name] = value
        else:
            super().__setattr__(name, value)

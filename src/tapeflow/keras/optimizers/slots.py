"""The variables of an optimizer: slots of the variables it trains, and all of them in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public_methods
from tapeflow.core.release import keras_2
from tapeflow.core.variables import dtype_of
from tapeflow.keras import initializers
from tapeflow.keras.session import set_values, values_of
from tapeflow.ops.array.construction import fill, zeros
from tapeflow.ops.math.casting import cast
from tapeflow.train.slots import on_device_of


@public_methods
class SlotVariables:
    """The part of Optimizer that has slots."""

    # Of the other parts:
    _make: Any
    _name: Any
    _slot_path: Any
    _slots: Any

    def add_slot(self, var: Any, slot_name: str, initializer: str = "zeros", shape: Sequence[Any] | None = None):
        """Find the slot of a variable, or make it.

        Args:
          var: the variable.
          slot_name: the name of the slot.
          initializer: first values: an initializer, its name, or a tensor or variable of that shape.
          shape: another shape than that of the variable, where `initializer` is not zeros.

        Returns:
          The slot variable.
        """
        if isinstance(initializer, str) and initializer == "zeros":
            return self._slot(var, slot_name)
        if not isinstance(initializer, str) and not callable(initializer):
            return self._slot(var, slot_name, lambda: convert_to_tensor(initializer, dtypes.as_dtype(var.dtype)))
        start = initializers.get(initializer)
        sizes = var.shape.as_list() if shape is None else list(shape)
        return self._slot(var, slot_name, lambda: start(sizes, dtype=dtype_of(var)))

    def _slot(self, var: Any, name: str | None, value=0.0):
        slots = self._slots.of(var)
        slot = slots.get(name)
        if slot is None:
            sizes = var.shape.as_list()

            def start():
                if callable(value):
                    return value()
                return fill(sizes, cast(value, dtype_of(var))) if value else zeros(sizes, dtype_of(var))

            with on_device_of(var):
                slots[name] = slot = self._make(start, self._slot_path(var, name))
        return slot

    def get_slot(self, var: Any, slot_name: str):
        """Find the slot of a variable.

        Args:
          var: the variable.
          slot_name: the name of the slot.

        Returns:
          The slot variable.

        Raises:
          KeyError: when there is none.
        """
        slot = self._slots.get(var, slot_name)
        if slot is None:
            raise KeyError(slot_name)
        return slot

    def get_slot_names(self):
        """The names of the slots made so far."""
        return self._slots.names()

    @property
    def variables(self):
        """iterations and all slot variables, as a list that may also be called; in Keras 3, the learning rate too."""
        return Variables(self.weights if keras_2() or self._by_resources else self._variables_in_order())

    @property
    def _weights(self):  # what subclasses of Keras 2 that wrap another optimizer add those of the other to
        return [
            *([self._iterations] if self._iterations is not None else []),
            *self._slots.all(self._slots_by_variable),
        ]

    @property
    def weights(self):
        """iterations and all slot variables."""
        return self._weights

    def get_weights(self):
        """The values of `weights` as NumPy arrays."""
        return values_of(self.weights)

    def set_weights(self, weights: Sequence[TensorLike]):
        """Sets `weights` from arrays. Raises ValueError for a wrong number."""
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(
                f"You called `set_weights(weights)` on optimizer {self._name} with a weight list of "
                f"length {len(weights)}, but the optimizer was expecting {len(own)} weights."
            )
        set_values(zip(own, weights))


class Variables(list):
    """The variables of an optimizer; also called as a function, as they were before Keras 3."""

    def __call__(self):
        return self

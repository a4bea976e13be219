"""The state of optimizers in files and checkpoints."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.core.public import public_methods
from tapeflow.core.release import keras_2
from tapeflow.keras.session import set_values, values_of


@public_methods
class SavedState:
    """The part of Optimizer that is saved and restored."""

    # Of the other parts:
    name: Any
    _counter: Any
    _known: Any
    _slot: Any
    _slot_values: Any

    def _slots_in_order(self):
        """The slots, in the order of their making."""
        slots = {id(s) for s in self._slots.all(self._slots_by_variable)}
        return [v for v in self._made.all() if id(v) in slots]

    def _saved_variables(self):
        """The variables in the order of files."""
        return [self._counter, *self._made.all()] if keras_2() else self._variables_in_order()

    def save_own_variables(self, store):
        """Puts the values of the variables in a dict, by number."""
        for i, value in enumerate(values_of(self._saved_variables())):
            store[str(i)] = value

    def load_own_variables(self, store: dict[str, Any]):
        """Set the variables from a dict that `save_own_variables` filled; warn, and set none, if they do not fit."""
        own = self._saved_variables()
        slots = [s for s in self._slots_in_order() if s.dtype.is_floating]
        if len(store.keys()) == 1 + len(slots or self._known or ()):  # of Keras 2; unused ones it has too, or not
            own = [self._counter, *slots]
        elif len(store.keys()) == len(own) - len(self._slots_in_order()):  # of an optimizer that was not used
            made = {id(s) for s in self._slots_in_order()}
            own = [v for v in own if id(v) not in made]
        elif len(store.keys()) != len(own):
            warnings.warn(
                f"Skipping variable loading for optimizer '{self.name}', because it has {len(own)} variables whereas "
                f"the saved optimizer has {len(store.keys())} variables. ",
                stacklevel=2,
            )
            return
        set_values([(variable, np.asarray(store[str(i)])) for i, variable in enumerate(own)])

    @property
    def _saves_slots(self):
        """Whether checkpoints have the slots as such; else they have them in lists."""
        return self._by_resources or (keras_2() and self._in_first_keras_2)

    def _children_of_keras_3(self):
        if self._by_resources:
            return self._children_of_keras_2()
        return {**self._followed_in_keras_3(), **self._tracked_objects()}

    def _children_of_keras_2(self):
        if self._iterations is None:
            return {}
        found = {"iter": self._iterations}
        for name, value in self._hyper.items():
            if name in self._hyper_variables:
                found[name] = self._hyper_variables[name]
            elif not callable(value):
                found[name] = self._saved_setting(name)
        found["decay"] = self._saved_setting("decay")
        return found

    def _saved_setting(self, name):
        """What checkpoints save and restore of a setting that is a number."""

        def get():
            return np.float32(self._decay if name == "decay" else self._hyper[name])

        def put(value):
            if name == "decay":
                self.__dict__["_decay"] = float(value)
            else:
                self._set_hyper(name, float(value))

        return self._saved_settings.setdefault(name, SavedSetting(get, put))

    def _expect(self, names):
        """Says that a checkpoint has these: what they are restored to is made."""
        if "iter" in names:
            self._counter  # noqa: B018

    def _restore_slot(self, var, name: str):
        """The slot of that name, made for a checkpoint that has it."""
        return self._slot(var, name, dict(self._slot_values(var)).get(name, 0.0))


class SavedSetting:
    """A setting that is a number, as checkpoints see it: as a variable."""

    def __init__(self, get: Callable[[], Any], put: Callable[[Any], None]):
        self._get, self._put = get, put

    def _checkpoint_values(self):
        return {"VARIABLE_VALUE": (self._get, self._put)}

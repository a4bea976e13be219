"""The variables of an optimizer: how they are made, and their order, paths and places in checkpoints of Keras 3."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tapeflow.core import context
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.release import keras_2
from tapeflow.keras.engine.tracking import Node, listed
from tapeflow.keras.engine.weight import Weight
from tapeflow.ops.state.variable import Variable
from tapeflow.train.slots import base_name


class SlotList(NamedTuple):
    """The slots of one name as Keras 3 has them: a list that is an attribute of the optimizer.

    Attributes:
      slot: the name of the slots.
      name: what their paths end with; "" for slots that are called as the variable.
      attribute: the name of the list; None where checkpoints do not follow it.
    """

    slot: str
    name: str
    attribute: str | None = None


# Lists that any optimizer may have, before its own.
SHARED = (
    SlotList("average", "average", "_model_variables_moving_average"),
    SlotList("gradient_accumulator", "gradient_accumulator", "_accumulated_gradients"),
)


class InOrder:
    """Variables in the order in which they were made; they are not kept alive."""

    def __init__(self, variables: Sequence[Any] = ()):
        self._refs = [weakref.ref(variable) for variable in variables]

    def add(self, variable):
        """Appends a variable."""
        self._refs.append(weakref.ref(variable))

    def all(self):
        """The variables that are still there."""
        return [variable for ref in self._refs if (variable := ref()) is not None]

    def __reduce__(self):
        return (InOrder, (self.all(),))


def make(start: Callable[..., Any], name: str, dtype: DTypeLike | None, old: bool = False):
    """A variable of an optimizer, which begins with `start()` and is not trained.

    It is made outside of the functions that are being traced, and outlives them; its name is `name` whatever scope
    is open. With `old` it is a plain variable, as those of optimizers of Keras 2.
    """
    kind = Variable if old or keras_2() else Weight
    with context.init_scope(), context.name_scope(""):
        return kind(start(), trainable=False, name=name, dtype=dtype)


class OrderedVariables:
    """The variables of an optimizer, in the order and with the names that Keras 3 gives them."""

    def _slot_path(self: Any, variable: Any, name: str | None):
        """The name of the slot of a variable."""
        if keras_2() or self._by_resources:
            return f"{self.name}/{base_name(variable)}/{name}"
        ends = {each.slot: each.name for each in (*SHARED, *self._slot_lists)}
        end, scope = ends.get(name, name), f"{self.__dict__.get('_scope', '')}{self.name}"
        path = variable.path if isinstance(variable, Weight) else variable.name.replace(":", "_")
        return f"{scope}/{path.replace('/', '_')}_{end}" if end else f"{scope}/{variable.name}"

    def _variables_in_order(self: Any):
        """The variables as Keras 3 has them: iteration, learning rate, then the others in the order of their making."""
        return [*self._first_variables().values(), *self._made.all()]

    def _first_variables(self: Any):
        """The variables that an optimizer of Keras 3 has from the beginning, by the names of its attributes."""
        rate = None if callable(self._hyper.get("learning_rate", len)) else self._hyper_variable("learning_rate")
        return {"_iterations": self._counter, **({} if rate is None else {"_learning_rate": rate})}

    def _followed_in_keras_3(self: Any):
        """What checkpoints of Keras 3 follow from an optimizer."""
        names = ["_variables", "_trainable_variables"]
        names += [each.attribute for each in (*SHARED, *self._slot_lists) if each.attribute]
        lists = {name: self._variable_list(name) for name in names}
        own = {name: self.__dict__[held] for name, held in self._own_checkpointed.items()}
        found = {**lists, **self._first_variables(), **{name: v for name, v in own.items() if v is not None}}
        return {
            name: value
            for name, value in found.items()
            if not isinstance(value, Node) or value._trackable_children()
        }

    def _variable_list(self: Any, name: str):
        """One node for each list, as long as the optimizer lives."""
        nodes = self.__dict__.setdefault("_nodes", {})
        if name not in nodes:
            nodes[name] = Node(functools.partial(self._listed_variables, name))
        return nodes[name]

    def _listed_variables(self: Any, name: str):
        known = self._known or ()
        if name == "_variables":
            return listed(self._variables_in_order())
        if name == "_trainable_variables":
            return listed(known)
        slot = next(each.slot for each in (*SHARED, *self._slot_lists) if each.attribute == name)
        return listed([s for v in known if (s := self._slots.get(v, slot)) is not None])


def in_order(optimizer: OrderedVariables):
    """The variables of an optimizer as Keras 3 has them."""
    return optimizer._variables_in_order()

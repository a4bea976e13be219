"""Averages of variables over the course of training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import context
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.context import name_scope_v1
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.control.grouping import group
from tapeflow.ops.math.arithmetic import minimum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.state.variable import Variable, VariableV1
from tapeflow.train.slots import Slots, base_name, make_slot


class ExponentialMovingAverage:
    """Keeps shadow = decay * shadow + (1 - decay) * variable for variables.

    Args:
      decay: how much of the shadow stays.
      num_updates: a count of updates that lets early averages move faster.
      zero_debias: divides shadows of tensors that are no variables, which begin at zero, by 1 - decay^updates.
      name: part of the names of the shadows.
    """

    def __init__(
        self, decay: float, num_updates: int | None = None, zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ):
        self._decay, self._num_updates = decay, num_updates
        self._zero_debias, self._name = zero_debias, name
        self._shadows = Slots()

    @property
    def name(self):
        """The name given to the constructor."""
        return self._name

    def apply(self, var_list=None):
        """Moves the shadows of the variables, which begin as copies of them; in a graph, returns the operation.

        Without a list, those of all trainable variables of the graph.
        """
        graph = context.current_graph()
        if var_list is None and graph is not None:
            var_list = graph.get_collection("trainable_variables")
        if graph is None or not graph.prunes:
            self._apply(var_list)
            return None
        updates = graph.effects_of(lambda: self._apply(var_list))
        return group(*updates, name=self._name)

    def _apply(self, var_list: Sequence[Any] | None):
        for var in nest.flatten(var_list):
            is_variable = isinstance(var, Variable)
            if not is_variable and context.executing_eagerly():
                raise TypeError(
                    "tf.train.ExponentialMovingAverage does not support non-Variable tensors when eager execution is "
                    "enabled."
                )
            if not var.dtype.base_dtype.is_floating:
                raise TypeError(f"The variables must be half, float, or double: {var.name}")
            slots = self._shadows.of(var)
            if "average" not in slots:
                slots["average"] = self._shadow_of(var, is_variable)
                if is_variable and context.executing_eagerly():
                    continue
            shadow, decay = slots["average"], self._current_decay()
            if self._zero_debias and not is_variable:
                assign_moving_average(shadow, var, decay)
            else:
                shadow.assign_sub((shadow - var) * cast(1.0 - convert_to_tensor(decay), var.dtype))

    def _shadow_of(self, var, is_variable):
        """A new shadow: averages of variables begin at their values, those of other tensors at zero."""

        def start():
            return var.read_value() if is_variable else zeros(var.shape.as_list(), var.dtype)

        with context.init_scope():
            if is_variable and (graph := context.current_graph()) is not None:
                graph.add_to_collection("moving_average_variables", var)
        return make_slot(start, var, self._name, None)

    def _current_decay(self):
        if self._num_updates is None:
            return self._decay
        count = cast(self._num_updates, "float32")
        return minimum(self._decay, (1.0 + count) / (10.0 + count))

    def average(self, var):
        """The shadow of a variable, or None."""
        return self._shadows.get(var, "average")

    def average_name(self, var):
        """The name of the shadow of a variable."""
        return f"{base_name(var)}/{self._name}"

    def variables_to_restore(self, moving_avg_variables=None):
        """What a Saver takes to restore shadows into their variables: variables by names, those with a shadow by its.

        Args:
          moving_avg_variables: the variables with shadows; None: the trainable ones of the graph.
        """
        graph = context.current_graph()
        keys = ("trainable_variables", "moving_average_variables")
        averaged = moving_avg_variables
        if averaged is None:
            averaged = [v for key in keys for v in graph.get_collection(key)]
        found = {self.average_name(v): v for v in averaged}
        known = {v.name for v in averaged}
        for v in graph.get_collection("variables"):
            if v.name not in known and base_name(v) not in found:
                found[base_name(v)] = v
        return found


def assign_moving_average(
    variable: Any, value: Tensor, decay: TensorLike, zero_debias: bool = True, name: str | None = None
):
    """Moves a variable by `(1 - decay) * (value - variable)`; returns the operation, or the variable.

    With zero_debias, the first updates count as an average over what came so far, for a variable that began at zero.
    """
    with name_scope_v1(name, "AssignMovingAvg", [variable, value, decay]):
        step = cast(1.0 - convert_to_tensor(decay), variable.dtype.base_dtype)
        value = convert_to_tensor(value, variable.dtype.base_dtype)
        if not zero_debias:
            return variable.assign_sub((variable - value) * step)
        with context.init_scope(), name_scope_v1(None):
            like = zeros(variable.shape.as_list(), variable.dtype.base_dtype)
            biased = Variable(like, trainable=False, name=f"{base_name(variable)}/biased")
            count = Variable(
                zeros([], variable.dtype.base_dtype), trainable=False, name=f"{base_name(variable)}/local_step"
            )
        moved = biased.assign_sub((biased - value) * step)
        steps = count.assign_add(1)
        return variable.assign(moved / (1 - (1 - step) ** steps))


def weighted_moving_average(
    value: Tensor, decay: float, weight: Tensor, truediv: bool = True, collections: Sequence[str] | None = None,
    name: str | None = None,
):
    """The moving average of `value * weight`, divided by that of `weight`.

    `collections` are those of the graph that get the two variables of it; None: the global variables.
    """
    value, weight = convert_to_tensor(value), convert_to_tensor(weight)
    with context.init_scope(), name_scope_v1(name, "WeightedMovingAvg"):
        above, below = (
            VariableV1(zeros(each.shape.as_list(), each.dtype), False, collections, name=label)
            for each, label in ((value, "value_x_weight"), (weight, "weight"))
        )
    moved = assign_moving_average(above, value * weight, decay, zero_debias=False)
    weights = assign_moving_average(below, weight, decay, zero_debias=False)
    return moved / weights if truediv else moved // weights


boundaries(globals())

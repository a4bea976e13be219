"""Averages of variables over the course of training."""

from __future__ import annotations

from tapeflow.core import context, nest
from tapeflow.ops.arithmetic import minimum
from tapeflow.ops.casting import cast
from tapeflow.ops.construction import zeros
from tapeflow.ops.variable import Variable
from tapeflow.train.slots import Slots, base_name


class ExponentialMovingAverage:
    """Keeps shadow = decay * shadow + (1 - decay) * variable for variables.

    Args:
      decay: how much of the shadow stays.
      num_updates: a count of updates that lets early averages move faster.
      zero_debias: divides by 1 - decay^updates, for shadows that begin at zero.
      name: part of the names of the shadows.
    """

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        self._decay, self._num_updates = decay, num_updates
        self._zero_debias, self._name = zero_debias, name
        self._shadows = Slots()

    @property
    def name(self):
        """The name given to the constructor."""
        return self._name

    def apply(self, var_list=None):
        """Moves the shadows of the variables, which begin as copies of them."""
        for var in nest.flatten(var_list):
            slots = self._shadows.of(var)
            if "average" not in slots:
                with context.init_scope():
                    start = (
                        zeros(var.shape.as_list(), var.dtype)
                        if self._zero_debias
                        else var.read_value()
                    )
                    name = f"{base_name(var)}/{self._name}"
                    slots["average"] = Variable(start, trainable=False, name=name)
                if not self._zero_debias and context.executing_eagerly():
                    continue
            shadow = slots["average"]
            shadow.assign_sub((shadow - var) * cast(1.0 - self._current_decay(), var.dtype))

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

"""An optimizer that keeps moving averages of the variables it moves, and saves these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow import train
from tapeflow.graph.build.collections import global_variables
from tapeflow.ops.control.grouping import control_dependencies, group

__all__ = ["MovingAverageOptimizer"]


class MovingAverageOptimizer(train.Optimizer):
    """Another optimizer, with a moving average of each variable; `swapping_saver` saves the averages in their place."""

    def __init__(self, opt, average_decay: float = 0.9999, num_updates=None, sequential_update: bool = True):
        super().__init__(False, "MovingAverageOptimizer")
        self._optimizer = opt
        self._ema = train.ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._variables = None

    def compute_gradients(self, *args, **kwargs):
        """See Optimizer."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """See Optimizer; the averages move after the variables."""
        pairs = list(grads_and_vars)
        step = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
        self._variables = [var for grad, var in pairs if grad is not None]
        with control_dependencies([] if step is None else [step]):
            moved = self._ema.apply(self._variables)
        return step if moved is None else group(moved, name="moving_average")

    def swapping_saver(self, var_list: Sequence[Any] | None = None, name: str = "swapping_saver", **kwargs):
        """A Saver that writes the averages under the names of the variables.

        Raises RuntimeError before apply_gradients.
        """
        if self._variables is None:
            raise RuntimeError("Must call apply_gradients or minimize before creating the swapping_saver")

        averages = {id(self._ema.average(var)) for var in self._variables}
        names = {}
        for var in global_variables() if var_list is None else var_list:
            if id(var) not in averages:
                average = self._ema.average(var)
                names[var.op.name] = var if average is None else average
        return train.Saver(names, name=name, **kwargs)

    def get_slot(self, var, name: str):
        """See Optimizer."""
        return self._optimizer.get_slot(var, name)

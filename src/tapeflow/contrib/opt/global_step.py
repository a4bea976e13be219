"""Adam that counts its steps by the global step, so that several workers share the count."""

from __future__ import annotations

from typing import Any

from tapeflow import train
from tapeflow.contrib.opt.rules import LazyAdamOptimizer
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.math.arithmetic import pow as pow_
from tapeflow.ops.math.casting import cast

__all__ = ["AdamGSOptimizer", "LazyAdamGSOptimizer"]


class AdamGSOptimizer(train.AdamOptimizer):
    """`tf.train.AdamOptimizer` whose number of steps is the global step, not a count of its own.

    Args:
      global_step: the variable that counts steps.
      learning_rate, beta1, beta2, epsilon, use_locking, name: see `tf.train.AdamOptimizer`.
    """

    def __init__(
        self, global_step: Any = 0, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999,
        epsilon: float = 1e-8, use_locking: bool = False, name: str = "Adam",
    ):  # fmt: skip
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._global_step = global_step

    def _prepare(self, var=None):
        if var is None:
            return
        self._by_dtype = {}
        step = cast(convert_to_tensor(self._global_step), dtypes.float32) + 1.0
        self._powers = tuple(pow_(self._number(beta, dtypes.float32), step) for beta in (self._beta1, self._beta2))

    def _finish(self, update_ops=None, name_scope=None):
        """Leaves the count to whoever counts the steps."""


class LazyAdamGSOptimizer(AdamGSOptimizer):
    """`AdamGSOptimizer` whose averages of rows move only when the rows have a gradient."""

    _apply_sparse = LazyAdamOptimizer._apply_sparse

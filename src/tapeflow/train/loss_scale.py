"""Loss scales of 1.x: the number that a loss in float16 is multiplied with, so that small gradients are not lost."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.checkpoint.following import AutoTrackable
from tapeflow.core import context, dtypes, replicas
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.ops.array.rows import identity
from tapeflow.ops.control.grouping import control_dependencies, group, no_op
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.float_kinds import is_finite
from tapeflow.ops.math.reductions import reduce_all
from tapeflow.ops.state.variable import VariableV1


class LossScale(AutoTrackable):
    """Base of loss scales: calling one gives the scale, a float32 scalar; `update` adjusts it to gradients."""

    def __call__(self) -> Any:
        """The present scale."""
        raise NotImplementedError("Abstract method")

    def update(self, grads: Any) -> tuple[Any, Any]:
        """Adjust the scale to the gradients of a step.

        Args:
          grads: gradients, not scaled any more, in any structure; None is passed over.

        Returns:
          What updates the scale in a graph (eagerly it is updated already), and whether the gradients are to be
          applied: False or a False tensor where some are not finite.
        """
        raise NotImplementedError("Abstract method")

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        raise NotImplementedError("Abstract method")

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> LossScale:
        """A loss scale from the constructor's arguments."""
        return cls(**config)


class FixedLossScale(LossScale):
    """A loss scale that stays as it is.

    Args:
      loss_scale_value: a number, at least 1.

    Raises:
      ValueError: for anything else.
    """

    def __init__(self, loss_scale_value: Any):
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError("loss_scale_value must be a Python int or float.")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._value = float(loss_scale_value)

    def __call__(self) -> Any:
        return convert_to_tensor(self._value, dtypes.float32)

    def update(self, grads: Any) -> tuple[Any, Any]:
        return no_op(), True

    def get_config(self) -> dict[str, Any]:
        return {"loss_scale_value": self._value}

    def __repr__(self) -> str:
        return f"FixedLossScale({self._value})"


class DynamicLossScale(LossScale):
    """A loss scale that grows while gradients are finite, and shrinks where they are not.

    Args:
      initial_loss_scale: what it starts from.
      increment_period: after how many good steps in a row it grows.
      multiplier: the factor by which it grows and shrinks. It stays finite and does not fall below 1.
    """

    def __init__(self, initial_loss_scale: float = 2.0**15, increment_period: int = 2000, multiplier: float = 2.0):
        self._config = {
            "initial_loss_scale": float(initial_loss_scale),
            "increment_period": int(increment_period),
            "multiplier": float(multiplier),
        }
        self.current_loss_scale = VariableV1(
            self.initial_loss_scale, trainable=False, name="current_loss_scale", dtype=dtypes.float32
        )
        self.good_steps = VariableV1(np.int64(0), trainable=False, name="good_steps")

    initial_loss_scale = property(lambda self: self._config["initial_loss_scale"])
    increment_period = property(lambda self: self._config["increment_period"])
    multiplier = property(lambda self: self._config["multiplier"])

    def __call__(self) -> Any:
        return convert_to_tensor(self.current_loss_scale)

    def update(self, grads: Any) -> tuple[Any, Any]:
        finite = _finite_in_all_replicas(nest.flatten(grads))
        scale, steps = convert_to_tensor(self.current_loss_scale), self.good_steps + 1
        enough = steps >= self.increment_period
        grown = where(enough, scale * self.multiplier, scale)
        grown = where(is_finite(grown), grown, scale)
        shrunk = maximum(scale / self.multiplier, 1.0)
        zero = convert_to_tensor(0, steps.dtype)
        new_scale = where(finite, grown, shrunk)
        new_steps = where(finite & ~enough, steps, zero)
        with control_dependencies([new_scale, new_steps]):
            update = group(self.current_loss_scale.assign(new_scale), self.good_steps.assign(new_steps))
        if update is None:  # eagerly
            return None, finite
        with control_dependencies([update]):
            return identity(new_scale), finite

    def get_config(self) -> dict[str, Any]:
        return dict(self._config)

    def __repr__(self) -> str:
        shown = {}
        if context.executing_eagerly():
            shown["current_loss_scale"] = float(self.current_loss_scale.numpy())
            shown["num_good_steps"] = int(self.good_steps.numpy())
        text = ", ".join(f"{key}={value}" for key, value in {**shown, **self._config}.items())
        return f"DynamicLossScale({text})"


def _all_finite(grads: list[Any]) -> Any:
    found = [
        reduce_all(is_finite(g.values if isinstance(g, IndexedSlices) else g)) for g in grads if g is not None
    ]
    return reduce_all(found) if found else convert_to_tensor(True)


def _finite_in_all_replicas(grads: list[Any]) -> Any:
    """Whether all gradients of all replicas are finite."""
    strategy = replicas.strategy()
    if strategy is None:
        return _all_finite(grads)
    each = strategy.extended.call_for_each_replica(
        lambda own: cast(_all_finite(own), dtypes.float32), args=(grads,)
    )
    total = strategy.reduce("SUM", each, axis=None)
    return equal(total, float(strategy.num_replicas_in_sync))


boundaries(globals())

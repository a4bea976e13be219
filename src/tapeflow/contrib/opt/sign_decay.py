"""How much agreement of signs counts after some steps, for `AddSignOptimizer` and `PowerSignOptimizer`."""

from __future__ import annotations

import math

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.math.arithmetic import maximum, minimum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.division import floormod
from tapeflow.ops.math.trigonometric import cos

__all__ = ["get_cosine_decay_fn", "get_linear_decay_fn", "get_restart_decay_fn"]


def _steps(global_step: TensorLike, decay_steps: int, name: str):
    """The step, at most the last one, and the number of steps, as numbers."""
    if global_step is None:
        raise ValueError(f"global_step is required for {name}_decay.")
    total = cast(decay_steps, dtypes.float32)
    return minimum(cast(global_step, dtypes.float32), total), total


def _half_cosine(fraction: Tensor):
    return 0.5 * (1.0 + cos(math.pi * fraction))


def get_linear_decay_fn(decay_steps: int):
    """A function of the global step that goes from 1 to 0 along a line."""

    def linear_decay_fn(global_step: TensorLike):
        step, total = _steps(global_step, decay_steps, "linear")
        return maximum(0.0, (total - step) / total)

    return linear_decay_fn


def get_cosine_decay_fn(decay_steps: int, num_periods: float = 0.5, zero_after: int | None = None):
    """A function of the global step that follows `num_periods` of a cosine; 0 after `zero_after` periods."""

    def cosine_decay_fn(global_step: Tensor):
        step, total = _steps(global_step, decay_steps, "cosine")
        fraction = 2.0 * num_periods * (step / total)
        decayed = _half_cosine(fraction)
        if zero_after is None:
            return decayed
        return where(fraction >= 2.0 * zero_after, zeros_like(decayed), decayed)

    return cosine_decay_fn


def get_restart_decay_fn(decay_steps: int, num_periods: int = 1, zero_after=None):
    """A function of the global step that follows half a cosine `num_periods` times; 0 after `zero_after` of them."""

    def restart_decay_fn(global_step: TensorLike):
        step, total = _steps(global_step, decay_steps, "restart")
        decayed = _half_cosine(floormod(num_periods * step, total) / total)
        if zero_after is None:
            return decayed
        return where(num_periods * step / total >= zero_after, zeros_like(decayed), decayed)

    return restart_decay_fn

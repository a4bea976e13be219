"""Learning rates that change with the step (2.x)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import Bounded, boundaries
from tapeflow.keras.old_names import leaves_out
from tapeflow.keras.registry import resolve, to_config
from tapeflow.ops.math.arithmetic import maximum, minimum
from tapeflow.ops.math.arithmetic import pow as pow_
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.elementwise import log
from tapeflow.ops.math.rounding import ceil as ceil_
from tapeflow.ops.math.rounding import floor
from tapeflow.ops.math.trigonometric import cos


class LearningRateSchedule(Bounded):
    """A function of the step that gives a learning rate, and can be described by a config."""

    _keras_module = "keras.optimizers.schedules"

    def __call__(self, step: int):
        raise TypeError(f"{type(self).__name__} must define __call__(step)")

    def get_config(self):
        """The constructor's arguments."""
        raise TypeError(f"{type(self).__name__} must define get_config()")

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """A schedule from the constructor's arguments."""
        return cls(**config)


class _Simple(LearningRateSchedule):
    """Keeps the constructor's arguments as attributes."""

    def _keep(self, **settings):
        self.__dict__.update(settings)
        self._settings = settings

    def get_config(self):
        return dict(self._settings)

    def _start(self, step, steps):
        rate = convert_to_tensor(self.initial_learning_rate)
        return rate, cast(step, rate.dtype), cast(steps, rate.dtype)


class ExponentialDecay(_Simple):
    """A learning rate of initial_learning_rate * decay_rate ^ (step / decay_steps).

    Args:
      initial_learning_rate: the learning rate at step 0.
      decay_steps: in how many steps the rate is multiplied by `decay_rate` once.
      decay_rate: the factor.
      staircase: whether the exponent is rounded down, so that the rate changes every `decay_steps` steps.
      name: a name.

    >>> schedule = tf.keras.optimizers.schedules.ExponentialDecay(1.0, decay_steps=10, decay_rate=0.5)
    >>> print(schedule(20).numpy())
    0.25
    """

    def __init__(
        self, initial_learning_rate: float, decay_steps: int, decay_rate: float, staircase: bool = False,
        name: str = "ExponentialDecay",
    ):
        self._keep(
            initial_learning_rate=initial_learning_rate,
            decay_steps=decay_steps,
            decay_rate=decay_rate,
            staircase=staircase,
            name=name,
        )

    def __call__(self, step):
        rate, step, steps = self._start(step, self.decay_steps)
        progress = step / steps
        base = cast(self.decay_rate, rate.dtype)
        return rate * pow_(base, floor(progress) if self.staircase else progress)


class InverseTimeDecay(_Simple):
    """A learning rate of initial_learning_rate / (1 + decay_rate * step / decay_steps).

    Args:
      initial_learning_rate: the learning rate at step 0.
      decay_steps: the number of steps that counts as one.
      decay_rate: how fast the rate falls.
      staircase: whether step / decay_steps is rounded down.
      name: a name.
    """

    def __init__(
        self, initial_learning_rate, decay_steps, decay_rate, staircase: bool = False,
        name: str = "InverseTimeDecay",
    ):
        self._keep(
            initial_learning_rate=initial_learning_rate,
            decay_steps=decay_steps,
            decay_rate=decay_rate,
            staircase=staircase,
            name=name,
        )

    def __call__(self, step):
        rate, step, steps = self._start(step, self.decay_steps)
        progress = step / steps
        if self.staircase:
            progress = floor(progress)
        return rate / (1.0 + cast(self.decay_rate, rate.dtype) * progress)


class PolynomialDecay(_Simple):
    """A learning rate that goes to `end_learning_rate` in `decay_steps` steps, by (1 - step / decay_steps) ^ power.

    Args:
      initial_learning_rate: the learning rate at step 0.
      decay_steps: after how many steps the end is reached, where the rate stays.
      end_learning_rate: the learning rate at the end.
      power: the exponent; 1 for a straight line.
      cycle: whether the rate goes up again at the end, with `decay_steps` multiplied each time.
      name: a name.

    >>> schedule = tf.keras.optimizers.schedules.PolynomialDecay(1.0, decay_steps=10, end_learning_rate=0.5)
    >>> print(schedule(5).numpy(), schedule(100).numpy())
    0.75 0.5
    """

    def __init__(
        self, initial_learning_rate, decay_steps, end_learning_rate: float = 0.0001, power: float = 1.0,
        cycle: bool = False, name: str = "PolynomialDecay",
    ):
        self._keep(
            initial_learning_rate=initial_learning_rate,
            decay_steps=decay_steps,
            end_learning_rate=end_learning_rate,
            power=power,
            cycle=cycle,
            name=name,
        )

    def __call__(self, step):
        rate, step, steps = self._start(step, self.decay_steps)
        end = cast(self.end_learning_rate, rate.dtype)
        if self.cycle:
            steps = steps * maximum(ceil_(step / steps), 1.0)
        else:
            step = minimum(step, steps)
        return (rate - end) * pow_(1.0 - step / steps, cast(self.power, rate.dtype)) + end


class CosineDecay(_Simple):
    """A learning rate that goes down half a cosine to alpha times the initial one, after an optional straight way up.

    Args:
      initial_learning_rate: the learning rate at step 0.
      decay_steps: how many steps the way down takes.
      alpha: the rate at the end, as a part of that at the top.
      name: a name.
      warmup_target: the rate to go up to first, in a straight line; None for no way up.
      warmup_steps: how many steps the way up takes.

    >>> schedule = tf.keras.optimizers.schedules.CosineDecay(0.0, decay_steps=100, warmup_target=1.0, warmup_steps=10)
    >>> print(schedule(5).numpy(), schedule(10).numpy())
    0.5 1.0
    """

    def __init__(
        self, initial_learning_rate: float, decay_steps: int, alpha: float = 0.0, name: str = "CosineDecay",
        warmup_target=None, warmup_steps: int = 0,
    ):
        self._keep(
            initial_learning_rate=initial_learning_rate,
            decay_steps=decay_steps,
            alpha=alpha,
            name=name,
            warmup_target=warmup_target,
            warmup_steps=warmup_steps,
        )

    def __call__(self, step):
        rate, step, steps = self._start(step, self.decay_steps)
        if self.warmup_target is None:
            return self._decayed(rate, step, steps)
        target, warm = cast(self.warmup_target, rate.dtype), cast(self.warmup_steps, rate.dtype)
        up = rate + (target - rate) * (step / warm)
        return where(step < warm, up, self._decayed(target, step - warm, steps))

    def _decayed(self, rate, step, steps):
        wave = 0.5 * (1.0 + cos(math.pi * (minimum(step, steps) / steps)))
        return rate * ((1 - self.alpha) * wave + self.alpha)


class CosineDecayRestarts(_Simple):
    """Cosine decays one after another (Loshchilov & Hutter 2017).

    Args:
      initial_learning_rate: the learning rate at step 0.
      first_decay_steps: how many steps the first decay takes.
      t_mul: each decay takes so many times the steps of the one before.
      m_mul: each decay starts from so many times the rate that the one before started from.
      alpha: the rate at the end of a decay, as a part of that at its start.
      name: a name.
    """

    def __init__(
        self, initial_learning_rate, first_decay_steps, t_mul: float = 2.0, m_mul: float = 1.0,
        alpha: float = 0.0, name: str = "SGDRDecay",
    ):
        self._keep(
            initial_learning_rate=initial_learning_rate,
            first_decay_steps=first_decay_steps,
            t_mul=t_mul,
            m_mul=m_mul,
            alpha=alpha,
            name=name,
        )

    def __call__(self, step):
        rate, step, steps = self._start(step, self.first_decay_steps)
        progress = step / steps
        if self.t_mul == 1.0:
            restart = floor(progress)
            progress = progress - restart
        else:
            restart = floor(log(1.0 - progress * (1.0 - self.t_mul)) / math.log(self.t_mul))
            power = pow_(cast(self.t_mul, rate.dtype), restart)
            progress = (progress - (1.0 - power) / (1.0 - self.t_mul)) / power
        height = pow_(cast(self.m_mul, rate.dtype), restart)
        wave = 0.5 * height * (1.0 + cos(math.pi * progress))
        return rate * ((1 - self.alpha) * wave + self.alpha)


class PiecewiseConstantDecay(_Simple):
    """A learning rate of values[i] for boundaries[i - 1] < step <= boundaries[i].

    Args:
      boundaries: the steps after which the rate changes, ascending.
      values: the rates, one more than boundaries.
      name: a name.

    Raises:
      ValueError: for another number of rates.

    >>> schedule = tf.keras.optimizers.schedules.PiecewiseConstantDecay([10, 20], [1.0, 0.5, 0.25])
    >>> print(schedule(10).numpy(), schedule(11).numpy())
    1.0 0.5
    """

    def __init__(self, boundaries: Sequence[int], values: Sequence[float], name: str = "PiecewiseConstant"):
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                "The length of boundaries should be 1 less than the length of values. Received: "
                f"boundaries={boundaries} of length {len(boundaries)}, and values={values} of length "
                f"{len(values)}."
            )
        self._keep(boundaries=boundaries, values=values, name=name)

    def __call__(self, step):
        step = convert_to_tensor(step)
        rate = convert_to_tensor(self.values[-1])
        for boundary, value in zip(reversed(self.boundaries), list(reversed(self.values))[1:]):
            rate = where(step <= cast(boundary, step.dtype), cast(value, rate.dtype), rate)
        return rate


_CLASSES = (
    LearningRateSchedule,
    ExponentialDecay,
    InverseTimeDecay,
    PolynomialDecay,
    CosineDecay,
    CosineDecayRestarts,
    PiecewiseConstantDecay,
)
_NAMES = {cls.__name__: cls for cls in _CLASSES}


@leaves_out("use_legacy_format")
def serialize(learning_rate_schedule: ExponentialDecay | PiecewiseConstantDecay):
    """The config of a schedule."""
    return to_config(learning_rate_schedule)


@leaves_out("use_legacy_format")
def deserialize(config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
    """Make a schedule of its config.

    Args:
      config: what `serialize` gave.
      custom_objects: a dict of the program's own classes and functions by name.

    Returns:
      The schedule.
    """
    return resolve(config, _NAMES, "decay", custom_objects)

boundaries(globals())

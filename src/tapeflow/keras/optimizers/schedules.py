"""Learning rates that change with the step (2.x)."""

from __future__ import annotations

import math

from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import Bounded, boundaries
from tapeflow.keras.registry import resolve, to_config
from tapeflow.ops.arithmetic import maximum, minimum
from tapeflow.ops.arithmetic import pow as pow_
from tapeflow.ops.casting import cast
from tapeflow.ops.comparison import where
from tapeflow.ops.elementwise import ceil as ceil_
from tapeflow.ops.elementwise import floor, log
from tapeflow.ops.trigonometric import cos


class LearningRateSchedule(Bounded):
    """A function of the step that gives a learning rate, and can be described by a config."""

    def __call__(self, step):
        raise TypeError(f"{type(self).__name__} must define __call__(step)")

    def get_config(self):
        """The constructor's arguments."""
        raise TypeError(f"{type(self).__name__} must define get_config()")

    @classmethod
    def from_config(cls, config):
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
    """initial_learning_rate * decay_rate ^ (step / decay_steps), in steps when `staircase`."""

    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name="ExponentialDecay"):
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
    """initial_learning_rate / (1 + decay_rate * step / decay_steps)."""

    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name="InverseTimeDecay"):
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
    """From initial_learning_rate to end_learning_rate in decay_steps, by (1 - progress) ^ power."""

    def __init__(
        self,
        initial_learning_rate,
        decay_steps,
        end_learning_rate=0.0001,
        power=1.0,
        cycle=False,
        name="PolynomialDecay",
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
    """Down half a cosine to alpha * the initial rate, after an optional straight way up."""

    def __init__(
        self,
        initial_learning_rate,
        decay_steps,
        alpha=0.0,
        name="CosineDecay",
        warmup_target=None,
        warmup_steps=0,
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
    """Cosine decays one after another (Loshchilov & Hutter 2017)."""

    def __init__(
        self, initial_learning_rate, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name="SGDRDecay"
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
    """values[i] for boundaries[i - 1] < step <= boundaries[i]."""

    def __init__(self, boundaries, values, name="PiecewiseConstant"):
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
    ExponentialDecay,
    InverseTimeDecay,
    PolynomialDecay,
    CosineDecay,
    CosineDecayRestarts,
    PiecewiseConstantDecay,
)
_NAMES = {cls.__name__: cls for cls in _CLASSES}


def serialize(schedule):
    """The config of a schedule."""
    return to_config(schedule)


def deserialize(config, custom_objects=None):
    """A schedule from its config."""
    return resolve(config, _NAMES, "decay", custom_objects)

boundaries(globals())

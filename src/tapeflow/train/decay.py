"""Learning rates that change with the step (1.x).

Eagerly each returns a function without arguments that gives the rate of the moment, which the optimizers
call; in a graph it returns a tensor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tapeflow.core.annotations import TensorLike, Variable
from tapeflow.core.context import executing_eagerly
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.ops.math.arithmetic import maximum, minimum
from tapeflow.ops.math.arithmetic import pow as pow_
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.elementwise import exp, log
from tapeflow.ops.math.rounding import ceil as ceil_
from tapeflow.ops.math.rounding import floor
from tapeflow.ops.math.trigonometric import cos
from tapeflow.ops.random.functions import normal as random_normal


def _decayed(rate_of: Callable[..., Any]):
    return rate_of if executing_eagerly() else rate_of()


def _require_step(global_step: TensorLike, name: str):
    if global_step is None:
        raise ValueError(f"global_step is required for {name}.")


def _progress(global_step: Variable, decay_steps: int, rate):
    return cast(_value(global_step), rate.dtype) / cast(_value(decay_steps), rate.dtype)


def _value(x: TensorLike):
    return x() if callable(x) and not hasattr(x, "dtype") else x


def exponential_decay(
    learning_rate: float, global_step: Variable, decay_steps: int, decay_rate: float, staircase: bool = False,
    name: str | None = None,
):
    """learning_rate * decay_rate ^ (global_step / decay_steps), in steps when `staircase`."""
    _require_step(global_step, "exponential_decay")

    def rate_of():
        rate = convert_to_tensor(_value(learning_rate))
        progress = _progress(global_step, decay_steps, rate)
        return rate * pow_(
            cast(_value(decay_rate), rate.dtype), floor(progress) if staircase else progress
        )

    return _decayed(rate_of)


def natural_exp_decay(
    learning_rate: float, global_step: Variable, decay_steps: int, decay_rate: float, staircase: bool = False,
    name: str | None = None,
):
    """learning_rate * exp(-decay_rate * global_step / decay_steps)."""
    _require_step(global_step, "natural_exp_decay")

    def rate_of():
        rate = convert_to_tensor(_value(learning_rate))
        progress = _progress(global_step, decay_steps, rate)
        factor = cast(-_value(decay_rate), rate.dtype)
        return rate * exp(factor * (floor(progress) if staircase else progress))

    return _decayed(rate_of)


def inverse_time_decay(
    learning_rate: float, global_step: Variable, decay_steps: int, decay_rate: float, staircase: bool = False,
    name: str | None = None,
):
    """learning_rate / (1 + decay_rate * global_step / decay_steps)."""
    _require_step(global_step, "inverse_time_decay")

    def rate_of():
        rate = convert_to_tensor(_value(learning_rate))
        progress = _progress(global_step, decay_steps, rate)
        factor = cast(_value(decay_rate), rate.dtype)
        return rate / (1.0 + factor * (floor(progress) if staircase else progress))

    return _decayed(rate_of)


def polynomial_decay(
    learning_rate: float, global_step: Variable, decay_steps: int, end_learning_rate: float = 0.0001,
    power: float = 1.0, cycle: bool = False, name: str | None = None,
):
    """From learning_rate to end_learning_rate in decay_steps, by (1 - progress) ^ power."""
    _require_step(global_step, "polynomial_decay")

    def rate_of():
        rate = convert_to_tensor(_value(learning_rate))
        end = cast(_value(end_learning_rate), rate.dtype)
        step, steps = cast(_value(global_step), rate.dtype), cast(_value(decay_steps), rate.dtype)
        if cycle:
            steps = steps * maximum(ceil_(step / steps), 1.0)
        else:
            step = minimum(step, steps)
        return (rate - end) * pow_(1.0 - step / steps, cast(power, rate.dtype)) + end

    return _decayed(rate_of)


def piecewise_constant(x: Variable, boundaries, values, name: str | None = None):
    """values[i] for boundaries[i - 1] < x <= boundaries[i]."""
    if len(boundaries) != len(values) - 1:
        raise ValueError(
            "The length of boundaries should be 1 less than the length of values. Received: "
            f"len(boundaries)={len(boundaries)}, len(values)={len(values)}"
        )

    def rate_of():
        step = convert_to_tensor(_value(x))
        rate = convert_to_tensor(values[-1])
        for boundary, value in zip(reversed(boundaries), list(reversed(values))[1:]):
            rate = where(step <= cast(boundary, step.dtype), cast(value, rate.dtype), rate)
        return rate

    return _decayed(rate_of)


piecewise_constant_decay = piecewise_constant


def cosine_decay(
    learning_rate: float, global_step: Variable, decay_steps: int, alpha: float = 0.0, name: str | None = None
):
    """From learning_rate to alpha * learning_rate along half a cosine."""
    _require_step(global_step, "cosine_decay")

    def rate_of():
        rate = convert_to_tensor(_value(learning_rate))
        progress = minimum(_progress(global_step, decay_steps, rate), 1.0)
        return rate * ((1 - alpha) * 0.5 * (1.0 + cos(math.pi * progress)) + alpha)

    return _decayed(rate_of)


def cosine_decay_restarts(
    learning_rate: float, global_step: TensorLike, first_decay_steps, t_mul: float = 2.0, m_mul: float = 1.0,
    alpha: float = 0.0, name: str | None = None,
):
    """Cosine decays one after another, each t_mul times longer (Loshchilov & Hutter 2017)."""
    _require_step(global_step, "cosine_decay_restarts")

    def rate_of():
        rate = convert_to_tensor(_value(learning_rate))
        progress = _progress(global_step, first_decay_steps, rate)
        if t_mul == 1.0:
            restart = floor(progress)
            progress = progress - restart
        else:
            log_of = progress * (t_mul - 1.0) + 1.0
            restart = floor(log(log_of) / math.log(t_mul))
            power = pow_(cast(t_mul, rate.dtype), restart)
            progress = (progress - (1.0 - power) / (1.0 - t_mul)) / power
        height = pow_(cast(m_mul, rate.dtype), restart)
        return rate * ((1 - alpha) * 0.5 * height * (1.0 + cos(math.pi * progress)) + alpha)

    return _decayed(rate_of)


def linear_cosine_decay(
    learning_rate: float, global_step: TensorLike, decay_steps, num_periods: float = 0.5, alpha: float = 0.0,
    beta: TensorLike = 0.001, name: str | None = None,
):
    """A cosine times a straight line (Bello et al. 2017)."""
    return _noisy_linear_cosine(
        learning_rate, global_step, decay_steps, None, 0.55, num_periods, alpha, beta
    )


def noisy_linear_cosine_decay(
    learning_rate: float, global_step: TensorLike, decay_steps, initial_variance: float = 1.0,
    variance_decay: float = 0.55, num_periods: float = 0.5, alpha: float = 0.0, beta: TensorLike = 0.001,
    name: str | None = None,
):
    """linear_cosine_decay with noise that fades away."""
    return _noisy_linear_cosine(
        learning_rate,
        global_step,
        decay_steps,
        initial_variance,
        variance_decay,
        num_periods,
        alpha,
        beta,
    )


def _noisy_linear_cosine(
    learning_rate: float, global_step: TensorLike, decay_steps, variance, variance_decay, periods, alpha: float,
    beta: TensorLike,
):
    _require_step(global_step, "linear_cosine_decay")

    def rate_of():
        rate = convert_to_tensor(_value(learning_rate))
        step = cast(_value(global_step), rate.dtype)
        steps = cast(_value(decay_steps), rate.dtype)
        step = minimum(step, steps)
        line = (steps - step) / steps
        if variance is not None:
            deviation = pow_(variance / pow_(1.0 + step, cast(variance_decay, rate.dtype)), 0.5)
            line = line + random_normal([], dtype=rate.dtype) * deviation
        wave = 0.5 * (1.0 + cos(math.pi * 2.0 * periods * step / steps))
        return rate * ((alpha + line) * wave + beta)

    return _decayed(rate_of)


boundaries(globals())

"""Layers that disturb their inputs while training."""

from __future__ import annotations

import math

from tapeflow.keras.engine.phases import by_phase
from tapeflow.keras.layers.core import SameShape
from tapeflow.ops.array import shape as shape_of
from tapeflow.ops.casting import cast
from tapeflow.ops.random import normal as random_normal
from tapeflow.ops.random import uniform as random_uniform


def _sizes(x):
    return x.shape if x.shape.is_fully_defined() else shape_of(x)


class GaussianNoise(SameShape):
    """Adds normal numbers of standard deviation `stddev`."""

    def __init__(self, stddev, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.stddev, self.seed = stddev, seed

    def call(self, inputs, training=None):
        def disturbed():
            noise = random_normal(_sizes(inputs), 0.0, self.stddev, inputs.dtype, self.seed)
            return inputs + noise

        return by_phase(training, disturbed, lambda: inputs)

    def get_config(self):
        return {**super().get_config(), "stddev": self.stddev, "seed": self.seed}


class GaussianDropout(SameShape):
    """Multiplies by normal numbers of mean 1 and variance rate / (1 - rate)."""

    def __init__(self, rate, seed=None, **kwargs):
        super().__init__(**kwargs)
        if not 0 <= rate < 1:
            raise ValueError(f"Invalid value {rate} received for `rate`, expected 0 <= rate < 1.")
        self.rate, self.seed = rate, seed

    def call(self, inputs, training=None):
        if not self.rate:
            return inputs
        stddev = math.sqrt(self.rate / (1.0 - self.rate))

        def disturbed():
            return inputs * random_normal(_sizes(inputs), 1.0, stddev, inputs.dtype, self.seed)

        return by_phase(training, disturbed, lambda: inputs)

    def get_config(self):
        return {**super().get_config(), "rate": self.rate, "seed": self.seed}


class AlphaDropout(SameShape):
    """Dropout that keeps mean and variance of SELU activations (Klambauer et al. 2017)."""

    _LOWEST = -1.6732632423543772 * 1.0507009873554805

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs, training=None):
        if not 0.0 < self.rate < 1.0:
            return inputs
        return by_phase(training, lambda: self._disturbed(inputs), lambda: inputs)

    def _disturbed(self, inputs):
        shape = _sizes(inputs) if self.noise_shape is None else self.noise_shape
        numbers = random_uniform(shape, 0.0, 1.0, inputs.dtype, self.seed)
        kept = cast(numbers >= self.rate, inputs.dtype)
        a = ((1 - self.rate) * (1 + self.rate * self._LOWEST**2)) ** -0.5
        b = -a * self._LOWEST * self.rate
        return a * (inputs * kept + self._LOWEST * (1 - kept)) + b

    def get_config(self):
        return {
            **super().get_config(),
            "rate": self.rate,
            "noise_shape": self.noise_shape,
            "seed": self.seed,
        }

"""Layers that disturb their inputs while training."""

from __future__ import annotations

import math

from tapeflow.core.annotations import Tensor
from tapeflow.core.release import keras_2
from tapeflow.keras import settings
from tapeflow.keras.engine.phases import by_phase
from tapeflow.keras.layers.core.same_shape import SameShape
from tapeflow.keras.noise import GeneratorOfNoise, NoiseSource
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.math.casting import cast


def _sizes(x: Tensor):
    return x.shape if x.shape.is_fully_defined() else shape_of(x)


class GaussianNoise(SameShape):
    """Adds normal random numbers of mean 0 while training; outside of it returns the inputs.

    Args:
      stddev: the standard deviation of the numbers, from 0 to 1; under Keras 2 any number of at least 0.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for a standard deviation outside of 0 to 1.
    """

    _built_at_init = True
    seed_generator = GeneratorOfNoise()

    def __init__(self, stddev, seed: int | None = None, **kwargs):
        super().__init__(**kwargs)
        if not (keras_2() or 0 <= stddev <= 1):
            raise ValueError(
                "Invalid value received for argument `stddev`. Expected a float value between 0 and 1. "
                f"Received: stddev={stddev}"
            )
        self.stddev, self.seed = stddev, seed
        self._noise = NoiseSource(seed) if stddev else None

    def call(self, inputs: Tensor, training: bool | Tensor | None = None):
        if not self.stddev:
            return inputs

        def disturbed():
            return inputs + self._noise.normal(_sizes(inputs), 0.0, self.stddev, inputs.dtype)

        return by_phase(training, disturbed, lambda: inputs)

    def get_config(self):
        return {**super().get_config(), "stddev": self.stddev, "seed": self.seed}


class GaussianDropout(SameShape):
    """Multiplies by normal random numbers of mean 1 and variance rate / (1 - rate) while training.

    Args:
      rate: what would be the rate of a `Dropout` of the same variance, from 0 to 1.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for a rate outside of 0 to 1.
    """

    _built_at_init = True
    seed_generator = GeneratorOfNoise()

    def __init__(self, rate: float, seed: int | None = None, **kwargs):
        super().__init__(**kwargs)
        if not 0 <= rate <= 1 or (rate == 1 and keras_2()):
            raise ValueError(f"Invalid value {rate} received for `rate`, expected 0 <= rate < 1.")
        self.rate, self.seed = rate, seed
        self._noise = NoiseSource(seed) if rate else None

    def call(self, inputs: Tensor, training: bool | Tensor | None = None):
        if not self.rate:
            return inputs
        stddev = math.sqrt(self.rate / (1.0 - self.rate))

        def disturbed():
            return inputs * self._noise.normal(_sizes(inputs), 1.0, stddev, inputs.dtype)

        return by_phase(training, disturbed, lambda: inputs)

    def get_config(self):
        return {**super().get_config(), "rate": self.rate, "seed": self.seed}


class AlphaDropout(SameShape):
    """Dropout that keeps mean and variance of SELU activations (Klambauer et al. 2017).

    While training, a random part of the inputs is set to the lowest value of SELU, and the result is scaled and
    shifted.

    Args:
      rate: the part of the inputs, from 0 to 1.
      noise_shape: the shape of the pattern, with 1 for axes along which it is the same; None for the inputs' shape.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for a rate outside of 0 to 1.
    """

    _keras_module = "keras._legacy.layers"

    _built_at_init = True
    seed_generator = GeneratorOfNoise()

    _LOWEST = -1.6732632423543772 * 1.0507009873554805

    def __init__(self, rate: float, noise_shape=None, seed: int | None = None, **kwargs):
        super().__init__(**kwargs)
        if not (keras_2() or 0 <= rate <= 1):
            raise ValueError(
                "Invalid value received for argument `rate`. Expected a float value between 0 and 1. "
                f"Received: rate={rate}"
            )
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed
        self._noise = NoiseSource(seed) if rate else None

    def call(self, inputs: Tensor, training: bool | Tensor | None = None):
        if not 0.0 < self.rate < 1.0:
            return inputs
        return by_phase(training, lambda: self._disturbed(inputs), lambda: inputs)

    def _disturbed(self, inputs):
        shape = _sizes(inputs) if self.noise_shape is None else self.noise_shape
        if isinstance(shape, (list, tuple)) and None in shape:
            known, found = inputs.shape, shape_of(inputs)
            shape = [(known[i] or found[i]) if size is None else size for i, size in enumerate(shape)]
        numbers = self._noise.uniform(shape, inputs.dtype if keras_2() else settings.floatx())
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

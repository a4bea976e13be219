"""The random numbers of layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.release import keras_2
from tapeflow.keras import settings
from tapeflow.keras.random import SeedGenerator, dropout, normal, uniform_values
from tapeflow.ops.nn.dropout import dropout as nn_dropout
from tapeflow.ops.random import functions

if TYPE_CHECKING:
    from tapeflow.keras.layers.core.dropout import Dropout


def states_of_generators(values):
    """The variables of the generators among values."""
    generators = [value.generator if isinstance(value, NoiseSource) else value for value in values]
    return [value.state for value in generators if isinstance(value, SeedGenerator)]


class NoiseSource:
    """The random numbers of a layer: of a `SeedGenerator`, or in Keras 2 of random ops with the layer's seed."""

    def __init__(self, seed: int | None):
        self._seed = seed
        self.generator = None if keras_2() or settings.in_plain_graph() else SeedGenerator(seed)

    def normal(self, shape, mean, stddev, dtype):
        """Normal numbers."""
        if self.generator is None:
            return functions.normal(shape, mean, stddev, dtype, self._seed)
        return normal(shape, mean, stddev, dtype, self.generator)

    def uniform(self, shape: Sequence[Any], dtype: DTypeLike):
        """Uniform numbers of [0, 1)."""
        if self.generator is None:
            return functions.uniform(shape, 0.0, 1.0, dtype, self._seed)
        return uniform_values(shape, 0.0, 1.0, dtype, self.generator)

    def dropout(self, x: TensorLike, rate: float, noise_shape=None):
        """Dropout of `x`."""
        if self.generator is None:
            return nn_dropout(x, rate, noise_shape, self._seed)
        return dropout(x, rate, noise_shape, self.generator)


class GeneratorOfNoise:
    """The attribute `seed_generator` of a layer with a `NoiseSource`; subclasses may set one of their own."""

    def __get__(self, layer: Dropout, owner: type | None = None):
        if layer is None:
            return self
        generator = getattr(layer._noise, "generator", None)
        if generator is None:
            raise AttributeError(f"{layer.name} has no `seed_generator`: it draws no random numbers of Keras 3.")
        return generator

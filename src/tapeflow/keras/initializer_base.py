"""What initializers have in common: dtypes, parts of a whole, and random numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.public import Bounded, boundaries
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import random as keras_random
from tapeflow.keras import settings
from tapeflow.ops.random import functions, stateless_functions


class Initializer(Bounded):
    """A function of shape and dtype that gives a tensor, and can be described by a config; the base of initializers."""

    _keras_module = "keras.initializers"
    _keras_module_itself = "keras"

    def __call__(self, shape: Sequence[Any], dtype: DTypeLike | None = None, **kwargs):
        raise TypeError(f"{type(self).__name__} must define __call__(shape, dtype)")

    def get_config(self):
        """The constructor's arguments."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """An initializer from the constructor's arguments."""
        config = dict(config)
        config.pop("dtype", None)
        return cls(**config)

    def clone(self):
        """An equal initializer."""
        return type(self).from_config(self.get_config())


def sizes_of(shape: Sequence[Any]):
    return TensorShape(shape).as_list()


def part_of(shape: Sequence[Any], options: Mapping[str, Any]):
    """The sizes of what is made: of the whole variable, or of the part that a partitioner asks for."""
    _check_options(options)
    return sizes_of(options.get("partition_shape", shape))


_PARTS = ["partition_shape", "partition_offset"]


def _check_options(options: Mapping[str, Any]) -> None:
    for name in options:
        if name not in _PARTS:
            raise TypeError(f"Keyword argument should be one of {_PARTS}. Received: {name}")


def whole_of(maker: Initializer, options: Mapping[str, Any]) -> None:
    """Refuses parts for an initializer whose values depend on all of the variable."""
    _check_options(options)
    if options:
        raise ValueError(f"{type(maker).__name__} initializer doesn't support partition-related arguments")


def number_dtype(dtype, name: str):
    dtype = settings.default_dtype(dtype)
    if dtype == dtypes.string or not (
        dtype.is_floating or dtype.is_integer or dtype.is_complex or dtype.is_bool
    ):
        raise ValueError(f"Expected numeric or boolean dtype for {name}, got {dtype}.")
    return dtype


def float_dtype(dtype):
    dtype = settings.default_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


class RandomValues(Initializer):
    """Random values: always the same with a seed, and in Keras 3 without one, where each initializer draws a seed."""

    # Whether initializers without a seed draw one.
    _draws_seed = True

    def __init__(self, seed: int | None = None):
        self._given_seed = keras_random.seed_from_config(seed)
        self.seed = self._given_seed
        if seed is None and self._draws_seed and not keras_2():
            self.seed = keras_random.make_default_seed()

    def _uniform(self, shape: Sequence[Any], low: float, high: float, dtype: DTypeLike):
        if self.seed is None:
            return functions.uniform(shape, low, high, dtype)
        return stateless_functions.stateless_uniform(shape, self._seeds(), low, high, dtype)

    def _normal(self, shape: Sequence[Any], mean: float, stddev: float, dtype: DTypeLike):
        if self.seed is None:
            return functions.normal(shape, mean, stddev, dtype)
        return stateless_functions.stateless_normal(shape, self._seeds(), mean, stddev, dtype)

    def _truncated(self, shape: Sequence[Any], mean: float, stddev: float, dtype: DTypeLike):
        if self.seed is None:
            return functions.truncated_normal(shape, mean, stddev, dtype)
        return stateless_functions.stateless_truncated_normal(shape, self._seeds(), mean, stddev, dtype)

    def _seeds(self):
        return (self.seed, 0) if keras_2() else keras_random.draw_seed(self.seed)

    def get_config(self):
        return {"seed": keras_random.seed_config(self._given_seed)}


boundaries(globals())

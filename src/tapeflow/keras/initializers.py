"""First values of weights. Formulas: Glorot & Bengio 2010, He et al. 2015, LeCun et al. 1998, Saxe et al. 2014."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.keras import settings
from tapeflow.keras.initializer_base import (
    Initializer,
    RandomValues,
    float_dtype,
    number_dtype,
    part_of,
    sizes_of,
    whole_of,
)
from tapeflow.keras.old_names import leaves_out
from tapeflow.keras.registry import resolve, to_config
from tapeflow.keras.scaled_initializers import (
    GlorotNormal,
    GlorotUniform,
    HeNormal,
    HeUniform,
    LecunNormal,
    LecunUniform,
    VarianceScaling,
)
from tapeflow.keras.structured_initializers import STFT, Identity, Orthogonal
from tapeflow.ops.array import construction


@api(v2="zeros_initializer")
class Zeros(Initializer):
    """All zeros.

    >>> print(tf.keras.initializers.Zeros()((2,)).numpy())
    [0. 0.]
    """

    def __call__(self, shape: Sequence[Any], dtype: DTypeLike | None = None, **kwargs):
        return construction.zeros(part_of(shape, kwargs), number_dtype(dtype, "Zeros"))


@api(v2="ones_initializer")
class Ones(Initializer):
    """All ones."""

    def __call__(self, shape: Sequence[Any], dtype: DTypeLike | None = None, **kwargs):
        return construction.ones(part_of(shape, kwargs), number_dtype(dtype, "Ones"))


@api(v2="constant_initializer")
class Constant(Initializer):
    """A number everywhere, or the given values in the given shape.

    Args:
      value: a number, or an array with as many numbers as the shape has, or that broadcasts to it.

    >>> print(tf.keras.initializers.Constant(3.0)((2, 2)).numpy())
    [[3. 3.]
     [3. 3.]]
    """

    def __init__(self, value: Any = 0.0):
        self.value = value

    def __call__(self, shape: Sequence[Any], dtype=None, **kwargs):
        whole_of(self, kwargs)
        dtype = settings.default_dtype(dtype)
        sizes = sizes_of(shape)
        value = np.asarray(self.value, dtype.as_numpy_dtype)
        if value.ndim and value.size == math.prod(sizes):
            value = value.reshape(sizes)
        try:
            return convert_to_tensor(np.broadcast_to(value, sizes).copy(), dtype)
        except ValueError:
            raise TypeError(
                f"Eager execution of tf.constant with unsupported shape. Tensor {value} (converted from {self.value}) "
                f"has {value.size} elements, but got `shape` {tuple(sizes)} with {math.prod(sizes)} elements)."
            ) from None

    def get_config(self):
        return {"value": self.value}


class RandomUniform(RandomValues):
    """Random numbers, uniform on [minval, maxval).

    Args:
      minval: the lower bound.
      maxval: the upper bound, which does not occur.
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).

    >>> values = tf.keras.initializers.RandomUniform(0.0, 1.0, seed=1)((100,))
    >>> bool(tf.reduce_all((values >= 0.0) & (values < 1.0)))
    True
    """

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: int | None = None):
        super().__init__(seed)
        self.minval, self.maxval = minval, maxval

    def __call__(self, shape: Sequence[Any], dtype=None, **kwargs):
        dtype = settings.default_dtype(dtype)
        if not dtype.is_floating and not dtype.is_integer:
            raise ValueError(f"Expected float or integer dtype, got {dtype}.")
        return self._uniform(part_of(shape, kwargs), self.minval, self.maxval, dtype)

    def get_config(self):
        return {"minval": self.minval, "maxval": self.maxval, **super().get_config()}


class RandomNormal(RandomValues):
    """Random numbers with a normal distribution.

    Args:
      mean: the mean of the distribution.
      stddev: the standard deviation.
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
    """

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None):
        super().__init__(seed)
        self.mean, self.stddev = mean, stddev

    def __call__(self, shape: Sequence[Any], dtype: DTypeLike | None = None, **kwargs):
        return self._normal(part_of(shape, kwargs), self.mean, self.stddev, float_dtype(dtype))

    def get_config(self):
        return {"mean": self.mean, "stddev": self.stddev, **super().get_config()}


class TruncatedNormal(RandomNormal):
    """Random numbers with a normal distribution; those more than two standard deviations from the mean are drawn again.

    Args:
      mean: the mean of the distribution.
      stddev: the standard deviation, before this.
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
    """

    def __call__(self, shape: Sequence[Any], dtype: DTypeLike | None = None, **kwargs):
        return self._truncated(part_of(shape, kwargs), self.mean, self.stddev, float_dtype(dtype))


zeros = zeros_initializer = Zeros
ones = ones_initializer = Ones

_CLASSES = (
    Zeros,
    Ones,
    Constant,
    RandomUniform,
    RandomNormal,
    TruncatedNormal,
    VarianceScaling,
    GlorotUniform,
    GlorotNormal,
    HeUniform,
    HeNormal,
    LecunUniform,
    LecunNormal,
    Orthogonal,
    Identity,
    STFT,
)
_NAMES = {cls.__name__: cls for cls in _CLASSES} | {
    "zeros": Zeros,
    "zero": Zeros,
    "ones": Ones,
    "one": Ones,
    "constant": Constant,
    "uniform": RandomUniform,
    "random_uniform": RandomUniform,
    "normal": RandomNormal,
    "random_normal": RandomNormal,
    "truncated_normal": TruncatedNormal,
    "variance_scaling": VarianceScaling,
    "glorot_uniform": GlorotUniform,
    "glorot_normal": GlorotNormal,
    "he_uniform": HeUniform,
    "he_normal": HeNormal,
    "lecun_uniform": LecunUniform,
    "lecun_normal": LecunNormal,
    "orthogonal": Orthogonal,
    "identity": Identity,
    "stft": STFT,
    "IdentityInitializer": Identity,
    "OrthogonalInitializer": Orthogonal,
    "STFTInitializer": STFT,
}
constant = Constant
random_uniform, random_normal = RandomUniform, RandomNormal
truncated_normal = TruncatedNormal
glorot_uniform, glorot_normal = GlorotUniform, GlorotNormal
he_uniform, he_normal = HeUniform, HeNormal
lecun_uniform, lecun_normal = LecunUniform, LecunNormal
variance_scaling, orthogonal, identity = VarianceScaling, Orthogonal, Identity
IdentityInitializer, OrthogonalInitializer = Identity, Orthogonal
STFTInitializer = stft = STFT


def get(identifier):
    """Find an initializer.

    Args:
      identifier: the name of an initializer, its config, a function, an initializer, or None.

    Returns:
      The initializer, or None.

    Raises:
      ValueError: for an unknown name.
    """
    return resolve(identifier, _NAMES, "initializer")


@leaves_out("use_legacy_format")
def serialize(initializer: Any):
    """The config of an initializer."""
    return to_config(initializer)


@leaves_out("use_legacy_format")
def deserialize(config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
    """Make an initializer of its name or config.

    Args:
      config: what `serialize` gave.
      custom_objects: a dict of the program's own classes and functions by name.

    Returns:
      The initializer.

    Raises:
      ValueError: for an unknown name.
    """
    return resolve(config, _NAMES, "initializer", custom_objects)


__all__ = ["Initializer", "deserialize", "get", "serialize", *(name for name in _NAMES if name in globals())]

boundaries(globals())

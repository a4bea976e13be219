"""Random first values whose size depends on the numbers of inputs and outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import DTypeLike
from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2
from tapeflow.keras.initializer_base import (
    RandomValues,
    float_dtype,
    part_of,
    sizes_of,
)

# The standard deviation of a standard normal cut off at two.
_TRUNCATED_STDDEV = 0.87962566103423978


class VarianceScaling(RandomValues):
    """Random values whose variance is scale / (number of inputs, outputs, or their mean).

    For a kernel `(..., inputs, outputs)` both numbers are multiplied by the sizes of the window.

    Args:
      scale: the factor, above 0.
      mode: "fan_in" for the number of inputs, "fan_out" for that of outputs, "fan_avg" for their mean.
      distribution: "truncated_normal" (or "normal"), "untruncated_normal" or "uniform".
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
      input_axes: the axes that count the inputs; None for the last but one.
      output_axes: the axes that count the outputs; None for the last.

    Raises:
      ValueError: for a factor that is not positive, and unknown names.
    """

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal",
        seed: int | None = None, input_axes=None, output_axes=None,
    ):
        if scale <= 0.0:
            raise ValueError(f"`scale` must be positive float. Received: scale={scale}.")
        if mode not in {"fan_in", "fan_out", "fan_avg"}:
            raise ValueError(
                f"Invalid `mode` argument: {mode}. Please use one of 'fan_in', 'fan_out', 'fan_avg'"
            )
        distribution = distribution.lower()
        if distribution == "normal":
            distribution = "truncated_normal"
        if distribution not in {"uniform", "truncated_normal", "untruncated_normal"}:
            raise ValueError(f"Invalid `distribution` argument: {distribution}.")
        super().__init__(seed)
        self.scale, self.mode, self.distribution = scale, mode, distribution
        self.input_axes, self.output_axes = input_axes, output_axes

    def _fans(self, sizes):
        """The numbers of inputs and outputs; along the axes that were named, where some were."""
        if self.input_axes is None and self.output_axes is None:
            return fans(sizes)
        rank = len(sizes)
        inputs, outputs = (
            None
            if axes is None
            else {axis % rank for axis in ((axes,) if isinstance(axes, int) else axes)}
            for axes in (self.input_axes, self.output_axes)
        )
        if inputs is None:
            inputs = set(range(rank)) - outputs
        if outputs is None:
            outputs = set(range(rank)) - inputs
        rest = math.prod(size for axis, size in enumerate(sizes) if axis not in inputs | outputs)
        return tuple(rest * math.prod(sizes[axis] for axis in axes) for axes in (inputs, outputs))

    def _axes_config(self):
        if self.input_axes is None and self.output_axes is None and keras_2():
            return {}
        return {"input_axes": self.input_axes, "output_axes": self.output_axes}

    def __call__(self, shape: Sequence[Any], dtype: DTypeLike | None = None, **kwargs):
        dtype = float_dtype(dtype)
        sizes = sizes_of(shape)
        fan_in, fan_out = self._fans(sizes)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        variance = self.scale / max(1.0, fan)
        sizes = part_of(shape, kwargs)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return self._uniform(sizes, -limit, limit, dtype)
        if self.distribution == "truncated_normal":
            return self._truncated(sizes, 0.0, math.sqrt(variance) / _TRUNCATED_STDDEV, dtype)
        return self._normal(sizes, 0.0, math.sqrt(variance), dtype)

    def get_config(self):
        return {
            "scale": self.scale,
            "mode": self.mode,
            "distribution": self.distribution,
            **super().get_config(),
            **self._axes_config(),
        }


def fans(sizes: Sequence[int]):
    """(inputs, outputs) of one unit of a kernel of this shape."""
    if len(sizes) < 1:
        return 1, 1
    if len(sizes) == 1:
        return sizes[0], sizes[0]
    field = math.prod(sizes[:-2])
    return sizes[-2] * field, sizes[-1] * field


class _Scaled(VarianceScaling):
    """A VarianceScaling with fixed settings."""

    _settings: tuple = ()

    def __init__(self, seed=None, input_axes=None, output_axes=None):
        super().__init__(*self._settings, seed, input_axes, output_axes)

    def get_config(self):
        return {**RandomValues.get_config(self), **self._axes_config()}


class GlorotUniform(_Scaled):
    """Uniform with variance 2 / (fan_in + fan_out), the default of most layers (Glorot & Bengio 2010).

    Args:
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
      input_axes: the axes that count the inputs; None for the last but one.
      output_axes: the axes that count the outputs; None for the last.

    >>> print(tf.keras.initializers.GlorotUniform()((3, 4)).shape)
    (3, 4)
    """

    _settings = (1.0, "fan_avg", "uniform")


class GlorotNormal(_Scaled):
    """Truncated normal with variance 2 / (fan_in + fan_out) (Glorot & Bengio 2010).

    Args:
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
      input_axes: the axes that count the inputs; None for the last but one.
      output_axes: the axes that count the outputs; None for the last.
    """

    _settings = (1.0, "fan_avg", "truncated_normal")


class HeUniform(_Scaled):
    """Uniform with variance 2 / fan_in, for layers with ReLU (He et al. 2015).

    Args:
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
      input_axes: the axes that count the inputs; None for the last but one.
      output_axes: the axes that count the outputs; None for the last.
    """

    _settings = (2.0, "fan_in", "uniform")


class HeNormal(_Scaled):
    """Truncated normal with variance 2 / fan_in, for layers with ReLU (He et al. 2015).

    Args:
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
      input_axes: the axes that count the inputs; None for the last but one.
      output_axes: the axes that count the outputs; None for the last.
    """

    _settings = (2.0, "fan_in", "truncated_normal")


class LecunUniform(_Scaled):
    """Uniform with variance 1 / fan_in (LeCun et al. 1998).

    Args:
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
      input_axes: the axes that count the inputs; None for the last but one.
      output_axes: the axes that count the outputs; None for the last.
    """

    _settings = (1.0, "fan_in", "uniform")


class LecunNormal(_Scaled):
    """Truncated normal with variance 1 / fan_in, for layers with SELU (LeCun et al. 1998).

    Args:
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
      input_axes: the axes that count the inputs; None for the last but one.
      output_axes: the axes that count the outputs; None for the last.
    """

    _settings = (1.0, "fan_in", "truncated_normal")


boundaries(globals())

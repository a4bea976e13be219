"""`keras.backend`: random numbers, and variables that start with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.public import boundaries, computes_tensors
from tapeflow.keras import settings
from tapeflow.keras.backend.values import variable
from tapeflow.ops.math.casting import cast
from tapeflow.ops.random.functions import normal, uniform
from tapeflow.ops.random.functions import truncated_normal as truncated_normal_numbers


@computes_tensors
def random_bernoulli(
    shape: Sequence[Any], p: float = 0.0, dtype: DTypeLike | None = None, seed: int | None = None
):
    """Draw ones with the probability p, else zeros.

    Args:
      shape: the shape of the result.
      p: the probability, from 0 to 1.
      dtype: its dtype; None for `keras.config.floatx()`.
      seed: an integer; None for other numbers each time.

    Returns:
      A tensor.
    """
    dtype = settings.default_dtype(dtype)
    return cast(uniform(shape, 0.0, 1.0, dtypes.float32, seed=seed) <= p, dtype)


random_binomial = random_bernoulli


@computes_tensors
def random_normal(
    shape: Sequence[Any], mean: float = 0.0, stddev: float = 1.0, dtype: DTypeLike | None = None,
    seed: int | None = None,
):
    """Draw numbers with a normal distribution.

    Args:
      shape: the shape of the result.
      mean: the mean of the distribution.
      stddev: the standard deviation.
      dtype: its dtype; None for `keras.config.floatx()`.
      seed: an integer; None for other numbers each time.

    Returns:
      A tensor.
    """
    return normal(shape, mean, stddev, settings.default_dtype(dtype), seed)


@computes_tensors
def random_uniform(
    shape: Sequence[Any], minval: float = 0.0, maxval: float = 1.0, dtype: DTypeLike | None = None,
    seed: int | None = None,
):
    """Draw numbers with a uniform distribution on [minval, maxval).

    Args:
      shape: the shape of the result.
      minval: the lower bound.
      maxval: the upper bound.
      dtype: its dtype; None for `keras.config.floatx()`.
      seed: an integer; None for other numbers each time.

    Returns:
      A tensor.
    """
    return uniform(shape, minval, maxval, settings.default_dtype(dtype), seed)


@computes_tensors
def truncated_normal(
    shape: Sequence[Any], mean: float = 0.0, stddev: float = 1.0, dtype: DTypeLike | None = None,
    seed: int | None = None,
):
    """Draw normal numbers; those more than two standard deviations from the mean are drawn again.

    Args:
      shape: the shape of the result.
      mean: the mean of the distribution.
      stddev: the standard deviation.
      dtype: its dtype; None for `keras.config.floatx()`.
      seed: an integer; None for other numbers each time.

    Returns:
      A tensor.
    """
    return truncated_normal_numbers(shape, mean, stddev, settings.default_dtype(dtype), seed)


def random_normal_variable(
    shape: Sequence[Any], mean: Any, scale: bool, dtype: DTypeLike | None = None, name: str | None = None,
    seed: int | None = None,
):
    """Make a variable of normal random numbers.

    Args:
      shape: its shape.
      mean: the mean of the distribution.
      scale: the standard deviation.
      dtype: its dtype; None for `keras.config.floatx()`.
      name: its name.
      seed: an integer; None for other numbers each time.

    Returns:
      The variable.
    """
    return variable(random_normal(shape, mean, scale, dtype, seed), dtype, name)


def random_uniform_variable(
    shape: Sequence[Any], low: Any, high: Any, dtype: DTypeLike | None = None, name: str | None = None,
    seed: int | None = None,
):
    """Make a variable of uniform random numbers on [low, high).

    Args:
      shape: its shape.
      low: the lower bound.
      high: the upper bound.
      dtype: its dtype; None for `keras.config.floatx()`.
      name: its name.
      seed: an integer; None for other numbers each time.

    Returns:
      The variable.
    """
    return variable(random_uniform(shape, low, high, dtype, seed), dtype, name)


boundaries(globals())

"""Random arrays; `seed` fixes what follows it."""

from __future__ import annotations

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.public import public
from tapeflow.experimental.numpy.arrays import default_float, promoted
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.math.casting import cast
from tapeflow.ops.random.functions import normal
from tapeflow.ops.random.functions import poisson as poisson_
from tapeflow.ops.random.functions import uniform as uniform_
from tapeflow.ops.random.seed import set_seed


def _shape(size):
    return [] if size is None else [size] if isinstance(size, int) else size


@public
def seed(s):
    """Seeds what follows: `tf.random.set_seed`. Raises ValueError for something that is no integer."""
    try:
        s = int(s)
    except TypeError:
        raise ValueError(
            f"Argument `s` got an invalid value {s}. Only integers are supported."
        ) from None
    set_seed(s)


@public
def randn(*args):
    """Numbers of the standard normal distribution, in that shape."""
    return standard_normal(args)


@public
def standard_normal(size=None):
    """Numbers of the standard normal distribution."""
    return normal(_shape(size), dtype=default_float())


@public
def rand(*size):
    """Numbers between 0 and 1, in that shape."""
    return uniform(0.0, 1.0, size)


@public
def random(size=None):
    """Numbers between 0 and 1."""
    return uniform(0.0, 1.0, size)


@public
def uniform(low: float = 0.0, high: float = 1.0, size=None):
    """Return numbers between two ends.

    Args:
      low: the least.
      high: the limit.
      size: the shape; None: that of the two ends broadcast.
    """
    dtype = default_float()
    low, high = cast(low, dtype), cast(high, dtype)
    if size is None:
        size = broadcast_dynamic_shape(shape(low), shape(high))
    return uniform_(_shape(size), low, high, dtype)


@public
def poisson(lam: float = 1.0, size=None):
    """Return numbers of the Poisson distribution.

    Args:
      lam: the mean, a number or an array.
      size: the shape; None: that of `lam`.
    """
    if size is None:
        size = shape(promoted(lam)[0])
    return poisson_(_shape(size), lam, dtypes.int64)


@public
def randint(low, high=None, size=None, dtype: DTypeLike = np.int64):
    """Return integers from `low` up to but without `high`.

    Args:
      low: the least; alone, it is the limit, and the least is 0.
      high: the limit.
      size: the shape; None: a scalar.
      dtype: int32 or int64; ValueError for others.
    """
    low, high = (0, low) if high is None else (low, high)
    target = as_dtype(dtype)
    if target not in (dtypes.int32, dtypes.int64):
        raise ValueError(
            f"Argument `dtype` got an invalid value {dtype}. Only those convertible to int32 or int64 are supported."
        )
    return uniform_(_shape(size), low, high, target)

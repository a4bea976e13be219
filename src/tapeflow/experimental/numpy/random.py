"""Random arrays; `seed` fixes what follows it."""

from __future__ import annotations

import numpy as np

import tapeflow as tf
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.public import public
from tapeflow.experimental.numpy.arrays import default_float, promoted


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
    tf.random.set_seed(s)


@public
def randn(*args):
    """Numbers of the standard normal distribution, in that shape."""
    return standard_normal(args)


@public
def standard_normal(size: TensorLike | None = None):
    """Numbers of the standard normal distribution."""
    return tf.random.normal(_shape(size), dtype=default_float())


@public
def rand(*size):
    """Numbers between 0 and 1, in that shape."""
    return uniform(0.0, 1.0, size)


@public
def random(size: TensorLike | None = None):
    """Numbers between 0 and 1."""
    return uniform(0.0, 1.0, size)


@public
def uniform(low: TensorLike = 0.0, high: TensorLike = 1.0, size: TensorLike | None = None):
    """Return numbers between two ends.

    Args:
      low: the least.
      high: the limit.
      size: the shape; None: that of the two ends broadcast.
    """
    dtype = default_float()
    low, high = tf.cast(low, dtype), tf.cast(high, dtype)
    if size is None:
        size = tf.broadcast_dynamic_shape(tf.shape(low), tf.shape(high))
    return tf.random.uniform(_shape(size), low, high, dtype)


@public
def poisson(lam: TensorLike = 1.0, size: TensorLike | None = None):
    """Return numbers of the Poisson distribution.

    Args:
      lam: the mean, a number or an array.
      size: the shape; None: that of `lam`.
    """
    if size is None:
        size = tf.shape(promoted(lam)[0])
    return tf.random.poisson(_shape(size), lam, tf.int64)


@public
def randint(
    low: TensorLike, high: TensorLike | None = None, size: TensorLike | None = None, dtype: DTypeLike = np.int64
):
    """Return integers from `low` up to but without `high`.

    Args:
      low: the least; alone, it is the limit, and the least is 0.
      high: the limit.
      size: the shape; None: a scalar.
      dtype: int32 or int64; ValueError for others.
    """
    low, high = (0, low) if high is None else (low, high)
    target = tf.as_dtype(dtype)
    if target not in (tf.int32, tf.int64):
        raise ValueError(
            f"Argument `dtype` got an invalid value {dtype}. Only those convertible to int32 or int64 are supported."
        )
    return tf.random.uniform(_shape(size), low, high, target)

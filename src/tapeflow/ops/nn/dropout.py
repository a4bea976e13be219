"""Dropout: zeros at random places, the rest scaled up so that the expected sum stays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import context
from tapeflow.core.annotations import FloatLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, public, tensor_function
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.math import casting, choice, comparison
from tapeflow.ops.random import functions
from tapeflow.ops.random.seed import seeds
from tapeflow.ops.random.stateless_functions import stateless_uniform
from tapeflow.ops.static import as_shape, size_of, sizes_of, static_value


@api(v2="nn.dropout")
@tensor_function
@graph_scope("dropout/")
def dropout(
    x: TensorLike, rate: TensorLike, noise_shape=None, seed: int | None = None, name: str | None = None
):
    """Set elements to zero at random, and scale the others so that the expected sum stays.

    Args:
      x: a floating tensor.
      rate: the probability that an element is set to zero, in [0, 1); the others are divided by `1 - rate`.
      noise_shape: a shape that broadcasts to that of `x`: along dimensions where it is 1, elements are kept or
        dropped together (optional).
      seed: an integer that makes the choice repeatable, together with `tf.random.set_seed` (optional).
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `x`.

    Raises:
      ValueError: for a rate outside of [0, 1), and an `x` that is not floating.

    >>> tf.reduce_mean(tf.cast(tf.nn.dropout(tf.ones([10]), rate=0.0) == 1.0, tf.float32))
    <tf.Tensor: shape=(), dtype=float32, numpy=1.0>
    """
    # A rate of 0 takes a seed as others do, so that what is drawn later does not depend on the rate.
    sampler = functools.partial(functions.uniform, seed=seed)
    return _dropped(x, rate, noise_shape, sampler, functools.partial(seeds, seed))


@api("nn.experimental.stateless_dropout")
@public
def stateless_dropout(
    x: TensorLike, rate: TensorLike, seed: TensorLike, rng_alg: str = "auto_select", noise_shape=None,
    name: str | None = None,
):
    """Set elements to zero by a choice that depends on a seed alone.

    Args:
      x: a floating tensor.
      rate: the probability that an element is set to zero, in [0, 1).
      seed: two integers: the same ones always give the same result.
      rng_alg: the algorithm of the numbers: "philox", "threefry" or "auto_select".
      noise_shape: as of `tf.nn.dropout`.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `x`.

    Raises:
      ValueError: for a rate outside of [0, 1), and an `x` that is not floating.
    """
    sampler = functools.partial(stateless_uniform, seed=seed, alg=rng_alg)
    return _dropped(x, rate, noise_shape, sampler)


@api("nn.experimental.general_dropout")
@public
def general_dropout(x: TensorLike, rate: TensorLike, uniform_sampler, noise_shape=None, name: str | None = None):
    """Set elements to zero at random, by numbers that a given function draws.

    Args:
      x: a floating tensor.
      rate: the probability that an element is set to zero, in [0, 1).
      uniform_sampler: called as `uniform_sampler(shape=..., dtype=...)`, it returns numbers of [0, 1).
      noise_shape: as of `tf.nn.dropout`.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `x`.

    Raises:
      ValueError: for a rate outside of [0, 1), and an `x` that is not floating.
    """
    return _dropped(x, rate, noise_shape, uniform_sampler)


def _dropped(x: Any, rate, noise_shape, sampler: Callable[..., Any], skip: Callable[[], Any] = tuple):
    """`x` with zeros where `sampler` says; `skip` is called where nothing is drawn because the rate is 0."""
    x = convert_to_tensor(x)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise ValueError(
            "`x.dtype` must be a floating point tensor as `x` will be scaled. "
            f"Received: x_dtype={x.dtype}"
        )
    if isinstance(rate, (int, float, np.integer, np.floating)):
        if not 0 <= rate < 1:
            raise ValueError(
                "`rate` must be a scalar tensor or a float in the range [0, 1). "
                f"Received: rate={rate}"
            )
        if rate == 0:
            skip()
            return x
        scaled = x * (1 / (1 - rate))
    else:
        if not hasattr(rate, "dtype"):
            raise ValueError(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")
        rate = convert_to_tensor(rate)
        if rate.shape.rank not in (None, 0):
            raise ValueError(f"Shape {rate.shape} must have rank 0")
        if rate.dtype != x.dtype:
            if not rate.dtype.is_integer and rate.dtype != x.dtype:
                raise ValueError(
                    "`x.dtype` must be equal to `rate.dtype`. "
                    f"Received: x.dtype={x.dtype} and rate.dtype={rate.dtype}"
                )
            rate = casting.cast(rate, x.dtype)
        scaled = x / (1 - rate)
    noise = sampler(shape=_noise_shape(x, noise_shape), dtype=x.dtype)
    keep = comparison.greater_equal(noise, rate)
    result = choice.where(keep, scaled, convert_to_tensor(0, dtype=x.dtype))
    if not context.executing_eagerly():
        result.set_shape(x.shape)  # also where the shape of the rate, or of the noise, is not known
    return result


def _noise_shape(x: Tensor, noise_shape):
    if noise_shape is None:
        return Shape(x)
    known = static_value(noise_shape) if hasattr(noise_shape, "dtype") else None
    if known is None and hasattr(noise_shape, "dtype"):
        return noise_shape
    wanted = (
        noise_shape.as_list()
        if hasattr(noise_shape, "as_list")
        else list(noise_shape if known is None else known.tolist())
    )
    if any(d is None for d in wanted) and x.shape.rank in (len(wanted), None):
        if x.shape.rank is None:
            wanted = [size_of(x, i) if d is None else d for i, d in enumerate(wanted)]
            return as_shape(wanted)
        wanted = [own if d is None else d for own, d in zip(sizes_of(x), wanted, strict=True)]
    return as_shape([int(d) if not hasattr(d, "dtype") else d for d in wanted])


@api(v1="nn.dropout")
@tensor_function
@graph_scope("dropout/")
def dropout_v1(
    x: TensorLike, keep_prob: FloatLike | None = None, noise_shape=None, seed: int | None = None,
    name: str | None = None, rate: TensorLike | None = None,
):
    """`dropout` with the 1.x argument `keep_prob`, which is 1 - rate."""
    if keep_prob is not None and rate is not None:
        raise ValueError("Cannot specify both 'keep_prob' and 'rate'.")
    if rate is None:
        if keep_prob is None:
            raise ValueError(f"`rate` must be provided. Received: rate={rate}")
        try:
            rate = 1 - keep_prob
        except TypeError:
            raise ValueError(
                f"`keep_prob` must be a floating point number or Tensor. Received: keep_prob={keep_prob}"
            ) from None
    return dropout(x, rate, noise_shape, seed)

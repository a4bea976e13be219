"""Expectations of functions of random variables, estimated by means over samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tapeflow.compat.v1 as tf
from tapeflow.core.annotations import Tensor, TensorLike

__all__ = ["expectation", "expectation_importance_sampler", "expectation_importance_sampler_logspace"]


def _samples(distribution, z, n: int | None, seed: int | None):
    if (n is None) == (z is None):
        raise ValueError(f'Must specify exactly one of arguments "n" and "z".  Found: n = {n}, z = {z}')
    return distribution.sample(n, seed=seed) if z is None else tf.convert_to_tensor(z, name="z")


def _log_mean(log_values: Tensor):
    """The logarithm of the mean over the first axis, of values given by their logarithms."""
    center = tf.stop_gradient(tf.reduce_max(log_values, [0]))
    return tf.log(tf.reduce_mean(tf.exp(log_values - center), [0])) + center


def expectation_importance_sampler(
    f: Callable[..., Any], log_p: Callable[..., Any], sampling_dist_q, z: TensorLike | None = None,
    n: int | None = None, seed: int | None = None, name: str = "expectation_importance_sampler",
):
    """An estimate of the mean of f under p, by samples of q, computed in logarithms.

    Args:
      f: a function of samples.
      log_p: the logarithm of the density p, a function of samples.
      sampling_dist_q: the distribution q.
      z: samples of q; or
      n: how many to draw.
      seed: for drawing them.

    Raises ValueError unless exactly one of z and n is given.
    """
    with tf.name_scope(name, values=[z, n]):
        z = _samples(sampling_dist_q, z, n, seed)
        weight = log_p(z) - sampling_dist_q.log_prob(z)
        values = f(z)

        def mean_above_zero(values: Tensor):
            return tf.exp(_log_mean(tf.log(tf.nn.relu(values) + 1.0) + weight))

        return mean_above_zero(values) - mean_above_zero(-values)


def expectation_importance_sampler_logspace(
    log_f: Callable[..., Any], log_p: Callable[..., Any], sampling_dist_q, z: TensorLike | None = None,
    n: int | None = None, seed: int | None = None, name: str = "expectation_importance_sampler_logspace",
):
    """The logarithm of an estimate of the mean of a positive function under p; see `expectation_importance_sampler`."""
    with tf.name_scope(name, values=[z, n]):
        z = _samples(sampling_dist_q, z, n, seed)
        return _log_mean(log_f(z) + log_p(z) - sampling_dist_q.log_prob(z))


def expectation(
    f, samples: TensorLike, log_prob: Callable[..., Any] | None = None, use_reparametrization: bool = True,
    axis: int | None = 0, keep_dims: bool = False, name: str | None = None,
):
    """The mean of f over samples, with the gradient of the expectation.

    Args:
      f: a function of samples.
      samples: a tensor.
      log_prob: the logarithm of the density of samples, a function; for `use_reparametrization=False` only.
      use_reparametrization: whether the samples are differentiable functions of parameters; otherwise the gradient
        is that of the density.
      axis: the axes of the mean; None: all.
      keep_dims: whether they stay, with size 1.

    Raises ValueError for an f, or a log_prob that is needed, that cannot be called.
    """
    with tf.name_scope(name, "expectation", [samples]):
        if not callable(f):
            raise ValueError("`f` must be a callable function.")
        if use_reparametrization:
            return tf.reduce_mean(f(samples), axis=axis, keepdims=keep_dims)
        if not callable(log_prob):
            raise ValueError("`log_prob` must be a callable function.")
        x = tf.stop_gradient(samples)
        log_p = log_prob(x)
        values = f(x)
        values += tf.stop_gradient(values) * (log_p - tf.stop_gradient(log_p))
        return tf.reduce_mean(values, axis=axis, keepdims=keep_dims)

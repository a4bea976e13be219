"""What is known of the mean of a normal distribution, of known scale, after observations (Gelman et al. 2013, 2.5)."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import sqrt, square
from tapeflow.v1.distributions import Normal

__all__ = ["normal_conjugates_known_scale_posterior", "normal_conjugates_known_scale_predictive"]


def _updated(prior: Normal, scale: TensorLike, s: Tensor, n: TensorLike) -> tuple[Any, Any]:
    """The mean and the variance of the posterior."""
    if not isinstance(prior, Normal):
        raise TypeError(f"Expected prior to be an instance of type Normal, got {type(prior).__name__}")
    if s.dtype != prior.dtype:
        raise TypeError(f"Observation sum s.dtype does not match prior dtype: {s.dtype} vs. {prior.dtype}")
    before, each = square(prior.scale), square(scale)
    variance = 1.0 / (1.0 / before + cast(n, prior.dtype) / each)
    return (prior.loc / before + s / each) * variance, variance


def normal_conjugates_known_scale_posterior(prior: Normal, scale: TensorLike, s: Tensor, n: TensorLike) -> Normal:
    """The distribution of the mean after `n` observations with the sum `s`.

    Args:
      prior: the distribution of the mean before.
      scale: the standard deviation of an observation, of the prior's dtype.
      s: the sum of the observations.
      n: their number.
    Raises TypeError for a prior that is not normal, and for sums of another dtype.
    """
    loc, variance = _updated(prior, scale, s, n)
    return Normal(loc=loc, scale=sqrt(variance))


def normal_conjugates_known_scale_predictive(prior: Normal, scale: TensorLike, s: Tensor, n: TensorLike) -> Normal:
    """The distribution of the next observation; see `normal_conjugates_known_scale_posterior`."""
    loc, variance = _updated(prior, scale, s, n)
    return Normal(loc=loc, scale=sqrt(variance + square(scale)))

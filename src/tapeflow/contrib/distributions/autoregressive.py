"""Autoregressive distributions: each element of an event depends on those before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.contrib.distributions.shaped import ShapedAsAnother
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.public import boundaries
from tapeflow.v1.distributions.continuous import mixed_seed

__all__ = ["Autoregressive"]


class Autoregressive(ShapedAsAnother):
    """The distribution of events whose elements are drawn one after the other (van den Oord et al., 2016).

    Args:
      distribution_fn: gives the distribution of an event, of an event (or nothing). What it gives of an element may
        depend on the elements before it only.
      sample0: the event to begin with; None: `distribution_fn` is called without one.
      num_steps: how often the function is called for a sample; None: as often as an event has elements.

    Raises:
      ValueError: where the number of steps is less than one, or neither given nor known.
    """

    def __init__(
        self, distribution_fn: Callable[..., Any], sample0: TensorLike | None = None, num_steps: int | None = None,
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Autoregressive",
    ):  # fmt: skip
        given = dict(locals())
        self._distribution_fn, self._sample0 = distribution_fn, sample0
        first = distribution_fn() if sample0 is None else distribution_fn(sample0)
        if num_steps is None:
            num_steps = first.event_shape.num_elements()
            if num_steps is None:
                raise ValueError("distribution_fn must generate a distribution with fully known `event_shape`.")
        if num_steps < 1:
            raise ValueError(f"num_steps ({num_steps}) must be at least 1.")
        self._num_steps, self._distribution = num_steps, first
        super().__init__(
            first.dtype, first.reparameterization_type, validate_args, allow_nan_stats, given, name=name
        )

    distribution_fn = property(lambda self: self._distribution_fn)
    sample0 = property(lambda self: self._sample0)
    num_steps = property(lambda self: self._num_steps)
    distribution0 = property(lambda self: self._distribution)

    def _sample_n(self, n: Tensor, seed: int | None = None) -> Tensor:
        # One seed for all steps: an element that was drawn is drawn again as it was.
        if seed is None:
            seed = mixed_seed(int(np.random.randint(2**32 - 1, dtype=np.uint32)), "autoregressive")
        samples = self.distribution0.sample(n, seed=seed)
        for _ in range(self._num_steps):
            samples = self.distribution_fn(samples).sample(seed=seed)
        return samples

    def _log_prob(self, value: Tensor) -> Tensor:
        return self.distribution_fn(value).log_prob(value)

    def _prob(self, value: Tensor) -> Tensor:
        return self.distribution_fn(value).prob(value)


boundaries(globals())

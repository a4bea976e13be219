"""Distributions of values rounded up to whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.contrib.distributions.shaped import ShapedAsAnother
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.control.assertions import assert_less_v1 as assert_less
from tapeflow.ops.control.type_assertions import assert_same_float_dtype
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.elementwise import exp, log1p
from tapeflow.ops.math.rounding import ceil, floor
from tapeflow.v1.distributions.base import NOT_REPARAMETERIZED
from tapeflow.v1.distributions.discrete import assert_whole

__all__ = ["QuantizedDistribution"]


class QuantizedDistribution(ShapedAsAnother):
    """The distribution of the values of another, rounded up to whole numbers and cut off at bounds.

    Args:
      distribution: the other one; it has `cdf`, and for probabilities far above the mean `survival_function`.
      low: a whole number that smaller ones become; None: no bound.
      high: a whole number that larger ones become; None: no bound.
      validate_args: whether it is checked that bounds and values are whole, and `low` less than `high`.

    Raises:
      ValueError: where the bounds have another dtype than the distribution, or one that is not floating.
    """

    def __init__(
        self, distribution: Any, low: TensorLike | None = None, high: TensorLike | None = None,
        validate_args: bool = False, name: str = "QuantizedDistribution",
    ):  # fmt: skip
        given = dict(locals())
        low, high = (None if bound is None else convert_to_tensor(bound) for bound in (low, high))
        assert_same_float_dtype([each for each in (distribution, low, high) if each is not None])
        self._distribution, self._validate_args = distribution, validate_args
        if low is not None and high is not None:
            message = "low must be strictly less than high."
            low = self._checked(low, lambda: assert_less(low, high, message=message))
        self._low = None if low is None else self._whole(low)
        self._high = None if high is None else self._whole(high)
        super().__init__(
            distribution.dtype, NOT_REPARAMETERIZED, validate_args, distribution.allow_nan_stats, given,
            [bound for bound in (self._low, self._high) if bound is not None], name,
        )  # fmt: skip

    low = property(lambda self: self._low)
    high = property(lambda self: self._high)

    def _whole(self, value: Any) -> Any:
        return self._checked(value, lambda: assert_whole(value, "value has non-integer components."))

    def _sample_n(self, n: Tensor, seed: int | None = None) -> Tensor:
        found = ceil(self._distribution.sample(n, seed=seed))
        if self._low is not None:
            found = where(found < self._low, self._low, found)
        return found if self._high is None else where(found > self._high, self._high, found)

    # A probability is a difference of two, of those that are smaller: above the median of the survival function.

    def _log_prob(self, y: Tensor) -> Tensor:
        y = self._whole(y)
        above, below = self.log_cdf(y), self.log_cdf(y - 1.0)
        try:
            tail, wide_tail = self.log_survival_function(y), self.log_survival_function(y - 1.0)
        except NotImplementedError:
            return _log_difference(above, below)
        return _log_difference(where(tail < above, wide_tail, above), where(tail < above, tail, below))

    def _prob(self, y: Tensor) -> Tensor:
        y = self._whole(y)
        above, below = self.cdf(y), self.cdf(y - 1.0)
        try:
            tail, wide_tail = self.survival_function(y), self.survival_function(y - 1.0)
        except NotImplementedError:
            return above - below
        return where(tail < above, wide_tail - tail, above - below)

    def _bounded(self, function: Callable[[Tensor], Tensor], y: Tensor, below: float, above: float) -> Tensor:
        """The function of the other distribution between the bounds."""
        found = function(y)
        wide = y + zeros_like(found)
        if self._low is not None:
            found = where(wide < self._low, convert_to_tensor(below, found.dtype), found)
        return found if self._high is None else where(wide >= self._high, convert_to_tensor(above, found.dtype), found)

    def _log_cdf(self, y: Tensor) -> Tensor:
        return self._bounded(self._distribution.log_cdf, floor(y), -np.inf, 0.0)

    def _cdf(self, y: Tensor) -> Tensor:
        return self._bounded(self._distribution.cdf, floor(y), 0.0, 1.0)

    def _log_survival_function(self, y: Tensor) -> Tensor:
        return self._bounded(self._distribution.log_survival_function, ceil(y), 0.0, -np.inf)

    def _survival_function(self, y: Tensor) -> Tensor:
        return self._bounded(self._distribution.survival_function, ceil(y), 1.0, 0.0)


def _log_difference(big: Tensor, small: Tensor) -> Tensor:
    """log(exp(big) - exp(small))."""
    ratio = where(big > -np.inf, small - big, zeros_like(big))  # of two zeros it is not known
    return log1p(-exp(ratio)) + big


boundaries(globals())

"""Distributions over the numbers 0, 1, 2, ..."""

from __future__ import annotations

from tapeflow.contrib.distributions.scalar import open_uniform
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.public import boundaries
from tapeflow.ops.array.construction import ones_like, zeros_like
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.control.assertions import assert_less_equal_v1 as assert_less_equal
from tapeflow.ops.control.assertions import assert_less_v1 as assert_less
from tapeflow.ops.control.assertions import assert_non_negative_v1 as assert_non_negative
from tapeflow.ops.control.assertions import assert_positive_v1 as assert_positive
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.division_no_nan import xlog1py, xlogy
from tapeflow.ops.math.elementwise import exp, expm1, log, log1p
from tapeflow.ops.math.rounding import floor
from tapeflow.ops.nn.softplus import softplus
from tapeflow.ops.random.functions import gamma as random_gamma
from tapeflow.ops.random.functions import poisson as random_poisson
from tapeflow.ops.special.functions import lgamma
from tapeflow.ops.special.incomplete import betainc, igammac
from tapeflow.v1.distributions.base import NOT_REPARAMETERIZED, Distribution
from tapeflow.v1.distributions.continuous import mixed_seed, numbers
from tapeflow.v1.distributions.discrete import Multinomial, assert_whole, counting, logits_and_probs

__all__ = ["Binomial", "Geometric", "NegativeBinomial", "Poisson"]


class _Counts(Distribution):
    """A distribution over the numbers 0, 1, 2, ..."""

    def _counted(self, x: Tensor) -> Tensor:
        return self._checked(x, *counting(x))


class Poisson(_Counts):
    """The Poisson distribution, of a rate or its logarithm."""

    def __init__(
        self, rate: float | None = None, log_rate: float | None = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Poisson",
    ):  # fmt: skip
        given = dict(locals())
        if (rate is None) == (log_rate is None):
            raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
        self._validate_args = validate_args
        if rate is None:
            (self._log_rate,) = numbers(log_rate)
            self._rate = exp(self._log_rate)
        else:
            (rate,) = numbers(rate)
            self._rate = self._checked(rate, lambda: assert_positive(rate))
            self._log_rate = log(self._rate)
        self._parts = (self._rate,)
        super().__init__(
            self._rate.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    rate = property(lambda self: self._rate)
    log_rate = property(lambda self: self._log_rate)

    def _sample_n(self, n: Tensor, seed: int | None = None):
        return random_poisson([n], self.rate, dtype=self.dtype, seed=seed)

    def _log_prob(self, x: Tensor):
        x = self._counted(x)
        return xlogy(x, self.rate) - lgamma(1.0 + x) - self.rate

    def _cdf(self, x: Tensor):
        x = self._counted(x)
        wide = zeros_like(x + self.rate)
        inside = igammac(where(x + wide >= 0, 1.0 + x + wide, ones_like(wide)), self.rate + wide)
        return where(x + wide >= 0, inside, wide)

    def _mean(self):
        return self.rate + zeros_like(self.rate)

    _variance = _mean

    def _mode(self):
        return floor(self.rate)


class _OfChances(_Counts):
    """A distribution of a chance, given as logits or as a probability."""

    def _chances(self, logits, probs: float | None, validate_args: bool):
        self._validate_args = validate_args
        self._logits, self._probs = logits_and_probs(logits, probs, False, validate_args)

    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)


class Geometric(_OfChances):
    """How many failures come before the first success."""

    def __init__(
        self, logits: TensorLike | None = None, probs: float | None = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Geometric",
    ):
        given = dict(locals())
        self._chances(logits, probs, validate_args)
        self._probs = self._checked(self._probs, lambda: assert_positive(self._probs))
        self._parts = (self._probs,)
        super().__init__(
            self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    def _sample_n(self, n: Tensor, seed: int | None = None):
        return floor(log(open_uniform(self._wide(n), self.dtype, seed)) / log1p(-self.probs))

    def _log_prob(self, x: Tensor):
        return xlog1py(floor(self._counted(x)), -self.probs) + log(self.probs)

    def _cdf(self, x: Tensor):
        x = floor(self._counted(x))
        found = -expm1((1.0 + x) * log1p(-self.probs))
        return where(x + zeros_like(found) < 0, zeros_like(found), found)

    def _entropy(self):
        message = "Entropy is undefined when logits = inf or probs = 1."
        p = self._checked(
            self.probs, lambda: assert_less(self.probs, ones_like(self.probs), message=message)
        )
        return -(xlogy(p, p) + xlog1py(1.0 - p, -p)) / p

    def _mean(self):
        return exp(-self.logits)

    def _variance(self):
        return self._mean() / self.probs

    def _mode(self):
        return zeros_like(self.probs)


class NegativeBinomial(_OfChances):
    """How many successes come before `total_count` failures."""

    def __init__(
        self, total_count: float, logits: TensorLike | None = None, probs: float | None = None,
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "NegativeBinomial",
    ):  # fmt: skip
        given = dict(locals())
        self._chances(logits, probs, validate_args)
        (total_count,) = numbers(total_count, dtype=self._probs.dtype)
        self._total_count = self._checked(total_count, lambda: assert_positive(total_count))
        self._parts = (self._total_count, self._probs)
        super().__init__(
            self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    total_count = property(lambda self: self._total_count)

    def _sample_n(self, n: Tensor, seed: int | None = None):
        concentration = self.total_count + zeros_like(self.logits)
        rate = random_gamma([n], concentration, beta=exp(-self.logits), dtype=self.dtype, seed=seed)
        return random_poisson([], rate, dtype=self.dtype, seed=mixed_seed(seed, "negative_binom"))

    def _log_prob(self, x: Tensor):
        x, n = self._counted(x), self.total_count
        ways = lgamma(n + x) - lgamma(1.0 + x) - lgamma(n)
        return ways - x * softplus(-self.logits) - n * softplus(self.logits)

    def _cdf(self, x: Tensor):
        wide = zeros_like(x + self.total_count + self.probs)
        x = floor(self._counted(x)) + wide
        inside = betainc(
            self.total_count + wide, where(x >= 0, 1.0 + x, ones_like(wide)), 1.0 - self.probs + wide
        )
        return where(x >= 0, inside, wide)

    def _mean(self):
        return self.total_count * exp(self.logits)

    def _variance(self):
        return self._mean() / (1.0 - self.probs)

    def _mode(self):
        found = floor((self.total_count - 1.0) * exp(self.logits))
        return where(self.total_count + zeros_like(found) > 1.0, found, zeros_like(found))


class Binomial(_OfChances):
    """How many of `total_count` trials succeed."""

    def __init__(
        self, total_count: float, logits: TensorLike | None = None, probs: float | None = None,
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Binomial",
    ):  # fmt: skip
        given = dict(locals())
        self._chances(logits, probs, validate_args)
        (total_count,) = numbers(total_count, dtype=self._probs.dtype)
        self._total_count = self._checked(
            total_count,
            lambda: assert_non_negative(total_count, message="total_count must be non-negative."),
            lambda: assert_whole(total_count, "total_count cannot contain fractional components."),
        )
        self._parts = (self._total_count, self._probs)
        super().__init__(
            self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    total_count = property(lambda self: self._total_count)

    def _sample_n(self, n: Tensor, seed: int | None = None):
        wide = zeros_like(self._total_count + self._probs)
        probs = stack([self._probs + wide, 1.0 - self._probs + wide], -1)
        counts = Multinomial(self._total_count + wide, probs=probs)._sample_n(n, seed)
        return counts[..., 0]

    def _counted(self, x: Tensor) -> Tensor:
        x, message = super()._counted(x), "counts are not less than or equal to n."
        return self._checked(x, lambda: assert_less_equal(x, self.total_count, message=message))

    def _log_prob(self, x: Tensor):
        x, n = self._counted(x), self.total_count
        ways = lgamma(n + 1.0) - lgamma(x + 1.0) - lgamma(n - x + 1.0)
        return ways + xlogy(x, self.probs) + xlog1py(n - x, -self.probs)

    def _cdf(self, x: Tensor):
        wide = zeros_like(x + self.total_count + self.probs)
        x, n = floor(self._counted(x)) + wide, self.total_count + wide
        inside = (x >= 0) & (x < n)
        safe = where(inside, x, wide)
        found = betainc(where(inside, n - safe, 1.0 + wide), 1.0 + safe, 1.0 - self.probs + wide)
        return where(inside, found, where(x < 0, wide, 1.0 + wide))

    def _mean(self):
        return self.total_count * self.probs

    def _variance(self):
        return self._mean() * (1.0 - self.probs)

    def _mode(self):
        return floor((1.0 + self.total_count) * self.probs)


boundaries(globals())

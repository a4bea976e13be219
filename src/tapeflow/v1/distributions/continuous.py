"""Distributions over numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.ops.array.construction import ones_like, zeros_like
from tapeflow.ops.control.assertions import assert_less_v1 as assert_less
from tapeflow.ops.control.assertions import assert_positive_v1 as assert_positive
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import equal, greater
from tapeflow.ops.math.division_no_nan import xlog1py, xlogy
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import exp, log, log1p, sign, sqrt, square
from tapeflow.ops.math.float_kinds import is_nan
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.random.functions import gamma as random_gamma
from tapeflow.ops.random.functions import normal as random_normal
from tapeflow.ops.random.functions import uniform as random_uniform
from tapeflow.ops.special.functions import digamma, erf, erfc, lgamma, ndtri
from tapeflow.ops.special.incomplete import betainc, igamma
from tapeflow.v1.distributions.base import (
    FULLY_REPARAMETERIZED,
    Distribution,
)

__all__ = ["Beta", "Exponential", "Gamma", "Laplace", "Normal", "Uniform"]


def numbers(*values, dtype: DTypeLike | None = None):
    """Values as tensors of one floating dtype: the first that one has, else `dtype`, else that of float32."""
    found = next((dtypes.as_dtype(v.dtype) for v in values if hasattr(v, "dtype")), dtype)
    if found is None:
        inferred = (convert_to_tensor(v).dtype for v in values if not isinstance(v, (float, int)))
        found = next((each for each in inferred if each.is_floating), dtypes.float32)
    return tuple(convert_to_tensor(v, dtypes.as_dtype(found)) for v in values)


def mixed_seed(seed: int | None, salt: int | str):
    """Another seed for another use, or None."""
    if seed is None:
        return None
    import hashlib

    return int(hashlib.md5(f"{seed}{salt}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF


class LocScale(Distribution):
    """A distribution that is shifted by `loc` and scaled by a positive `scale`."""

    def __init__(
        self, loc: TensorLike, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str | None = None,
    ):
        given = dict(locals())
        self._validate_args = validate_args
        loc, scale = numbers(loc, scale)
        self._loc, self._scale = loc, self._checked(scale, lambda: assert_positive(scale))
        self._parts = (self._loc, self._scale)
        super().__init__(
            scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)

    def _z(self, x: Tensor):
        return (x - self.loc) / self.scale

    def _wide_loc(self):
        return self.loc + zeros_like(self.scale)

    def _wide_scale(self):
        return self.scale + zeros_like(self.loc)


class Normal(LocScale):
    """The normal distribution."""

    def _sample_n(self, n: Tensor, seed: int | None = None):
        return random_normal(self._wide(n), dtype=self.dtype, seed=seed) * self.scale + self.loc

    def _log_prob(self, x: Tensor):
        return -0.5 * square(self._z(x)) - (0.5 * math.log(2.0 * math.pi) + log(self.scale))

    def _cdf(self, x: Tensor):
        z = self._z(x) / math.sqrt(2.0)
        return where(greater(abs_(z), 0.7), where(greater(z, 0), 2 - erfc(z), erfc(-z)), 1 + erf(z)) / 2

    def _log_cdf(self, x: Tensor):
        return _log_normal_cdf(self._z(x))

    def _log_survival_function(self, x: Tensor):
        return _log_normal_cdf(-self._z(x))

    def _survival_function(self, x: Tensor):
        return self._cdf(2 * self.loc - x)

    def _quantile(self, p: Tensor):
        # The gradient at 0 and 1, where the quantile is infinite, is taken as 0.
        one = ones_like(p)
        inner = (p > 0) & (p < 1)
        ends = where(equal(p, 0), -math.inf * one, where(equal(p, 1), math.inf * one, math.nan * one))
        found = where(inner, ndtri(where(inner, p, 0.5 * one)), ends)
        return found * self.scale + self.loc

    def _entropy(self):
        return 0.5 * math.log(2.0 * math.pi * math.e) + log(self.scale * ones_like(self.loc))

    def _mean(self):
        return self.loc * ones_like(self.scale)

    _mode = _mean

    def _stddev(self):
        return self.scale * ones_like(self.loc)


def _log_normal_cdf(z: Tensor):
    """log of the normal cdf, by its asymptotic series where that is exact for the dtype, far below."""
    lowest = -20.0 if z.dtype == dtypes.float64 else -10.0
    far = where(z < lowest, z, lowest * ones_like(z))
    inverse = 1.0 / square(far)
    series = 1 - inverse * (1 - 3 * inverse * (1 - 5 * inverse * (1 - 7 * inverse)))
    below = -0.5 * square(far) - log(-far) - 0.5 * math.log(2 * math.pi) + log(series)
    near = where(z < lowest, zeros_like(z), z)
    above = near > 0.0
    low, high = where(above, zeros_like(z), near), where(above, near, zeros_like(z))
    plain = where(above, log1p(-erfc(high / math.sqrt(2.0)) / 2), log(erfc(-low / math.sqrt(2.0)) / 2))
    return where(z < lowest, below, plain)


class Laplace(LocScale):
    """The double exponential distribution."""

    def _sample_n(self, n: Tensor, seed: int | None = None):
        low = np.nextafter(self.dtype.as_numpy_dtype(-1.0), self.dtype.as_numpy_dtype(0.0))
        u = random_uniform(self._wide(n), low, 1.0, dtype=self.dtype, seed=seed)
        return self.loc - self.scale * sign(u) * log1p(-abs_(u))

    def _log_prob(self, x: Tensor):
        return -abs_(self._z(x)) - math.log(2.0) - log(self.scale)

    def _cdf(self, x: Tensor):
        z = self._z(x)
        return 0.5 + 0.5 * sign(z) * (1.0 - exp(-abs_(z)))

    def _log_cdf(self, x: Tensor):
        z = self._z(x)
        return where(z < 0, z - math.log(2.0), log1p(-0.5 * exp(-abs_(z))))

    def _log_survival_function(self, x: Tensor):
        z = -self._z(x)
        return where(z < 0, z - math.log(2.0), log1p(-0.5 * exp(-abs_(z))))

    def _entropy(self):
        return math.log(2.0) + 1 + log(self.scale + zeros_like(self.loc))

    def _mean(self):
        return self.loc + zeros_like(self.scale)

    _mode = _mean

    def _stddev(self):
        return math.sqrt(2.0) * self.scale + zeros_like(self.loc)


class Uniform(Distribution):
    """The uniform distribution over [low, high)."""

    def __init__(
        self, low=0.0, high: float = 1.0, validate_args: bool = False, allow_nan_stats: bool = True, name="Uniform"
    ):
        given = dict(locals())
        self._validate_args = validate_args
        low, high = numbers(low, high)
        self._low = self._checked(
            low, lambda: assert_less(low, high, message="uniform not defined when low >= high.")
        )
        self._high = high
        self._parts = (self._low, self._high)
        super().__init__(
            low.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    low = property(lambda self: self._low)
    high = property(lambda self: self._high)

    def range(self, name: str = "range"):
        """high - low."""
        return self.high - self.low

    def _sample_n(self, n: Tensor, seed: int | None = None):
        return self.low + self.range() * random_uniform(self._wide(n), dtype=self.dtype, seed=seed)

    def _prob(self, x: Tensor):
        inside = ones_like(x) / self.range()
        outside = zeros_like(inside)
        wide_x = x + outside
        found = where(logical_and(wide_x >= self.low, wide_x < self.high), inside, outside)
        return where(is_nan(wide_x), wide_x, found)

    def _cdf(self, x: Tensor):
        share = (x - self.low) / self.range()
        wide = x + 0 * share
        above = where(wide >= self.high, ones_like(share), share)
        return where(wide < self.low, zeros_like(share), above)

    def _entropy(self):
        return log(self.range())

    def _mean(self):
        return (self.low + self.high) / 2.0

    def _variance(self):
        return square(self.range()) / 12.0

    def _stddev(self):
        return self.range() / math.sqrt(12.0)


class Gamma(Distribution):
    """The gamma distribution."""

    def __init__(
        self, concentration: Any, rate: TensorLike, validate_args: bool = False, allow_nan_stats: bool = True,
        name="Gamma",
    ):
        given = dict(locals())
        self._validate_args = validate_args
        concentration, rate = numbers(concentration, rate)
        self._concentration = self._checked(concentration, lambda: assert_positive(concentration))
        self._rate = self._checked(rate, lambda: assert_positive(rate))
        self._parts = (self._concentration, self._rate)
        super().__init__(
            concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    concentration = property(lambda self: self._concentration)
    rate = property(lambda self: self._rate)

    def _sample_n(self, n: Tensor, seed: int | None = None):
        return random_gamma([n], self.concentration, beta=self.rate, dtype=self.dtype, seed=seed)

    def _log_prob(self, x: Tensor):
        x = self._checked(x, lambda: assert_positive(x))
        normal = lgamma(self.concentration) - self.concentration * log(self.rate)
        return xlogy(self.concentration - 1.0, x) - self.rate * x - normal

    def _cdf(self, x: Tensor):
        return igamma(self.concentration, self.rate * x)

    def _entropy(self):
        a = self.concentration
        return a - log(self.rate) + lgamma(a) + (1.0 - a) * digamma(a)

    def _mean(self):
        return self.concentration / self.rate

    def _variance(self):
        return self.concentration / square(self.rate)

    def _stddev(self):
        return sqrt(self.concentration) / self.rate

    def _mode(self):
        mode = (self.concentration - 1.0) / self.rate
        return self._or_nan(self.concentration > 1.0, mode, "mode")


class Exponential(Gamma):
    """The exponential distribution."""

    def __init__(
        self, rate: float, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Exponential",
    ):
        given = dict(locals())
        (rate,) = numbers(rate)
        super().__init__(ones_like(rate), rate, validate_args, allow_nan_stats, name)
        self._remember(given)

    def _sample_n(self, n: Tensor, seed: int | None = None):
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        u = random_uniform(self._wide(n), tiny, 1.0, dtype=self.dtype, seed=seed)
        return -log(u) / self.rate

    def _log_prob(self, x: Tensor):
        x = self._checked(x, lambda: assert_positive(x))
        return log(self.rate) - self.rate * x

    def _log_survival_function(self, x: Tensor):
        return -self.rate * x


class Beta(Distribution):
    """The beta distribution, over (0, 1)."""

    def __init__(
        self, concentration1: float | None = None, concentration0: float | None = None,
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Beta",
    ):  # fmt: skip
        given = dict(locals())
        self._validate_args = validate_args
        one, zero = numbers(concentration1, concentration0)
        message = "Concentration parameter must be positive."
        self._one = self._checked(one, lambda: assert_positive(one, message=message))
        self._zero = self._checked(zero, lambda: assert_positive(zero, message=message))
        self._total = self._one + self._zero
        self._parts = (self._total,)
        super().__init__(
            self._total.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    concentration1 = property(lambda self: self._one)
    concentration0 = property(lambda self: self._zero)
    total_concentration = property(lambda self: self._total)

    def _sample_n(self, n: Tensor, seed: int | None = None):
        a = ones_like(self._total) * self._one
        b = ones_like(self._total) * self._zero
        x = random_gamma([n], a, dtype=self.dtype, seed=seed)
        y = random_gamma([n], b, dtype=self.dtype, seed=mixed_seed(seed, "beta"))
        return x / (x + y)

    def _log_prob(self, x: Tensor):
        x = self._inside(x)
        normal = lgamma(self._one) + lgamma(self._zero) - lgamma(self._total)
        return xlogy(self._one - 1.0, x) + xlog1py(self._zero - 1.0, -x) - normal

    def _inside(self, x: Tensor):
        return self._checked(
            x,
            lambda: assert_positive(x, message="sample must be positive"),
            lambda: assert_less(x, ones_like(x), message="sample must be less than `1`."),
        )

    def _cdf(self, x: Tensor):
        x = self._inside(x)
        wide = zeros_like(x + self._total)
        return betainc(self._one + wide, self._zero + wide, x + wide)

    def _entropy(self):
        normal = lgamma(self._one) + lgamma(self._zero) - lgamma(self._total)
        return (
            normal - (self._one - 1.0) * digamma(self._one) - (self._zero - 1.0) * digamma(self._zero)
            + (self._total - 2.0) * digamma(self._total)
        )  # fmt: skip

    def _mean(self):
        return self._one / self._total

    def _variance(self):
        return self._mean() * (1.0 - self._mean()) / (1.0 + self._total)

    def _mode(self):
        mode = (self._one - 1.0) / (self._total - 2.0)
        exists = logical_and(self._one > 1.0, self._zero > 1.0)
        return self._or_nan(exists, mode, "mode")


boundaries(globals())

"""More distributions over numbers."""

from __future__ import annotations

import math as _math

import numpy as np

from tapeflow.contrib.distributions.bijectors import Kumaraswamy as KumaraswamyBijector
from tapeflow.contrib.distributions.transformed import TransformedDistribution
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape
from tapeflow.ops.array.construction import ones, ones_like, zeros, zeros_like
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.control.assertions import assert_less_v1 as assert_less
from tapeflow.ops.control.assertions import assert_positive_v1 as assert_positive
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import exp, log, log1p, square
from tapeflow.ops.math.rounding import floor
from tapeflow.ops.math.trigonometric import atan, sigmoid, tan
from tapeflow.ops.nn.softplus import softplus
from tapeflow.ops.random.functions import gamma as random_gamma
from tapeflow.ops.random.functions import normal as random_normal
from tapeflow.ops.random.functions import uniform as random_uniform
from tapeflow.ops.special.functions import digamma, erf, erfinv, lgamma
from tapeflow.ops.special.incomplete import igammac
from tapeflow.v1.distributions.base import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    checked,
)
from tapeflow.v1.distributions.continuous import Gamma, LocScale, Uniform, numbers
from tapeflow.v1.distributions.divergence import RegisterKL
from tapeflow.v1.distributions.softplus import with_changed

__all__ = [
    "Cauchy", "Chi2", "Chi2WithAbsDf", "HalfNormal", "InverseGamma", "InverseGammaWithSoftplusConcentrationRate",
    "Kumaraswamy", "Logistic",
]  # fmt: skip


def open_uniform(shape, dtype, seed):
    """Numbers of (0, 1)."""
    return random_uniform(shape, np.finfo(dtype.as_numpy_dtype).tiny, 1.0, dtype=dtype, seed=seed)


class _OfQuantiles(Distribution):
    """A distribution whose samples are quantiles of uniform numbers."""

    def _sample_n(self, n, seed=None):
        return self._quantile(open_uniform(self._wide(n), self.dtype, seed))


class Logistic(_OfQuantiles, LocScale):
    """The logistic distribution."""

    def _log_prob(self, x):
        z = self._z(x)
        return -z - 2.0 * softplus(-z) - log(self.scale)

    def _cdf(self, x):
        return sigmoid(self._z(x))

    def _log_cdf(self, x):
        return -softplus(-self._z(x))

    def _log_survival_function(self, x):
        return -softplus(self._z(x))

    def _survival_function(self, x):
        return sigmoid(-self._z(x))

    def _quantile(self, p):
        return self.loc + self.scale * (log(p) - log1p(-p))

    def _entropy(self):
        return 2.0 + log(self._wide_scale())

    def _mean(self):
        return self._wide_loc()

    _mode = _mean

    def _stddev(self):
        return self._wide_scale() * (_math.pi / _math.sqrt(3.0))


class Cauchy(_OfQuantiles, LocScale):
    """The Cauchy distribution, which has neither mean nor variance."""

    def _log_prob(self, x):
        return -log1p(square(self._z(x))) - _math.log(_math.pi) - log(self.scale)

    def _cdf(self, x):
        return atan(self._z(x)) / _math.pi + 0.5

    def _log_cdf(self, x):
        return log1p(atan(self._z(x)) * (2.0 / _math.pi)) - _math.log(2.0)

    def _quantile(self, p):
        return self.loc + self.scale * tan(_math.pi * (p - 0.5))

    def _entropy(self):
        return _math.log(4.0 * _math.pi) + log(self._wide_scale())

    def _mode(self):
        return self._wide_loc()

    def _undefined(self, statistic: str):
        if not self._allow_nan_stats:
            raise ValueError(f"`{statistic}` is undefined for Cauchy distribution.")
        return self._filled(np.nan)

    def _mean(self):
        return self._undefined("mean")

    def _stddev(self):
        return self._undefined("stddev")


class HalfNormal(Distribution):
    """The absolute value of a normal variable of mean zero."""

    def __init__(
        self, scale, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "HalfNormal"
    ):
        given = dict(locals())
        self._validate_args = validate_args
        (scale,) = numbers(scale)
        self._scale = self._checked(scale, lambda: assert_positive(scale))
        self._parts = (self._scale,)
        super().__init__(
            scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    scale = property(lambda self: self._scale)

    def _sample_n(self, n, seed: int | None = None):
        return abs_(random_normal(self._wide(n), dtype=self.dtype, seed=seed) * self.scale)

    def _log_prob(self, x):
        inside = 0.5 * _math.log(2.0 / _math.pi) - log(self.scale) - 0.5 * square(x / self.scale)
        return where(x + zeros_like(inside) >= 0, inside, -np.inf * ones_like(inside))

    def _cdf(self, x):
        found = erf(x / self.scale / _math.sqrt(2.0))
        return where(found > 0, found, zeros_like(found))

    def _quantile(self, p):
        return self.scale * erfinv(p) * _math.sqrt(2.0)

    def _entropy(self):
        return 0.5 * _math.log(_math.pi / 2.0) + 0.5 + log(self.scale)

    def _mean(self):
        return self.scale * _math.sqrt(2.0) / _math.sqrt(_math.pi)

    def _mode(self):
        return zeros_like(self.scale)

    def _variance(self):
        return square(self.scale) * (1.0 - 2.0 / _math.pi)


class Chi2(Gamma):
    """The chi-squared distribution."""

    def __init__(self, df, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2"):
        given = dict(locals())
        (df,) = numbers(df)
        self._df = df
        half = convert_to_tensor(0.5, df.dtype)
        super().__init__(half * df, half, validate_args, allow_nan_stats, name)
        self._remember(given)

    df = property(lambda self: self._df)


class InverseGamma(Distribution):
    """One over a gamma variable."""

    def __init__(
        self, concentration, rate, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "InverseGamma",
    ):
        given = dict(locals())
        self._validate_args = validate_args
        concentration, rate = numbers(concentration, rate)
        self._concentration = self._checked(concentration, lambda: assert_positive(concentration))
        self._rate = self._checked(rate, lambda: assert_positive(rate))
        self._parts = (self._concentration, self._rate)
        super().__init__(
            rate.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    concentration = property(lambda self: self._concentration)
    rate = property(lambda self: self._rate)

    def _sample_n(self, n, seed: int | None = None):
        return 1.0 / random_gamma([n], self.concentration, beta=self.rate, dtype=self.dtype, seed=seed)

    def _positive(self, x):
        return self._checked(x, lambda: assert_positive(x))

    def _log_prob(self, x):
        x, a, b = self._positive(x), self.concentration, self.rate
        return a * log(b) - lgamma(a) - (a + 1.0) * log(x) - b / x

    def _cdf(self, x):
        x = self._positive(x)
        wide = zeros_like(x + self.concentration + self.rate)
        return igammac(self.concentration + wide, self.rate / x + wide)

    def _entropy(self):
        a = self.concentration
        return a + log(self.rate) + lgamma(a) - (1.0 + a) * digamma(a)

    def _mean(self):
        a = self.concentration + zeros_like(self.rate)
        safe = where(a > 1.0, a - 1.0, ones_like(a))
        return self._or_nan(a > 1.0, self.rate / safe, "mean")

    def _variance(self):
        a = self.concentration + zeros_like(self.rate)
        safe = where(a > 2.0, a, 3.0 * ones_like(a))
        value = square(self.rate) / square(safe - 1.0) / (safe - 2.0)
        return self._or_nan(a > 2.0, value, "variance")

    def _mode(self):
        return self.rate / (1.0 + self.concentration)


class Kumaraswamy(TransformedDistribution):
    """The distribution over (0, 1) whose cdf is 1 - (1 - x^a)^b.

    Args:
      concentration1: a, positive.
      concentration0: b, positive.
    """

    def __init__(
        self, concentration1=None, concentration0=None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Kumaraswamy",
    ):  # fmt: skip
        given = dict(locals())
        one, zero = numbers(concentration1, concentration0)
        uniform = Uniform(zeros([], one.dtype), ones([], one.dtype), allow_nan_stats=allow_nan_stats)
        shape = broadcast_dynamic_shape(shape_of(one), shape_of(zero))
        bijector = KumaraswamyBijector(one, zero, validate_args)
        super().__init__(uniform, bijector, shape, None, validate_args, name)
        self._remember(given)

    concentration1 = property(lambda self: self.bijector.concentration1)
    concentration0 = property(lambda self: self.bijector.concentration0)

    def _moment(self, n):
        b = self.concentration0 + zeros_like(self.concentration1)
        a = 1.0 + n / self.concentration1 + zeros_like(b)
        return b * exp(lgamma(a) + lgamma(b) - lgamma(a + b))

    def _mean(self):
        return self._moment(1)

    def _variance(self):
        return self._moment(2) - square(self._moment(1))

    def _entropy(self):
        a, b = self.concentration1, self.concentration0
        harmonic = digamma(b + 1.0) + np.euler_gamma
        return (1.0 - 1.0 / b) + (1.0 - 1.0 / a) * harmonic - log(a) - log(b)

    def _mode(self):
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1.0) / (a * b - 1.0)) ** (1.0 / a)
        if self._allow_nan_stats:
            return self._or_nan((a > 1.0) & (b > 1.0), mode, "mode")
        return checked(
            mode, True,
            lambda: assert_less(ones_like(a), a, message="Mode undefined for concentration1 <= 1."),
            lambda: assert_less(ones_like(b), b, message="Mode undefined for concentration0 <= 1."),
        )  # fmt: skip


InverseGammaWithSoftplusConcentrationRate = with_changed(
    InverseGamma, "InverseGammaWithSoftplusConcentrationRate", concentration=softplus, rate=softplus
)
Chi2WithAbsDf = with_changed(Chi2, "Chi2WithAbsDf", df=lambda df: floor(abs_(df)))


@RegisterKL(HalfNormal, HalfNormal)
def _(a, b, name: str | None = None):
    return log(b.scale / a.scale) + (square(a.scale / b.scale) - 1.0) * 0.5


boundaries(globals())

"""More distributions over numbers."""

from __future__ import annotations

import math as _math

import numpy as np

from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.ops.array.construction import ones_like, zeros_like
from tapeflow.ops.control.assertions import assert_positive_v1 as assert_positive
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.division_no_nan import xlog1py, xlogy
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import exp, expm1, log, log1p, square
from tapeflow.ops.math.rounding import floor
from tapeflow.ops.math.trigonometric import atan, sigmoid, tan
from tapeflow.ops.nn.softplus import softplus
from tapeflow.ops.random.functions import gamma as random_gamma
from tapeflow.ops.random.functions import normal as random_normal
from tapeflow.ops.random.functions import uniform as random_uniform
from tapeflow.ops.special.functions import digamma, erf, lgamma
from tapeflow.ops.special.incomplete import igammac
from tapeflow.v1.distributions.base import FULLY_REPARAMETERIZED, Distribution
from tapeflow.v1.distributions.continuous import Gamma, LocScale, numbers
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

    def _quantile(self, p):
        return self.loc + self.scale * tan(_math.pi * (p - 0.5))

    def _entropy(self):
        return _math.log(4.0 * _math.pi) + log(self._wide_scale())

    def _mode(self):
        return self._wide_loc()

    def _mean(self):
        wide = self._wide_loc()
        return self._or_nan(zeros_like(wide) > 0.0, wide, "mean")

    def _stddev(self):
        wide = self._wide_loc()
        return self._or_nan(zeros_like(wide) > 0.0, wide, "stddev")


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

    def _entropy(self):
        return 0.5 * _math.log(_math.pi / 2.0) + 0.5 + log(self.scale)

    def _mean(self):
        return self.scale * _math.sqrt(2.0 / _math.pi)

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
            rate.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    concentration = property(lambda self: self._concentration)
    rate = property(lambda self: self._rate)

    def _sample_n(self, n, seed: int | None = None):
        return 1.0 / random_gamma([n], self.concentration, beta=self.rate, dtype=self.dtype, seed=seed)

    def _log_prob(self, x):
        a, b = self.concentration, self.rate
        return a * log(b) - lgamma(a) - (a + 1.0) * log(x) - b / x

    def _cdf(self, x):
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


class Kumaraswamy(_OfQuantiles):
    """The distribution over (0, 1) whose cdf is 1 - (1 - x^a)^b."""

    def __init__(
        self, concentration1=None, concentration0=None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Kumaraswamy",
    ):  # fmt: skip
        given = dict(locals())
        self._validate_args = validate_args
        one, zero = numbers(concentration1, concentration0)
        self._one = self._checked(one, lambda: assert_positive(one))
        self._zero = self._checked(zero, lambda: assert_positive(zero))
        self._parts = (self._one, self._zero)
        super().__init__(
            one.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    concentration1 = property(lambda self: self._one)
    concentration0 = property(lambda self: self._zero)

    def _quantile(self, p):
        return (-expm1(log1p(-p) / self._zero)) ** (1.0 / self._one)

    def _log_prob(self, x):
        inside = xlogy(self._one - 1.0, x) + xlog1py(self._zero - 1.0, -(x**self._one))
        return log(self._one) + log(self._zero) + inside

    def _cdf(self, x):
        return 1.0 - (1.0 - x**self._one) ** self._zero

    def _moment(self, n):
        b = self._zero + zeros_like(self._one)
        a = 1.0 + n / self._one + zeros_like(b)
        return b * exp(lgamma(a) + lgamma(b) - lgamma(a + b))

    def _mean(self):
        return self._moment(1)

    def _variance(self):
        return self._moment(2) - square(self._moment(1))

    def _entropy(self):
        harmonic = digamma(self._zero + 1.0) + np.euler_gamma
        return (
            (1.0 - 1.0 / self._zero) + (1.0 - 1.0 / self._one) * harmonic - log(self._one) - log(self._zero)
        )

    def _mode(self):
        mode = ((self._one - 1.0) / (self._one * self._zero - 1.0)) ** (1.0 / self._one)
        return self._or_nan((self._one > 1.0) & (self._zero > 1.0), mode, "mode")


InverseGammaWithSoftplusConcentrationRate = with_changed(
    InverseGamma, "InverseGammaWithSoftplusConcentrationRate", concentration=softplus, rate=softplus
)
Chi2WithAbsDf = with_changed(Chi2, "Chi2WithAbsDf", df=lambda df: floor(abs_(df)))


@RegisterKL(HalfNormal, HalfNormal)
def _(a, b, name: str | None = None):
    return log(b.scale / a.scale) + (square(a.scale / b.scale) - 1.0) * 0.5


boundaries(globals())

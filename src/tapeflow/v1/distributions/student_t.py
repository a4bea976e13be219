"""Student's t distribution."""

from __future__ import annotations

import math

import numpy as np

from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.ops.array.construction import ones_like, zeros_like
from tapeflow.ops.control.assertions import assert_positive_v1 as assert_positive
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import log, log1p, sqrt, square
from tapeflow.ops.random.functions import gamma as random_gamma
from tapeflow.ops.random.functions import normal as random_normal
from tapeflow.ops.special.functions import digamma, lgamma
from tapeflow.ops.special.incomplete import betainc
from tapeflow.v1.distributions.base import (
    FULLY_REPARAMETERIZED,
    Distribution,
)
from tapeflow.v1.distributions.continuous import mixed_seed, numbers


class StudentT(Distribution):
    """Student's t-distribution."""

    def __init__(
        self, df, loc: float, scale: float, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "StudentT",
    ):
        given = dict(locals())
        self._validate_args = validate_args
        df, loc, scale = numbers(df, loc, scale)
        self._df = self._checked(df, lambda: assert_positive(df))
        self._loc, self._scale = loc, scale
        self._parts = (self._df, self._loc, self._scale)
        super().__init__(
            df.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    df = property(lambda self: self._df)
    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)

    def _sample_n(self, n: Tensor, seed: int | None = None):
        wide = self._wide(n)
        normal = random_normal(wide, dtype=self.dtype, seed=seed)
        df = self.df * ones_like(self.loc * self.scale)
        chi2 = random_gamma([n], 0.5 * df, beta=convert_to_tensor(0.5, self.dtype), dtype=self.dtype,
                            seed=mixed_seed(seed, "student_t"))  # fmt: skip
        return normal / sqrt(chi2 / self.df) * self.scale + self.loc

    def _log_prob(self, x: Tensor):
        y = (x - self.loc) / self.scale
        normal = (
            log(abs_(self.scale)) + 0.5 * log(self.df) + 0.5 * math.log(math.pi) + lgamma(0.5 * self.df)
            - lgamma(0.5 * (self.df + 1.0))
        )  # fmt: skip
        return -0.5 * (self.df + 1.0) * log1p(square(y) / self.df) - normal

    def _cdf(self, x: Tensor):
        y = (x - self.loc) / abs_(self.scale)
        share = self.df / (square(y) + self.df)
        tail = 0.5 * betainc(0.5 * self.df + zeros_like(share), 0.5 * ones_like(share), share)
        return where(y + zeros_like(tail) < 0.0, tail, 1.0 - tail)

    def _entropy(self):
        wide = zeros_like(self.loc * self.scale * self.df)
        half = 0.5 * self.df + wide
        log_beta = lgamma(half) + lgamma(0.5 + wide) - lgamma(half + 0.5)
        return (
            log(abs_(self.scale)) + 0.5 * log(self.df) + log_beta
            + 0.5 * (self.df + 1.0) * (digamma(half + 0.5) - digamma(half)) + wide
        )  # fmt: skip

    def _mean(self):
        mean = self.loc * ones_like(self.df * self.scale)
        return self._or_nan(self.df * ones_like(mean) > 1.0, mean, "mean")

    def _variance(self):
        wide = ones_like(self.loc * self.scale * self.df)
        df = self.df * wide
        finite = square(self.scale) * wide * df / where(df > 2.0, df - 2.0, ones_like(df))
        value = where(df > 2.0, finite, np.inf * ones_like(df))
        return self._or_nan(df > 1.0, value, "variance")

    def _mode(self):
        return self.loc * ones_like(self.df * self.scale)


boundaries(globals())

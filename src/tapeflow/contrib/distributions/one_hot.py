"""Distributions over one-hot vectors, and their relaxations to continuous ones (Maddison et al., Jang et al. 2016)."""

from __future__ import annotations

from typing import Any

from tapeflow.contrib.distributions.bijectors import Exp, Sigmoid
from tapeflow.contrib.distributions.scalar import Logistic, open_uniform
from tapeflow.contrib.distributions.transformed import TransformedDistribution
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.public import boundaries
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.diagonal import set_diag
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.control.assertions import assert_near_v1 as assert_near
from tapeflow.ops.control.assertions import assert_non_positive_v1 as assert_non_positive
from tapeflow.ops.control.assertions import assert_positive_v1 as assert_positive
from tapeflow.ops.math.argmax import argmax
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import log
from tapeflow.ops.math.reductions import reduce_logsumexp, reduce_sum
from tapeflow.ops.nn.softmax import log_softmax, softmax
from tapeflow.ops.random.functions import categorical
from tapeflow.ops.special.functions import lgamma
from tapeflow.v1.distributions.base import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    checked,
)
from tapeflow.v1.distributions.continuous import numbers
from tapeflow.v1.distributions.discrete import logits_and_probs
from tapeflow.v1.distributions.divergence import RegisterKL

__all__ = [
    "ExpRelaxedOneHotCategorical", "OneHotCategorical", "RelaxedBernoulli", "RelaxedOneHotCategorical",
]  # fmt: skip


class _OfClasses(Distribution):
    """A distribution over vectors with an element for each class."""

    def _classes(self, logits, probs: TensorLike | None, validate_args: bool):
        self._validate_args = validate_args
        self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args)
        self._parts = (self._logits,)
        self._event = self._logits.shape[-1:]

    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)
    event_size = property(lambda self: shape_of(self._logits)[-1])

    def _batch_shape(self):
        return self._logits.shape[:-1]

    def _batch_shape_tensor(self):
        return shape_of(self._logits)[:-1]

    def _event_shape_tensor(self):
        return shape_of(self._logits)[-1:]


class OneHotCategorical(_OfClasses):
    """One of several classes, as a one-hot vector."""

    def __init__(
        self, logits: TensorLike | None = None, probs: TensorLike | None = None, dtype: DTypeLike = dtypes.int32,
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "OneHotCategorical",
    ):  # fmt: skip
        given = dict(locals())
        self._classes(logits, probs, validate_args)
        super().__init__(
            dtypes.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    def _sample_n(self, n: Tensor, seed: int | None = None):
        flat = reshape(self._logits, [-1, self.event_size])
        chosen = transpose(categorical(flat, n, seed=seed))
        found = one_hot(chosen, self.event_size, dtype=self.dtype)
        return reshape(found, concat([[n], shape_of(self._logits)], 0))

    def _log_prob(self, x: Tensor):
        chosen = cast(x, self._logits.dtype)
        terms = chosen * log_softmax(self._logits)
        return reduce_sum(terms, -1)

    def _entropy(self):
        return -reduce_sum(softmax(self._logits) * log_softmax(self._logits), -1)

    def _mean(self):
        return softmax(self._logits)

    def _mode(self):
        return one_hot(argmax(self._logits, -1), self.event_size, dtype=self.dtype)

    def _variance(self):
        return self._mean() * (1.0 - self._mean())

    def _covariance(self):
        p = self._mean()
        return set_diag(-p[..., None] * p[..., None, :], p * (1.0 - p))


class ExpRelaxedOneHotCategorical(_OfClasses):
    """The logarithm of `RelaxedOneHotCategorical`."""

    def __init__(
        self, temperature: TensorLike, logits: TensorLike | None = None, probs: TensorLike | None = None,
        dtype: DTypeLike | None = None, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "ExpRelaxedOneHotCategorical",
    ):  # fmt: skip
        given = dict(locals())
        self._classes(logits, probs, validate_args)
        self._temperature = _positive(temperature, self._logits.dtype, validate_args)
        super().__init__(
            self._logits.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    temperature = property(lambda self: self._temperature)

    def _heat(self):
        """The temperature beside vectors."""
        return self._temperature[..., None]

    def _sample_n(self, n: Tensor, seed: int | None = None):
        shape = concat([[n], shape_of(self._logits)], 0)
        gumbel = -log(-log(open_uniform(shape, self.dtype, seed)))
        return log_softmax((gumbel + self._logits) / self._heat())

    def _log_prob(self, x: Tensor):
        x = self._checked(
            x,
            lambda: assert_non_positive(x),
            lambda: assert_near(zeros([], self.dtype), reduce_logsumexp(x, -1)),
        )
        k = cast(self.event_size, self.dtype)
        scaled = log_softmax(self._logits - x * self._heat())
        normal = lgamma(k) + (k - 1.0) * log(self._temperature)
        return reduce_sum(scaled, -1) + normal


class RelaxedOneHotCategorical(TransformedDistribution):
    """Points of the simplex that near one-hot vectors as the temperature falls."""

    def __init__(
        self, temperature: TensorLike, logits: TensorLike | None = None, probs: TensorLike | None = None,
        dtype: DTypeLike | None = None, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "RelaxedOneHotCategorical",
    ):  # fmt: skip
        given = dict(locals())
        logarithm = ExpRelaxedOneHotCategorical(temperature, logits, probs, dtype, validate_args, allow_nan_stats)
        super().__init__(logarithm, Exp(), name=name)
        self._remember(given)

    temperature = property(lambda self: self.distribution.temperature)
    logits = property(lambda self: self.distribution.logits)
    probs = property(lambda self: self.distribution.probs)


class RelaxedBernoulli(TransformedDistribution):
    """Numbers of (0, 1) that near 0 and 1 as the temperature falls."""

    def __init__(
        self, temperature: TensorLike, logits: TensorLike | None = None, probs: TensorLike | None = None,
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "RelaxedBernoulli",
    ):  # fmt: skip
        given = dict(locals())
        self._logits, self._probs = logits_and_probs(logits, probs, False, validate_args)
        self._temperature = _positive(temperature, self._logits.dtype, validate_args)
        logistic = Logistic(
            self._logits / self._temperature, 1.0 / self._temperature, validate_args, allow_nan_stats
        )
        super().__init__(logistic, Sigmoid(validate_args), validate_args=validate_args, name=name)
        self._remember(given)

    temperature = property(lambda self: self._temperature)
    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Any]:
        return {"logits": sample_shape}


def _positive(temperature: TensorLike, dtype: DTypeLike, validate_args: bool) -> Tensor:
    (temperature,) = numbers(temperature, dtype=dtype)
    return checked(temperature, validate_args, lambda: assert_positive(temperature))


@RegisterKL(OneHotCategorical, OneHotCategorical)
def _(a: OneHotCategorical, b: OneHotCategorical, name: str | None = None):
    return reduce_sum(softmax(a.logits) * (log_softmax(a.logits) - log_softmax(b.logits)), -1)


boundaries(globals())

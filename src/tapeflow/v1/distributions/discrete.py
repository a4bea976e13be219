"""Distributions over classes and counts, and those of their probabilities."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.construction import ones_like, zeros_like
from tapeflow.ops.array.diagonal import set_diag
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.control.assertions import assert_equal_v1 as assert_equal
from tapeflow.ops.control.assertions import assert_less_equal_v1 as assert_less_equal
from tapeflow.ops.control.assertions import assert_near_v1 as assert_near
from tapeflow.ops.control.assertions import assert_non_negative_v1 as assert_non_negative
from tapeflow.ops.control.assertions import assert_positive_v1 as assert_positive
from tapeflow.ops.control.grouping import no_op
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.argmax import argmax
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import greater
from tapeflow.ops.math.cumulative import cumsum
from tapeflow.ops.math.division_no_nan import xlogy
from tapeflow.ops.math.elementwise import log, log1p, rsqrt, sqrt
from tapeflow.ops.math.reductions import reduce_all, reduce_max, reduce_sum
from tapeflow.ops.math.rounding import floor
from tapeflow.ops.math.trigonometric import sigmoid
from tapeflow.ops.nn.loss import sparse_softmax_cross_entropy_with_logits
from tapeflow.ops.nn.sigmoid_loss import sigmoid_cross_entropy_with_logits
from tapeflow.ops.nn.softmax import log_softmax, softmax
from tapeflow.ops.nn.softplus import softplus
from tapeflow.ops.random.functions import categorical
from tapeflow.ops.random.functions import gamma as random_gamma
from tapeflow.ops.random.functions import uniform as random_uniform
from tapeflow.ops.special.functions import digamma, lgamma
from tapeflow.ops.special.incomplete import lbeta
from tapeflow.v1.distributions.base import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    checked,
)
from tapeflow.v1.distributions.continuous import numbers

__all__ = ["Bernoulli", "Categorical", "Dirichlet", "DirichletMultinomial", "Multinomial"]


def logits_and_probs(logits, probs, several, validate_args=False):
    """Both, of the one that is given; probabilities are checked if `validate_args`. Raises ValueError for neither."""
    if (probs is None) == (logits is None):
        raise ValueError("Must pass probs or logits, but not both.")
    if probs is None:
        (logits,) = numbers(logits)
        return logits, softmax(logits) if several else sigmoid(logits)
    (given,) = numbers(probs)
    if several:
        total = reduce_sum(given, -1)
        known = lambda: assert_near(total, ones_like(total), message="probs does not sum to 1.")  # noqa: E731
    else:
        one = convert_to_tensor(1, given.dtype)
        known = lambda: assert_less_equal(given, one, message="probs has components greater than 1.")  # noqa: E731
    probs = checked(given, validate_args, lambda: assert_non_negative(given), known)
    return (log(probs) if several else log(probs) - log1p(-probs)), probs


class Bernoulli(Distribution):
    """0 or 1."""

    def __init__(
        self, logits=None, probs: float | None = None, dtype: DTypeLike = dtypes.int32,
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Bernoulli",
    ):  # fmt: skip
        given = dict(locals())
        self._logits, self._probs = logits_and_probs(logits, probs, False, validate_args)
        self._parts = (self._logits,)
        super().__init__(
            dtypes.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    def _sample_n(self, n: Tensor, seed: int | None = None):
        u = random_uniform(self._wide(n), seed=seed, dtype=self.probs.dtype)
        return cast(u < self.probs, self.dtype)

    def _log_prob(self, event: Tensor):
        event = self._checked(
            event,
            lambda: assert_non_negative(event, message="Elements must be non-negative."),
            lambda: assert_whole(event, "Elements must be integers."),
            lambda: assert_less_equal(
                event, convert_to_tensor(1, event.dtype), message="Elements cannot exceed 1."
            ),
        )
        event = cast(event, self.logits.dtype)
        wide = zeros_like(event + self.logits)
        return -sigmoid_cross_entropy_with_logits(labels=event + wide, logits=self.logits + wide)

    def _entropy(self):
        return -self.logits * (sigmoid(self.logits) - 1) + softplus(-self.logits)

    def _mean(self):
        return self.probs + 0

    def _variance(self):
        return self._mean() * (1.0 - self.probs)

    def _mode(self):
        return cast(self.probs > 0.5, self.dtype)


class Categorical(Distribution):
    """One of several classes, by their numbers."""

    def __init__(
        self, logits=None, probs: TensorLike | None = None, dtype: DTypeLike = dtypes.int32,
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Categorical",
    ):  # fmt: skip
        given = dict(locals())
        self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args)
        self._parts = (self._logits,)
        super().__init__(
            dtypes.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    @property
    def event_size(self):
        """How many classes there are."""
        return shape_of(self._logits)[-1]

    def _batch_shape(self):
        return self._logits.shape[:-1]

    def _batch_shape_tensor(self):
        return shape_of(self._logits)[:-1]

    def _sample_n(self, n: Tensor, seed: int | None = None):
        flat = self._logits
        if flat.shape.rank != 2:
            flat = reshape(flat, [-1, shape_of(flat)[-1]])
        drawn = categorical(flat, n, seed=seed, dtype=dtypes.int64)
        return cast(reshape(transpose(drawn), self._wide(n)), self.dtype)

    def _both(self, k: Tensor):
        """Class numbers and logits, broadcast to each other."""
        k = cast(k, dtypes.int32) if k.dtype.is_floating else k
        wide = zeros_like(cast(k, self._logits.dtype) + self._logits[..., 0])
        return k + cast(wide, k.dtype), self._logits + expand_dims(wide, -1)

    def _log_prob(self, k: Tensor):
        k, logits = self._both(k)
        return -sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _cdf(self, k):
        """The probability of a class before k."""
        k, logits = self._both(convert_to_tensor(k))
        sums = cumsum(softmax(logits), axis=-1, exclusive=True)
        at = one_hot(k, shape_of(logits)[-1], dtype=logits.dtype)
        return reduce_sum(sums * at, -1)

    def _entropy(self):
        return -reduce_sum(log_softmax(self._logits) * softmax(self._logits), -1)

    def _mode(self):
        return cast(argmax(self._logits, -1), self.dtype)


class Multinomial(Distribution):
    """How often each of several classes comes up in a number of draws."""

    def __init__(
        self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True,
        name="Multinomial",
    ):  # fmt: skip
        given = dict(locals())
        self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args)
        total_count = convert_to_tensor(total_count, self._logits.dtype)
        self._total_count = checked(total_count, validate_args, *counting(total_count))
        self._mean_value = expand_dims(self._total_count, -1) * self._probs
        self._parts = (self._mean_value,)
        self._event = self._mean_value.shape[-1:]
        super().__init__(
            self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    total_count = property(lambda self: self._total_count)
    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    def _batch_shape(self):
        return self._mean_value.shape[:-1]

    def _batch_shape_tensor(self):
        return shape_of(self._mean_value)[:-1]

    def _sample_n(self, n: Tensor, seed: int | None = None):
        return _counts(self._logits, self._total_count, self._mean_value, n, self.dtype, seed)

    def _log_prob(self, counts: Tensor):
        counts = self._checked(counts, *counting(counts, self._total_count, "counts"))
        weights = reduce_sum(counts * log_softmax(self._logits), -1)
        return weights + _log_ways(self._total_count, counts)

    def _mean(self):
        return self._mean_value + 0

    def _variance(self):
        return self._mean_value - self._mean_value * self._probs

    def _covariance(self):
        p = self._probs * ones_like(expand_dims(self._total_count, -1))
        outer = matmul(expand_dims(self._mean_value, -1), expand_dims(p, -2))
        return set_diag(-outer, self._variance())


def assert_whole(x, message):
    """Check that the elements of `x` have no fractions."""
    return assert_equal(x, floor(x), message=message) if x.dtype.is_floating else no_op()


def counting(counts, total: Tensor | None = None, what: str = ""):
    """What must hold of counts, and of their sum where a total is given."""
    yield lambda: assert_non_negative(counts, message=f"'{counts}' must be non-negative.")
    yield lambda: assert_whole(counts, f"'{counts}' cannot contain fractional components.")
    if total is not None:
        message = f"{what} must sum to `self.total_count`"
        yield lambda: assert_equal(total, reduce_sum(counts, -1), message=message)


def _log_ways(total: Tensor, counts: Tensor):
    """The logarithm of the number of orders that counts can come up in."""
    return lgamma(total + 1.0) - reduce_sum(lgamma(counts + 1.0), -1) + 0 * reduce_sum(counts, -1)


def _counts(logits: TensorLike, total, like, n, dtype: DTypeLike, seed):
    """[n, batch, classes]: how often each class comes up."""
    wide = logits + zeros_like(like)
    most = cast(reduce_max(total), dtypes.int32)
    classes = shape_of(like)[-1]
    flat = reshape(wide, [-1, classes])
    draws = transpose(reshape(categorical(flat, n * most, seed=seed), [-1, n, most]), [1, 0, 2])
    totals = reshape(total + zeros_like(like[..., 0]), [1, -1, 1])
    valid = cast(cast(range_(most), totals.dtype) < totals, dtype)
    hits = one_hot(draws, classes, dtype=dtype) * expand_dims(valid, -1)
    return reshape(reduce_sum(hits, 2), concat([[n], shape_of(like)], 0))


class Dirichlet(Distribution):
    """Probabilities of several classes."""

    def __init__(self, concentration, validate_args=False, allow_nan_stats=True, name="Dirichlet"):
        given = dict(locals())
        self._validate_args = validate_args
        (concentration,) = numbers(concentration)
        self._concentration = self._checked(
            concentration,
            lambda: assert_positive(concentration, message="Concentration parameter must be positive."),
        )
        self._total = reduce_sum(self._concentration, -1)
        self._parts = (self._total,)
        self._event = self._concentration.shape[-1:]
        super().__init__(
            concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    concentration = property(lambda self: self._concentration)
    total_concentration = property(lambda self: self._total)

    def _sample_n(self, n: Tensor, seed: int | None = None):
        drawn = random_gamma([n], self._concentration, dtype=self.dtype, seed=seed)
        return drawn / reduce_sum(drawn, -1, keepdims=True)

    def _log_prob(self, x: Tensor):
        x = self._checked(
            x,
            lambda: assert_positive(x, message="samples must be positive"),
            lambda: assert_near(
                reduce_sum(x, -1), ones_like(reduce_sum(x, -1)), message="sample last-dimension must sum to `1`"
            ),
        )
        return reduce_sum(xlogy(self._concentration - 1.0, x), -1) - lbeta(self._concentration)

    def _entropy(self):
        k = cast(shape_of(self._concentration)[-1], self.dtype)
        return (
            lbeta(self._concentration) + (self._total - k) * digamma(self._total)
            - reduce_sum((self._concentration - 1.0) * digamma(self._concentration), -1)
        )  # fmt: skip

    def _mean(self):
        return self._concentration / self._total[..., None]

    def _covariance(self):
        x = self._mean() * rsqrt(1.0 + self._total)[..., None]
        return set_diag(-matmul(x[..., None], x[..., None, :]), self._variance())

    def _variance(self):
        scale = rsqrt(1.0 + self._total)[..., None]
        x = self._mean() * scale
        return x * (scale - x)

    def _mode(self):
        k = cast(shape_of(self._concentration)[-1], self.dtype)
        mode = (self._concentration - 1.0) / (self._total - k)[..., None]
        exists = reduce_all(greater(self._concentration, 1.0), -1)
        return self._or_nan(exists[..., None] & greater(ones_like(mode), 0.0), mode, "mode")


class DirichletMultinomial(Distribution):
    """How often each class comes up in a number of draws, with probabilities from a Dirichlet distribution."""

    def __init__(
        self, total_count: TensorLike, concentration: TensorLike, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "DirichletMultinomial",
    ):  # fmt: skip
        given = dict(locals())
        (concentration,) = numbers(concentration)
        self._concentration = checked(
            concentration,
            validate_args,
            lambda: assert_positive(concentration, message="Concentration parameter must be positive."),
        )
        total_count = convert_to_tensor(total_count, self._concentration.dtype)
        self._total_count = checked(total_count, validate_args, *counting(total_count))
        self._total = reduce_sum(self._concentration, -1)
        self._parts = (self._total,)
        self._event = TensorShape(self._concentration.shape[-1:])
        super().__init__(
            self._concentration.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    total_count = property(lambda self: self._total_count)
    concentration = property(lambda self: self._concentration)
    total_concentration = property(lambda self: self._total)

    def _sample_n(self, n: Tensor, seed: int | None = None):
        like = self._mean()
        probs = random_gamma([n], self._concentration + zeros_like(like), dtype=self.dtype, seed=seed)
        drawn = _counts(log(probs), self._total_count + zeros_like(probs[..., 0]), probs, 1, self.dtype, seed)
        return drawn[0]

    def _log_prob(self, counts: Tensor):
        counts = self._checked(counts, *counting(counts, self._total_count, "counts last-dimension"))
        ordered = lbeta(self._concentration + counts) - lbeta(self._concentration)
        return ordered + _log_ways(self._total_count, counts)

    def _mean(self):
        return self._total_count * (self._concentration / self._total[..., None])

    def _scale(self):
        total = self._total[..., None]
        return sqrt((1.0 + total / self._total_count) / (1.0 + total))

    def _variance(self):
        x = self._scale() * self._mean()
        return x * (self._total_count * self._scale() - x)

    def _covariance(self):
        x = self._scale() * self._mean()
        return set_diag(-matmul(x[..., None], x[..., None, :]), self._variance())


boundaries(globals())

"""Divergences of Kullback and Leibler, by the classes of both distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.ops.array.rows import identity
from tapeflow.ops.control.assert_op import Assert
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.elementwise import log, square
from tapeflow.ops.math.float_kinds import is_nan
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.math.reductions import reduce_all, reduce_sum
from tapeflow.ops.math.trigonometric import sigmoid
from tapeflow.ops.nn.softmax import log_softmax, softmax
from tapeflow.ops.nn.softplus import softplus
from tapeflow.ops.special.functions import digamma, lgamma
from tapeflow.ops.special.incomplete import lbeta
from tapeflow.v1.distributions import continuous, discrete

__all__ = ["RegisterKL", "kl_divergence"]

_table: dict[tuple[type, type], Callable[..., Any]] = {}


class RegisterKL:
    """The decorator of a function `f(a, b, name)` that gives the divergence of these classes.

    Raises ValueError for classes that have one, TypeError for no function.
    """

    def __init__(self, dist_cls_a: type, dist_cls_b: type):
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _table:
            a, b = self._key
            raise ValueError(
                f"KL({a.__name__} || {b.__name__}) has already been registered to: {_table[self._key]}"
            )
        _table[self._key] = kl_fn
        return kl_fn


def _found(a: type, b: type) -> Callable[..., Any] | None:
    """The function of the nearest bases of both."""
    best: tuple[int, Callable[..., Any]] | None = None
    for i, base_a in enumerate(a.__mro__):
        for j, base_b in enumerate(b.__mro__):
            function = _table.get((base_a, base_b))
            if function is not None and (best is None or i + j < best[0]):
                best = (i + j, function)
    return None if best is None else best[1]


def kl_divergence(distribution_a: Any, distribution_b: Any, allow_nan_stats: bool = True, name: str | None = None):
    """KL(a || b). Raises NotImplementedError for classes without one, InvalidArgumentError for an unwanted NaN."""
    function = _found(type(distribution_a), type(distribution_b))
    if function is None:
        raise NotImplementedError(
            f"No KL(distribution_a || distribution_b) registered for distribution_a type "
            f"{type(distribution_a).__name__} and distribution_b type {type(distribution_b).__name__}"
        )
    found = function(distribution_a, distribution_b, name=name)
    if allow_nan_stats:
        return found
    message = (
        f"KL calculation between {distribution_a.name} and {distribution_b.name} returned NaN values (and was called "
        "with allow_nan_stats=False). Values:"
    )
    with control_dependencies([Assert(reduce_all(~is_nan(found)), [message, found])]):
        return identity(found)


@RegisterKL(continuous.Normal, continuous.Normal)
def _(a: Any, b: Any, name: str | None = None) -> Any:
    ratio = square(a.scale / b.scale)
    return square(a.loc - b.loc) / (2 * square(b.scale)) + 0.5 * (ratio - 1.0 - log(ratio))


@RegisterKL(continuous.Uniform, continuous.Uniform)
def _(a: Any, b: Any, name: str | None = None) -> Any:
    inside = logical_and(b.low <= a.low, a.high <= b.high)
    return where(inside, log(b.high - b.low) - log(a.high - a.low), convert_to_tensor(np.inf, a.dtype))


@RegisterKL(continuous.Gamma, continuous.Gamma)
def _(a: Any, b: Any, name: str | None = None) -> Any:
    return (
        (a.concentration - b.concentration) * digamma(a.concentration)
        + lgamma(b.concentration) - lgamma(a.concentration)
        + b.concentration * log(a.rate) - b.concentration * log(b.rate)
        + a.concentration * (b.rate / a.rate - 1.0)
    )  # fmt: skip


@RegisterKL(continuous.Beta, continuous.Beta)
def _(a: Any, b: Any, name: str | None = None) -> Any:
    def log_normal(d: Any) -> Any:
        return lgamma(d.concentration1) + lgamma(d.concentration0) - lgamma(d.total_concentration)

    return (
        log_normal(b) - log_normal(a)
        + (a.concentration1 - b.concentration1) * digamma(a.concentration1)
        + (a.concentration0 - b.concentration0) * digamma(a.concentration0)
        + (b.total_concentration - a.total_concentration) * digamma(a.total_concentration)
    )  # fmt: skip


@RegisterKL(discrete.Bernoulli, discrete.Bernoulli)
def _(a: Any, b: Any, name: str | None = None) -> Any:
    return (softplus(-b.logits) - softplus(-a.logits)) * sigmoid(a.logits) + (
        softplus(b.logits) - softplus(a.logits)
    ) * sigmoid(-a.logits)


@RegisterKL(discrete.Categorical, discrete.Categorical)
def _(a: Any, b: Any, name: str | None = None) -> Any:
    return reduce_sum(softmax(a.logits) * (log_softmax(a.logits) - log_softmax(b.logits)), -1)


@RegisterKL(discrete.Dirichlet, discrete.Dirichlet)
def _(a: Any, b: Any, name: str | None = None) -> Any:
    difference = a.concentration - b.concentration
    spread = digamma(a.concentration) - digamma(a.total_concentration)[..., None]
    return reduce_sum(difference * spread, -1) - lbeta(a.concentration) + lbeta(b.concentration)


boundaries(globals())

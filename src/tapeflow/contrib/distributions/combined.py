"""Distributions that are made of others: mixtures, and independent ones as one."""

from __future__ import annotations

from tapeflow.core.public import boundaries
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.linear_operator.arguments import static_size
from tapeflow.ops.math.elementwise import square
from tapeflow.ops.math.reductions import reduce_logsumexp, reduce_sum
from tapeflow.ops.nn.softmax import log_softmax, softmax
from tapeflow.v1.distributions.base import (
    NOT_REPARAMETERIZED,
    Distribution,
)
from tapeflow.v1.distributions.continuous import mixed_seed
from tapeflow.v1.distributions.discrete import Categorical
from tapeflow.v1.distributions.divergence import RegisterKL, kl_divergence

__all__ = ["Independent", "Mixture", "MixtureSameFamily", "beside_events"]


def beside_events(x, rank):
    """`x` with so many more axes of size 1 behind it."""
    for _ in range(rank):
        x = x[..., None]
    return x


class Independent(Distribution):
    """A batch of distributions as one over their values together.

    Args:
      distribution: the batch.
      reinterpreted_batch_ndims: how many of its last axes become axes of an event; None: all but the first.
    """

    def __init__(
        self, distribution, reinterpreted_batch_ndims=None, validate_args: bool = False,
        name: str | None = None,
    ):
        given = dict(locals())
        self._inner = distribution
        if reinterpreted_batch_ndims is None:
            reinterpreted_batch_ndims = max(0, distribution.batch_shape.rank - 1)
        self._count = int(reinterpreted_batch_ndims)
        if self._count > distribution.batch_shape.rank:
            raise ValueError(
                f"reinterpreted_batch_ndims({self._count}) cannot exceed "
                f"distribution.batch_ndims({distribution.batch_shape.rank})"
            )
        super().__init__(
            distribution.dtype, distribution.reparameterization_type, validate_args,
            distribution.allow_nan_stats, given, name=name or "Independent" + _plain_name(distribution),
        )  # fmt: skip

    distribution = property(lambda self: self._inner)
    reinterpreted_batch_ndims = property(lambda self: self._count)

    @property
    def _rank(self):
        return self._inner.batch_shape.rank - self._count

    def _batch_shape(self):
        return self._inner.batch_shape[: self._rank]

    def _event_shape(self):
        return self._inner.batch_shape[self._rank :].concatenate(self._inner.event_shape)

    def _batch_shape_tensor(self):
        return self._inner.batch_shape_tensor()[: self._rank]

    def _event_shape_tensor(self):
        own = self._inner.batch_shape_tensor()[self._rank :]
        return concat([own, self._inner.event_shape_tensor()], 0)

    def _sample_n(self, n, seed: int | None = None):
        return self._inner.sample(n, seed=seed)

    def sum_over_event(self, x):
        return reduce_sum(x, list(range(-self._count, 0))) if self._count else x

    def _log_prob(self, x):
        return self.sum_over_event(self._inner.log_prob(x))

    def _entropy(self):
        return self.sum_over_event(self._inner.entropy())

    def _mean(self):
        return self._inner.mean()

    def _variance(self):
        return self._inner.variance()

    def _stddev(self):
        return self._inner.stddev()

    def _mode(self):
        return self._inner.mode()


def _plain_name(distribution):
    return distribution.name.rstrip("/").rpartition("/")[2]


class _Mixed(Distribution):
    """A mixture, of `_weights` [batch, components], `_stacked(values)` and `_rank`, the rank of an event."""

    def _mean(self):
        return self._weighted(self._of_components("mean"))

    def _variance(self):
        means, variances = self._of_components("mean"), self._of_components("variance")
        center = expand_dims(self._weighted(means), -1 - self._rank)
        return self._weighted(variances) + self._weighted(square(means - center))

    def _weighted(self, values):
        """Values [..., batch, components, event], weighted by the probabilities of components."""
        weights = beside_events(self._mixing_probs(), self._rank)
        return reduce_sum(weights * values, -1 - self._rank)

    def _chosen(self, n, seed=None):
        """[n, batch]: one choice for each distribution of the batch, also where all share their weights."""
        logits = self._mixing().logits
        wide = logits + zeros(concat([self.batch_shape_tensor(), shape_of(logits)[-1:]], 0), logits.dtype)
        return Categorical(logits=wide).sample(n, seed=seed)

    def _sample_n(self, n, seed=None):
        chosen = self._chosen(n, mixed_seed(seed, "mixture"))
        values = self._samples(n, seed)
        mask = one_hot(chosen, self._mixing().event_size, dtype=values.dtype)
        return reduce_sum(beside_events(mask, self._rank) * values, -1 - self._rank)

    def _log_prob(self, x):
        return reduce_logsumexp(self._log_probs(x) + log_softmax(self._mixing().logits), -1)

    def _mixing_probs(self):
        return softmax(self._mixing().logits)


class MixtureSameFamily(_Mixed):
    """A mixture of the last axis of a batch.

    Args:
      mixture_distribution: the `Categorical` that chooses a component.
      components_distribution: the components, [..., components] as their batch.
    """

    def __init__(
        self, mixture_distribution, components_distribution, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "MixtureSameFamily",
    ):  # fmt: skip
        given = dict(locals())
        self._mixture, self._components = mixture_distribution, components_distribution
        if components_distribution.batch_shape.rank == 0:
            raise ValueError(
                f"`components_distribution` must have batch, got {components_distribution.batch_shape}"
            )
        self._rank = components_distribution.event_shape.rank
        super().__init__(
            components_distribution.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given,
            name=name,
        )  # fmt: skip

    mixture_distribution = property(lambda self: self._mixture)
    components_distribution = property(lambda self: self._components)
    batch_shape = property(lambda self: self._components.batch_shape[:-1])
    event_shape = property(lambda self: self._components.event_shape)

    def _batch_shape_tensor(self):
        return self._components.batch_shape_tensor()[:-1]

    def _event_shape_tensor(self):
        return self._components.event_shape_tensor()

    def _mixing(self):
        return self._mixture

    def _samples(self, n, seed: int):
        return self._components.sample(n, seed=seed)

    def _of_components(self, statistic):
        return getattr(self._components, statistic)()

    def _log_probs(self, x):
        at = -self._rank or None
        shape = shape_of(x)
        wide = reshape(x, concat([shape[:at], [1], shape[at:] if at else shape[:0]], 0))
        return self._components.log_prob(wide)

    def _cdf(self, x):
        return reduce_sum(self._components.cdf(x[..., None]) * self._mixing_probs(), -1)


class Mixture(_Mixed):
    """A mixture of distributions that may be of different families.

    Args:
      cat: the `Categorical` that chooses a component.
      components: the distributions, each with the shapes of the mixture.
    """

    def __init__(
        self, cat, components, validate_args: bool = False, allow_nan_stats: bool = True,
        use_static_graph: bool = False, name: str = "Mixture",
    ):  # fmt: skip
        given = dict(locals())
        if not hasattr(cat, "logits"):
            raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
        if not components:
            raise ValueError("components must be a non-empty list or tuple")
        if len({d.dtype for d in components}) > 1:
            raise TypeError("All components must have the same dtype")
        count = static_size(cat.logits.shape, -1)
        if count is not None and count != len(components):
            raise ValueError(
                f"cat.num_classes != len(components): {count} vs. {len(components)}"
            )
        self._cat, self._components = cat, list(components)
        self._rank = components[0].event_shape.rank
        super().__init__(
            components[0].dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    cat = property(lambda self: self._cat)
    components = property(lambda self: self._components)
    num_components = property(lambda self: len(self._components))
    batch_shape = property(lambda self: self._cat.batch_shape)
    event_shape = property(lambda self: self._components[0].event_shape)

    def _batch_shape_tensor(self):
        return self._cat.batch_shape_tensor()

    def _event_shape_tensor(self):
        return self._components[0].event_shape_tensor()

    def _mixing(self):
        return self._cat

    def _samples(self, n, seed: int):
        made = [d.sample(n, mixed_seed(seed, i)) for i, d in enumerate(self._components)]
        return stack(made, -1 - self._rank)

    def _of_components(self, statistic):
        found = [getattr(d, statistic)() for d in self._components]
        return stack(found, len(self._cat.logits.shape) - 1)

    def _log_probs(self, x):
        return stack([d.log_prob(x) for d in self._components], -1)

    def _cdf(self, x):
        return reduce_sum(stack([d.cdf(x) for d in self._components], -1) * self._mixing_probs(), -1)

    def entropy_lower_bound(self, name: str = "entropy_lower_bound"):
        """A lower bound of the entropy: the weighted mean of the components' entropies."""
        found = stack([d.entropy() for d in self._components], -1)
        return reduce_sum(found * self._mixing_probs(), -1)


@RegisterKL(Independent, Independent)
def _(a, b, name: str | None = None):
    if a.event_shape.rank != b.event_shape.rank or a.reinterpreted_batch_ndims != b.reinterpreted_batch_ndims:
        raise NotImplementedError("KL between Independents with different event ranks is not supported")
    return a.sum_over_event(kl_divergence(a.distribution, b.distribution))


boundaries(globals())

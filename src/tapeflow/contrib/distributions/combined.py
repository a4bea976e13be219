"""Distributions that are made of others: mixtures, and independent ones as one."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.ops.array.construction import zeros, zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.sizes import size as size_of
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.control.assertions import assert_equal_v1 as assert_equal
from tapeflow.ops.control.assertions import assert_less_equal_v1 as assert_less_equal
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.indexing.partition import dynamic_partition, dynamic_stitch
from tapeflow.ops.linear_operator.arguments import static_size
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.elementwise import square
from tapeflow.ops.math.reductions import reduce_logsumexp, reduce_prod, reduce_sum
from tapeflow.ops.nn.softmax import log_softmax, softmax
from tapeflow.ops.static import get_static_value
from tapeflow.v1.distributions.base import NOT_REPARAMETERIZED, Distribution, checked
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

    Raises:
      ValueError: for more axes than there are.
    """

    def __init__(
        self, distribution, reinterpreted_batch_ndims=None, validate_args: bool = False,
        name: str | None = None,
    ):
        given = dict(locals())
        self._distribution = distribution
        rank = distribution.batch_shape.rank
        if rank is None:
            rank = size_of(distribution.batch_shape_tensor())
        if reinterpreted_batch_ndims is None:
            reinterpreted_batch_ndims = maximum(rank - 1, 0)
        count = convert_to_tensor(reinterpreted_batch_ndims, dtypes.int32)
        known, message = get_static_value(count), "cannot exceed distribution.batch_ndims"
        self._count = checked(
            count, validate_args and (known is None or not isinstance(rank, int)),
            lambda: assert_less_equal(count, rank, message=f"reinterpreted_batch_ndims {message}"),
        ) if known is None else int(known)  # fmt: skip
        if known is not None and isinstance(rank, int) and known > rank:
            raise ValueError(f"reinterpreted_batch_ndims({known}) {message}({rank})")
        super().__init__(
            distribution.dtype, distribution.reparameterization_type, validate_args,
            distribution.allow_nan_stats, given, name=name or "Independent" + distribution.name,
        )  # fmt: skip

    distribution = property(lambda self: self._distribution)
    reinterpreted_batch_ndims = property(lambda self: self._count)

    def _batch_rank(self):
        """The rank of the batch, or None where it is not known."""
        rank = self._distribution.batch_shape.rank
        return None if rank is None or not isinstance(self._count, int) else rank - self._count

    def _batch_shape(self):
        rank = self._batch_rank()
        return None if rank is None else self._distribution.batch_shape[:rank]

    def _event_shape(self):
        rank = self._batch_rank()
        if rank is None:
            return None
        return self._distribution.batch_shape[rank:].concatenate(self._distribution.event_shape)

    def _split(self):
        """The sizes of the batch, and those of its axes that belong to an event."""
        sizes = self._distribution.batch_shape_tensor()
        rank = size_of(sizes) - self._count
        return sizes[:rank], sizes[rank:]

    def _batch_shape_tensor(self):
        return self._split()[0]

    def _event_shape_tensor(self):
        return concat([self._split()[1], self._distribution.event_shape_tensor()], 0)

    def _sample_n(self, n, seed: int | None = None):
        return self._distribution.sample(n, seed=seed)

    def sum_over_event(self, x):
        return reduce_sum(x, range_(-self._count, 0))

    def _log_prob(self, x):
        return self.sum_over_event(self._distribution.log_prob(x))

    def _entropy(self):
        return self.sum_over_event(self._distribution.entropy())

    def _mean(self):
        return self._distribution.mean()

    def _variance(self):
        return self._distribution.variance()

    def _stddev(self):
        return self._distribution.stddev()

    def _mode(self):
        return self._distribution.mode()


class _Mixed(Distribution):
    """A mixture; `_rank` is the rank of an event."""

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

    def _log_prob(self, x):
        return self._together(self._log_probs(x))

    def _log_cdf(self, x):
        return self._together(self._log_cdfs(x))

    def _together(self, logs):
        """The logarithm of the weighted sum over components, of logarithms [..., components]."""
        return reduce_logsumexp(logs + log_softmax(self._mixing().logits), -1)

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
        _require_mixture(mixture_distribution, components_distribution)
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

    def _chosen(self, n, seed=None):
        """[n, batch]: one choice for each distribution of the batch, also where all share their weights."""
        logits = self._mixture.logits
        wide = logits + zeros(concat([self.batch_shape_tensor(), shape_of(logits)[-1:]], 0), logits.dtype)
        return Categorical(logits=wide).sample(n, seed=seed)

    def _sample_n(self, n, seed=None):
        chosen = self._chosen(n, mixed_seed(seed, "mixture"))
        values = self._components.sample(n, seed=seed)
        mask = one_hot(chosen, self._mixture.event_size, dtype=values.dtype)
        return reduce_sum(beside_events(mask, self._rank) * values, -1 - self._rank)

    def _of_components(self, statistic):
        return getattr(self._components, statistic)()

    def _beside_components(self, x):
        """`x` [..., event] as [..., 1, event]."""
        return expand_dims(x, -1 - self._rank)

    def _log_probs(self, x):
        return self._components.log_prob(self._beside_components(x))

    def _log_cdfs(self, x):
        return self._components.log_cdf(self._beside_components(x))

    def _covariance(self):
        if self._rank != 1:
            raise NotImplementedError("covariance is not implemented")
        away = self._components.mean() - self._beside_components(self._mean())
        within = self._components.covariance() + zeros_like(away)[..., None]
        weights = beside_events(self._mixing_probs(), 2)
        return reduce_sum(weights * (within + away[..., None] * away[..., None, :]), -3)


def _require_mixture(mixture, components):
    """Raise ValueError where what chooses components does not fit them."""
    if not mixture.dtype.is_integer:
        raise ValueError(f"`mixture_distribution.dtype` ({mixture.dtype.name}) is not over integers")
    if mixture.event_shape.rank not in (None, 0):
        raise ValueError("`mixture_distribution` must have scalar `event_dim`s")
    own, shape = mixture.batch_shape, components.batch_shape.with_rank_at_least(1)
    if own.is_fully_defined() and shape[:-1].is_fully_defined() and own.rank and own.as_list() != shape[:-1].as_list():
        raise ValueError(
            f"`mixture_distribution.batch_shape` (`{own.as_list()}`) is not compatible with "
            f"`components_distribution.batch_shape` (`{shape[:-1].as_list()}`)"
        )
    counts = static_size(mixture.logits.shape, -1), static_size(shape, -1)
    if None not in counts and counts[0] != counts[1]:
        raise ValueError(
            f"`mixture_distribution components` ({counts[0]}) does not equal "
            f"`components_distribution.batch_shape[-1]` ({counts[1]})"
        )


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
        _require_components(cat, components)
        self._shapes = _merged_shapes(cat, components)
        if self._shapes[1].rank is None:
            raise ValueError(
                "Expected to know rank(event_shape) from components, but none of the components provide a static "
                "number of ndims"
            )
        self._is_static = use_static_graph
        self._cat, self._components = cat, list(components)
        self._rank = self._shapes[1].rank
        super().__init__(
            components[0].dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    cat = property(lambda self: self._cat)
    components = property(lambda self: self._components)
    num_components = property(lambda self: len(self._components))
    batch_shape = property(lambda self: self._shapes[0])
    event_shape = property(lambda self: self._shapes[1])

    def _batch_shape_tensor(self):
        return self._cat.batch_shape_tensor()

    def _event_shape_tensor(self):
        return self._components[0].event_shape_tensor()

    def _mixing(self):
        return self._cat

    def _sample_n(self, n, seed=None):
        chosen = self._cat.sample(n, seed=seed)
        if self._is_static:
            return self._of_all(n, chosen, seed)
        chosen = self._checked(chosen, *self._shape_checks())
        # Of a component are drawn as many batches as it was chosen for elements: of each, one element is taken.
        batch = reduce_prod(self.batch_shape_tensor())
        places = reshape(range_(0, size_of(chosen)), shape_of(chosen))
        parts = dynamic_partition(places, chosen, len(self._components))
        drawn = []
        for component, part in zip(self._components, parts):
            seed = mixed_seed(seed, "mixture")
            count = size_of(part)
            values = component.sample(count, seed=seed)
            flat = reshape(values, concat([[count * batch], self.event_shape_tensor()], 0))
            drawn.append(gather(flat, batch * range_(count) + part % batch))
        return reshape(dynamic_stitch(parts, drawn), concat([shape_of(chosen), self.event_shape_tensor()], 0))

    def _of_all(self, n, chosen, seed):
        """Samples of all components, of which the ones that were chosen are taken."""
        made = []
        for component in self._components:
            seed = mixed_seed(seed, "mixture")
            made.append(component.sample(n, seed=seed))
        mask = one_hot(chosen, len(self._components), dtype=self.dtype)
        return reduce_sum(beside_events(mask, self._rank) * stack(made, -1 - self._rank), -1 - self._rank)

    def _shape_checks(self):
        shape = self._cat.batch_shape_tensor()
        for i, each in enumerate(self._components):
            own, message = each.batch_shape_tensor(), f"components[{i}] batch shape must match cat batch shape"
            yield lambda own=own, message=message: assert_equal(size_of(shape), size_of(own), message=message)
            yield lambda own=own, message=message: assert_equal(shape, own, message=message)

    def _of_components(self, statistic):
        found = [getattr(d, statistic)() for d in self._components]
        return stack(found, len(self._cat.logits.shape) - 1)

    def _log_probs(self, x):
        return stack([d.log_prob(x) for d in self._components], -1)

    def _log_cdfs(self, x):
        return stack([d.log_cdf(x) for d in self._components], -1)

    def entropy_lower_bound(self, name: str = "entropy_lower_bound"):
        """A lower bound of the entropy: the weighted mean of the components' entropies."""
        found = stack([d.entropy() for d in self._components], -1)
        return reduce_sum(found * self._mixing_probs(), -1)


def _require_components(cat, components):
    """Raise TypeError or ValueError for what is no mixture."""
    if not isinstance(cat, Categorical):
        raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
    if not components:
        raise ValueError("components must be a non-empty list or tuple")
    if not isinstance(components, (list, tuple)):
        raise TypeError(f"components must be a list or tuple, but saw: {components}")
    if not all(isinstance(each, Distribution) for each in components):
        raise TypeError(f"all entries in components must be Distribution instances but saw: {components}")
    if len({each.dtype for each in components}) > 1:
        raise TypeError(
            f"All components must have the same dtype, but saw dtypes: {[(d.name, d.dtype) for d in components]}"
        )


def _merged_shapes(cat, components):
    """What is known of the shapes of the batch and of an event. Raises ValueError where they do not fit."""
    batch, event = cat.batch_shape, components[0].event_shape
    for each in components:
        batch, event = batch.merge_with(each.batch_shape), event.merge_with(each.event_shape)
    count = static_size(cat.logits.shape, -1)
    if count is None:
        raise ValueError(
            "Could not infer number of classes from cat and unable to compare this value to the number of components "
            "passed in."
        )
    if count != len(components):
        raise ValueError(f"cat.num_classes != len(components): {count} vs. {len(components)}")
    return batch, event


@RegisterKL(Independent, Independent)
def _(a, b, name: str | None = None):
    p, q = a.distribution, b.distribution
    if a.event_shape.is_fully_defined() and b.event_shape.is_fully_defined():
        if a.event_shape.as_list() != b.event_shape.as_list():
            raise ValueError("Event shapes do not match.")
        if p.event_shape.as_list() != q.event_shape.as_list():
            raise NotImplementedError("KL between Independents with different event shapes not supported.")
        return a.sum_over_event(kl_divergence(p, q))
    found = checked(
        kl_divergence(p, q), True,
        lambda: assert_equal(a.event_shape_tensor(), b.event_shape_tensor()),
        lambda: assert_equal(p.event_shape_tensor(), q.event_shape_tensor()),
    )  # fmt: skip
    return a.sum_over_event(found)


boundaries(globals())

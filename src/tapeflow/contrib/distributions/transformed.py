"""Distributions of what bijectors make of the values of others."""

from __future__ import annotations

from typing import Any

from tapeflow.contrib.distributions.bijectors import Identity
from tapeflow.contrib.distributions.conditional import ConditionalDistribution
from tapeflow.contrib.distributions.shaped import ShapedAsAnother
from tapeflow.core import dtypes
from tapeflow.core.annotations import ShapeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.ops.array.broadcasting import broadcast_static_shape
from tapeflow.ops.array.construction import ones_like, zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import rank as rank_of
from tapeflow.ops.array.sizes import size as size_of
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.array.tiling import tile
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.control.assertions import assert_equal_v1 as assert_equal
from tapeflow.ops.control.assertions import assert_positive_v1 as assert_positive
from tapeflow.ops.control.shape_assertions import assert_rank_v1 as assert_rank
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.elementwise import exp
from tapeflow.ops.math.reductions import reduce_all, reduce_logsumexp, reduce_prod, reduce_sum
from tapeflow.ops.static import constant_value_as_shape, get_static_value
from tapeflow.v1.distributions.base import checked

__all__ = ["ConditionalTransformedDistribution", "TransformedDistribution"]

Conditions = dict[str, Any] | None  # more arguments of the methods of a bijector or of a base


def _known(x: Any) -> Any:
    """A scalar as a number or a truth value where it is known, else the tensor."""
    found = get_static_value(x)
    return x if found is None else found.item()


def _all(*conditions: Any) -> Any:
    """Whether all conditions hold: False, True, or a tensor where it is known only when the graph runs."""
    if any(each is False for each in conditions):
        return False
    unknown = [each for each in conditions if each is not True]
    return reduce_all(stack(unknown)) if unknown else True


def _picked(condition: Any, vector: Tensor) -> Any:
    """The vector if the condition holds, else an empty one."""
    if isinstance(condition, bool):
        return vector if condition else vector[:0]
    return vector[: where(condition, size_of(vector), 0)]


def _negated(condition: Any) -> Any:
    return not condition if isinstance(condition, bool) else ~condition


def _chosen(condition: Any, vector: Tensor, otherwise: Any) -> Any:
    """The vector if the condition holds, else what the function gives."""
    if isinstance(condition, bool):
        return vector if condition else otherwise()
    return concat([_picked(condition, vector), _picked(~condition, otherwise())], 0)


def _override(shape: Any, is_scalar: Any, validate_args: bool) -> Any:
    """A shape that is to replace a scalar one, as a tensor: empty for none.

    Raises:
      TypeError: where the shape holds no integers.
      ValueError: where it is no vector of positive sizes, or what it replaces is known not to be scalar.
    """
    shape = convert_to_tensor([] if shape is None else shape, dtypes.int32)
    known = get_static_value(shape)
    if known is not None and known.shape == (0,):
        return shape
    if shape.shape.rank not in (None, 1):
        raise ValueError("shape override must be a vector")
    if known is not None and (known <= 0).any():
        raise ValueError("shape override must have positive elements")
    both = _all(_known(size_of(shape) > 0), _negated(is_scalar))
    if both is True:
        raise ValueError("base distribution not scalar")
    checks: list[Any] = []
    if shape.shape.rank is None:
        checks.append(lambda: assert_rank(shape, 1, message="shape override must be a vector"))
    if known is None:
        checks.append(lambda: assert_positive(shape, message="shape override must have positive elements"))
    if both is not False:
        checks.append(lambda: assert_equal(both, False, message="base distribution not scalar"))
    return checked(shape, validate_args and bool(checks), *checks)


class TransformedDistribution(ShapedAsAnother):
    """The distribution of the values of a bijector, of arguments from another distribution.

    Args:
      distribution: the base.
      bijector: the transformation; None: none.
      batch_shape: the shape of the batch, for a base whose own is scalar.
      event_shape: the shape of an event before the transformation, of independent values of a base over numbers.
      validate_args: whether these shapes are checked when the graph runs.

    Raises:
      ValueError: for a shape that is no vector of positive sizes, or that would replace one that is not scalar.
    """

    def __init__(
        self, distribution: Any, bijector: Any = None, batch_shape: ShapeLike | None = None,
        event_shape: ShapeLike | None = None, validate_args: bool = False, name: str | None = None,
    ):  # fmt: skip
        given = dict(locals())
        own_name = name or ("" if bijector is None else bijector.name) + distribution.name
        is_one = _known(distribution.is_scalar_batch())
        self._new_batch = _override(batch_shape, is_one, validate_args)
        self._new_event = _override(event_shape, _known(distribution.is_scalar_event()), validate_args)
        # Values of a batch whose events get a shape are drawn with the axes of events first.
        event_rank = _known(size_of(self._new_event))
        self._replaces_batch = _known(size_of(self._new_batch) > 0)
        self._replaces_event = _known(size_of(self._new_event) > 0)
        self._rotates = _all(self._replaces_event, _negated(self._replaces_batch), _negated(is_one))
        if isinstance(self._rotates, bool):
            self._turn = event_rank if self._rotates else 0
        else:
            self._turn = where(self._rotates, event_rank, 0)
        self._event_axes = range_(self._turn - event_rank, self._turn)
        self._distribution = distribution
        self._bijector = Identity(validate_args=validate_args) if bijector is None else bijector
        self._static_shapes = self._known_shapes()
        super().__init__(
            distribution.dtype, distribution.reparameterization_type, validate_args,
            distribution.allow_nan_stats, given, name=own_name,
        )  # fmt: skip

    def _known_shapes(self) -> tuple[Any, Any]:
        """What is known of the shapes of the batch and of an event."""
        batch, event = self._distribution.batch_shape, self._distribution.event_shape
        if self._replaces_batch is not False:
            batch = constant_value_as_shape(self._new_batch)
        if self._replaces_event is not False:
            event = constant_value_as_shape(self._new_event)
        return batch, self._bijector.forward_event_shape(event)

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Any]:
        raise NotImplementedError("_param_shapes not implemented")

    bijector = property(lambda self: self._bijector)

    def _batch_shape(self) -> Any:
        return self._static_shapes[0]

    def _batch_shape_tensor(self) -> Any:
        return _chosen(self._replaces_batch, self._new_batch, self._distribution.batch_shape_tensor)

    def _event_shape(self) -> Any:
        return self._static_shapes[1]

    def _event_shape_tensor(self) -> Any:
        shape = _chosen(self._replaces_event, self._new_event, self._distribution.event_shape_tensor)
        return self._bijector.forward_event_shape_tensor(shape)

    def _sample_n(
        self, n: Tensor, seed: int | None = None,
        bijector_kwargs: Conditions = None, distribution_kwargs: Conditions = None
    ) -> Any:
        """Values before the transformation, which is applied to them in their final shape, so that it is remembered."""
        count = reshape(n, [1])
        last = _picked(self._rotates, count)
        first = _picked(_negated(self._rotates), count)
        shape = concat([first, self._new_batch, self._new_event, last], 0)
        x = self._distribution.sample(shape, seed=seed, **distribution_kwargs or {})
        return x if self._rotates is False else self._rotated(x, self._turn)

    def _call_sample_n(  # type: ignore[override]  # the conditions are named
        self, sample_shape: ShapeLike, seed: int | None, name: str,
        bijector_kwargs: Conditions = None, distribution_kwargs: Conditions = None
    ) -> Any:
        with self._named(name):
            sizes = reshape(convert_to_tensor(sample_shape, dtypes.int32), [-1])
            x = self._drawn(sizes, seed, distribution_kwargs=distribution_kwargs)
            y = self._bijector.forward(x, **bijector_kwargs or {})
            return self._set_sample_static_shape(y, sizes)

    @staticmethod
    def _rotated(x: Tensor, turn: Any) -> Any:
        """`x` with its first `turn` axes behind the others."""
        rank = _known(rank_of(x))
        return transpose(x, concat([range_(turn, rank), range_(0, turn)], 0))

    def _log_prob(self, y: Tensor, bijector_kwargs: Conditions = None, distribution_kwargs: Conditions = None) -> Any:
        found = []
        for x, volume in self._fibers(y, bijector_kwargs or {}):
            logs = self._over_event(self._distribution.log_prob(x, **distribution_kwargs or {}), reduce_sum)
            found.append(logs + cast(volume, logs.dtype))
        return self._of_batch(y, found[0] if len(found) == 1 else reduce_logsumexp(stack(found), 0))

    def _prob(self, y: Tensor, bijector_kwargs: Conditions = None, distribution_kwargs: Conditions = None) -> Any:
        found = []
        for x, volume in self._fibers(y, bijector_kwargs or {}):
            probs = self._over_event(self._distribution.prob(x, **distribution_kwargs or {}), reduce_prod)
            found.append(probs * exp(cast(volume, probs.dtype)))
        return self._of_batch(y, found[0] if len(found) == 1 else reduce_sum(stack(found), 0))

    def _fibers(self, y: Tensor, bijector_kwargs: dict[str, Any]) -> Any:
        """All `x` whose value is `y`, as the base has them, each with log |det dx/dy|."""
        x = self._bijector.inverse(y, **bijector_kwargs)
        volumes = self._bijector.inverse_log_det_jacobian(y, event_ndims=self._event_rank(), **bijector_kwargs)
        pairs = [(x, volumes)] if self._bijector.is_injective else list(zip(x, volumes))
        if self._rotates is False:
            return pairs
        return [(self._rotated(each, _known(rank_of(each)) - self._turn), volume) for each, volume in pairs]

    def _event_rank(self) -> Any:
        rank = self.event_shape.rank
        return _known(size_of(self.event_shape_tensor())) if rank is None else rank

    def _over_event(self, values: Tensor, reduction: Any) -> Any:
        return values if self._replaces_event is False else reduction(values, self._event_axes)

    def _of_batch(self, y: Tensor, values: Tensor) -> Any:
        """Values of `y`, with what is known of their shape."""
        rank = self.event_shape.rank
        if self._replaces_event is not False and rank is not None and y.shape.rank is not None:
            values.set_shape(broadcast_static_shape(y.shape[: y.shape.rank - rank], self.batch_shape))
        return values

    # What is known of one number only.

    def _require_one_number(self, method: str) -> None:
        if self._replaces_event is not False:
            raise NotImplementedError(f"{method} is not implemented when overriding event_shape")
        if not self._bijector.is_injective:
            raise NotImplementedError(f"{method} is not implemented when bijector is not injective.")

    def _of_base(self, method: str, y: Any, bijector_kwargs: Conditions, distribution_kwargs: Conditions) -> Any:
        self._require_one_number(method)
        x = self._bijector.inverse(y, **bijector_kwargs or {})
        return getattr(self._distribution, method)(x, **distribution_kwargs or {})

    def _log_cdf(self, y: Tensor, bijector_kwargs: Conditions = None, distribution_kwargs: Conditions = None) -> Any:
        return self._of_base("log_cdf", y, bijector_kwargs, distribution_kwargs)

    def _cdf(self, y: Tensor, bijector_kwargs: Conditions = None, distribution_kwargs: Conditions = None) -> Any:
        return self._of_base("cdf", y, bijector_kwargs, distribution_kwargs)

    def _log_survival_function(
        self, y: Tensor, bijector_kwargs: Conditions = None, distribution_kwargs: Conditions = None
    ) -> Any:
        return self._of_base("log_survival_function", y, bijector_kwargs, distribution_kwargs)

    def _survival_function(
        self, y: Tensor, bijector_kwargs: Conditions = None, distribution_kwargs: Conditions = None
    ) -> Any:
        return self._of_base("survival_function", y, bijector_kwargs, distribution_kwargs)

    def _quantile(
        self, value: TensorLike, bijector_kwargs: Conditions = None, distribution_kwargs: Conditions = None
    ) -> Any:
        self._require_one_number("quantile")
        found = self._distribution.quantile(value, **distribution_kwargs or {})
        return self._bijector.forward(found, **bijector_kwargs or {})

    def _entropy(self) -> Any:
        if not self._bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        if not self._bijector.is_injective:
            raise NotImplementedError("entropy is not implemented when bijector is not injective.")
        found = self._distribution.entropy()
        if self._replaces_event is not False:
            found = found * cast(reduce_prod(self._new_event), found.dtype)
        if self._replaces_batch is not False:
            inner = self._distribution.batch_shape_tensor()
            wide = reshape(found, concat([ones_like(self._new_batch), inner], 0))
            found = tile(wide, concat([self._new_batch, ones_like(inner)], 0))
        somewhere = zeros(concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), self.dtype)
        volume = self._bijector.inverse_log_det_jacobian(somewhere, event_ndims=self._event_rank())
        found = found - cast(volume, found.dtype)
        found.set_shape(self.batch_shape)
        return found


class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """A transformed distribution whose methods take `bijector_kwargs` and `distribution_kwargs`.

    These are dicts of the arguments that the methods of the bijector and of the base are given.
    """


boundaries(globals())

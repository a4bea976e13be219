"""Batches of distributions in another shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.contrib.distributions.shaped import ShapedAsAnother
from tapeflow.core import dtypes
from tapeflow.core.annotations import ShapeLike, Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import rank as rank_of
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.sizes import size as size_of
from tapeflow.ops.control.assertions import assert_equal_v1 as assert_equal
from tapeflow.ops.control.assertions import assert_greater_equal_v1 as assert_greater_equal
from tapeflow.ops.control.assertions import assert_less_equal_v1 as assert_less_equal
from tapeflow.ops.control.assertions import assert_positive_v1 as assert_positive
from tapeflow.ops.control.shape_assertions import assert_rank_v1 as assert_rank
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.reductions import reduce_prod, reduce_sum
from tapeflow.ops.static import constant_value_as_shape
from tapeflow.v1.distributions.base import checked

__all__ = ["BatchReshape"]


class BatchReshape(ShapedAsAnother):
    """The same distributions as a batch of another shape.

    Args:
      distribution: the batch.
      batch_shape: the new shape, a vector of integers; one size may be -1, what is left.
      validate_args: whether shapes are checked when the graph runs.

    Raises:
      ValueError: for a shape that is no vector, or of another number of distributions.
    """

    def __init__(
        self, distribution: Any, batch_shape: ShapeLike, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str | None = None,
    ):  # fmt: skip
        given = dict(locals())
        self._distribution = distribution
        shape = convert_to_tensor(batch_shape, dtypes.int32)
        self._static = _checked_statically(distribution, shape)
        self._sizes = shape
        if not self._static.is_fully_defined():
            self._sizes = _with_size_left(distribution.batch_shape_tensor(), shape, validate_args)
            self._static = constant_value_as_shape(self._sizes)
        super().__init__(
            distribution.dtype, distribution.reparameterization_type, validate_args, allow_nan_stats, given, [shape],
            name or "BatchReshape" + distribution.name,
        )  # fmt: skip

    def _batch_shape(self) -> Any:
        return self._static

    def _batch_shape_tensor(self) -> Tensor:
        return self._sizes

    def _sample_n(self, n: Tensor, seed: int | None = None) -> Tensor:
        x = self._distribution.sample(n, seed=seed)
        return reshape(x, concat([[n], self._sizes, self.event_shape_tensor()], 0))

    # Of values: their own shape is undone, and done again to what is found.

    def _of_values(self, function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        x = self._valid(x)
        rank = self._own_rank()
        static, sizes = TensorShape(None), shape_of(x)[: rank_of(x) - rank]
        if isinstance(rank, int) and x.shape.rank is not None:
            static = x.shape[: x.shape.rank - rank]
        inner = concat([sizes, self._distribution.batch_shape_tensor(), self.event_shape_tensor()], 0)
        found = reshape(function(reshape(x, inner)), concat([sizes, self._sizes], 0))
        found.set_shape(static.concatenate(self.batch_shape))
        return found

    def _own_rank(self) -> Any:
        """The rank of a batch of events, a number where it is known."""
        known = self.batch_shape.concatenate(self.event_shape).rank
        return size_of(self._sizes) + size_of(self.event_shape_tensor()) if known is None else known

    def _valid(self, x: Tensor) -> Tensor:
        """A value, of which every element belongs to a distribution of the batch. Raises NotImplementedError else."""
        rank = self._own_rank()
        own = self.batch_shape.concatenate(self.event_shape)
        message = "Broadcasting is not supported; too few batch and event dims"
        if isinstance(rank, int) and x.shape.rank is not None:
            if x.shape.rank < rank:
                raise NotImplementedError(f"{message} (expected at least {rank}, saw {x.shape.rank}).")
            theirs = x.shape[x.shape.rank - rank :]
            if own.is_fully_defined() and theirs.is_fully_defined():
                if own.as_list() != theirs.as_list():
                    raise NotImplementedError(
                        "Broadcasting is not supported; unexpected batch and event shape (expected "
                        f"{np.array(own.as_list())}, saw {np.array(theirs.as_list())})."
                    )
                return x
        x = self._checked(x, lambda: assert_greater_equal(rank_of(x), rank, message=f"{message}."))

        def check() -> Any:
            first = maximum(rank_of(x) - rank, 0)
            expected = concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
            message = "Broadcasting is not supported; unexpected batch and event shape."
            return assert_equal(expected, shape_of(x)[first:], message=message)

        return self._checked(x, check)

    def _log_prob(self, x: Tensor) -> Tensor:
        return self._of_values(self._distribution.log_prob, x)

    def _prob(self, x: Tensor) -> Tensor:
        return self._of_values(self._distribution.prob, x)

    def _log_cdf(self, x: Tensor) -> Tensor:
        return self._of_values(self._distribution.log_cdf, x)

    def _cdf(self, x: Tensor) -> Tensor:
        return self._of_values(self._distribution.cdf, x)

    def _log_survival_function(self, x: Tensor) -> Tensor:
        return self._of_values(self._distribution.log_survival_function, x)

    def _survival_function(self, x: Tensor) -> Tensor:
        return self._of_values(self._distribution.survival_function, x)

    # Statistics, which have this many axes of an event.

    def _reshaped(self, found: Tensor, events: int) -> Tensor:
        made = reshape(found, concat([self._sizes] + [self.event_shape_tensor()] * events, 0))
        shape = self.batch_shape
        for _ in range(events):
            shape = shape.concatenate(self.event_shape)
        made.set_shape(shape)
        return made

    def _entropy(self) -> Tensor:
        return self._reshaped(self._distribution.entropy(), 0)

    def _mean(self) -> Tensor:
        return self._reshaped(self._distribution.mean(), 1)

    def _mode(self) -> Tensor:
        return self._reshaped(self._distribution.mode(), 1)

    def _stddev(self) -> Tensor:
        return self._reshaped(self._distribution.stddev(), 1)

    def _variance(self) -> Tensor:
        return self._reshaped(self._distribution.variance(), 1)

    def _covariance(self) -> Tensor:
        return self._reshaped(self._distribution.covariance(), 2)


def _checked_statically(distribution: Any, shape: Tensor) -> TensorShape:
    """What is known of a shape, without sizes of -1. Raises ValueError where it does not fit the distribution."""
    if shape.shape.rank not in (None, 1):
        raise ValueError(f"`batch_shape` must be a vector (saw rank: {shape.shape.rank}).")
    known = constant_value_as_shape(shape)
    size, own = known.num_elements(), distribution.batch_shape.num_elements()
    if size is not None and own is not None and size != own:
        raise ValueError(f"`batch_shape` size ({size}) must match `distribution.batch_shape` size ({own}).")
    if known.rank is not None and any(n is not None and n < 1 for n in known.as_list()):
        raise ValueError("`batch_shape` elements must be >=-1.")
    return known


def _with_size_left(own: Tensor, shape: Tensor, validate_args: bool) -> Tensor:
    """A shape in which the size -1 is what is left of the number of distributions."""
    count, left = reduce_prod(own), equal(shape, -1)
    whole = where(left, count // maximum(1, -reduce_prod(shape)), shape)
    unknown = reduce_sum(cast(left, dtypes.int32))
    return checked(
        whole, validate_args,
        lambda: assert_rank(shape, 1, message="New shape must be a vector."),
        lambda: assert_less_equal(unknown, 1, message="At most one dimension can be unknown."),
        lambda: assert_positive(whole, message="Shape elements must be >=-1."),
        lambda: assert_equal(reduce_prod(whole), count, message="Shape sizes do not match."),
    )  # fmt: skip


boundaries(globals())

"""Distributions that have one value."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.ops.array.construction import zeros, zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.control.assertions import assert_equal_v1 as assert_equal
from tapeflow.ops.control.assertions import assert_non_negative_v1 as assert_non_negative
from tapeflow.ops.control.shape_assertions import assert_rank_at_least_v1 as assert_rank_at_least
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.reductions import reduce_all
from tapeflow.v1.distributions.base import NOT_REPARAMETERIZED, Distribution

__all__ = ["Deterministic", "VectorDeterministic"]


class _OneValue(Distribution):
    """The value `loc`, and what is near it."""

    _event_rank = 0

    def __init__(
        self, loc: TensorLike, atol: TensorLike | None, rtol: TensorLike | None, validate_args: bool,
        allow_nan_stats: bool, given: Any, name: str,
    ):  # fmt: skip
        self._validate_args = validate_args
        self._loc: Any = convert_to_tensor(loc)
        if self._event_rank:
            message, given_loc = "Argument loc must be at least rank 1.", self._loc
            self._loc = self._checked(given_loc, lambda: assert_rank_at_least(given_loc, 1, message=message))
        self._atol, self._rtol = self._tolerance_of(atol), self._tolerance_of(rtol)
        self._slack = self._atol + self._rtol * abs_(self._loc)
        super().__init__(
            self._loc.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, [self._loc], name
        )

    loc = property(lambda self: self._loc)
    atol = property(lambda self: self._atol)
    rtol = property(lambda self: self._rtol)

    def _tolerance_of(self, given: TensorLike | None) -> Any:
        found = convert_to_tensor(0 if given is None else given, self._loc.dtype)
        message = "Argument 'tol' must be non-negative"
        return self._checked(found, lambda: assert_non_negative(found, message=message))

    def _sample_n(self, n: Tensor, seed: int | None = None) -> Tensor:
        return self._loc + zeros(concat([[n], shape_of(self._loc)], 0), self.dtype)

    def _entropy(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), self.dtype)

    def _mean(self) -> Tensor:
        return identity(self._loc)

    _mode = _mean

    def _variance(self) -> Tensor:
        return zeros_like(self._loc)


class Deterministic(_OneValue):
    """One number.

    Args:
      loc: the number.
      atol, rtol: how far, absolutely and relatively, what has probability 1 may be from it; None: not at all.
    """

    def __init__(
        self, loc: TensorLike, atol: TensorLike | None = None, rtol: TensorLike | None = None,
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Deterministic",
    ):  # fmt: skip
        super().__init__(loc, atol, rtol, validate_args, allow_nan_stats, dict(locals()), name)

    def _batch_shape(self) -> Any:
        return self._loc.shape

    def _batch_shape_tensor(self) -> Tensor:
        return shape_of(self._loc)

    def _prob(self, x: Tensor) -> Tensor:
        return cast(abs_(x - self._loc) <= self._slack, self.dtype)

    def _cdf(self, x: Tensor) -> Tensor:
        return cast(x >= self._loc - self._slack, self.dtype)


class VectorDeterministic(_OneValue):
    """One vector.

    Args:
      loc: [..., n], the vector.
      atol, rtol: how far, absolutely and relatively, each element of what has probability 1 may be from it; None: not
        at all.

    Raises:
      ValueError: with `validate_args`, for a number.
    """

    _event_rank = 1

    def __init__(
        self, loc: TensorLike, atol: TensorLike | None = None, rtol: TensorLike | None = None,
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "VectorDeterministic",
    ):  # fmt: skip
        super().__init__(loc, atol, rtol, validate_args, allow_nan_stats, dict(locals()), name)

    def _batch_shape(self) -> Any:
        return self._loc.shape[:-1]

    def _batch_shape_tensor(self) -> Tensor:
        return shape_of(self._loc)[:-1]

    def _event_shape(self) -> Any:
        return self._loc.shape[-1:]

    def _event_shape_tensor(self) -> Tensor:
        return shape_of(self._loc)[-1:]

    def _prob(self, x: Tensor) -> Tensor:
        message = "Argument 'x' not defined in the same space R^k as this distribution"
        x = self._checked(x, lambda: assert_rank_at_least(x, 1))
        x = self._checked(
            x, lambda: assert_equal(self.event_shape_tensor(), shape_of(x)[-1:], message=message)
        )
        return cast(reduce_all(abs_(x - self._loc) <= self._slack, -1), self.dtype)


boundaries(globals())

"""Distributions over vectors: independent numbers of one distribution that a linear operator scales, and moved."""

from __future__ import annotations

import math
from typing import Any

from tapeflow.contrib.distributions.bijectors import AffineLinearOperator
from tapeflow.contrib.distributions.scales import (
    diag_scale,
    is_diagonal,
    shapes_of,
    solve_vectors,
    squared,
)
from tapeflow.contrib.distributions.transformed import TransformedDistribution
from tapeflow.core import context
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.linalg import LinearOperator
from tapeflow.ops.array.construction import ones, zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import sqrt
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.v1.distributions.continuous import Exponential, Laplace

__all__ = [
    "OfDiagonal", "ScaledVector", "VectorExponentialDiag", "VectorExponentialLinearOperator", "VectorLaplaceDiag",
    "VectorLaplaceLinearOperator",
]  # fmt: skip


class ScaledVector(TransformedDistribution):
    """loc + scale @ x, of vectors x whose elements are independent, each of one distribution.

    Subclasses define `_unit`, which makes that distribution, and `_unit_variance`.

    Args:
      loc: [..., n]; None: zeros.
      scale: a `LinearOperator` over [..., n, n].

    Raises:
      ValueError: without a scale, or for one of vectors of another size than `loc`.
      TypeError: for a scale that is not floating.
    """

    _unit_variance = 1.0

    def __init__(
        self, loc: TensorLike | None = None, scale: LinearOperator | None = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str | None = None,
    ):  # fmt: skip
        given = dict(locals())
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        if not scale.dtype.is_floating:
            raise TypeError("`scale` parameter must have floating-point dtype.")
        loc = None if loc is None else convert_to_tensor(loc, dtype_hint=scale.dtype)
        batch_shape, event_shape = shapes_of(loc, scale)
        super().__init__(
            self._unit(scale.dtype, allow_nan_stats), AffineLinearOperator(loc, scale, validate_args), batch_shape,
            event_shape, validate_args, name or type(self).__name__,
        )  # fmt: skip
        self._remember(given)

    @staticmethod
    def _unit(dtype: Any, allow_nan_stats: bool) -> Any:
        raise NotImplementedError

    @property
    def loc(self) -> Any:
        """What vectors are moved by; None: nothing."""
        return self.bijector.shift

    @property
    def scale(self) -> Any:
        """The linear operator."""
        return self.bijector.scale

    def _log_prob(self, x: Tensor) -> Tensor:  # type: ignore[override]  # there are no conditions
        if self.validate_args or not context.executing_eagerly():
            return super()._log_prob(x)
        # The same at a third of the time: nothing is remembered of eager tensors.
        x = x if self.loc is None else x - self.loc
        logs = self.distribution.log_prob(solve_vectors(self.scale, x))
        return reduce_sum(logs, -1) - self.scale.log_abs_determinant()

    def _moved(self, x: Tensor) -> Tensor:
        return x if self.loc is None else self.loc + x

    def _shape(self) -> Any:
        return concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)

    def _mean(self) -> Tensor:
        return self._moved(zeros(self._shape(), self.dtype))

    _mode = _mean

    def _covariance(self) -> Tensor:
        return self._unit_variance * squared(self.scale)

    def _variance(self) -> Tensor:
        return self._unit_variance * squared(self.scale, diagonal_only=True)

    def _stddev(self) -> Tensor:
        # Of a diagonal scale without a square, which may overflow.
        size = abs_(self.scale.diag_part()) if is_diagonal(self.scale) else sqrt(squared(self.scale, True))
        return math.sqrt(self._unit_variance) * size


class OfDiagonal(ScaledVector):
    """A mixin of a distribution whose operator is diagonal.

    Args:
      loc: [..., n]; None: zeros.
      scale_diag: [..., n]; None: ones, or zeros with a multiplier.
      scale_identity_multiplier: [...], what is added to all of them.

    Raises:
      ValueError: where neither `loc` nor `scale_diag` is given.
    """

    def __init__(
        self, loc: TensorLike | None = None, scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str | None = None,
    ):  # fmt: skip
        given = dict(locals())
        scale = diag_scale(loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._remember(given)


class VectorLaplaceLinearOperator(ScaledVector):
    """The Laplace distribution of vectors: its mean is `loc`, its covariance two times the square of `scale`.

    Args:
      loc: [..., n]; None: zeros.
      scale: a `LinearOperator` over [..., n, n].
    """

    _unit_variance = 2.0

    @staticmethod
    def _unit(dtype: Any, allow_nan_stats: bool) -> Laplace:
        return Laplace(zeros([], dtype), ones([], dtype), allow_nan_stats=allow_nan_stats)


class VectorLaplaceDiag(OfDiagonal, VectorLaplaceLinearOperator):
    """The Laplace distribution of vectors of independent elements.

    Args:
      loc: [..., n]; None: zeros.
      scale_diag: [..., n]; None: ones, or zeros with a multiplier.
      scale_identity_multiplier: [...], what is added to all of them.
    """


class VectorExponentialLinearOperator(ScaledVector):
    """The distribution of loc + scale @ x, where the elements of x are independent exponential ones of rate 1.

    Args:
      loc: [..., n]; None: zeros.
      scale: a `LinearOperator` over [..., n, n].
    """

    @staticmethod
    def _unit(dtype: Any, allow_nan_stats: bool) -> Exponential:
        return Exponential(ones([], dtype), allow_nan_stats=allow_nan_stats)

    def _mean(self) -> Tensor:
        return self._moved(self.scale.matvec(ones(self._shape(), self.dtype)))


class VectorExponentialDiag(OfDiagonal, VectorExponentialLinearOperator):
    """The distribution of loc + scale_diag * x, where the elements of x are independent exponential ones of rate 1.

    Args:
      loc: [..., n]; None: zeros.
      scale_diag: [..., n]; None: ones, or zeros with a multiplier.
      scale_identity_multiplier: [...], what is added to all of them.
    """


boundaries(globals())

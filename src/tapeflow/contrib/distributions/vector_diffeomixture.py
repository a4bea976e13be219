"""Mixtures of all distributions between two transformed ones, by quadrature (Dillon and Langmore, 2018)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.contrib.distributions.bijectors import AffineLinearOperator
from tapeflow.contrib.distributions.combined import beside_events
from tapeflow.contrib.distributions.quadrature import quadrature_scheme_softmaxnormal_quantiles
from tapeflow.contrib.distributions.scales import squared, weighted_sum
from tapeflow.contrib.distributions.sinh_arcsinh import scalar_base
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape
from tapeflow.ops.array.construction import ones, zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.linear_operator.arguments import static_size
from tapeflow.ops.math.elementwise import log, square
from tapeflow.ops.math.reductions import reduce_logsumexp, reduce_sum
from tapeflow.v1.distributions.base import FULLY_REPARAMETERIZED, Distribution, broadcast
from tapeflow.v1.distributions.continuous import mixed_seed
from tapeflow.v1.distributions.discrete import Categorical

__all__ = ["VectorDiffeomixture"]


class VectorDiffeomixture(Distribution):
    """The distribution of w (loc[0] + scale[0] @ x) + (1 - w) (loc[1] + scale[1] @ x), of a random weight w.

    The weight is the sigmoid of a normal variable, for which the points of a quadrature stand.

    Args:
      mix_loc: [..., 1], the mean of the normal variable, times `temperature`.
      temperature: [..., 1], one over its standard deviation.
      distribution: of an element of x, over numbers.
      loc: two tensors [..., n], or None for zeros.
      scale: two linear operators over [..., n, n].
      quadrature_size: the number of points.
      quadrature_fn: of the mean, the standard deviation, the number of points and `validate_args`, gives the weights,
        [..., 2, points], and their probabilities, [points].

    Raises:
      ValueError: for less than two scales, or another number of `loc`; with `validate_args` for scales that are not
        declared to be positive definite.
      TypeError: where dtypes differ.
      NotImplementedError: for more than two scales, or of another kind than identities, diagonal and lower triangular.
    """

    def __init__(
        self, mix_loc: TensorLike, temperature: TensorLike, distribution: Any,
        loc: Sequence[TensorLike | None] | None = None, scale: Sequence[Any] | None = None, quadrature_size: int = 8,
        quadrature_fn: Callable[..., Any] = quadrature_scheme_softmaxnormal_quantiles, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "VectorDiffeomixture",
    ):  # fmt: skip
        given = dict(locals())
        if not scale or len(scale) < 2:
            raise ValueError(
                "Must specify list (or list-like object) of scale LinearOperators, one for each component with "
                "num_component >= 2."
            )
        loc = [None] * len(scale) if loc is None else loc
        if len(loc) != len(scale):
            raise ValueError("loc/scale must be same-length lists (or same-length list-like objects).")
        dtype = _one_dtype(scale, validate_args)
        moves = [None if each is None else convert_to_tensor(each, dtype) for each in loc]
        self._endpoints = _affines("endpoint_affine", moves, scale, validate_args)
        if len(scale) != 2:
            raise NotImplementedError(f"Currently only bimixtures are supported; len(scale)={len(scale)} is not 2.")
        temperature = convert_to_tensor(temperature, dtype)
        grid, probs = quadrature_fn(
            convert_to_tensor(mix_loc, dtype) / temperature, 1.0 / temperature, quadrature_size, validate_args
        )
        self._mixture = Categorical(
            logits=log(probs), validate_args=validate_args, allow_nan_stats=allow_nan_stats
        )
        self._inner, self._grid = distribution, scalar_base(distribution, dtype, validate_args, grid)
        self._interpolated = self._interpolations(moves, scale, validate_args)
        super().__init__(
            dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given,
            [each for each in moves if each is not None], name,
        )  # fmt: skip

    mixture_distribution = property(lambda self: self._mixture)
    distribution = property(lambda self: self._inner)
    grid = property(lambda self: self._grid)
    endpoint_affine = property(lambda self: self._endpoints)
    interpolated_affine = property(lambda self: self._interpolated)

    def _interpolations(self, moves: Sequence[Any], scale: Sequence[Any], validate_args: bool) -> list[Any]:
        """The affine functions at the points of the quadrature."""
        count = static_size(self._grid.shape, -1)
        if count is None:
            raise ValueError("Num quadrature grid points must be known prior to graph execution.")
        weights = [[self._grid[..., k, i] for k in range(2)] for i in range(count)]
        scales = [weighted_sum(w, scale) for w in weights]
        return _affines("interpolated_affine", [_interpolated(w, moves) for w in weights], scales, validate_args)

    def _batch_shape(self) -> Any:
        parts = [part for each in self._endpoints for part in _batch_shapes(each)]
        return broadcast(self._grid.shape[:-2], *parts)

    def _batch_shape_tensor(self) -> Tensor:
        found = shape_of(self._grid)[:-2]
        for each in self._endpoints:
            found = broadcast_dynamic_shape(found, each.scale.batch_shape_tensor())
            if each.shift is not None:
                found = broadcast_dynamic_shape(found, shape_of(each.shift)[:-1])
        return found

    def _event_shape(self) -> Any:
        moves = [each.shift.shape[-1:] for each in self._endpoints if each.shift is not None]
        return broadcast(*[TensorShape([static_size(each.scale.shape, -2)]) for each in self._endpoints], *moves)

    def _event_shape_tensor(self) -> Tensor:
        return reshape(self._endpoints[0].scale.range_dimension_tensor(), [1])

    def _shape(self) -> Tensor:
        return concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)

    def _sample_n(self, n: Tensor, seed: int | None = None) -> Tensor:
        x = self._inner.sample(concat([[n], self._shape()], 0), seed=seed)
        first, second = (each.forward(x) for each in self._endpoints)
        logits = self._mixture.logits
        wide = logits + zeros(concat([self.batch_shape_tensor(), shape_of(logits)[-1:]], 0), logits.dtype)
        chosen = Categorical(logits=wide).sample(n, seed=mixed_seed(seed, "vector_diffeomixture"))
        weights = self._grid[..., 0, :]
        weight = reduce_sum(one_hot(chosen, shape_of(weights)[-1], dtype=self.dtype) * weights, -1, keepdims=True)
        return weight * (first - second) + second

    def _log_prob(self, x: Tensor) -> Tensor:
        logs = []
        for each in self._interpolated:
            values = reduce_sum(self._inner.log_prob(each.inverse(x)), -1)
            logs.append(values - each.forward_log_det_jacobian(x, event_ndims=1))
        return reduce_logsumexp(self._mixture.logits + stack(logs, -1), -1)

    def _weighted(self, values: Sequence[Tensor], axes: int) -> Any:
        """The sum of a value of each point, with `axes` axes of an event, weighted by probabilities."""
        probs = self._mixture.probs
        return sum(beside_events(probs[..., i], axes) * value for i, value in enumerate(values))

    def _means(self) -> list[Tensor]:
        mean = self._inner.mean() * ones(self._shape(), self.dtype)
        return [each.forward(mean) for each in self._interpolated]

    def _mean(self) -> Tensor:
        return self._weighted(self._means(), 1)

    def _second_moment(self, diagonal_only: bool) -> Tensor:
        """The mean of the covariances at the points, and the covariance of the means."""
        means, axes = self._means(), 1 if diagonal_only else 2
        center = self._weighted(means, 1)
        spread = [square(m - center) if diagonal_only else _outer_square(m - center) for m in means]
        own = [self._inner.variance() * squared(each.scale, diagonal_only) for each in self._interpolated]
        return self._weighted(own, axes) + self._weighted(spread, axes)

    def _covariance(self) -> Tensor:
        return self._second_moment(False)

    def _variance(self) -> Tensor:
        return self._second_moment(True)


def _one_dtype(scale: Sequence[Any], validate_args: bool) -> Any:
    """The dtype of operators. Raises where they differ or, if asked, are not known to be positive definite."""
    dtype = scale[0].dtype.base_dtype
    for k, each in enumerate(scale):
        if validate_args and not each.is_positive_definite:
            raise ValueError(f"scale[{k}].is_positive_definite = {each.is_positive_definite} != True")
        if each.dtype.base_dtype != dtype:
            raise TypeError(
                f'dtype mismatch; scale[{k}].base_dtype="{each.dtype.base_dtype.name}" != "{dtype.name}"'
            )
    return dtype


def _affines(name: str, moves: Sequence[Any], scale: Sequence[Any], validate_args: bool) -> list[Any]:
    return [AffineLinearOperator(a, b, validate_args, f"{name}_{k}") for k, (a, b) in enumerate(zip(moves, scale))]


def _interpolated(weights: Sequence[Tensor], moves: Sequence[Any]) -> Any:
    """A point between two vectors, of which None is zero."""
    first, second = (weight[..., None] for weight in weights)
    if moves[0] is None:
        return None if moves[1] is None else second * moves[1]
    return first * moves[0] if moves[1] is None else first * (moves[0] - moves[1]) + moves[1]


def _batch_shapes(affine: Any) -> list[TensorShape]:
    moves = [] if affine.shift is None else [affine.shift.shape[:-1]]
    return [affine.scale.batch_shape, *moves]


def _outer_square(x: Tensor) -> Tensor:
    return x[..., None] * x[..., None, :]


boundaries(globals())

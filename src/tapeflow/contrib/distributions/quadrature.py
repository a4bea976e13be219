"""Schemes that stand for a continuous distribution by points and their probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tapeflow.contrib.distributions.bijectors import Exp, SoftmaxCentered
from tapeflow.contrib.distributions.transformed import TransformedDistribution
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, public
from tapeflow.ops.array.construction import fill, ones, zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.ranges import linspace
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import rank as rank_of
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.control.assertions import assert_equal_v1 as assert_equal
from tapeflow.ops.control.shape_assertions import assert_rank_at_least_v1 as assert_rank_at_least
from tapeflow.ops.linear_operator.arguments import static_size
from tapeflow.ops.nn.softmax import softmax
from tapeflow.v1.distributions.base import checked
from tapeflow.v1.distributions.continuous import Normal

__all__ = [
    "quadrature_scheme_lognormal_gauss_hermite", "quadrature_scheme_lognormal_quantiles",
    "quadrature_scheme_softmaxnormal_gauss_hermite", "quadrature_scheme_softmaxnormal_quantiles",
]  # fmt: skip


@public
def quadrature_scheme_lognormal_gauss_hermite(
    loc: TensorLike, scale: TensorLike, quadrature_size: int, validate_args: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Stand for a log-normal distribution by the Gauss-Hermite quadrature of its logarithm.

    Args:
      loc: [...], the mean of the logarithm.
      scale: [...], its standard deviation.
      quadrature_size: the number of points.
      validate_args: is not used.
      name: is not used.

    Returns:
      [..., points], the points of the logarithm, and [points], their probabilities.
    """
    loc = convert_to_tensor(loc)
    return _gauss_hermite(loc, convert_to_tensor(scale, loc.dtype), quadrature_size)


@public
def quadrature_scheme_lognormal_quantiles(
    loc: TensorLike, scale: TensorLike, quadrature_size: int, validate_args: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Stand for a log-normal distribution by points between its quantiles.

    Args:
      loc: [...], the mean of the logarithm.
      scale: [...], its standard deviation.
      quadrature_size: the number of points.
      validate_args: whether arguments are checked.
      name: is not used.

    Returns:
      [..., points], points in the middle between equally probable quantiles, and [points], their probabilities.
    """
    normal = Normal(loc, scale)
    distribution = TransformedDistribution(normal, Exp(), validate_args=validate_args)
    grid, probs = _between_quantiles(distribution.quantile, rank_of(normal.mean()), quadrature_size, normal.dtype)
    grid.set_shape(normal.batch_shape.concatenate([quadrature_size]))
    return grid, probs


@public
def quadrature_scheme_softmaxnormal_gauss_hermite(
    normal_loc: TensorLike, normal_scale: TensorLike, quadrature_size: int, validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Stand for the centered softmax of normal variables by Gauss-Hermite quadrature.

    Args:
      normal_loc: [..., 1], the mean of the normal variable.
      normal_scale: [..., 1], its standard deviation.
      quadrature_size: the number of points.
      validate_args: whether shapes are checked when the graph runs.
      name: is not used.

    Returns:
      [..., 2, points], points of the simplex, and [points], their probabilities.

    Raises:
      ValueError: for a number in place of a vector.
      NotImplementedError: for vectors of more than one element.
    """
    loc, scale = _normal_of_simplex(normal_loc, normal_scale, validate_args)
    grid, probs = _gauss_hermite(loc, scale, quadrature_size)
    return softmax(concat([zeros_like(grid[..., :1, :]), -grid], -2), axis=-2), probs


@public
def quadrature_scheme_softmaxnormal_quantiles(
    normal_loc: TensorLike, normal_scale: TensorLike, quadrature_size: int, validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Stand for the centered softmax of normal variables by points between its quantiles.

    Args:
      normal_loc: [..., 1], the mean of the normal variable.
      normal_scale: [..., 1], its standard deviation.
      quadrature_size: the number of points.
      validate_args: whether shapes are checked when the graph runs.
      name: is not used.

    Returns:
      [..., 2, points], points of the simplex in the middle between equally probable quantiles, and [points], their
      probabilities.

    Raises:
      ValueError: for a number in place of a vector.
      NotImplementedError: for vectors of more than one element.
    """
    normal = Normal(*_normal_of_simplex(normal_loc, normal_scale, validate_args))
    simplex = SoftmaxCentered()
    grid, probs = _between_quantiles(
        lambda edges: simplex.forward(normal.quantile(edges)), rank_of(normal.mean()), quadrature_size, normal.dtype
    )
    grid.set_shape(normal.batch_shape[:-1].concatenate([2, quadrature_size]))
    return grid, probs


def _gauss_hermite(loc: Tensor, scale: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Points [..., count] for normal variables, and their probabilities."""
    points, weights = np.polynomial.hermite.hermgauss(deg=count)
    dtype = loc.dtype.as_numpy_dtype
    probs = weights.astype(dtype) / weights.astype(dtype).sum()
    grid = loc[..., None] + scale[..., None] * (math.sqrt(2.0) * points).astype(dtype)
    return grid, convert_to_tensor(probs)


def _between_quantiles(
    quantile: Callable[[Tensor], Tensor], batch_rank: Tensor, count: int, dtype: DTypeLike
) -> tuple[Tensor, Tensor]:
    """Points [..., count] in the middle between quantiles of equal distance, and their probabilities."""
    edges = linspace(convert_to_tensor(0.0, dtype), 1.0, count + 3)[1:-1]
    values = quantile(reshape(edges, concat([[-1], ones(reshape(batch_rank, [1]), "int32")], 0)))
    values = transpose(values, concat([range_(1, rank_of(values)), [0]], 0))
    share = convert_to_tensor(1.0 / count, dtype)
    return (values[..., :-1] + values[..., 1:]) / 2.0, fill([count], share)


def _normal_of_simplex(loc: TensorLike, scale: TensorLike, validate_args: bool) -> tuple[Tensor, Tensor]:
    loc = convert_to_tensor(loc)
    return loc, _checked_mixing(convert_to_tensor(scale, loc.dtype), validate_args)


def _checked_mixing(scale: Tensor, validate_args: bool) -> Tensor:
    if scale.shape.rank == 0:
        raise ValueError("Mixing params must be a (batch of) vector; normal_scale.rank=0 is not at least one.")
    size = static_size(scale.shape, -1)
    if size not in (None, 1):
        raise NotImplementedError(
            f"Currently only bimixtures are supported; normal_scale.shape[-1]={size} is not 1."
        )
    rank_message = "Mixing params must be a (batch of) vector; normal_scale.rank is not at least one."
    size_message = "Currently only bimixtures are supported; normal_scale.shape[-1] is not 1."
    return checked(
        scale, validate_args and size is None,
        lambda: assert_rank_at_least(scale, 1, message=rank_message),
        lambda: assert_equal(shape_of(scale)[-1], 1, message=size_message),
    )  # fmt: skip


boundaries(globals())

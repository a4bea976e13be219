"""Wishart distributions, over positive definite matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow.contrib.distributions.combined import beside_events
from tapeflow.contrib.distributions.scales import squared
from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.linalg import LinearOperator, LinearOperatorLowerTriangular
from tapeflow.ops.array.band import band_part
from tapeflow.ops.array.construction import ones
from tapeflow.ops.array.diagonal import diag_part, set_diag
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.control.assertions import assert_equal_v1 as assert_equal
from tapeflow.ops.control.assertions import assert_less_equal_v1 as assert_less_equal
from tapeflow.ops.control.assertions import assert_positive_v1 as assert_positive
from tapeflow.ops.control.type_assertions import assert_same_float_dtype
from tapeflow.ops.linalg.decomposition import cholesky
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.matrix_function import matrix_transpose
from tapeflow.ops.linear_operator.arguments import static_size
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.elementwise import log, sqrt, square
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.random.functions import gamma as random_gamma
from tapeflow.ops.random.functions import normal as random_normal
from tapeflow.ops.special.functions import digamma, lgamma
from tapeflow.ops.static import get_static_value
from tapeflow.v1.distributions.base import FULLY_REPARAMETERIZED, Distribution, checked
from tapeflow.v1.distributions.continuous import mixed_seed

__all__ = ["WishartCholesky", "WishartFull"]


class _Wishart(Distribution):
    """The distribution of the sum of x x^T, of `df` normal vectors x whose covariance has a factor."""

    def __init__(
        self, df: TensorLike, scale_operator: LinearOperator, cholesky_input_output_matrices: bool,
        validate_args: bool, allow_nan_stats: bool, given: Any, name: str,
    ):  # fmt: skip
        if not scale_operator.dtype.is_floating:
            raise TypeError(f"scale_operator.dtype={scale_operator.dtype} is not a floating-point type")
        if not scale_operator.is_square:
            raise ValueError("scale_operator must be square.")
        self._scale_operator, self._of_factors = scale_operator, cholesky_input_output_matrices
        dtype = scale_operator.dtype
        df = convert_to_tensor(df, dtype)
        assert_same_float_dtype([df, scale_operator])
        size = static_size(scale_operator.shape, -1)
        if size is None:
            self._dimension = cast(scale_operator.domain_dimension_tensor(), dtype)
        else:
            self._dimension = convert_to_tensor(size, dtype)
        self._df = _enough(df, self._dimension, validate_args)
        super().__init__(
            dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given, [self._df, self._dimension], name
        )

    df = property(lambda self: self._df)
    scale_operator = property(lambda self: self._scale_operator)
    cholesky_input_output_matrices = property(lambda self: self._of_factors)
    dimension = property(lambda self: self._dimension)

    def scale(self) -> Tensor:
        """The scale matrix, or its factor where matrices are given by theirs."""
        return self._scale_operator.to_dense() if self._of_factors else squared(self._scale_operator)

    def _batch_shape(self) -> Any:
        return self._scale_operator.batch_shape

    def _batch_shape_tensor(self) -> Tensor:
        return self._scale_operator.batch_shape_tensor()

    def _event_shape(self) -> Any:
        return TensorShape([static_size(self._scale_operator.shape, -1)] * 2)

    def _event_shape_tensor(self) -> Tensor:
        return stack([self._scale_operator.domain_dimension_tensor()] * 2)

    def _sample_n(self, n: Tensor, seed: int | None = None) -> Tensor:
        # By Bartlett's decomposition (Smith and Hocking, 1972).
        shape = concat([[n], self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        normal = random_normal(shape, dtype=self.dtype, seed=seed)
        wide = self._df * ones(self.batch_shape_tensor(), self.dtype)
        half = convert_to_tensor(0.5, self.dtype)
        chi2 = random_gamma(
            [n], self._degrees(0.5 * wide), beta=half, dtype=self.dtype, seed=mixed_seed(seed, "wishart")
        )
        factor = self._scale_operator.matmul(set_diag(band_part(normal, -1, 0), sqrt(chi2)))
        return factor if self._of_factors else matmul(factor, factor, adjoint_b=True)

    def _log_prob(self, x: Tensor) -> Tensor:
        factor = x if self._of_factors else cholesky(x)
        whitened = self._scale_operator.solve(factor)
        half_log_det = reduce_sum(log(diag_part(factor)), -1)
        return (
            (self._df - self._dimension - 1.0) * half_log_det - 0.5 * reduce_sum(square(whitened), [-2, -1])
            - self._log_normalization()
        )  # fmt: skip

    def _entropy(self) -> Tensor:
        half, half_size = 0.5 * self._df, 0.5 * self._dimension + 0.5
        return (
            self._dimension * (half + half_size * math.log(2.0)) + 2.0 * half_size * self._log_volume()
            + self._multi_lgamma(half) + (half_size - half) * self._multi_digamma(half)
        )  # fmt: skip

    def _mean(self) -> Tensor:
        if self._of_factors:
            return beside_events(sqrt(self._df), 2) * self._scale_operator.to_dense()
        return beside_events(self._df, 2) * squared(self._scale_operator)

    def _variance(self) -> Tensor:
        x = beside_events(sqrt(self._df), 2) * squared(self._scale_operator)
        d = diag_part(x)[..., None]
        found = square(x) + matmul(d, d, adjoint_b=True)
        return cholesky(found) if self._of_factors else found

    def _stddev(self) -> Tensor:
        if self._of_factors:
            raise ValueError("Computing std. dev. when is cholesky_input_output_matrices=True does not make sense.")
        return cholesky(self.variance())

    def _mode(self) -> Tensor:
        count = self._df - self._dimension - 1.0
        count = where(count < 0.0, convert_to_tensor(np.nan, self.dtype), count)
        if self._of_factors:
            return beside_events(sqrt(count), 2) * self._scale_operator.to_dense()
        return beside_events(count, 2) * squared(self._scale_operator)

    def mean_log_det(self, name: str = "mean_log_det") -> Tensor:
        """The mean of the logarithm of the determinant."""
        with self._named(name):
            volume = 2.0 * self._log_volume()
            return self._multi_digamma(0.5 * self._df) + self._dimension * math.log(2.0) + volume

    def log_normalization(self, name: str = "log_normalization") -> Tensor:
        """The logarithm of what the density is divided by."""
        with self._named(name):
            return self._log_normalization()

    def _log_normalization(self) -> Tensor:
        half = 0.5 * self._df
        return self._df * self._log_volume() + half * self._dimension * math.log(2.0) + self._multi_lgamma(half)

    def _log_volume(self) -> Tensor:
        return self._scale_operator.log_abs_determinant()

    # The gamma function of matrices.

    def _degrees(self, a: Tensor) -> Tensor:
        """a, a - 1/2, ..., as many as a matrix has rows."""
        steps = cast(range_(cast(self._dimension, dtypes.int32)), self.dtype)
        return a[..., None] - 0.5 * steps

    def _multi_lgamma(self, a: Tensor) -> Tensor:
        p = self._dimension
        return 0.25 * p * (p - 1.0) * math.log(math.pi) + reduce_sum(lgamma(self._degrees(a)), -1)

    def _multi_digamma(self, a: Tensor) -> Tensor:
        return reduce_sum(digamma(self._degrees(a)), -1)


def _enough(df: Tensor, dimension: Tensor, validate_args: bool) -> Tensor:
    """The degrees of freedom. Raises ValueError where they are known to be less than the dimension."""
    known, size = get_static_value(df), get_static_value(dimension)

    def message(df: Any, size: Any) -> str:
        return (
            f"Degrees of freedom (df = {df}) cannot be less than dimension of scale matrix "
            f"(scale.dimension = {size})"
        )

    if known is None or size is None:
        return checked(
            df, validate_args, lambda: assert_less_equal(dimension, df, message=message(df, dimension))
        )
    if (known < size).any():
        raise ValueError(message(np.atleast_1d(known), size))
    return df


class WishartCholesky(_Wishart):
    """The Wishart distribution of a lower triangular factor of the scale matrix.

    Args:
      df: [...], the degrees of freedom, at least n.
      scale: [..., n, n], the factor.
      cholesky_input_output_matrices: whether matrices are given and returned as their Cholesky factors.
      validate_args: whether it is checked that `scale` has a positive diagonal.

    Raises:
      ValueError: where `df` is known to be less than n.
      TypeError: for a scale that is not floating.
    """

    def __init__(
        self, df: TensorLike, scale: TensorLike, cholesky_input_output_matrices: bool = False,
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "WishartCholesky",
    ):  # fmt: skip
        given = dict(locals())
        factor = convert_to_tensor(scale)
        factor = checked(
            factor, validate_args,
            lambda: assert_positive(diag_part(factor), message="scale must be positive definite"),
            lambda: assert_equal(shape_of(factor)[-1], shape_of(factor)[-2], message="scale must be square"),
        )  # fmt: skip
        super().__init__(
            df, _factor(factor), cholesky_input_output_matrices, validate_args, allow_nan_stats, given, name
        )


class WishartFull(_Wishart):
    """The Wishart distribution of a scale matrix.

    Args:
      df: [...], the degrees of freedom, at least n.
      scale: [..., n, n], symmetric and positive definite.
      cholesky_input_output_matrices: whether matrices are given and returned as their Cholesky factors.
      validate_args: whether it is checked that `scale` is symmetric and positive definite.

    Raises:
      ValueError: where `df` is known to be less than n.
      TypeError: for a scale that is not floating.
    """

    def __init__(
        self, df: TensorLike, scale: TensorLike, cholesky_input_output_matrices: bool = False,
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "WishartFull",
    ):  # fmt: skip
        given = dict(locals())
        matrix = convert_to_tensor(scale)
        factor = cholesky(checked(matrix, validate_args, lambda: assert_equal(matrix, matrix_transpose(matrix))))
        factor = checked(factor, validate_args, lambda: assert_positive(diag_part(factor)))
        super().__init__(
            df, _factor(factor), cholesky_input_output_matrices, validate_args, allow_nan_stats, given, name
        )


def _factor(tril: Tensor) -> LinearOperatorLowerTriangular:
    return LinearOperatorLowerTriangular(tril, is_non_singular=True, is_positive_definite=True, is_square=True)


boundaries(globals())

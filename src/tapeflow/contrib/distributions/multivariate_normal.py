"""Normal distributions over vectors."""

from __future__ import annotations

from typing import Any

from tapeflow.contrib.distributions.scales import (
    diag_scale,
    is_diagonal,
    low_rank_scale,
    tril_scale,
)
from tapeflow.contrib.distributions.vectors import OfDiagonal, ScaledVector
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.ops.array.broadcasting import broadcast_static_shape
from tapeflow.ops.array.construction import ones, zeros
from tapeflow.ops.control.assertions import assert_near_v1 as assert_near
from tapeflow.ops.linalg.decomposition import cholesky
from tapeflow.ops.linalg.matrix_function import matrix_transpose
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import square
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.nn.softplus import softplus
from tapeflow.v1.distributions.base import checked
from tapeflow.v1.distributions.continuous import Normal
from tapeflow.v1.distributions.divergence import RegisterKL

__all__ = [
    "MultivariateNormalDiag", "MultivariateNormalDiagPlusLowRank", "MultivariateNormalDiagWithSoftplusScale",
    "MultivariateNormalFullCovariance", "MultivariateNormalLinearOperator", "MultivariateNormalTriL",
]  # fmt: skip


class MultivariateNormalLinearOperator(ScaledVector):
    """The normal distribution of a mean and a factor of the covariance.

    Args:
      loc: [..., n], the mean; None: zeros.
      scale: a `LinearOperator` over [..., n, n], which times its transpose is the covariance.
    """

    @staticmethod
    def _unit(dtype: Any, allow_nan_stats: bool) -> Normal:
        return Normal(zeros([], dtype), ones([], dtype), allow_nan_stats=allow_nan_stats)


class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """The normal distribution of a mean and a lower triangular factor of the covariance.

    Args:
      loc: [..., n], the mean; None: zeros.
      scale_tril: [..., n, n], with nonzero elements on its diagonal; None: the identity.

    Raises:
      ValueError: where neither is given.
    """

    def __init__(
        self, loc: TensorLike | None = None, scale_tril: TensorLike | None = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "MultivariateNormalTriL",
    ):  # fmt: skip
        given = dict(locals())
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        scale = tril_scale(loc, scale_tril)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._remember(given)


class MultivariateNormalDiag(OfDiagonal, MultivariateNormalLinearOperator):
    """The normal distribution of independent numbers.

    Args:
      loc: [..., n], the mean; None: zeros.
      scale_diag: [..., n], the standard deviations; None: ones, or zeros with a multiplier.
      scale_identity_multiplier: [...], what is added to all of them.

    Raises:
      ValueError: where neither `loc` nor `scale_diag` is given.
    """


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """`MultivariateNormalDiag` with the softplus of `scale_diag` as standard deviations."""

    def __init__(
        self, loc: TensorLike | None, scale_diag: TensorLike, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "MultivariateNormalDiagWithSoftplusScale",
    ):  # fmt: skip
        given = dict(locals())
        super().__init__(
            loc, softplus(convert_to_tensor(scale_diag)), None, validate_args, allow_nan_stats, name
        )
        self._remember(given)


class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """The normal distribution whose covariance has the factor D + V d V^T, of a diagonal D and a narrow matrix V.

    Args:
      loc: [..., n], the mean; None: zeros.
      scale_diag: [..., n], D; None: ones, or zeros with a multiplier.
      scale_identity_multiplier: [...], what is added to all of D.
      scale_perturb_factor: [..., n, k], V; None: none.
      scale_perturb_diag: [..., k], d; None: ones.
    """

    def __init__(
        self, loc: TensorLike | None = None, scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None, scale_perturb_factor: TensorLike | None = None,
        scale_perturb_diag: TensorLike | None = None, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagPlusLowRank",
    ):  # fmt: skip
        given = dict(locals())
        is_updated = scale_perturb_factor is not None or scale_perturb_diag is not None
        scale = diag_scale(
            loc, scale_diag, scale_identity_multiplier, validate_args=validate_args, positive=is_updated
        )
        if is_updated:
            scale = low_rank_scale(scale, scale_perturb_factor, scale_perturb_diag)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._remember(given)


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """The normal distribution of a mean and a covariance matrix.

    Args:
      loc: [..., n], the mean; None: zeros.
      covariance_matrix: [..., n, n], symmetric and positive definite; None: the identity.

    Raises:
      ValueError: where neither is given.
    """

    def __init__(
        self, loc: TensorLike | None = None, covariance_matrix: TensorLike | None = None,
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "MultivariateNormalFullCovariance",
    ):  # fmt: skip
        given = dict(locals())
        tril = None
        if covariance_matrix is not None:
            matrix = convert_to_tensor(covariance_matrix)
            message = "Matrix was not symmetric"
            tril = cholesky(
                checked(matrix, validate_args, lambda: assert_near(matrix, matrix_transpose(matrix), message=message))
            )
        super().__init__(loc, tril, validate_args, allow_nan_stats, name)
        self._remember(given)


@RegisterKL(MultivariateNormalLinearOperator, MultivariateNormalLinearOperator)
def _(a: Any, b: Any, name: str | None = None) -> Any:
    if is_diagonal(a.scale) and is_diagonal(b.scale):
        between = (a.stddev() / b.stddev())[..., None]
    else:
        between = b.scale.solve(a.scale.to_dense())
    shift = b.scale.solvevec(b.mean() - a.mean())
    squares = reduce_sum(square(between), [-2, -1]) + reduce_sum(square(shift), -1)
    size = cast(a.scale.domain_dimension_tensor(), a.dtype)
    found = b.scale.log_abs_determinant() - a.scale.log_abs_determinant() + 0.5 * (squares - size)
    found.set_shape(broadcast_static_shape(a.batch_shape, b.batch_shape))
    return found


boundaries(globals())

"""Normal distributions over vectors."""

from __future__ import annotations

import math

from tapeflow.core.public import boundaries
from tapeflow.linalg import LinearOperatorDiag, LinearOperatorLowerTriangular
from tapeflow.ops.array.construction import ones_like, zeros_like
from tapeflow.ops.array.diagonal import diag_part
from tapeflow.ops.array.diagonal_matrix import diag
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.linalg.decomposition import cholesky
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.solve import triangular_solve
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import log, square
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.nn.softplus import softplus
from tapeflow.ops.random.functions import normal as random_normal
from tapeflow.v1.distributions.base import FULLY_REPARAMETERIZED, Distribution
from tapeflow.v1.distributions.continuous import numbers
from tapeflow.v1.distributions.divergence import RegisterKL

__all__ = [
    "MultivariateNormalDiag", "MultivariateNormalDiagWithSoftplusScale", "MultivariateNormalFullCovariance",
    "MultivariateNormalTriL",
]  # fmt: skip


class MultivariateNormalTriL(Distribution):
    """The normal distribution of a mean and a lower triangular factor of the covariance.

    Args:
      loc: [..., n], the mean; None: zeros.
      scale_tril: [..., n, n], with nonzero elements on its diagonal; None: the identity.
    """

    def __init__(
        self, loc=None, scale_tril=None, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "MultivariateNormalTriL",
    ):  # fmt: skip
        given = dict(locals())
        if scale_tril is None:
            if loc is None:
                raise ValueError("Must specify one or both of `loc` and `scale_tril`.")
            (loc,) = numbers(loc)
            scale_tril = diag(ones_like(loc))
        self._prepare(loc, scale_tril, validate_args, allow_nan_stats, given, name)

    def _prepare(self, loc, scale_tril, validate_args: bool, allow_nan_stats: bool, given, name: str):
        if loc is None:
            (tril,) = numbers(scale_tril)
            loc = zeros_like(tril[..., 0])
        else:
            tril, loc = numbers(scale_tril, loc)
        self.tril, self._loc = tril, loc
        self.wide_loc = loc + zeros_like(tril[..., 0])
        self._parts = (self.wide_loc,)
        self._event = self.wide_loc.shape[-1:]
        super().__init__(
            loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given, name=name
        )

    loc = property(lambda self: self._loc)

    @property
    def scale(self):
        """The factor of the covariance, as a linear operator."""
        return LinearOperatorLowerTriangular(self.tril)

    def _batch_shape(self):
        return self.wide_loc.shape[:-1]

    def _batch_shape_tensor(self):
        return shape_of(self.wide_loc)[:-1]

    def _event_shape_tensor(self):
        return shape_of(self.wide_loc)[-1:]

    def _sample_n(self, n, seed: int | None = None):
        shape = concat([[n], shape_of(self.wide_loc)], 0)
        normal = random_normal(shape, dtype=self.dtype, seed=seed)
        return self._loc + matmul(self.tril, normal[..., None])[..., 0]

    def log_volume(self):
        """The logarithm of the factor's determinant."""
        return reduce_sum(log(abs_(diag_part(self.tril))), -1)

    def half_dimensions(self):
        return 0.5 * cast(shape_of(self.wide_loc)[-1], self.dtype)

    def _log_prob(self, x):
        shift = x - self._loc
        tril = self.tril + zeros_like(shift)[..., None]
        z = triangular_solve(tril, (shift + zeros_like(tril[..., 0]))[..., None])[..., 0]
        normal = self.half_dimensions() * math.log(2.0 * math.pi) + self.log_volume()
        return -0.5 * reduce_sum(square(z), -1) - normal

    def _entropy(self):
        wide = zeros_like(self.wide_loc[..., 0])
        return self.half_dimensions() * (1.0 + math.log(2.0 * math.pi)) + self.log_volume() + wide

    def _mean(self):
        return self.wide_loc + zeros_like(self.wide_loc)

    _mode = _mean

    def _covariance(self):
        return matmul(self.tril, self.tril, transpose_b=True) + zeros_like(self.wide_loc)[..., None]

    def _variance(self):
        return reduce_sum(square(self.tril), -1) + zeros_like(self.wide_loc)


class MultivariateNormalDiag(MultivariateNormalTriL):
    """The normal distribution of independent numbers.

    Args:
      loc: [..., n], the mean; None: zeros.
      scale_diag: [..., n], the standard deviations; None: ones.
      scale_identity_multiplier: what is added to all of them.
    """

    def __init__(
        self, loc=None, scale_diag=None, scale_identity_multiplier=None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "MultivariateNormalDiag",
    ):  # fmt: skip
        given = dict(locals())
        if loc is None and scale_diag is None:
            raise ValueError("Must specify one or both of `loc` and `scale_diag`.")
        if scale_diag is None:
            (loc,) = numbers(loc)
            scale_diag = zeros_like(loc) if scale_identity_multiplier is not None else ones_like(loc)
        (scale_diag,) = numbers(scale_diag)
        if scale_identity_multiplier is not None:
            (more,) = numbers(scale_identity_multiplier, dtype=scale_diag.dtype)
            scale_diag = scale_diag + more[..., None]
        self._stddevs = scale_diag
        self._prepare(loc, diag(scale_diag), validate_args, allow_nan_stats, given, name)

    @property
    def scale(self):
        """The factor of the covariance, as a linear operator."""
        return LinearOperatorDiag(self._stddevs)

    # Without the matrix.

    def _sample_n(self, n, seed: int | None = None):
        shape = concat([[n], shape_of(self.wide_loc)], 0)
        return self._loc + self._stddevs * random_normal(shape, dtype=self.dtype, seed=seed)

    def log_volume(self):
        return reduce_sum(log(abs_(self._stddevs)), -1)

    def _log_prob(self, x):
        z = (x - self._loc) / self._stddevs
        normal = self.half_dimensions() * math.log(2.0 * math.pi) + self.log_volume()
        return -0.5 * reduce_sum(square(z), -1) - normal

    def _variance(self):
        return square(self._stddevs) + zeros_like(self.wide_loc)

    def _stddev(self):
        return abs_(self._stddevs) + zeros_like(self.wide_loc)


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """`MultivariateNormalDiag` with the softplus of `scale_diag` as standard deviations."""

    def __init__(
        self, loc, scale_diag, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagWithSoftplusScale",
    ):  # fmt: skip
        given = dict(locals())
        (raw,) = numbers(scale_diag)
        super().__init__(loc, softplus(raw), None, validate_args, allow_nan_stats, name)
        self._remember(given)


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """The normal distribution of a mean and a covariance matrix.

    Args:
      loc: [..., n], the mean; None: zeros.
      covariance_matrix: [..., n, n], symmetric and positive definite; None: the identity.
    """

    def __init__(
        self, loc=None, covariance_matrix=None, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "MultivariateNormalFullCovariance",
    ):  # fmt: skip
        given = dict(locals())
        tril = None
        if covariance_matrix is not None:
            (matrix,) = numbers(covariance_matrix)
            tril = cholesky(matrix)
        super().__init__(loc, tril, validate_args, allow_nan_stats, name)
        self._remember(given)


@RegisterKL(MultivariateNormalTriL, MultivariateNormalTriL)
def _(a, b, name: str | None = None):
    wide = zeros_like(a.wide_loc + b.wide_loc)
    ours, theirs = a.tril + wide[..., None], b.tril + wide[..., None]
    between = triangular_solve(theirs, ours)
    shift = triangular_solve(theirs, (b.wide_loc - a.wide_loc + wide)[..., None])[..., 0]
    squares = reduce_sum(square(between), [-2, -1]) + reduce_sum(square(shift), -1)
    return b.log_volume() - a.log_volume() + 0.5 * squares - a.half_dimensions()


boundaries(globals())

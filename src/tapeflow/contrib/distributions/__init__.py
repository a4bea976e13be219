"""`tf.contrib.distributions`: those of `tf.distributions`, more families, combinations of others, and bijectors."""

from tapeflow.contrib.distributions import bijectors
from tapeflow.contrib.distributions.combined import (
    Independent,
    Mixture,
    MixtureSameFamily,
    TransformedDistribution,
)
from tapeflow.contrib.distributions.counts import Binomial, Geometric, NegativeBinomial, Poisson
from tapeflow.contrib.distributions.matrices import (
    fill_triangular,
    fill_triangular_inverse,
    matrix_diag_transform,
    tridiag,
)
from tapeflow.contrib.distributions.moving_stats import (
    assign_log_moving_mean_exp,
    assign_moving_mean_variance,
    moving_mean_variance,
)
from tapeflow.contrib.distributions.multivariate_normal import (
    MultivariateNormalDiag,
    MultivariateNormalDiagWithSoftplusScale,
    MultivariateNormalFullCovariance,
    MultivariateNormalTriL,
)
from tapeflow.contrib.distributions.normal_conjugate_posteriors import (
    normal_conjugates_known_scale_posterior,
    normal_conjugates_known_scale_predictive,
)
from tapeflow.contrib.distributions.numerics import reduce_weighted_logsumexp, softplus_inverse
from tapeflow.contrib.distributions.one_hot import (
    ExpRelaxedOneHotCategorical,
    OneHotCategorical,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
)
from tapeflow.contrib.distributions.sample_stats import auto_correlation, percentile
from tapeflow.contrib.distributions.scalar import (
    Cauchy,
    Chi2,
    Deterministic,
    HalfNormal,
    InverseGamma,
    Kumaraswamy,
    Logistic,
)
from tapeflow.contrib.distributions.seed_stream import SeedStream
from tapeflow.v1.distributions import *  # noqa: F403
from tapeflow.v1.distributions import __all__ as _of_tf
from tapeflow.v1.distributions.softplus import *  # noqa: F403
from tapeflow.v1.distributions.softplus import __all__ as _by_softplus

__all__ = [
    *_of_tf, *_by_softplus, "Binomial", "Cauchy", "Chi2", "Deterministic", "ExpRelaxedOneHotCategorical",
    "Geometric", "HalfNormal", "Independent", "InverseGamma", "Kumaraswamy", "Logistic", "Mixture",
    "MixtureSameFamily", "MultivariateNormalDiag", "MultivariateNormalDiagWithSoftplusScale",
    "MultivariateNormalFullCovariance", "MultivariateNormalTriL", "NegativeBinomial", "OneHotCategorical",
    "Poisson", "RelaxedBernoulli", "RelaxedOneHotCategorical", "SeedStream", "TransformedDistribution",
    "assign_log_moving_mean_exp", "assign_moving_mean_variance", "auto_correlation", "bijectors", "fill_triangular",
    "fill_triangular_inverse", "matrix_diag_transform", "moving_mean_variance",
    "normal_conjugates_known_scale_posterior", "normal_conjugates_known_scale_predictive", "percentile",
    "reduce_weighted_logsumexp", "softplus_inverse", "tridiag",
]  # fmt: skip

"""`tf.contrib.distributions`: those of `tf.distributions`, more families, combinations of others, and bijectors."""

import importlib
from typing import Any

from tapeflow.contrib.distributions import bijectors
from tapeflow.contrib.distributions.autoregressive import Autoregressive
from tapeflow.contrib.distributions.batch_reshape import BatchReshape
from tapeflow.contrib.distributions.combined import (
    Independent,
    Mixture,
    MixtureSameFamily,
)
from tapeflow.contrib.distributions.conditional import ConditionalDistribution
from tapeflow.contrib.distributions.counts import Binomial, Geometric, NegativeBinomial, Poisson
from tapeflow.contrib.distributions.deterministic import Deterministic, VectorDeterministic
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
    MultivariateNormalDiagPlusLowRank,
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
from tapeflow.contrib.distributions.poisson_lognormal import PoissonLogNormalQuadratureCompound
from tapeflow.contrib.distributions.quadrature import (
    quadrature_scheme_lognormal_gauss_hermite,
    quadrature_scheme_lognormal_quantiles,
    quadrature_scheme_softmaxnormal_gauss_hermite,
    quadrature_scheme_softmaxnormal_quantiles,
)
from tapeflow.contrib.distributions.quantized_distribution import QuantizedDistribution
from tapeflow.contrib.distributions.sample_stats import auto_correlation, percentile
from tapeflow.contrib.distributions.scalar import (
    Cauchy,
    Chi2,
    Chi2WithAbsDf,
    HalfNormal,
    InverseGamma,
    InverseGammaWithSoftplusConcentrationRate,
    Kumaraswamy,
    Logistic,
)
from tapeflow.contrib.distributions.seed_stream import SeedStream
from tapeflow.contrib.distributions.sinh_arcsinh import SinhArcsinh, VectorSinhArcsinhDiag
from tapeflow.contrib.distributions.transformed import (
    ConditionalTransformedDistribution,
    TransformedDistribution,
)
from tapeflow.contrib.distributions.vector_diffeomixture import VectorDiffeomixture
from tapeflow.contrib.distributions.vectors import VectorExponentialDiag, VectorLaplaceDiag
from tapeflow.contrib.distributions.wishart import WishartCholesky, WishartFull
from tapeflow.v1.distributions import *  # noqa: F403
from tapeflow.v1.distributions import __all__ as _of_tf
from tapeflow.v1.distributions.softplus import *  # noqa: F403
from tapeflow.v1.distributions.softplus import __all__ as _by_softplus

__all__ = [
    *_of_tf, *_by_softplus, "Autoregressive", "BatchReshape", "Binomial", "Cauchy", "Chi2", "Chi2WithAbsDf",
    "ConditionalDistribution", "ConditionalTransformedDistribution", "Deterministic", "ExpRelaxedOneHotCategorical",
    "Geometric", "HalfNormal", "Independent", "InverseGamma", "InverseGammaWithSoftplusConcentrationRate",
    "Kumaraswamy", "Logistic", "Mixture", "MixtureSameFamily", "MultivariateNormalDiag",
    "MultivariateNormalDiagPlusLowRank", "MultivariateNormalDiagWithSoftplusScale",
    "MultivariateNormalFullCovariance", "MultivariateNormalTriL", "NegativeBinomial", "OneHotCategorical", "Poisson",
    "PoissonLogNormalQuadratureCompound", "QuantizedDistribution", "RelaxedBernoulli", "RelaxedOneHotCategorical",
    "SeedStream", "SinhArcsinh", "TransformedDistribution", "VectorDeterministic", "VectorDiffeomixture",
    "VectorExponentialDiag", "VectorLaplaceDiag", "VectorSinhArcsinhDiag", "WishartCholesky", "WishartFull",
    "assign_log_moving_mean_exp", "assign_moving_mean_variance", "auto_correlation", "bijectors", "fill_triangular",
    "fill_triangular_inverse", "matrix_diag_transform", "moving_mean_variance",
    "normal_conjugates_known_scale_posterior", "normal_conjugates_known_scale_predictive", "percentile",
    "quadrature_scheme_lognormal_gauss_hermite", "quadrature_scheme_lognormal_quantiles",
    "quadrature_scheme_softmaxnormal_gauss_hermite", "quadrature_scheme_softmaxnormal_quantiles",
    "reduce_weighted_logsumexp", "softplus_inverse", "tridiag",
]  # fmt: skip

# What is loaded when it is asked for, by its module: what builds on estimators, what tests use, and classes that
# TensorFlow has in modules of its own only.
_LATER = {
    "MultivariateNormalLinearOperator": "multivariate_normal", "VectorExponentialLinearOperator": "vectors",
    "VectorLaplaceLinearOperator": "vectors", "estimator_head_distribution_regression": "estimator",
}  # fmt: skip
_MODULES = ("estimator", "test_util")


def __getattr__(name: str) -> Any:
    if name not in _LATER and name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"tapeflow.contrib.distributions.{_LATER.get(name, name)}")
    return module if name in _MODULES else getattr(module, name)


def __dir__() -> list[str]:
    return sorted([*__all__, "estimator_head_distribution_regression"])

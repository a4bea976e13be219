"""`tf.distributions` (1.x): distributions to sample from, with densities, statistics and divergences."""

from tapeflow.v1.distributions.base import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    ReparameterizationType,
)
from tapeflow.v1.distributions.continuous import Beta, Exponential, Gamma, Laplace, Normal, Uniform
from tapeflow.v1.distributions.discrete import (
    Bernoulli,
    Categorical,
    Dirichlet,
    DirichletMultinomial,
    Multinomial,
)
from tapeflow.v1.distributions.divergence import RegisterKL, kl_divergence
from tapeflow.v1.distributions.student_t import StudentT

__all__ = [
    "Bernoulli", "Beta", "Categorical", "Dirichlet", "DirichletMultinomial", "Distribution", "Exponential",
    "FULLY_REPARAMETERIZED", "Gamma", "Laplace", "Multinomial", "NOT_REPARAMETERIZED", "Normal",
    "RegisterKL", "ReparameterizationType", "StudentT", "Uniform", "kl_divergence",
]  # fmt: skip

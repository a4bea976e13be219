"""A row for each family of distributions: a batch of two, values, and SciPy's distribution or closed forms.

A new family is tested by a row here. `test_families.py` has the tests.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats

import tapeflow.compat.v1 as tf
from tapeflow.contrib import distributions as D

B = D.bijectors


class Row(NamedTuple):
    """What is expected of a batch of two distributions; None: it has no closed form, or is not implemented."""

    make: Any  # () -> the distribution, of float64
    x: Any  # [values, 1 or 2, event]
    log_prob: Any = None  # of x, [values, 2]
    cdf: Any = None
    mean: Any = None
    variance: Any = None
    entropy: Any = None
    event: Any = ()
    checks: bool = True  # whether samples are compared with the mean and the variance


def of(make, x, reference, **more):
    """The row of a frozen distribution of SciPy."""
    log_prob = reference.logpdf if hasattr(reference, "pdf") else reference.logpmf
    forms = {"log_prob": log_prob(x), "cdf": reference.cdf(x), "mean": reference.mean(), "variance": reference.var()}
    return Row(make, x, **{**forms, **more})


def f64(*values):
    return np.array(values, np.float64)


REAL = f64(-1.3, 0.2, 2.5)[:, None]
POSITIVE = f64(0.15, 0.9, 3.2)[:, None]
UNIT = f64(0.15, 0.4, 0.85)[:, None]
WHOLE = f64(0, 1, 3)[:, None]
TWO, THREE = f64(0.7, 2.0), f64(1.5, 3.5)
LOC, SCALE = f64(0.3, -1.0), f64(1.5, 0.5)


def log_softplus(x):
    return np.log1p(np.exp(x))


def both(function):
    """[values, 2] of a function of a value and of the number of the distribution."""
    return lambda x: np.stack([[function(v, i) for v in x[:, 0]] for i in range(2)], 1)


# Over real numbers.

CONTINUOUS = {
    "Normal": of(lambda: D.Normal(LOC, SCALE), REAL, stats.norm(LOC, SCALE), entropy=stats.norm(LOC, SCALE).entropy()),
    "NormalWithSoftplusScale": of(
        lambda: D.NormalWithSoftplusScale(LOC, SCALE), REAL, stats.norm(LOC, log_softplus(SCALE))
    ),
    "Laplace": of(
        lambda: D.Laplace(LOC, SCALE), REAL, stats.laplace(LOC, SCALE), entropy=stats.laplace(LOC, SCALE).entropy()
    ),
    "LaplaceWithSoftplusScale": of(
        lambda: D.LaplaceWithSoftplusScale(LOC, SCALE), REAL, stats.laplace(LOC, log_softplus(SCALE))
    ),
    "Logistic": of(
        lambda: D.Logistic(LOC, SCALE), REAL, stats.logistic(LOC, SCALE), entropy=2.0 + np.log(SCALE)
    ),
    "Cauchy": of(
        lambda: D.Cauchy(LOC, SCALE), REAL, stats.cauchy(LOC, SCALE), mean=f64(np.nan, np.nan),
        variance=f64(np.nan, np.nan), entropy=np.log(4 * np.pi * SCALE), checks=False,
    ),
    "StudentT": of(
        lambda: D.StudentT(f64(5.5, 9.0), LOC, SCALE), REAL, stats.t(f64(5.5, 9.0), LOC, SCALE),
        entropy=stats.t(f64(5.5, 9.0), LOC, SCALE).entropy(),
    ),
    "StudentTWithAbsDfSoftplusScale": of(
        lambda: D.StudentTWithAbsDfSoftplusScale(f64(-5.5, 9.0), LOC, SCALE), REAL,
        stats.t(f64(5.0, 9.0), LOC, log_softplus(SCALE)),
    ),
    "Uniform": of(
        lambda: D.Uniform(f64(-2.0, 0.0), f64(3.0, 4.0)), REAL, stats.uniform(f64(-2.0, 0.0), f64(5.0, 4.0)),
        entropy=np.log(f64(5.0, 4.0)),
    ),
    "Beta": of(lambda: D.Beta(TWO, THREE), UNIT, stats.beta(TWO, THREE), entropy=stats.beta(TWO, THREE).entropy()),
    "BetaWithSoftplusConcentration": of(
        lambda: D.BetaWithSoftplusConcentration(TWO, THREE), UNIT, stats.beta(log_softplus(TWO), log_softplus(THREE))
    ),
    "Kumaraswamy": Row(
        lambda: D.Kumaraswamy(TWO, THREE), UNIT,
        np.log(TWO * THREE) + (TWO - 1) * np.log(UNIT) + (THREE - 1) * np.log1p(-(UNIT**TWO)),
        1 - (1 - UNIT**TWO) ** THREE,
        THREE * special.beta(1 + 1 / TWO, THREE),
        THREE * special.beta(1 + 2 / TWO, THREE) - (THREE * special.beta(1 + 1 / TWO, THREE)) ** 2,
        1 - 1 / THREE + (1 - 1 / TWO) * (special.digamma(THREE + 1) + np.euler_gamma) - np.log(TWO * THREE),
    ),
    "Gamma": of(
        lambda: D.Gamma(TWO, THREE), POSITIVE, stats.gamma(TWO, scale=1 / THREE),
        entropy=stats.gamma(TWO, scale=1 / THREE).entropy(),
    ),
    "GammaWithSoftplusConcentrationRate": of(
        lambda: D.GammaWithSoftplusConcentrationRate(TWO, THREE), POSITIVE,
        stats.gamma(log_softplus(TWO), scale=1 / log_softplus(THREE)),
    ),
    "Chi2": of(lambda: D.Chi2(f64(2.5, 7.0)), POSITIVE, stats.chi2(f64(2.5, 7.0))),
    "Chi2WithAbsDf": of(lambda: D.Chi2WithAbsDf(f64(-2.5, 7.0)), POSITIVE, stats.chi2(f64(2.0, 7.0))),
    "Exponential": of(
        lambda: D.Exponential(THREE), POSITIVE, stats.expon(scale=1 / THREE), entropy=1 - np.log(THREE)
    ),
    "ExponentialWithSoftplusRate": of(
        lambda: D.ExponentialWithSoftplusRate(THREE), POSITIVE, stats.expon(scale=1 / log_softplus(THREE))
    ),
    "InverseGamma": of(
        lambda: D.InverseGamma(f64(6.5, 8.0), THREE), POSITIVE, stats.invgamma(f64(6.5, 8.0), scale=THREE),
        entropy=stats.invgamma(f64(6.5, 8.0), scale=THREE).entropy(),
    ),
    "InverseGammaWithSoftplusConcentrationRate": of(
        lambda: D.InverseGammaWithSoftplusConcentrationRate(f64(6.5, 8.0), THREE), POSITIVE,
        stats.invgamma(log_softplus(f64(6.5, 8.0)), scale=log_softplus(THREE)),
    ),
    "HalfNormal": of(
        lambda: D.HalfNormal(SCALE), POSITIVE, stats.halfnorm(scale=SCALE),
        entropy=stats.halfnorm(scale=SCALE).entropy(),
    ),
    "TransformedDistribution": of(
        lambda: D.TransformedDistribution(D.Normal(LOC, SCALE), B.Exp()), POSITIVE,
        stats.lognorm(SCALE, scale=np.exp(LOC)), mean=None, variance=None,
    ),
    "ConditionalTransformedDistribution": of(
        lambda: D.ConditionalTransformedDistribution(D.Normal(LOC, SCALE), B.Exp()), POSITIVE,
        stats.lognorm(SCALE, scale=np.exp(LOC)), mean=None, variance=None,
    ),
    "SinhArcsinh": Row(
        lambda: D.SinhArcsinh(LOC, SCALE, skewness=f64(0.4, -0.2), tailweight=f64(1.3, 0.8)), REAL,
        cdf=stats.norm.cdf(
            np.sinh(
                np.arcsinh((REAL - LOC) / (2 * SCALE / np.sinh(np.arcsinh(2.0) * f64(1.3, 0.8)))) / f64(1.3, 0.8)
                - f64(0.4, -0.2)
            )
        ),
    ),
    "RelaxedBernoulli": Row(
        lambda: D.RelaxedBernoulli(0.7, logits=LOC), UNIT,
        cdf=special.expit((np.log(UNIT) - np.log1p(-UNIT)) * 0.7 - LOC),
    ),
    "Mixture": Row(
        lambda: D.Mixture(
            D.Categorical(probs=[f64(0.3, 0.7)] * 2), [D.Normal(LOC, SCALE), D.Normal(f64(2.0, 3.0), f64(0.5, 0.7))]
        ), REAL,
        cdf=0.3 * stats.norm(LOC, SCALE).cdf(REAL) + 0.7 * stats.norm(f64(2.0, 3.0), f64(0.5, 0.7)).cdf(REAL),
        mean=0.3 * LOC + 0.7 * f64(2.0, 3.0),
        variance=0.3 * (SCALE**2 + LOC**2) + 0.7 * (f64(0.5, 0.7) ** 2 + f64(2.0, 3.0) ** 2)
        - (0.3 * LOC + 0.7 * f64(2.0, 3.0)) ** 2,
    ),
}  # fmt: skip
CONTINUOUS["MixtureSameFamily"] = CONTINUOUS["Mixture"]._replace(
    make=lambda: D.MixtureSameFamily(
        D.Categorical(probs=f64(0.3, 0.7)),
        D.Normal(np.stack([LOC, f64(2.0, 3.0)], 1), np.stack([SCALE, f64(0.5, 0.7)], 1)),
    )
)
CONTINUOUS["BatchReshape"] = CONTINUOUS["Normal"]._replace(
    make=lambda: D.BatchReshape(D.Normal(LOC[:, None], SCALE[:, None]), [2]), x=np.repeat(REAL, 2, 1)
)


# Over whole numbers.


def poisson_lognormal(x, i):
    """log of the mean probability over the four rates of the quadrature of Gauss and Hermite."""
    points, weights = np.polynomial.hermite.hermgauss(4)
    rates = np.exp(LOC[i] + np.sqrt(2.0) * SCALE[i] * points)
    return np.log(np.sum(weights / weights.sum() * stats.poisson(rates).pmf(x)))


def quantized(cdf):
    """log probabilities of values of [0, 3] that are rounded up and cut off, of a cdf of the unrounded ones."""
    upper = np.where(WHOLE >= 3, 1.0, cdf(WHOLE))
    return np.log(upper - np.where(WHOLE <= 0, 0.0, cdf(WHOLE - 1)))


RATES = np.exp(
    LOC[:, None] + np.sqrt(2.0) * SCALE[:, None] * np.polynomial.hermite.hermgauss(4)[0]
)
SHARES = np.polynomial.hermite.hermgauss(4)[1] / np.sqrt(np.pi)
WIDE = stats.norm(f64(1.3, 0.4), f64(1.5, 0.8))
DISCRETE = {
    "Bernoulli": of(
        lambda: D.Bernoulli(probs=f64(0.3, 0.8), dtype=tf.float64), WHOLE[:2], stats.bernoulli(f64(0.3, 0.8)), cdf=None,
        entropy=stats.bernoulli(f64(0.3, 0.8)).entropy(),
    ),
    "Categorical": Row(
        lambda: D.Categorical(probs=[f64(0.2, 0.5, 0.3), f64(0.6, 0.1, 0.3)]), np.array([[0], [1], [2]], np.int32),
        np.log(np.stack([f64(0.2, 0.5, 0.3), f64(0.6, 0.1, 0.3)], 1)),
        entropy=stats.entropy([f64(0.2, 0.5, 0.3), f64(0.6, 0.1, 0.3)], axis=1),
    ),
    "Poisson": of(lambda: D.Poisson(THREE), WHOLE, stats.poisson(THREE)),
    "Geometric": of(
        lambda: D.Geometric(probs=f64(0.3, 0.8)), WHOLE, stats.geom(f64(0.3, 0.8), loc=-1),
        entropy=[float(stats.geom(p).entropy()) for p in (0.3, 0.8)],
    ),
    "NegativeBinomial": of(
        lambda: D.NegativeBinomial(THREE, probs=f64(0.3, 0.6)), WHOLE, stats.nbinom(THREE, f64(0.7, 0.4))
    ),
    "Binomial": of(
        lambda: D.Binomial(f64(5.0, 3.0), probs=f64(0.3, 0.8)), WHOLE, stats.binom(f64(5, 3), f64(0.3, 0.8))
    ),
    "PoissonLogNormalQuadratureCompound": Row(
        lambda: D.PoissonLogNormalQuadratureCompound(
            LOC, SCALE, quadrature_size=4, quadrature_fn=D.quadrature_scheme_lognormal_gauss_hermite
        ), WHOLE, both(poisson_lognormal)(WHOLE), mean=RATES @ SHARES,
        variance=RATES @ SHARES + RATES**2 @ SHARES - (RATES @ SHARES) ** 2,
    ),
    "QuantizedDistribution": Row(
        lambda: D.QuantizedDistribution(D.Normal(f64(1.3, 0.4), f64(1.5, 0.8)), f64(0)[0], f64(3)[0]), WHOLE,
        quantized(WIDE.cdf), np.where(WHOLE >= 3, 1.0, WIDE.cdf(WHOLE)),
    ),
    "Deterministic": Row(
        lambda: D.Deterministic(f64(1.0, 3.0)), WHOLE, np.where(f64(1, 3) == WHOLE, 0.0, -np.inf),
        np.where(f64(1, 3) <= WHOLE, 1.0, 0.0), f64(1, 3), f64(0, 0), f64(0, 0),
    ),
}  # fmt: skip


# Over vectors.

MEANS = np.array([[0.3, -1.0], [1.0, 2.0]])
COVARIANCE = np.array([[2.0, 0.6], [0.6, 1.5]])
TRIL = np.linalg.cholesky(COVARIANCE)
DIAG = f64(1.5, 0.5)
VECTORS = np.array([[0.5, 0.2], [-1.0, 2.0], [1.4, -0.6]])[:, None]
FACTOR, UPDATE = np.array([[0.5], [1.0]]), f64(0.7)
LOW_RANK = np.diag(DIAG) + FACTOR @ np.diag(UPDATE) @ FACTOR.T
ALPHA = np.array([[1.5, 2.0, 3.5], [0.7, 1.0, 1.2]])
SIMPLEX = np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])[:, None]
COUNTS = np.array([[1.0, 2.0, 1.0], [0.0, 4.0, 0.0]])[:, None]
PROBS = np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])


def of_each(x, references, method):
    """[values, 2]: of the distributions of a batch."""
    return np.stack([[getattr(r, method)(v) for v in x[:, 0]] for r in references], 1)


def normal(make, covariance):
    references = [stats.multivariate_normal(m, covariance) for m in MEANS]
    wide = np.broadcast_to(np.diag(covariance), [2, 2])
    entropy = [r.entropy() for r in references]
    return Row(make, VECTORS, of_each(VECTORS, references, "logpdf"), None, MEANS, wide, entropy, (2,))


def scaled(make, unit, mean=0.0, variance=1.0, at=VECTORS):
    """Independent elements of `unit`, scaled by DIAG and moved by MEANS."""
    log_prob = unit.logpdf((at - MEANS) / DIAG).sum(-1) - np.log(DIAG).sum()
    wide = np.broadcast_to(variance * DIAG**2, [2, 2])
    entropy = np.full(2, 2 * unit.entropy() + np.log(DIAG).sum())
    return Row(make, at, log_prob, None, MEANS + mean * DIAG, wide, entropy, (2,))


def sinh_arcsinh_vectors(x):
    tail, skew = 1.3, f64(0.4, -0.2)
    slope = 2 * DIAG / np.sinh(np.arcsinh(2.0) * tail)
    y = (x - MEANS) / slope
    z = np.sinh(np.arcsinh(y) / tail - skew)
    jacobian = np.cosh(np.arcsinh(y) / tail - skew) / tail / np.sqrt(y**2 + 1) / slope
    return (stats.norm.logpdf(z) + np.log(jacobian)).sum(-1)


def dirichlet_multinomial(x, a):
    n, total = x.sum(), a.sum()
    ways = special.gammaln(n + 1) - special.gammaln(x + 1).sum()
    return ways + special.gammaln(total) - special.gammaln(n + total) + np.sum(
        special.gammaln(x + a) - special.gammaln(a)
    )


def relaxed(x):
    """Of temperature 0.7 (Maddison et al., 2016)."""
    n = x.shape[-1]
    terms = np.log(PROBS) - 1.7 * np.log(x)
    return special.gammaln(n) + (n - 1) * np.log(0.7) + terms.sum(-1) - n * special.logsumexp(
        np.log(PROBS) - 0.7 * np.log(x), axis=-1
    )


MIX_POINTS, MIX_WEIGHTS = np.polynomial.hermite.hermgauss(5)


def mixed_weights(i):
    """The weights of the first of both distributions, at the points of the quadrature."""
    return special.expit(f64(0.4, -0.3)[i] / 1.5 + np.sqrt(2.0) / 1.5 * MIX_POINTS)


def diffeomixture(x, i):
    w = mixed_weights(i)[:, None]
    loc, scale = w * MEANS[0] + (1 - w) * MEANS[1], w * DIAG + (1 - w) * f64(0.8, 2.0)
    logs = stats.norm(loc, scale).logpdf(x).sum(-1)
    return special.logsumexp(logs + np.log(MIX_WEIGHTS / MIX_WEIGHTS.sum()))


def mixed_moment(power):
    found = []
    for i in range(2):
        w = mixed_weights(i)[:, None]
        loc, scale = w * MEANS[0] + (1 - w) * MEANS[1], w * DIAG + (1 - w) * f64(0.8, 2.0)
        values = loc if power == 1 else scale**2 + loc**2
        found.append((MIX_WEIGHTS / MIX_WEIGHTS.sum()) @ values)
    return np.stack(found)


def autoregressive(y):
    """The normal distribution whose second element has the first one as its mean."""
    first = tf.concat([tf.zeros_like(y[..., :1]), y[..., :1]], -1)
    return D.Independent(D.Normal(first + MEANS, f64(1.5, 0.5)), 1)


VECTOR = {
    "MultivariateNormalTriL": normal(lambda: D.MultivariateNormalTriL(MEANS, TRIL), COVARIANCE),
    "MultivariateNormalFullCovariance": normal(
        lambda: D.MultivariateNormalFullCovariance(MEANS, COVARIANCE), COVARIANCE
    ),
    "MultivariateNormalDiag": normal(lambda: D.MultivariateNormalDiag(MEANS, DIAG), np.diag(DIAG**2)),
    "MultivariateNormalDiagWithSoftplusScale": normal(
        lambda: D.MultivariateNormalDiagWithSoftplusScale(MEANS, DIAG), np.diag(log_softplus(DIAG) ** 2)
    ),
    "MultivariateNormalDiagPlusLowRank": normal(
        lambda: D.MultivariateNormalDiagPlusLowRank(MEANS, DIAG, None, FACTOR, UPDATE), LOW_RANK @ LOW_RANK.T
    ),
    "VectorLaplaceDiag": scaled(lambda: D.VectorLaplaceDiag(MEANS, DIAG), stats.laplace(), variance=2.0),
    "VectorExponentialDiag": scaled(
        lambda: D.VectorExponentialDiag(MEANS, DIAG), stats.expon(), mean=1.0, at=VECTORS + 5.0
    ),
    "VectorSinhArcsinhDiag": Row(
        lambda: D.VectorSinhArcsinhDiag(MEANS, DIAG, skewness=f64(0.4, -0.2), tailweight=f64(1.3)[0]), VECTORS,
        sinh_arcsinh_vectors(VECTORS), event=(2,),
    ),
    "VectorDeterministic": Row(
        lambda: D.VectorDeterministic(MEANS), np.stack([MEANS, MEANS + f64(0.0, 1.0)]),
        f64([0, 0], [-np.inf, -np.inf]), None, MEANS, 0.0 * MEANS, f64(0, 0), (2,),
    ),
    "Independent": scaled(lambda: D.Independent(D.Normal(MEANS, DIAG + 0 * MEANS), 1), stats.norm()),
    "Autoregressive": Row(
        lambda: D.Autoregressive(autoregressive, np.zeros([2, 2])), VECTORS,
        np.stack([
            stats.norm(m[0], 1.5).logpdf(VECTORS[:, 0, 0])
            + stats.norm(m[1] + VECTORS[:, 0, 0], 0.5).logpdf(VECTORS[:, 0, 1]) for m in MEANS
        ], 1), event=(2,),
    ),
    "VectorDiffeomixture": Row(
        lambda: D.VectorDiffeomixture(
            f64(0.4, -0.3)[:, None], f64(1.5), D.Normal(f64(0)[0], f64(1)[0]), loc=list(MEANS),
            scale=[tf.linalg.LinearOperatorDiag(DIAG), tf.linalg.LinearOperatorDiag(f64(0.8, 2.0))], quadrature_size=5,
            quadrature_fn=D.quadrature_scheme_softmaxnormal_gauss_hermite,
        ), VECTORS, both(diffeomixture)(VECTORS), None, mixed_moment(1), mixed_moment(2) - mixed_moment(1) ** 2,
        event=(2,),
    ),
    "Dirichlet": Row(
        lambda: D.Dirichlet(ALPHA), SIMPLEX, of_each(SIMPLEX, [stats.dirichlet(a) for a in ALPHA], "logpdf"), None,
        np.stack([stats.dirichlet(a).mean() for a in ALPHA]), np.stack([stats.dirichlet(a).var() for a in ALPHA]),
        [stats.dirichlet(a).entropy() for a in ALPHA], (3,),
    ),
    "Multinomial": Row(
        lambda: D.Multinomial(f64(4)[0], probs=PROBS), COUNTS,
        of_each(COUNTS, [stats.multinomial(4, p) for p in PROBS], "logpmf"), None, 4 * PROBS, 4 * PROBS * (1 - PROBS),
        event=(3,),
    ),
    "DirichletMultinomial": Row(
        lambda: D.DirichletMultinomial(f64(4)[0], ALPHA), COUNTS,
        np.stack([[dirichlet_multinomial(x, a) for x in COUNTS[:, 0]] for a in ALPHA], 1), None,
        4 * ALPHA / ALPHA.sum(-1, keepdims=True), event=(3,),
    ),
    "OneHotCategorical": Row(
        lambda: D.OneHotCategorical(probs=PROBS, dtype=tf.float64), np.eye(3)[:, None], np.log(PROBS.T), None, PROBS,
        PROBS * (1 - PROBS), stats.entropy(PROBS, axis=1), (3,),
    ),
    "RelaxedOneHotCategorical": Row(
        lambda: D.RelaxedOneHotCategorical(f64(0.7)[0], probs=PROBS), SIMPLEX, relaxed(SIMPLEX), event=(3,)
    ),
    "ExpRelaxedOneHotCategorical": Row(
        lambda: D.ExpRelaxedOneHotCategorical(f64(0.7)[0], probs=PROBS), np.log(SIMPLEX),
        relaxed(SIMPLEX) + np.log(SIMPLEX).sum(-1), event=(3,),
    ),
}  # fmt: skip


# Over matrices.

SCALES = np.stack([COVARIANCE, np.diag([1.0, 0.5])])
MATRICES = np.array([[[3.0, 1.0], [1.0, 2.0]], [[6.0, -2.0], [-2.0, 5.0]]])[:, None]
WISHARTS = [stats.wishart(5, s) for s in SCALES]


def wishart(make):
    return Row(
        make, MATRICES, of_each(MATRICES, WISHARTS, "logpdf"), None, 5 * SCALES,
        np.stack([w.var() for w in WISHARTS]), [w.entropy() for w in WISHARTS], (2, 2),
    )  # fmt: skip


MATRIX = {
    "WishartFull": wishart(lambda: D.WishartFull(5, SCALES)),
    "WishartCholesky": wishart(lambda: D.WishartCholesky(5, np.linalg.cholesky(SCALES))),
}

ROWS = {**CONTINUOUS, **DISCRETE, **VECTOR, **MATRIX}

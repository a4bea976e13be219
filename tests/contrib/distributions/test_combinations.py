"""Distributions made of others: transformed ones in new shapes, conditions, batches in another shape, quadrature."""

import numpy as np
import pytest
from scipy import integrate, special, stats

import tapeflow.compat.v1 as tf
from tapeflow.contrib import distributions as D
from tapeflow.contrib.distributions import test_util

B = D.bijectors
LOC, SCALE = np.array([0.3, -1.0]), np.array([1.5, 0.5])


def close(found, wanted, **tolerances):
    np.testing.assert_allclose(found, wanted, **{"rtol": 1e-6, "atol": 1e-9, **tolerances})


def repeated(batch_shape, event_shape, base=lambda: D.Normal(np.float64(0.3), np.float64(1.5))):
    return D.TransformedDistribution(base(), B.AffineScalar(np.float64(1.0)), batch_shape, event_shape)


SHAPES = [
    (None, None, [], []), ([2], None, [2], []), (None, [3], [], [3]), ([2], [3], [2], [3]),
    ([2, 4], [3, 1], [2, 4], [3, 1]),
]  # fmt: skip


@pytest.mark.parametrize(("batch", "event", "batch_rank", "event_rank"), SHAPES)
def test_a_distribution_of_numbers_is_repeated_to_other_shapes(batch, event, batch_rank, event_rank):
    d = repeated(batch, event)
    assert d.batch_shape.as_list() == batch_rank
    assert d.event_shape.as_list() == event_rank
    x = np.random.RandomState(1).randn(5, *batch_rank, *event_rank)
    each = stats.norm(1.3, 1.5).logpdf(x)
    axes = tuple(range(-len(event_rank), 0))
    close(d.log_prob(x), each.sum(axes) if axes else each)
    close(d.prob(x), np.exp(each.sum(axes) if axes else each))
    count = int(np.prod(event_rank))
    close(d.entropy(), np.full(batch_rank, stats.norm(0, 1.5).entropy() * count))
    assert d.sample([7, 2], seed=1).shape.as_list() == [7, 2, *batch_rank, *event_rank]


def test_events_of_a_batch_are_drawn_each_for_itself():
    d = repeated(None, [3], lambda: D.Normal(LOC * 100, SCALE))
    assert d.batch_shape.as_list() == [2]
    assert d.event_shape.as_list() == [3]
    x = d.sample([4, 5], seed=1)
    assert x.shape.as_list() == [4, 5, 2, 3]
    assert (np.asarray(x)[:, :, 0] > 0).all()
    assert (np.asarray(x)[:, :, 1] < 0).all()
    want = stats.norm(LOC[:, None] * 100 + 1, SCALE[:, None]).logpdf(x).sum(-1)
    close(d.log_prob(x), want)


def test_shapes_that_are_known_when_the_graph_runs():
    with tf.Graph().as_default(), tf.Session() as session:
        loc = tf.placeholder_with_default(LOC * 100, None)
        event = tf.placeholder(tf.int32, None)
        d = D.TransformedDistribution(
            D.Normal(loc, tf.constant(1.0, tf.float64)), B.AffineScalar(np.float64(1.0)), event_shape=event,
            validate_args=True,
        )  # fmt: skip
        x = d.sample(6, seed=1)
        given = {event: [3]}
        found = session.run([x, d.log_prob(x), d.batch_shape_tensor(), d.event_shape_tensor()], given)
        with pytest.raises(tf.errors.InvalidArgumentError, match="positive elements"):
            session.run(x, {event: [-1]})
    close(found[1], stats.norm(LOC[:, None] * 100 + 1).logpdf(found[0]).sum(-1))
    assert [found[0].shape, found[2].tolist(), found[3].tolist()] == [(6, 2, 3), [2], [3]]


@pytest.mark.parametrize(
    ("message", "use"),
    [
        ("must be a vector", lambda: repeated([[2]], None)),
        ("positive elements", lambda: repeated([0], None)),
        ("base distribution not scalar", lambda: repeated([2], None, lambda: D.Normal(LOC, SCALE))),
        ("base distribution not scalar", lambda: repeated(None, [2], lambda: D.MultivariateNormalDiag(LOC))),
    ],
)
def test_shapes_that_do_not_fit(message, use):
    with pytest.raises(ValueError, match=message):
        use()


def test_all_arguments_of_a_value_count():
    folded = D.TransformedDistribution(D.Normal(0.3, 1.5), B.AbsoluteValue())
    x = np.float32([0.2, 1.0, 3.0])
    close(folded.prob(x), stats.foldnorm(0.2, scale=1.5).pdf(x), rtol=1e-5)
    close(folded.log_prob(x), stats.foldnorm(0.2, scale=1.5).logpdf(x), rtol=1e-5)
    for method in ("cdf", "log_cdf", "survival_function", "log_survival_function", "quantile"):
        with pytest.raises(NotImplementedError, match="not injective"):
            getattr(folded, method)(x)
    with pytest.raises(NotImplementedError, match="overriding event_shape"):
        repeated(None, [3]).cdf([0.0, 0.0, 0.0])
    with pytest.raises(NotImplementedError, match="entropy is not implemented"):
        D.TransformedDistribution(D.Normal(0.0, 1.0), B.Exp()).entropy()


class Moved(D.ConditionalDistribution):
    """A normal distribution whose mean is a condition."""

    def __init__(self):
        self._parts = (tf.constant(0.0),)
        super().__init__(tf.float32, D.FULLY_REPARAMETERIZED, False, True, name="Moved")

    def _sample_n(self, n, seed=None, by=0.0):
        return D.Normal(by, 1.0).sample(n, seed)

    def _log_prob(self, x, by=0.0):
        return D.Normal(by, 1.0).log_prob(x)

    def _cdf(self, x, by=0.0):
        return D.Normal(by, 1.0).cdf(x)


def test_conditions_go_to_the_methods():
    d, reference = Moved(), stats.norm(2)
    close(d.log_prob(1.0, by=2.0), reference.logpdf(1), rtol=1e-5)
    close(d.prob(1.0, by=2.0), reference.pdf(1), rtol=1e-5)
    close(d.cdf(1.0, by=2.0), reference.cdf(1), rtol=1e-5)
    close(d.log_cdf(1.0, by=2.0), reference.logcdf(1), rtol=1e-5)
    close(d.survival_function(1.0, by=2.0), reference.sf(1), rtol=1e-5)
    close(d.log_survival_function(1.0, by=2.0), reference.logsf(1), rtol=1e-5)
    assert (np.asarray(d.sample(5, seed=1, by=1000.0)) > 900).all()
    with pytest.raises(TypeError):
        d.log_prob(1.0, other=2.0)


def test_conditions_of_transformed_distributions():
    times = B.Inline(
        lambda x, by: x * by, lambda y, by: y / by, forward_log_det_jacobian_fn=lambda x, by: tf.log(tf.abs(by)),
        forward_min_event_ndims=0, name="times",
    )  # fmt: skip
    d = D.ConditionalTransformedDistribution(Moved(), times)
    given = {"bijector_kwargs": {"by": tf.constant(3.0)}, "distribution_kwargs": {"by": tf.constant(2.0)}}
    close(d.log_prob(1.0, **given), stats.norm(6, 3).logpdf(1), rtol=1e-5)
    close(d.prob(1.0, **given), stats.norm(6, 3).pdf(1), rtol=1e-5)
    close(d.cdf(1.0, **given), stats.norm(6, 3).cdf(1), rtol=1e-5)
    assert abs(np.mean(d.sample(2000, seed=1, **given)) - 6) < 0.3


def test_batches_in_another_shape():
    base = D.MultivariateNormalDiag(np.zeros([6, 2]), np.arange(1.0, 13.0).reshape(6, 2))
    d = D.BatchReshape(base, [2, -1])
    assert (d.batch_shape.as_list(), d.event_shape.as_list()) == ([2, 3], [2])
    x = np.random.RandomState(0).randn(4, 2, 3, 2)
    close(d.log_prob(x), np.asarray(base.log_prob(x.reshape(4, 6, 2))).reshape(4, 2, 3))
    close(d.covariance(), np.asarray(base.covariance()).reshape(2, 3, 2, 2))
    for statistic in ("mean", "mode", "stddev", "variance"):
        close(getattr(d, statistic)(), np.asarray(getattr(base, statistic)()).reshape(2, 3, 2))
    assert d.sample([5], seed=1).shape.as_list() == [5, 2, 3, 2]
    with pytest.raises(NotImplementedError, match="too few batch and event dims"):
        d.log_prob(x[0, 0])
    with pytest.raises(NotImplementedError, match="unexpected batch and event shape"):
        d.log_prob(x[:, :1])


@pytest.mark.parametrize(
    ("message", "shape"), [("size", [2, 2]), ("vector", 6), ("vector", [[6]]), (">= 0", [-2, 3]), (">=-1", [0, -1])]
)
def test_shapes_of_batches_that_do_not_fit(message, shape):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=message):
        D.BatchReshape(D.Normal(np.zeros(6), 1.0), shape, validate_args=True)


def test_rounded_values():
    d = D.QuantizedDistribution(D.Normal(0.5, 1.5), low=-1.0, high=3.0)
    sample = np.asarray(d.sample(4000, seed=1))
    assert set(sample) == {-1.0, 0.0, 1.0, 2.0, 3.0}
    shares = np.array([(sample == k).mean() for k in range(-1, 4)])
    close(shares, d.prob(np.arange(-1.0, 4.0, dtype=np.float32)), atol=0.03)
    close(np.sum(d.prob(np.arange(-1.0, 4.0, dtype=np.float32))), 1, rtol=1e-5)
    assert np.asarray(d.log_prob(np.float32([-5.0, 9.0]))).tolist() == [-np.inf, -np.inf]
    # Far above the mean a probability is a difference of survival functions.
    wide = D.QuantizedDistribution(D.Normal(np.float64(0), np.float64(1)))
    close(wide.log_prob(np.float64(30.0)), special.log_ndtr(-29.0), rtol=1e-12)


MOMENTS = [0, 1, 2, 3]


@pytest.mark.parametrize("power", MOMENTS)
def test_quadrature_integrates_polynomials(power):
    grid, probs = D.quadrature_scheme_lognormal_gauss_hermite(LOC, SCALE, 4)
    close(np.asarray(grid) ** power @ np.asarray(probs), [stats.norm(m, s).moment(power) for m, s in zip(LOC, SCALE)])


def test_quadrature_of_points_of_the_simplex():
    for scheme, tolerance in (
        (D.quadrature_scheme_softmaxnormal_gauss_hermite, 1e-4), (D.quadrature_scheme_softmaxnormal_quantiles, 0.02),
    ):  # fmt: skip
        grid, probs = (np.asarray(v) for v in scheme(LOC[:, None], SCALE[:, None], 12))
        assert grid.shape == (2, 2, 12)
        close(grid.sum(1), 1)
        close(probs.sum(), 1)
        for i in range(2):
            mean = integrate.quad(lambda z: special.expit(LOC[i] + SCALE[i] * z) * stats.norm.pdf(z), -9, 9)[0]  # noqa: B023
            close(grid[i, 0] @ probs, mean, rtol=tolerance)


def test_quadrature_between_quantiles():
    grid, probs = D.quadrature_scheme_lognormal_quantiles(LOC, SCALE, 5)
    edges = stats.lognorm(SCALE[:, None], scale=np.exp(LOC[:, None])).ppf(np.linspace(0, 1, 8)[1:-1])
    close(grid, (edges[:, 1:] + edges[:, :-1]) / 2)
    close(probs, np.full(5, 0.2))


@pytest.mark.parametrize("kinds", ["identity", "scaled", "diagonal", "triangular", "mixed"])
def test_diffeomixtures_of_operators(kinds):
    tril, diag, n = np.array([[1.0, 0.0], [0.5, 2.0]]), np.array([1.5, 0.5]), 2
    made = {
        "identity": lambda: tf.linalg.LinearOperatorIdentity(n, dtype=tf.float64),
        "scaled": lambda: tf.linalg.LinearOperatorScaledIdentity(n, np.float64(1.7)),
        "diagonal": lambda: tf.linalg.LinearOperatorDiag(diag),
        "triangular": lambda: tf.linalg.LinearOperatorLowerTriangular(tril),
    }
    pair = [made["diagonal"](), made["triangular"]()] if kinds == "mixed" else [made[kinds](), made[kinds]()]
    d = D.VectorDiffeomixture(
        np.array([0.2]), np.array([1.5]), D.Normal(np.float64(0), np.float64(1)),
        loc=[None, np.array([1.0, -1.0])], scale=pair, quadrature_size=3,
    )  # fmt: skip
    weights, dense = np.asarray(d.grid)[0], [np.asarray(each.to_dense()) for each in pair]
    parts = []
    for w in weights:
        scale = w * dense[0] + (1 - w) * dense[1]
        parts.append(stats.multivariate_normal((1 - w) * np.array([1.0, -1.0]), scale @ scale.T))
    x = np.array([[0.3, 0.2], [-1.0, 2.0]])
    close(d.log_prob(x), np.log(np.mean([p.pdf(x) for p in parts], 0)))
    mean = np.mean([p.mean for p in parts], 0)
    covariance = np.mean([p.cov + np.outer(p.mean - mean, p.mean - mean) for p in parts], 0)
    close(d.mean(), mean)
    close(d.covariance(), covariance)
    close(d.variance(), np.diag(covariance))


def diffeomixture(**changes):
    scale = [tf.linalg.LinearOperatorDiag(np.ones(2), is_positive_definite=True)] * 2
    base = D.Normal(np.float64(0), np.float64(1))
    given = {"mix_loc": [0.2], "temperature": [1.5], "distribution": base, "scale": scale}
    return D.VectorDiffeomixture(**{**given, **changes})


DIAGONAL = lambda: tf.linalg.LinearOperatorDiag(np.ones(2))  # noqa: E731
INVALID = {
    "one scale": (ValueError, "Must specify list", lambda: diffeomixture(scale=[DIAGONAL()])),
    "one loc": (ValueError, "same-length lists", lambda: diffeomixture(loc=[None])),
    "three scales": (NotImplementedError, "only bimixtures", lambda: diffeomixture(scale=[DIAGONAL()] * 3)),
    "not positive": (
        ValueError, "is_positive_definite", lambda: diffeomixture(scale=[DIAGONAL()] * 2, validate_args=True)
    ),
    "other dtype": (
        TypeError, "dtype mismatch",
        lambda: diffeomixture(scale=[DIAGONAL(), tf.linalg.LinearOperatorDiag(np.ones(2, np.float32))]),
    ),
    "full matrix": (
        NotImplementedError, "Unsupported Linop",
        lambda: diffeomixture(scale=[DIAGONAL(), tf.linalg.LinearOperatorFullMatrix(np.eye(2))]),
    ),
    "batch as base": (
        ValueError, "must be scalar", lambda: diffeomixture(distribution=D.Normal(np.zeros(2), np.ones(2)))
    ),
    "base of another dtype": (TypeError, "dtype mismatch", lambda: diffeomixture(distribution=D.Normal(0.0, 1.0))),
    "numbers to mix": (ValueError, "at least one", lambda: diffeomixture(mix_loc=0.2, temperature=1.5)),
    "longer vectors to mix": (
        NotImplementedError, "only bimixtures", lambda: diffeomixture(mix_loc=[0.2, 0.3], temperature=[1.0, 1.0])
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", INVALID)
def test_diffeomixtures_that_do_not_fit(name):
    error, message, use = INVALID[name]
    with pytest.raises(error, match=message):
        use()


def test_autoregressive_distributions_repeat_what_was_drawn():
    def function(y):
        before = tf.cumsum(y, -1, exclusive=True)
        return D.Independent(D.Normal(before, 0.1), 1)

    d = D.Autoregressive(function, np.zeros([3], np.float32), num_steps=4)
    x = d.sample(5, seed=3)
    assert d.num_steps == 4
    close(d.log_prob(x), function(x).log_prob(x), rtol=1e-5)
    assert np.abs(np.asarray(x) - np.asarray(tf.cumsum(x, -1, exclusive=True))).max() < 1.0
    with pytest.raises(ValueError, match="must be at least 1"):
        D.Autoregressive(function, np.zeros([3], np.float32), num_steps=0)


def test_matrices_by_their_factors():
    scale = np.linalg.cholesky(np.array([[2.0, 0.6], [0.6, 1.5]]))
    whole, factors = D.WishartCholesky(5, scale), D.WishartCholesky(5, scale, cholesky_input_output_matrices=True)
    x = np.asarray(whole.sample(3, seed=1))
    close(factors.log_prob(np.linalg.cholesky(x)), whole.log_prob(x))
    tf.set_random_seed(2)
    x = np.asarray(whole.sample(3, seed=1))
    tf.set_random_seed(2)
    y = np.asarray(factors.sample(3, seed=1))
    close(y @ np.swapaxes(y, -1, -2), x)
    close(factors.scale(), scale)
    close(whole.scale(), scale @ scale.T)
    close(whole.mode(), 2 * scale @ scale.T)
    close(whole.mean_log_det(), np.mean(np.linalg.slogdet(np.asarray(whole.sample(20000, seed=2)))[1]), atol=0.03)
    with pytest.raises(ValueError, match="does not make sense"):
        factors.stddev()
    batch = D.WishartFull([3.0, 9.0], np.eye(2, dtype=np.float32) + np.zeros([2, 1, 1], np.float32))
    close(batch.mean(), np.eye(2) * np.array([3.0, 9.0])[:, None, None])


VALIDATED = {
    "BatchReshape": lambda v: D.BatchReshape(D.Normal(tf.zeros([6]), 1.0), tf.constant([-1, -1]), validate_args=v),
    "Bernoulli": lambda v: D.Bernoulli(probs=0.5, validate_args=v).log_prob(2),
    "Binomial": lambda v: D.Binomial(2.0, probs=0.5, validate_args=v).log_prob(3.0),
    "Binomial count": lambda v: D.Binomial(2.5, probs=0.5, validate_args=v),
    "Geometric": lambda v: D.Geometric(probs=0.5, validate_args=v).log_prob(1.5),
    "NegativeBinomial": lambda v: D.NegativeBinomial(2.0, probs=0.5, validate_args=v).cdf(-1.0),
    "Poisson": lambda v: D.Poisson(2.0, validate_args=v).cdf(1.5),
    "InverseGamma": lambda v: D.InverseGamma(2.0, 1.0, validate_args=v).log_prob(-1.0),
    "Kumaraswamy": lambda v: D.Kumaraswamy(2.0, 1.0, validate_args=v).log_prob(1.5),
    "RelaxedBernoulli": lambda v: D.RelaxedBernoulli(0.0, probs=0.5, validate_args=v),
    "ExpRelaxed": lambda v: D.ExpRelaxedOneHotCategorical(
        1.0, probs=[0.5, 0.5], validate_args=v
    ).log_prob([0.0, 0.0]),
    "MultivariateNormalTriL": lambda v: D.MultivariateNormalTriL(
        [0.0, 0.0], [[1.0, 0.0], [1.0, 0.0]], validate_args=v
    ).sample(),
    "MultivariateNormalFullCovariance": lambda v: D.MultivariateNormalFullCovariance(
        None, [[2.0, 0.3], [0.1, 1.0]], validate_args=v
    ),
    "MultivariateNormalDiagPlusLowRank": lambda v: D.MultivariateNormalDiagPlusLowRank(
        None, [1.0, -1.0], None, [[1.0], [1.0]], validate_args=v
    ),
    "QuantizedDistribution": lambda v: D.QuantizedDistribution(D.Normal(0.0, 1.0), 1.0, 0.0, validate_args=v),
    "Quantized value": lambda v: D.QuantizedDistribution(D.Normal(0.0, 1.0), validate_args=v).prob(0.5),
    "VectorDeterministic": lambda v: D.VectorDeterministic([1.0, 2.0], atol=-1.0, validate_args=v),
    "Deterministic in another space": lambda v: D.VectorDeterministic([1.0, 2.0], validate_args=v).prob([[1.0]]),
    "WishartCholesky": lambda v: D.WishartCholesky(3.0, [[1.0, 0.0], [1.0, -1.0]], validate_args=v),
    "WishartFull": lambda v: D.WishartFull(3.0, [[1.0, 0.5], [0.2, 1.0]], validate_args=v),
}  # fmt: skip


@pytest.mark.parametrize("name", VALIDATED)
def test_arguments_are_checked_where_asked(name):
    VALIDATED[name](False)
    with pytest.raises(tf.errors.InvalidArgumentError):
        VALIDATED[name](True)


@pytest.mark.parametrize(
    ("error", "use"),
    [
        (ValueError, lambda: D.MultivariateNormalDiag()),
        (ValueError, lambda: D.MultivariateNormalTriL()),
        (ValueError, lambda: D.VectorLaplaceDiag(scale_identity_multiplier=1.0)),
        (ValueError, lambda: D.MultivariateNormalDiag([1.0, 2.0, 3.0], [1.0, 2.0])),
        (ValueError, lambda: D.WishartFull(1.0, np.eye(2, dtype=np.float32))),
        (TypeError, lambda: D.WishartCholesky(3, np.eye(2, dtype=np.int32))),
        (TypeError, lambda: D.SinhArcsinh(0.0, 1.0, distribution=D.Normal(np.float64(0), np.float64(1)))),
        (ValueError, lambda: D.VectorSinhArcsinhDiag([0.0], [1.0], distribution=D.Normal([0.0, 1.0], 1.0))),
        (TypeError, lambda: D.Mixture(D.Categorical([0.1, 0.2]), [None, None])),
        (ValueError, lambda: D.Mixture(D.Categorical([0.1, 0.2]), [D.Normal(0.0, 1.0), D.Normal([0.0], 1.0)])),
        (ValueError, lambda: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal([0.0, 1.0], 1.0))),
        (ValueError, lambda: D.MixtureSameFamily(D.Categorical([0.1, 0.2]), D.Normal([0.0, 1.0, 2.0], 1.0))),
    ],
)
def test_invalid_arguments(error, use):
    with pytest.raises(error):
        use()


PARAMETERS = {
    "MultivariateNormalTriL": (D.MultivariateNormalTriL, [LOC, np.array([[1.0, 0.0], [0.5, 2.0]])]),
    "MultivariateNormalDiag": (D.MultivariateNormalDiag, [LOC, SCALE]),
    "MultivariateNormalDiagPlusLowRank": (
        lambda loc, diag, factor: D.MultivariateNormalDiagPlusLowRank(loc, diag, None, factor),
        [LOC, SCALE, np.array([[0.5], [1.0]])],
    ),
    "VectorLaplaceDiag": (D.VectorLaplaceDiag, [LOC, SCALE]),
    "VectorSinhArcsinhDiag": (
        lambda loc, diag, skew, tail: D.VectorSinhArcsinhDiag(loc, diag, None, skew, tail),
        [LOC, SCALE, np.array([0.4, -0.2]), np.array(1.3)],
    ),
    "WishartCholesky": (lambda scale: D.WishartCholesky(5, scale), [np.array([[1.0, 0.0], [0.5, 2.0]])]),
    "Kumaraswamy": (D.Kumaraswamy, [np.array([0.7, 2.0]), np.array([1.5, 3.5])]),
    "MixtureSameFamily": (
        lambda logits, loc: D.MixtureSameFamily(D.Categorical(logits), D.MultivariateNormalDiag(loc)),
        [LOC, np.array([[0.5, 1.0], [2.0, 3.0]])],
    ),
    "PoissonLogNormal": (D.PoissonLogNormalQuadratureCompound, [LOC, SCALE]),
}  # fmt: skip


@pytest.mark.parametrize("name", PARAMETERS)
def test_gradients_of_parameters(name):
    make, values = PARAMETERS[name]
    x = np.asarray(make(*values).sample(3, seed=1))

    def total(*parameters):
        return tf.reduce_sum(make(*parameters).log_prob(x))

    given = [tf.constant(v) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(given)
        y = total(*given)
    rng, step = np.random.RandomState(0), 1e-6
    for i, (value, gradient) in enumerate(zip(values, tape.gradient(y, given))):
        way = rng.uniform(0.5, 1.0, value.shape) * (value != 0)
        ends = [
            float(total(*[v + sign * step * way if i == j else v for j, v in enumerate(values)])) for sign in (1, -1)
        ]
        close(np.sum(gradient * way), (ends[0] - ends[1]) / (2 * step), rtol=1e-5, atol=1e-6)


class Case(test_util.VectorDistributionTestHelpers):
    assertAllClose = staticmethod(np.testing.assert_allclose)


class Counted(test_util.DiscreteScalarDistributionTestHelpers):
    assertAllClose = staticmethod(np.testing.assert_allclose)


def test_helpers_of_tests_find_what_is_wrong():
    def run(values):
        return tf.nest.map_structure(np.asarray, values) if not isinstance(values, tf.Operation) else None

    good = D.MultivariateNormalDiag(np.zeros(2), np.ones(2))
    Case().run_test_sample_consistent_log_prob(run, good, 20000, radius=1.0, rtol=0.05)
    Case().run_test_sample_consistent_mean_covariance(run, good, 20000, rtol=0.05, atol=0.05)
    counts = D.Poisson([1.0, 2.5])
    Counted().run_test_sample_consistent_log_prob(run, counts, 20000, rtol=0.1)
    Counted().run_test_sample_consistent_mean_variance(run, counts, 20000, rtol=0.05)
    found, edges = Counted().histogram(np.float32([1.0, 1.0, 3.0]))
    assert (found.numpy().tolist(), edges.numpy().tolist()) == ([2, 0, 1], [1.0, 2.0, 3.0])

    class Wrong(type(good)):
        def _mean(self):
            return super()._mean() + 1.0

    with pytest.raises(AssertionError):
        Case().run_test_sample_consistent_mean_covariance(run, Wrong(np.zeros(2), np.ones(2)), 2000)

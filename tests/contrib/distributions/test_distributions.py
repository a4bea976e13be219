"""tf.contrib.distributions against SciPy's, and divergences against samples."""

import numpy as np
import pytest
from scipy import stats

import tapeflow.compat.v1 as tf
from tapeflow.contrib import distributions as D

B = D.bijectors
X = np.array([0.15, 0.4, 0.8], np.float32)
COUNTS = np.array([0.0, 1.0, 3.0], np.float32)
COVARIANCE = np.array([[2.0, 0.6], [0.6, 1.5]], np.float32)
TRIL = np.linalg.cholesky(COVARIANCE)

CONTINUOUS = {
    "logistic": (lambda: D.Logistic(0.3, 1.5), stats.logistic(0.3, 1.5), X * 5 - 2),
    "half_normal": (lambda: D.HalfNormal(1.5), stats.halfnorm(scale=1.5), X * 4),
    "chi2": (lambda: D.Chi2(3.5), stats.chi2(3.5), X * 6),
    "inverse_gamma": (lambda: D.InverseGamma(3.5, 2.0), stats.invgamma(3.5, scale=2.0), X * 4),
    "log_normal": (
        lambda: D.TransformedDistribution(D.Normal(0.3, 0.5), B.Exp()),
        stats.lognorm(0.5, scale=np.exp(0.3)), X * 4,
    ),
    "logit_normal": (
        lambda: D.TransformedDistribution(D.Logistic(0.0, 1.0), B.Sigmoid()), stats.uniform(), X,
    ),
    "mixture": (
        lambda: D.Mixture(D.Categorical(probs=[0.3, 0.7]), [D.Normal(0.0, 1.0), D.Normal(2.0, 0.5)]), None, X,
    ),
    "kumaraswamy": (lambda: D.Kumaraswamy(2.0, 3.0), None, X),
    "cauchy": (lambda: D.Cauchy(0.3, 1.5), stats.cauchy(0.3, 1.5), X * 5 - 2),
    "relaxed_bernoulli": (lambda: D.RelaxedBernoulli(0.7, probs=0.3), None, X),
}  # fmt: skip
WITH_MEAN = {"logistic", "half_normal", "chi2", "inverse_gamma"}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_density_and_cdf_and_samples_agree(name):
    make, reference, x = CONTINUOUS[name]
    d = make()
    ends = [np.asarray(d.cdf((x + sign * 1e-2).astype(np.float32))) for sign in (1, -1)]
    np.testing.assert_allclose(d.prob(x), (ends[0] - ends[1]) / 2e-2, rtol=2e-2)
    if reference is not None:
        np.testing.assert_allclose(d.log_prob(x), reference.logpdf(x), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(d.cdf(x), reference.cdf(x), rtol=1e-4, atol=1e-5)
    sample = d.sample(3000, seed=1).numpy()
    cdf = lambda v: np.asarray(d.cdf(np.asarray(v, np.float32)))  # noqa: E731
    assert stats.kstest(sample, cdf).pvalue > 1e-3
    if name in WITH_MEAN:
        np.testing.assert_allclose(d.mean(), reference.mean(), rtol=1e-5)
        np.testing.assert_allclose(d.variance(), reference.var(), rtol=1e-4)
        np.testing.assert_allclose(d.entropy(), reference.entropy(), rtol=1e-4)
    elif name in ("mixture", "kumaraswamy"):
        np.testing.assert_allclose(d.mean(), sample.mean(), atol=0.06)
        np.testing.assert_allclose(d.variance(), sample.var(), atol=0.1)


def test_entropies():
    for d in (D.Kumaraswamy(2.0, 3.0), D.Cauchy(0.3, 1.5), D.HalfNormal(0.7)):
        sample = d.sample(40000, seed=5)
        np.testing.assert_allclose(d.entropy(), -np.mean(d.log_prob(sample)), atol=0.04)


def test_what_has_no_mean_is_nan_or_refused():
    assert np.isnan(D.Cauchy(0.0, 1.0).mean())
    assert np.isnan(D.InverseGamma(1.0, 1.0).mean())
    assert D.InverseGamma([0.5, 3.0], 1.0).mean().numpy()[1] == pytest.approx(0.5)
    with pytest.raises(ValueError, match="`mean` is undefined"):
        D.Cauchy(0.0, 1.0, allow_nan_stats=False).mean()
    with pytest.raises(tf.errors.InvalidArgumentError, match="mean is undefined"):
        D.InverseGamma(1.0, 1.0, allow_nan_stats=False).mean()


DISCRETE = {
    "poisson": (lambda: D.Poisson(1.7), stats.poisson(1.7)),
    "log_rate": (lambda: D.Poisson(log_rate=0.5), stats.poisson(np.exp(0.5))),
    "geometric": (lambda: D.Geometric(probs=0.3), stats.geom(0.3, loc=-1)),
    "negative_binomial": (lambda: D.NegativeBinomial(2.5, probs=0.4), stats.nbinom(2.5, 0.6)),
    "binomial": (lambda: D.Binomial(5.0, probs=0.3), stats.binom(5, 0.3)),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_counts(name):
    make, reference = DISCRETE[name]
    d = make()
    np.testing.assert_allclose(d.log_prob(COUNTS), reference.logpmf(COUNTS), rtol=1e-4)
    np.testing.assert_allclose(d.cdf(COUNTS), reference.cdf(COUNTS), rtol=1e-4)
    np.testing.assert_allclose(d.mean(), reference.mean(), rtol=1e-5)
    np.testing.assert_allclose(d.variance(), reference.var(), rtol=1e-4)
    sample = d.sample(6000, seed=2).numpy()
    shares = np.array([(sample == k).mean() for k in range(4)])
    np.testing.assert_allclose(shares, reference.pmf(range(4)), atol=0.03)
    assert d.mode().numpy() == np.argmax(reference.pmf(range(10)))


NORMALS = {
    "tril": lambda: D.MultivariateNormalTriL([1.0, -1.0], TRIL),
    "full": lambda: D.MultivariateNormalFullCovariance([1.0, -1.0], COVARIANCE),
    "affine": lambda: D.TransformedDistribution(
        D.MultivariateNormalDiag([0.0, 0.0]), B.Affine([1.0, -1.0], scale_tril=TRIL)
    ),
}


@pytest.mark.parametrize("name", NORMALS)
def test_multivariate_normals(name):
    d, reference = NORMALS[name](), stats.multivariate_normal([1, -1], COVARIANCE)
    x = np.array([[0.5, 0.2], [-1.0, 2.0], [1.0, -1.0]], np.float32)
    np.testing.assert_allclose(d.log_prob(x), reference.logpdf(x), rtol=1e-4)
    np.testing.assert_allclose(d.entropy(), reference.entropy(), rtol=1e-4)
    assert d.event_shape.as_list() == [2]
    assert d.batch_shape.as_list() == []
    sample = d.sample([5000], seed=3).numpy()
    np.testing.assert_allclose(sample.mean(0), [1, -1], atol=0.08)
    np.testing.assert_allclose(np.cov(sample.T), COVARIANCE, atol=0.15)
    if name != "affine":
        np.testing.assert_allclose(d.mean(), [1, -1], atol=1e-6)
        np.testing.assert_allclose(d.covariance(), COVARIANCE, rtol=1e-4)
        np.testing.assert_allclose(d.variance(), np.diag(COVARIANCE), rtol=1e-4)


def test_diagonal_normals_are_those_of_their_matrices():
    loc = np.float32([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]])
    diag = D.MultivariateNormalDiag(loc, [0.5, 2.0], scale_identity_multiplier=0.5)
    full = D.MultivariateNormalTriL(loc, np.diag([1.0, 2.5]).astype(np.float32))
    x = np.float32([[0.3, 0.7]])
    for statistic in ("mean", "stddev", "variance", "covariance", "entropy"):
        a, b = getattr(diag, statistic)(), getattr(full, statistic)()
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-5)
    np.testing.assert_allclose(diag.log_prob(x), full.log_prob(x), rtol=1e-5)
    assert diag.sample([4, 2]).shape.as_list() == [4, 2, 3, 2]
    soft = D.MultivariateNormalDiagWithSoftplusScale(loc, [0.5, 2.0])
    np.testing.assert_allclose(soft.stddev(), np.log1p(np.exp([0.5, 2.0])), rtol=1e-5)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (NORMALS["tril"], lambda: D.MultivariateNormalDiag([0.0, 0.0], [1.0, 2.0])),
        (lambda: D.HalfNormal(1.0), lambda: D.HalfNormal(2.0)),
        (lambda: D.OneHotCategorical(probs=[0.2, 0.8]), lambda: D.OneHotCategorical(probs=[0.5, 0.5])),
        (
            lambda: D.Independent(D.Normal([0.0, 1.0], 1.0), 1),
            lambda: D.Independent(D.Normal([0.5, 0.0], 2.0), 1),
        ),
    ],
)
def test_divergence_is_the_mean_difference_of_log_probabilities(a, b):
    a, b = a(), b()
    x = a.sample(20000, seed=3)
    want = np.mean(a.log_prob(x) - b.log_prob(x))
    np.testing.assert_allclose(D.kl_divergence(a, b), want, atol=0.03)
    np.testing.assert_allclose(D.kl_divergence(a, a), 0, atol=1e-6)


def test_one_hot_and_relaxed():
    probs = np.float32([0.2, 0.5, 0.3])
    d = D.OneHotCategorical(probs=probs, dtype=tf.float32)
    np.testing.assert_allclose(d.prob(np.eye(3, dtype=np.float32)), probs, rtol=1e-5)
    np.testing.assert_allclose(d.sample(5000, seed=1).numpy().mean(0), probs, atol=0.03)
    assert d.mode().numpy().tolist() == [0, 1, 0]
    relaxed = D.RelaxedOneHotCategorical(0.7, probs=probs)
    sample = relaxed.sample(4, seed=2)
    np.testing.assert_allclose(sample.numpy().sum(-1), 1, rtol=1e-5)
    # Of two classes it is the relaxed Bernoulli distribution.
    two = D.RelaxedOneHotCategorical(0.7, probs=[0.3, 0.7])
    np.testing.assert_allclose(
        two.log_prob(np.stack([X, 1 - X], 1)), D.RelaxedBernoulli(0.7, probs=0.3).log_prob(X), rtol=1e-4
    )
    logs = D.ExpRelaxedOneHotCategorical(0.7, probs=probs)
    np.testing.assert_allclose(
        logs.log_prob(tf.log(sample)) - tf.reduce_sum(tf.log(sample), -1), relaxed.log_prob(sample), rtol=1e-4
    )


def test_mixtures_of_one_family_are_those_of_many():
    cat = D.Categorical(probs=[0.3, 0.7])
    many = D.Mixture(cat, [D.MultivariateNormalDiag([0.0, 1.0]), D.MultivariateNormalDiag([2.0, 3.0])])
    same = D.MixtureSameFamily(cat, D.MultivariateNormalDiag([[0.0, 1.0], [2.0, 3.0]]))
    x = np.float32([[0.5, 1.0], [2.0, 2.0]])
    np.testing.assert_allclose(many.log_prob(x), same.log_prob(x), rtol=1e-5)
    for statistic in ("mean", "variance"):
        np.testing.assert_allclose(getattr(many, statistic)(), getattr(same, statistic)(), rtol=1e-5)
    for d in (many, same):
        assert d.sample([3, 4]).shape.as_list() == [3, 4, 2]
        sample = d.sample(6000, seed=4).numpy()
        np.testing.assert_allclose(sample.mean(0), d.mean(), atol=0.08)
        np.testing.assert_allclose(sample.var(0), d.variance(), atol=0.15)
    batch = D.MixtureSameFamily(cat, D.Normal(tf.zeros([50, 2]) + [0.0, 100.0], 1.0))
    drawn = batch.sample(seed=1).numpy()
    assert drawn.shape == (50,)
    assert 5 < (drawn < 50).sum() < 30  # each of the batch chooses for itself


def test_independent_and_repeated():
    d = D.Independent(D.Normal(tf.zeros([3, 2]), [1.0, 2.0]), 1)
    assert (d.batch_shape.as_list(), d.event_shape.as_list()) == ([3], [2])
    x = np.float32([0.5, -0.5])
    want = stats.norm(0, [1, 2]).logpdf(x).sum()
    np.testing.assert_allclose(d.log_prob(x), np.full(3, want), rtol=1e-5)
    assert d.sample(7).shape.as_list() == [7, 3, 2]
    wide = D.TransformedDistribution(D.Normal(0.0, 1.0), B.Affine([1.0, 2.0]), event_shape=[2])
    np.testing.assert_allclose(wide.log_prob([1.0, 2.0]), 2 * stats.norm().logpdf(0), rtol=1e-5)


def test_deterministic():
    d = D.Deterministic([1.0, 2.0], atol=0.1)
    assert d.prob([1.05, 2.2]).numpy().tolist() == [1, 0]
    assert d.sample(3).numpy().tolist() == [[1, 2]] * 3


@pytest.mark.parametrize(
    "use",
    [
        lambda v: D.Deterministic(1.0, atol=-1.0, validate_args=v),
        lambda v: D.Kumaraswamy(-1.0, 1.0, validate_args=v),
    ],
)
def test_arguments_are_checked_where_asked(use):
    use(False)
    with pytest.raises(tf.errors.InvalidArgumentError):
        use(True)


@pytest.mark.parametrize(
    "d",
    [
        lambda: D.Chi2(3.0), lambda: D.Exponential(2.0), lambda: D.NormalWithSoftplusScale(0.0, 1.0),
        lambda: D.MultivariateNormalDiagWithSoftplusScale([0.0], [1.0]),
        lambda: D.MultivariateNormalFullCovariance([0.0], [[2.0]]),
    ],
)  # fmt: skip
def test_copies_are_the_same(d):
    d = d()
    np.testing.assert_array_equal(d.copy().variance(), d.variance())


def test_gradients_go_through_samples_of_reparameterized_distributions():
    loc = tf.Variable([0.5, -0.5])
    with tf.GradientTape() as tape:
        d = D.MultivariateNormalDiag(loc, [1.0, 2.0])
        value = tf.reduce_sum(d.sample(10, seed=1))
    assert d.reparameterization_type is D.FULLY_REPARAMETERIZED
    np.testing.assert_allclose(tape.gradient(value, loc), [10.0, 10.0])


def test_in_graphs_of_unknown_batches():
    with tf.Graph().as_default(), tf.Session() as session:
        loc = tf.placeholder(tf.float32, [None, 2])
        d = D.MultivariateNormalDiag(loc, tf.ones([2]))
        mixed = D.MixtureSameFamily(D.Categorical(probs=[0.5, 0.5]), D.Normal(loc, 1.0))
        found = session.run(
            [d.sample(3), d.log_prob(loc), mixed.sample(), mixed.log_prob(loc[:, 0])], {loc: np.zeros([4, 2])}
        )
    assert [x.shape for x in found] == [(3, 4, 2), (4,), (4,), (4,)]


class Point(D.Distribution):
    """All probability at one point; what a library of 1.x defines of a distribution of its own."""

    def __init__(self, at, name="Point"):
        parameters = dict(locals())
        with tf.name_scope(name):
            self.at = tf.identity(at)
        super().__init__(
            dtype=self.at.dtype, reparameterization_type=D.FULLY_REPARAMETERIZED, validate_args=False,
            allow_nan_stats=True, parameters=parameters, graph_parents=[self.at], name=name,
        )  # fmt: skip

    @staticmethod
    def _param_shapes(sample_shape):
        return {"at": tf.expand_dims(sample_shape, 0)}

    def _batch_shape_tensor(self):
        return tf.constant([], tf.int32)

    def _batch_shape(self):
        return []

    def _event_shape_tensor(self):
        return tf.shape(self.at)

    def _event_shape(self):
        return self.at.shape

    def _survival_function(self, x):
        return tf.cast(self.at > x, tf.float32)

    def _sample_n(self, n, seed=None):
        rank = self.event_shape.rank
        shape = self.event_shape_tensor() if rank is None else [1] * rank
        return tf.tile(self.at[None], tf.concat([[n], tf.ones_like(shape)], 0))


def test_a_distribution_of_a_library():
    with tf.Graph().as_default(), tf.Session() as session:
        known = Point([1.0, 2.0])
        assert known.batch_shape.as_list() == []
        assert known.event_shape.as_list() == [2]
        assert known.sample([3, 1]).shape.as_list() == [3, 1, 2]
        assert session.run(known.sample(2)).tolist() == [[1.0, 2.0], [1.0, 2.0]]
        assert session.run(known.survival_function([1.5, 1.5])).tolist() == [0.0, 1.0]
        assert known.copy(at=[4.0]).event_shape.as_list() == [1]
        assert session.run(Point.param_shapes(5)["at"]).tolist() == [5]
        at = tf.placeholder_with_default([3.0, 4.0, 5.0], [None])
        unknown = Point(at)
        assert session.run(unknown.event_shape_tensor()).tolist() == [3]
        assert session.run(unknown.batch_shape_tensor()).tolist() == []

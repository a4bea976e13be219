"""tf.distributions against SciPy's."""

import numpy as np
import pytest
from scipy import stats

import tapeflow.compat.v1 as tf

D = tf.distributions
X = np.array([0.15, 0.4, 0.8], np.float32)
CASES = {
    "normal": (lambda: D.Normal(0.3, 1.5), stats.norm(0.3, 1.5), X * 5 - 2),
    "laplace": (lambda: D.Laplace(0.3, 1.5), stats.laplace(0.3, 1.5), X * 5 - 2),
    "uniform": (lambda: D.Uniform(-1.0, 2.0), stats.uniform(-1, 3), X * 2 - 0.5),
    "gamma": (lambda: D.Gamma(2.5, 1.5), stats.gamma(2.5, scale=1 / 1.5), X * 4),
    "exponential": (lambda: D.Exponential(1.5), stats.expon(scale=1 / 1.5), X * 4),
    "beta": (lambda: D.Beta(2.0, 3.5), stats.beta(2.0, 3.5), X),
    "student": (lambda: D.StudentT(5.0, 0.5, 2.0), stats.t(5.0, 0.5, 2.0), X * 5 - 2),
}


@pytest.mark.parametrize("name", CASES)
def test_continuous(name):
    make, reference, x = CASES[name]
    d = make()
    np.testing.assert_allclose(d.log_prob(x), reference.logpdf(x), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(d.prob(x), reference.pdf(x), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(d.cdf(x), reference.cdf(x), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(d.survival_function(x), reference.sf(x), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(d.mean(), reference.mean(), rtol=1e-5)
    np.testing.assert_allclose(d.stddev(), reference.std(), rtol=1e-5)
    np.testing.assert_allclose(d.entropy(), reference.entropy(), rtol=1e-4)
    sample = d.sample(4000, seed=1).numpy()
    assert stats.kstest(sample, reference.cdf).pvalue > 1e-3


def test_discrete():
    probs = np.array([0.2, 0.5, 0.3])
    b = D.Bernoulli(probs=0.3)
    np.testing.assert_allclose(b.log_prob([0, 1]), stats.bernoulli(0.3).logpmf([0, 1]), rtol=1e-5)
    np.testing.assert_allclose(b.entropy(), stats.bernoulli(0.3).entropy(), rtol=1e-5)
    c = D.Categorical(probs=probs)
    np.testing.assert_allclose(c.prob([0, 1, 2]), probs, rtol=1e-5)
    np.testing.assert_allclose(np.bincount(c.sample(5000, seed=2)) / 5000, probs, atol=0.03)
    assert c.mode().numpy() == 1
    m = D.Multinomial(4.0, probs=probs)
    counts = np.array([1.0, 2.0, 1.0])
    np.testing.assert_allclose(m.log_prob(counts), stats.multinomial(4, probs).logpmf(counts), rtol=1e-5)
    np.testing.assert_allclose(m.covariance(), stats.multinomial(4, probs).cov(), atol=1e-5)
    assert (m.sample(7).numpy().sum(-1) == 4).all()
    d = D.Dirichlet([1.0, 2.0, 3.0])
    np.testing.assert_allclose(d.log_prob(probs), stats.dirichlet([1, 2, 3]).logpdf(probs), rtol=1e-4)
    np.testing.assert_allclose(d.variance(), stats.dirichlet([1, 2, 3]).var(), rtol=1e-4)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (lambda: D.Normal(0.0, 1.0), lambda: D.Normal(0.5, 2.0)),
        (lambda: D.Gamma(2.0, 1.0), lambda: D.Gamma(3.0, 2.0)),
        (lambda: D.Beta(2.0, 3.0), lambda: D.Beta(3.0, 3.0)),
        (lambda: D.Bernoulli(probs=0.3), lambda: D.Bernoulli(probs=0.6)),
        (lambda: D.Categorical(probs=[0.2, 0.8]), lambda: D.Categorical(probs=[0.5, 0.5])),
        (lambda: D.Dirichlet([1.0, 2.0]), lambda: D.Dirichlet([2.0, 2.0])),
    ],
)
def test_divergence_is_the_mean_difference_of_log_probabilities(a, b):
    a, b = a(), b()
    x = a.sample(20000, seed=3)
    want = np.mean(a.log_prob(x) - b.log_prob(x))
    np.testing.assert_allclose(D.kl_divergence(a, b), want, atol=0.03)
    np.testing.assert_allclose(D.kl_divergence(a, a), 0, atol=1e-6)


def test_shapes_and_errors():
    d = D.Normal(tf.zeros([3, 1]), [1.0, 2.0])
    assert d.batch_shape.as_list() == [3, 2]
    assert d.sample([4, 5]).shape.as_list() == [4, 5, 3, 2]
    assert d.copy(scale=1.0).batch_shape.as_list() == [3, 1]
    with pytest.raises(tf.errors.InvalidArgumentError):
        D.Normal(0.0, -1.0, validate_args=True)
    with pytest.raises(ValueError, match="probs or logits"):
        D.Bernoulli()
    with pytest.raises(NotImplementedError, match="No KL"):
        D.kl_divergence(d, D.Beta(1.0, 1.0))
    assert np.isnan(D.StudentT(1.0, 0.0, 1.0).mean())


def test_gradients_go_through_samples():
    scale = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(scale)
        total = tf.reduce_mean(D.Normal(0.0, scale).sample(2000, seed=1) ** 2)
    np.testing.assert_allclose(tape.gradient(total, scale), 4.0, rtol=0.15)


BAD_PARAMETERS = [
    ("Bernoulli", {"probs": 1.2}, "probs has components greater than 1"),
    ("Bernoulli", {"probs": -0.2}, "x >= 0"),
    ("Normal", {"loc": 0.0, "scale": -1.0}, "x > 0"),
    ("Laplace", {"loc": 0.0, "scale": -1.0}, "x > 0"),
    ("Uniform", {"low": 2.0, "high": 1.0}, "low >= high"),
    ("Gamma", {"concentration": -1.0, "rate": 1.0}, "x > 0"),
    ("Exponential", {"rate": -1.0}, "x > 0"),
    ("Beta", {"concentration0": -1.0, "concentration1": 1.0}, "must be positive"),
    ("StudentT", {"df": -1.0, "loc": 0.0, "scale": 1.0}, "x > 0"),
    ("Categorical", {"probs": [0.1, 0.2]}, "does not sum to 1"),
    ("Dirichlet", {"concentration": [-1.0, 1.0]}, "must be positive"),
    ("Multinomial", {"total_count": -2.0, "probs": [0.5, 0.5]}, "must be non-negative"),
    ("DirichletMultinomial", {"total_count": 2.5, "concentration": [0.5, 0.5]}, "fractional"),
]
BAD_EVENTS = [
    ("Bernoulli", {"probs": [0.2, 0.3]}, [1, -1], "must be non-negative"),
    ("Bernoulli", {"probs": [0.2, 0.3]}, [1, 2], "cannot exceed 1"),
    ("Gamma", {"concentration": 1.0, "rate": 1.0}, -1.0, "x > 0"),
    ("Exponential", {"rate": 1.0}, -1.0, "x > 0"),
    ("Beta", {"concentration0": 1.0, "concentration1": 1.0}, 1.5, "less than"),
    ("Dirichlet", {"concentration": [1.0, 1.0]}, [0.2, 0.1], "must sum to"),
    ("Multinomial", {"total_count": 2.0, "probs": [0.5, 0.5]}, [1.0, 2.0], "must sum to"),
    ("DirichletMultinomial", {"total_count": 2.0, "concentration": [0.5, 0.5]}, [1.5, 0.5], "fractional"),
]


@pytest.fixture(params=["eager", "graph"])
def evaluate(request):
    """Runs a function and evaluates what it returns, eagerly or in a session."""
    if request.param == "eager":
        yield lambda f: f().numpy()
        return
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        yield lambda f: session.run(f())


@pytest.mark.parametrize(("name", "parameters", "message"), BAD_PARAMETERS)
def test_parameters_are_checked_on_demand(evaluate, name, parameters, message):
    kind = getattr(tf.compat.v1.distributions, name)

    def use():
        return kind(**parameters, validate_args=True).sample()

    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        evaluate(use)
    kind(**parameters)


@pytest.mark.parametrize(("name", "parameters", "event", "message"), BAD_EVENTS)
def test_events_are_checked_on_demand(evaluate, name, parameters, event, message):
    kind = getattr(tf.compat.v1.distributions, name)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        evaluate(lambda: kind(**parameters, validate_args=True).prob(event))
    evaluate(lambda: kind(**parameters).prob(event))


def test_counts_for_each_of_a_batch(evaluate):
    """The covariance over one axis of counts and another of concentrations, against one at a time."""
    counts, alphas = np.array([[3.0], [5.0]], np.float32), np.array([1.0, 2.0, 3.0], np.float32)
    kind = tf.compat.v1.distributions.DirichletMultinomial
    for method in ("mean", "variance", "covariance"):
        got = evaluate(lambda: getattr(kind(counts, alphas[None]), method)())  # noqa: B023
        want = [evaluate(lambda: getattr(kind(n[0], alphas), method)()) for n in counts]  # noqa: B023
        np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_quantiles_of_a_normal_have_finite_gradients(dtype):
    p = tf.constant([0.0, np.exp(-32.0), 0.3, 1 - np.exp(-32.0), 1.0, -0.5, 2.0], dtype)
    with tf.GradientTape() as tape:
        tape.watch(p)
        q = tf.compat.v1.distributions.Normal(tf.constant(1.0, dtype), tf.constant(2.0, dtype)).quantile(p)
    assert np.isfinite(tape.gradient(q, p)).all()
    np.testing.assert_allclose(q[2], 1 + 2 * -0.5244005127080409, rtol=1e-5)
    assert q[0] == -np.inf
    assert q[4] == np.inf
    assert np.isnan(q[5:]).all()


def test_a_divergence_that_is_no_number_is_named():
    class Own(D.Normal):
        pass

    D.RegisterKL(Own, Own)(lambda a, b, name=None: tf.constant([float("nan")]))
    one = Own(0.0, 1.0, name="one")
    assert np.isnan(D.kl_divergence(one, one))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"KL calculation between .* and .* returned NaN values"):
        D.kl_divergence(one, one, allow_nan_stats=False)

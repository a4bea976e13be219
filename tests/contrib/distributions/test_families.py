"""All families of tf.contrib.distributions against SciPy's and closed forms: see `families.py` for the rows."""

import numpy as np
import pytest
from scipy import stats

import tapeflow.compat.v1 as tf
from tapeflow.contrib import distributions as D

from .families import CONTINUOUS, DISCRETE, ROWS

BASES = {"ConditionalDistribution", "Distribution"}
FLAT = {"OneHotCategorical", "Uniform", "VectorDeterministic"}  # log probabilities have no slope
COUNT = 4000


def rows(having):
    return [name for name, row in ROWS.items() if getattr(row, having) is not None]


def close(found, wanted, **tolerances):
    np.testing.assert_allclose(found, wanted, **{"rtol": 1e-7, "atol": 1e-9, **tolerances})


def test_all_families_have_a_row():
    values = {name: getattr(D, name) for name in D.__all__}
    families = {name for name, value in values.items() if isinstance(value, type) and issubclass(value, D.Distribution)}
    assert families - BASES == set(ROWS)


@pytest.mark.parametrize("name", rows("log_prob"))
def test_log_probabilities(name):
    row = ROWS[name]
    d = row.make()
    close(d.log_prob(row.x), row.log_prob)
    close(d.prob(row.x), np.exp(row.log_prob))


@pytest.mark.parametrize("name", rows("cdf"))
def test_distribution_functions(name):
    row = ROWS[name]
    d = row.make()
    close(d.cdf(row.x), row.cdf)
    with np.errstate(divide="ignore"):
        close(d.log_cdf(row.x), np.log(row.cdf))
    if name == "QuantizedDistribution":  # its base is asked, above bounds too
        return
    close(d.survival_function(row.x), 1 - row.cdf)
    with np.errstate(divide="ignore"):
        known = row.cdf < 1 - 1e-8  # elsewhere 1 - cdf is what is rounded
        close(np.asarray(d.log_survival_function(row.x))[known], np.log1p(-row.cdf)[known], rtol=1e-6)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_densities_are_the_derivatives_of_distribution_functions(name):
    row, step = ROWS[name], 1e-5
    d = row.make()
    slope = (np.asarray(d.cdf(row.x + step)) - np.asarray(d.cdf(row.x - step))) / (2 * step)
    close(d.prob(row.x), slope, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_quantiles_are_the_inverses_of_distribution_functions(name):
    d = ROWS[name].make()
    p = np.array([[0.1], [0.5], [0.93]])
    try:
        found = d.quantile(p)
    except NotImplementedError:
        return
    close(d.cdf(found), np.broadcast_to(p, [3, 2]), rtol=1e-6)


@pytest.mark.parametrize("statistic", ["mean", "variance", "entropy"])
@pytest.mark.parametrize("name", ROWS)
def test_statistics(name, statistic):
    row = ROWS[name]
    wanted = getattr(row, statistic)
    if wanted is None:
        return
    d = row.make()
    found = getattr(d, statistic)()
    close(np.broadcast_to(found, np.shape(wanted)), wanted)
    if statistic == "variance" and "Wishart" not in name:
        close(np.broadcast_to(d.stddev(), np.shape(wanted)), np.sqrt(wanted))


@pytest.mark.parametrize("name", ROWS)
def test_samples_have_the_mean_and_the_variance(name):
    row = ROWS[name]
    x = np.asarray(row.make().sample(COUNT, seed=3), np.float64)
    if row.mean is None or not row.checks:
        return
    spread = np.sqrt(x.var(0) / COUNT)
    assert (np.abs(x.mean(0) - row.mean) <= 5 * spread + 1e-12).all()
    if row.variance is not None:
        fourth = ((x - x.mean(0)) ** 4).mean(0)
        spread = np.sqrt(np.maximum(fourth - x.var(0) ** 2, 0) / COUNT)
        assert (np.abs(x.var(0) - row.variance) <= 6 * spread + 1e-12).all()


@pytest.mark.parametrize("name", CONTINUOUS)
def test_samples_follow_the_distribution_function(name):
    d = ROWS[name].make()
    shares = np.asarray(d.cdf(d.sample(COUNT, seed=5)))
    for column in shares.T:
        assert stats.kstest(column, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("name", [
    "MultivariateNormalTriL", "MultivariateNormalDiag", "MultivariateNormalDiagPlusLowRank", "VectorLaplaceDiag",
    "VectorExponentialDiag", "VectorDiffeomixture", "Dirichlet", "Multinomial", "OneHotCategorical",
])  # fmt: skip
def test_covariances(name):
    d = ROWS[name].make()
    covariance = np.asarray(d.covariance())
    diagonal = np.diagonal(covariance, axis1=-2, axis2=-1)
    close(diagonal, np.broadcast_to(d.variance(), diagonal.shape))
    x = np.asarray(d.sample(COUNT, seed=3))
    size = np.sqrt(diagonal[..., None] * diagonal[..., None, :])
    for i in range(2):
        wanted, limit = (np.broadcast_to(c, [2, *c.shape[-2:]])[i] for c in (covariance, size))
        assert (np.abs(np.cov(x[:, i].T) - wanted) <= 0.12 * limit).all()


@pytest.mark.parametrize("name", ROWS)
def test_shapes(name):
    row = ROWS[name]
    d = row.make()
    assert d.batch_shape.as_list() == [2]
    assert d.event_shape.as_list() == list(row.event)
    assert d.batch_shape_tensor().numpy().tolist() == [2]
    assert d.event_shape_tensor().numpy().tolist() == list(row.event)
    assert bool(d.is_scalar_event()) == (not row.event)
    assert not bool(d.is_scalar_batch())
    for shape in ((), (3,), (3, 4)):
        sample = d.sample(shape, seed=1)
        assert sample.shape.as_list() == [*shape, 2, *row.event]
        assert sample.dtype == d.dtype
    assert d.log_prob(row.x).shape.as_list() == [len(row.x), 2]


@pytest.mark.parametrize("name", ROWS)
def test_seeds_and_copies_repeat_samples(name):
    d = ROWS[name].make()
    tf.set_random_seed(1)
    first = np.asarray(d.sample(5, seed=7))
    tf.set_random_seed(1)
    np.testing.assert_array_equal(d.copy().sample(5, seed=7), first)
    assert {"self", "__class__"}.isdisjoint(d.parameters)


@pytest.mark.parametrize("name", ROWS)
def test_graphs_give_what_eager_calls_give(name):
    row = ROWS[name]
    eager = np.asarray(row.make().log_prob(row.x))
    with tf.Graph().as_default(), tf.Session() as session:
        d = row.make()
        given = tf.placeholder(row.x.dtype, [None, *row.x.shape[1:]])
        wanted = [d.log_prob(given), d.sample(3, seed=2), d.batch_shape_tensor()]
        found, sample, count = session.run(wanted, {given: row.x})
    close(found, eager)
    assert sample.shape == (3, 2, *row.event)
    assert count.tolist() == [2]


@pytest.mark.parametrize("name", [n for n in ROWS if n not in {*DISCRETE, *FLAT}])
def test_gradients_of_log_probabilities(name):
    row, step = ROWS[name], 1e-6
    d = row.make()
    x = tf.constant(row.x)
    way = np.random.RandomState(0).uniform(0.5, 1.0, row.x.shape)
    if "Wishart" in name:
        way = way + np.swapaxes(way, -1, -2)  # of symmetric matrices
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(d.log_prob(x))
    ends = [np.sum(d.log_prob(row.x + sign * step * way)) for sign in (1, -1)]
    close(np.sum(tape.gradient(y, x) * way), (ends[0] - ends[1]) / (2 * step), rtol=1e-5, atol=1e-5)

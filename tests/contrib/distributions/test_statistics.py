"""Statistics of samples and of series, moving ones, conjugate posteriors and seeds, against NumPy."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import distributions as tfd

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(fetches, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


@pytest.mark.parametrize("interpolation", ["nearest", "lower", "higher"])
@pytest.mark.parametrize("axis", [None, 0, -1, [0, 2], [2, 0]])
@pytest.mark.parametrize("keep_dims", [False, True])
def test_percentile(interpolation, axis, keep_dims):
    x = RNG.normal(size=(3, 4, 5)).astype("f")
    q = 37.3
    found = tfd.percentile(x, q, axis, interpolation, keep_dims)
    axes = tuple(axis) if isinstance(axis, list) else axis
    want = np.percentile(x, q, axes, method=interpolation, keepdims=keep_dims)
    assert found.shape.as_list() == list(want.shape)
    np.testing.assert_array_equal(run(found), want)


def test_percentile_of_unknown_shapes_and_wrong_arguments():
    x, q = tf.placeholder(tf.int32, [None, 3]), tf.placeholder(tf.float32)
    found = tfd.percentile(x, q, axis=[1], keep_dims=True, validate_args=True)
    assert found.shape.as_list() == [None, 1]
    np.testing.assert_array_equal(run(found, {x: [[3, 1, 2]], q: 50.0}), [[2]])
    for bad in (-1.0, 101.0, [50.0]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(found, {x: [[3, 1, 2]], q: bad})
    for change, match in (
        ({"interpolation": "linear"}, "interpolation"), ({"q": [1.0]}, "ndims 0"), ({"axis": 2}, "not in the interval"),
        ({"axis": tf.placeholder(tf.int32, [])}, "statically available"),
        ({"x": tf.placeholder(tf.float32), "axis": 0}, "statically defined"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=match):
            tfd.percentile(**{"x": x, "q": 1.0, **change})


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex64])
@pytest.mark.parametrize(("center", "normalize"), [(True, True), (False, False), (True, False)])
@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_auto_correlation(kind, center, normalize, axis):
    x = (RNG.normal(size=(4, 6, 5)) + (1j * RNG.normal(size=(4, 6, 5)) if kind is np.complex64 else 2)).astype(kind)
    found = tfd.auto_correlation(x, axis, max_lags=3, center=center, normalize=normalize)
    series = np.moveaxis(x, axis, -1)
    if center:
        series = series - series.mean(-1, keepdims=True)
    n = series.shape[-1]
    want = np.stack([(series[..., k:] * np.conj(series[..., : n - k])).mean(-1) for k in range(min(4, n))], -1)
    if normalize:
        want = want / want[..., :1]
    want = np.moveaxis(want, -1, axis)
    assert found.shape.as_list() == list(want.shape)
    np.testing.assert_allclose(run(found), want, atol=2e-5)


def test_auto_correlation_of_an_unknown_shape():
    x = tf.placeholder(tf.float64)
    series = RNG.normal(size=(3, 5))
    found = run(tfd.auto_correlation(x, axis=-2), {x: series})
    np.testing.assert_allclose(found, run(tfd.auto_correlation(series, axis=0)), atol=1e-12)
    with pytest.raises(TypeError, match="float or complex"):
        tfd.auto_correlation([1, 2])


def test_moving_mean_and_variance():
    values = RNG.normal(size=(50, 2))
    x = tf.placeholder(tf.float64, [2])
    updated = tfd.moving_mean_variance(x, 0.9)
    assert {v.op.name for v in tf.global_variables()} == {
        "moving_mean_variance/moving_mean", "moving_mean_variance/moving_variance"
    }  # fmt: skip
    mean, variance = np.zeros(2), np.zeros(2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in values:
            found = session.run(updated, {x: value})
            delta = value - mean
            mean, variance = mean + 0.1 * delta, 0.9 * (variance + 0.1 * delta**2)
    np.testing.assert_allclose(found, [mean, variance], rtol=1e-10)
    with pytest.raises(TypeError, match="does not have float type"):
        tfd.moving_mean_variance(tf.constant([1]), 0.9)


def test_logarithm_of_a_moving_mean():
    variable = tf.Variable(np.log(3.0))
    updated = tfd.assign_log_moving_mean_exp(variable, np.log(5.0), 0.75)
    np.testing.assert_allclose(run(updated), np.log(0.75 * 3 + 0.25 * 5), rtol=1e-12)


def test_normal_posterior():
    prior = tfd.Normal(loc=1.0, scale=2.0)
    posterior = tfd.normal_conjugates_known_scale_posterior(prior, 3.0, tf.constant(8.0), 4)
    predicted = tfd.normal_conjugates_known_scale_predictive(prior, 3.0, tf.constant(8.0), 4)
    loc, scale, loc2, scale2 = run([posterior.loc, posterior.scale, predicted.loc, predicted.scale])
    precision = 1 / 4 + 4 / 9
    np.testing.assert_allclose([loc, scale**2], [(1 / 4 + 8 / 9) / precision, 1 / precision], rtol=1e-6)
    np.testing.assert_allclose([loc2, scale2**2], [loc, 1 / precision + 9], rtol=1e-6)
    with pytest.raises(TypeError, match="instance of type Normal"):
        tfd.normal_conjugates_known_scale_posterior(tfd.Poisson(1.0), 3.0, tf.constant(8.0), 4)


def test_seeds_of_a_stream():
    stream, other = tfd.SeedStream(7, "one"), tfd.SeedStream(7, "two")
    seeds = [stream() for _ in range(3)]
    assert len({*seeds, other()}) == 4
    again = tfd.SeedStream(stream, "one")
    assert [again() for _ in range(3)] == seeds
    assert tfd.SeedStream(None, "one")() is None

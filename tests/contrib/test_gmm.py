"""Mixtures of Gaussians: the Gaussians that points were drawn of are found."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib.factorization import GMM, GmmAlgorithm

RNG = np.random.default_rng(3)
WEIGHTS = np.array([0.25, 0.75])
MEANS = np.array([[0.0, 0.0], [6.0, -4.0]])
COVARIANCES = np.array([[[1.0, 0.6], [0.6, 1.0]], [[0.5, 0.0], [0.0, 2.0]]])
LABELS = np.repeat([0, 1], [500, 1500])
POINTS = np.concatenate(
    [RNG.multivariate_normal(m, c, n) for m, c, n in zip(MEANS, COVARIANCES, (500, 1500))]
).astype(np.float32)
FIRST = [[1.0, 1.0], [4.0, -4.0]]


def log_likelihood(weights, means, covariances):
    apart = POINTS[:, None] - means
    far = np.einsum("nki,kij,nkj->nk", apart, np.linalg.inv(covariances), apart)
    each = weights * np.exp(-0.5 * far) / (2 * np.pi * np.sqrt(np.linalg.det(covariances)))
    return np.log(each.sum(1)).sum()


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_parameters_are_found(kind, tmp_path):
    model = GMM(2, str(tmp_path), initial_clusters=FIRST, covariance_type=kind)
    model.fit(input_fn=lambda: (tf.constant(POINTS), None), steps=30)
    np.testing.assert_allclose(model.weights(), WEIGHTS, atol=0.02)
    np.testing.assert_allclose(model.clusters(), MEANS, atol=0.15)
    diagonal = np.diagonal(COVARIANCES, axis1=1, axis2=2)
    np.testing.assert_allclose(model.covariances(), COVARIANCES if kind == "full" else diagonal, atol=0.2)
    found = list(model.predict_assignments(input_fn=lambda: tf.train.limit_epochs(tf.constant(POINTS), 1)))
    assert np.mean(found == LABELS) > 0.99
    covariances = model.covariances() if kind == "full" else model.covariances()[:, :, None] * np.eye(2)
    want = log_likelihood(model.weights(), model.clusters(), covariances + 1e-3 * np.eye(2))
    np.testing.assert_allclose(model.score(input_fn=lambda: (tf.constant(POINTS), None), steps=1), want, rtol=1e-4)


def test_a_step_changes_what_it_may():
    with tf.Graph().as_default(), tf.Session() as session:
        model = GmmAlgorithm([tf.constant(POINTS[:700]), tf.constant(POINTS[700:])], 2, tf.constant(FIRST), params="w")
        session.run(tf.global_variables_initializer())
        session.run(model.init_ops())
        assert session.run(model.is_initialized())
        session.run(model.training_ops())
        assert session.run(model.clusters())[:, 0].tolist() == FIRST
        assert session.run(model.alphas())[1] > 0.6
        assert [len(part) for part in session.run(model.assignments())] == [700, 1300]
        np.testing.assert_allclose(session.run(model.covariances())[0], np.cov(POINTS.T) + 1e-3 * np.eye(2), rtol=1e-3)


def test_first_means_are_points():
    with tf.Graph().as_default(), tf.Session() as session:
        model = GmmAlgorithm([tf.constant(POINTS)], 3, random_seed=1)
        session.run(tf.global_variables_initializer())
        session.run(model.init_ops())
        for mean in session.run(model.clusters())[:, 0]:
            assert (mean == POINTS).all(1).any()
    with pytest.raises(ValueError, match="Invalid covariance type: some"):
        GmmAlgorithm([tf.constant(POINTS)], 2, covariance_type="some")

"""tf.contrib.sparsemax, against the projection onto the simplex found by bisection."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib.sparsemax import sparsemax, sparsemax_loss

from .contrib_values import BOTH, value

RNG = np.random.default_rng(2)


def projection(row):
    """Bisection on the threshold."""
    low, high = row.min() - 1, row.max()
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(row - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(row - low, 0)


@BOTH
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("spread", [0.1, 1, 20])
def test_projects(how, dtype, spread):
    logits = (RNG.normal(size=(6, 5)) * spread).astype(dtype)
    got = value(how, sparsemax, logits)
    assert got.dtype == dtype
    tolerance = 1e-2 if dtype == np.float16 else 1e-5
    np.testing.assert_allclose(got, [projection(r) for r in logits.astype(float)], atol=tolerance)


@BOTH
def test_rows_without_a_number(how):
    got = value(how, sparsemax, [[np.nan, 1, 2], [-np.inf, 1, 0], [np.inf, 0, 1], [-np.inf] * 3])
    assert np.isnan(got[[0, 2, 3]]).all()
    np.testing.assert_allclose(got[1], [0, 1, 0])


@BOTH
def test_loss_has_the_difference_as_gradient(how):
    logits, labels = RNG.normal(size=(4, 5)), np.eye(5)[[0, 3, 2, 2]]

    def run():
        z = tf.constant(logits)
        with tf.GradientTape() as tape:
            tape.watch(z)
            loss = sparsemax_loss(z, sparsemax(z), labels)
        return loss, tape.gradient(loss, z)

    loss, gradient = value(how, run)
    points = np.stack([projection(r) for r in logits])
    np.testing.assert_allclose(gradient, points - labels, atol=1e-6)
    support = points > 0
    threshold = ((logits * support).sum(1) - 1) / support.sum(1)
    want = 0.5 * (support * (logits**2 - threshold[:, None] ** 2)).sum(1) + 0.5 - (labels * logits).sum(1)
    np.testing.assert_allclose(loss, want, atol=1e-6)


def test_loss_of_what_cannot_be():
    z = tf.constant([[0.0, -np.inf]])
    np.testing.assert_allclose(sparsemax_loss(z, sparsemax(z), [[1.0, 0.0]]).numpy(), [0])

"""Matrices of vectors and numbers without overflow, against NumPy."""

import numpy as np
import pytest
from scipy.special import logsumexp

import tapeflow.compat.v1 as tf
from tapeflow.contrib import distributions as D

X = np.arange(1.0, 7.0)


def test_triangles_spiral():
    assert D.fill_triangular(X).numpy().tolist() == [[4, 0, 0], [6, 5, 0], [3, 2, 1]]
    assert D.fill_triangular(X, upper=True).numpy().tolist() == [[1, 2, 3], [0, 5, 6], [0, 0, 4]]
    with pytest.raises(ValueError, match="does not correspond to a triangular matrix"):
        D.fill_triangular(X[:5])


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("side", [1, 2, 3, 4, 7])
def test_triangles_and_back(side, upper):
    x = np.random.RandomState(side).randn(2, 3, side * (side + 1) // 2)
    full = D.fill_triangular(x, upper)
    assert full.shape.as_list() == [2, 3, side, side]
    np.testing.assert_array_equal(full, np.triu(full) if upper else np.tril(full))
    np.testing.assert_array_equal(D.fill_triangular_inverse(full, upper), x)
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.placeholder(tf.float64, [None, None, None])
        triangle = D.fill_triangular(given, upper)
        found = session.run([triangle, D.fill_triangular_inverse(triangle, upper)], {given: x})
    np.testing.assert_array_equal(found[0], full)
    np.testing.assert_array_equal(found[1], x)


def test_tridiagonal_matrices():
    found = D.tridiag([1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0])
    want = np.diag([1.0, 2.0], -1) + np.diag([3.0, 4.0, 5.0]) + np.diag([6.0, 7.0], 1)
    np.testing.assert_array_equal(found, want)
    np.testing.assert_array_equal(D.tridiag(above=[[6.0, 7.0]]), np.diag([6.0, 7.0], 1)[None])
    with pytest.raises(ValueError, match="at least one of"):
        D.tridiag()


def test_transformed_diagonals():
    found = D.matrix_diag_transform(np.ones([2, 2]), tf.exp)
    np.testing.assert_allclose(found, [[np.e, 1], [1, np.e]])
    np.testing.assert_array_equal(D.matrix_diag_transform([[1.0]]), [[1.0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softplus_inverse(dtype):
    x = np.array([1e-20, 1e-8, 1e-3, 0.5, 3.0, 40.0, 800.0], dtype)
    found = D.softplus_inverse(x)
    np.testing.assert_allclose(tf.nn.softplus(found), x, rtol=1e-5 if dtype == np.float32 else 1e-13)
    with tf.GradientTape() as tape:
        given = tf.constant(x)
        tape.watch(given)
        value = D.softplus_inverse(given)
    np.testing.assert_allclose(tape.gradient(value, given), -1 / np.expm1(-x.astype(np.float64)), rtol=1e-4)


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("keep", [False, True])
def test_weighted_sums_of_exponentials(axis, keep):
    random = np.random.RandomState(2)
    logs, weights = random.randn(3, 4) * 300, random.randn(3, 4)
    found, sign = D.reduce_weighted_logsumexp(logs, weights, axis, keep, return_sign=True)
    want, want_sign = logsumexp(logs, axis, weights, keep, return_sign=True)
    np.testing.assert_allclose(found, want, rtol=1e-10)
    np.testing.assert_array_equal(sign, want_sign)
    np.testing.assert_allclose(D.reduce_weighted_logsumexp(logs, axis=axis), logsumexp(logs, axis))

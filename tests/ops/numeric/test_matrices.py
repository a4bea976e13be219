"""Factorizations and functions of matrices, by the equations that define them, and against SciPy."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops.numeric import factorizations, matrix_functions

RNG = np.random.default_rng(0)
SIZES = [0, 1, 2, 5, 33, 70]


def matrix(n, complex_numbers=False, batch=()):
    x = RNG.normal(size=(*batch, n, n)) + 2 * np.sqrt(n) * np.eye(n)
    return x + 1j * RNG.normal(size=x.shape) if complex_numbers else x


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("complex_numbers", [True, False])
def test_triangular_equations(n, lower, complex_numbers):
    a, b = matrix(n, complex_numbers, (2, 1)), RNG.normal(size=(3, n, 2)) + 0j * complex_numbers
    x = factorizations.solve_triangular(a, b, lower)
    assert x.shape == (2, 3, n, 2)
    np.testing.assert_allclose((np.tril(a) if lower else np.triu(a)) @ x, np.broadcast_to(b, x.shape), atol=1e-12)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("complex_numbers", [True, False])
def test_lu(n, complex_numbers):
    a = matrix(n, complex_numbers, (3,))
    packed, order = factorizations.lu(a)
    lower = np.tril(packed, -1) + np.eye(n)
    assert np.abs(np.tril(packed, -1)).max(initial=0) <= 1 + 1e-12  # that is what pivots are for
    np.testing.assert_allclose(lower @ np.triu(packed), np.take_along_axis(a, order[..., None], 1), atol=1e-12)


@pytest.mark.parametrize("a", [matrix(1), matrix(7), matrix(40, True), np.zeros((3, 3)), np.eye(4)[::-1], np.tri(5).T])
def test_schur_form(a):
    t, q = factorizations.schur(a)
    np.testing.assert_array_equal(t, np.triu(t))
    np.testing.assert_allclose(q @ q.conj().T, np.eye(len(a)), atol=1e-13)
    np.testing.assert_allclose(q @ t @ q.conj().T, a, atol=1e-12)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("complex_numbers", [True, False])
def test_root_and_logarithm_are_inverses(n, complex_numbers):
    a = matrix(n, complex_numbers)
    a = a @ a.conj().T + np.eye(n)
    root = matrix_functions.sqrtm(a)
    np.testing.assert_allclose(root @ root, a, rtol=1e-11, atol=1e-11)
    logarithm = matrix_functions.logm(a.astype(complex))
    np.testing.assert_allclose(matrix_functions.expm(logarithm), a, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("scale", [0, 1e-9, 0.1, 1, 30])
def test_exponential_is_scipys(scale):
    a = RNG.normal(size=(4, 5, 5)) * scale
    want = pytest.importorskip("scipy.linalg").expm(a)
    np.testing.assert_allclose(matrix_functions.expm(a), want, rtol=1e-11, atol=1e-13 * np.abs(want).max())


def test_defective_matrices():
    jordan = np.array([[4.0, 1, 0], [0, 4, 1], [0, 0, 4]])
    np.testing.assert_allclose(tf.linalg.sqrtm(jordan), [[2, 0.25, -1 / 64], [0, 2, 0.25], [0, 0, 2]], atol=1e-15)
    want = [[np.log(4), 0.25, -1 / 32], [0, np.log(4), 0.25], [0, 0, np.log(4)]]
    np.testing.assert_allclose(tf.linalg.logm(jordan.astype(complex)), want, atol=1e-14)


def test_no_real_root_is_nan_and_singular_matrices_are_refused():
    assert np.isnan(tf.linalg.sqrtm(np.diag([-1.0, 2.0]))).all()
    assert np.isnan(tf.linalg.expm(np.full((2, 2), np.nan))).all()
    for singular in (np.zeros((2, 2)), np.full((2, 2), np.nan)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            tf.linalg.lu(singular)
    assert np.isnan(tf.linalg.triangular_solve([[1.0, 0], [1, 0]], [[1.0], [1]])[1, 0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_nan_makes_a_matrix_singular_only_as_the_first_pivot(dtype):
    nan = np.nan
    first, last = np.array([[nan, 1], [1, 4]], dtype), np.array([[4, 2], [2, nan]], dtype)
    for call in (tf.linalg.lu, tf.linalg.inv, lambda x: tf.linalg.solve(x, x)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            call(first)
        call(last)
    np.testing.assert_array_equal(tf.linalg.lu(last)[0], [[4, 2], [0.5, nan]])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_cholesky_factor_is_nan_from_the_first_nan_on(dtype):
    got = tf.linalg.cholesky(np.array([[[4, 2], [2, np.nan]], [[4, 2], [2, 0]], [[2.25, np.nan], [np.nan, 4]]], dtype))
    nan = np.nan
    np.testing.assert_array_equal(got, [[[2, 0], [1, nan]], [[nan, 0], [nan, nan]], [[1.5, 0], [nan, nan]]])


@pytest.mark.parametrize("axis", [None, 0])
def test_the_frobenius_norm_is_one_of_matrices_alone(axis):
    with pytest.raises(ValueError, match="vector norm"):
        tf.linalg.norm([3.0, 4.0], ord="fro", axis=axis)
    assert tf.linalg.norm([[3.0, 4.0]], ord="fro", axis=(0, 1)).numpy() == 5

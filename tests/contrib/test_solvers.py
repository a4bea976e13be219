"""tf.contrib.solvers, against NumPy's linear algebra."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib.solvers import lanczos, least_squares, linear_equations, util

from .contrib_values import BOTH, value

RNG = np.random.default_rng(4)


def operator(matrix):
    return util.create_operator(tf.constant(matrix))


@BOTH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("start", [False, True])
@pytest.mark.parametrize("conditioned", [False, True])
def test_conjugate_gradients(how, dtype, start, conditioned):
    half = RNG.normal(size=(8, 6)).astype(dtype)
    matrix, right = half.T @ half + np.diag([1, 10, 100, 1, 1, 1]).astype(dtype), RNG.normal(size=6).astype(dtype)

    def solve():
        diagonal = util.create_operator(tf.constant(np.diag(1 / np.diag(matrix))))
        return linear_equations.conjugate_gradient(
            operator(matrix), tf.constant(right), diagonal if conditioned else None,
            tf.ones(6, dtype) if start else None, tol=1e-5, max_iter=50,
        )  # fmt: skip

    got = value(how, solve)
    np.testing.assert_allclose(got.x, np.linalg.solve(matrix, right), rtol=1e-2, atol=1e-4)
    np.testing.assert_allclose(got.r, right - matrix @ got.x, atol=1e-3)
    assert 0 < got.i < 50
    assert np.linalg.norm(got.r) <= 1e-5 * np.linalg.norm(right - (matrix.sum(1) if start else 0)) * 1.01


def test_steps_are_bounded():
    matrix = np.diag(np.arange(1.0, 9))
    state = linear_equations.conjugate_gradient(operator(matrix), tf.ones(8, tf.float64), max_iter=2)
    assert state.i.numpy() == 2


@BOTH
@pytest.mark.parametrize("shape", [(7, 4), (4, 4), (3, 5)])
def test_least_squares(how, shape):
    matrix, right = RNG.normal(size=shape), RNG.normal(size=shape[0])
    got = value(how, lambda: least_squares.cgls(operator(matrix), tf.constant(right), max_iter=50))
    np.testing.assert_allclose(got.x, np.linalg.lstsq(matrix, right, rcond=None)[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(got.r, right - matrix @ got.x, atol=1e-8)


@BOTH
@pytest.mark.parametrize("orthogonalize", [False, True])
@pytest.mark.parametrize("shape", [(9, 5), (5, 5), (4, 6)])
def test_bidiagonalization(how, orthogonalize, shape):
    matrix, first = RNG.normal(size=shape), RNG.normal(size=shape[0])
    steps = 3

    def run():
        return lanczos.lanczos_bidiag(operator(matrix), steps, orthogonalize, tf.constant(first))

    u, v, alpha, beta = value(how, run)
    bidiagonal = np.zeros((steps + 1, steps))
    bidiagonal[range(steps), range(steps)] = alpha
    bidiagonal[range(1, steps + 1), range(steps)] = beta
    np.testing.assert_allclose(matrix @ v, u @ bidiagonal, atol=1e-9)
    np.testing.assert_allclose(matrix.T @ u[:, :-1], v @ bidiagonal[:-1].T, atol=1e-9)
    np.testing.assert_allclose(u.T @ u, np.eye(steps + 1), atol=1e-7)
    np.testing.assert_allclose(u[:, 0], first / np.linalg.norm(first))
    np.testing.assert_allclose(value(how, lanczos.bidiag_matmul, tf.constant(u), alpha, beta), u @ bidiagonal)
    product = value(how, lambda: lanczos.bidiag_matmul(tf.constant(v), tf.constant(alpha), tf.constant(beta), True))
    np.testing.assert_allclose(product, v @ bidiagonal[:-1].T)


def test_orthogonal_after_many_steps():
    matrix = np.vander(np.linspace(0, 1, 12), 12)
    exact = lanczos.lanczos_bidiag(operator(matrix), 8, True, tf.ones(12, tf.float64))
    loose = lanczos.lanczos_bidiag(operator(matrix), 8, False, tf.ones(12, tf.float64))
    errors = [np.abs(s.u.numpy().T @ s.u.numpy() - np.eye(9)).max() for s in (exact, loose)]
    assert errors[0] < 1e-10 < errors[1]


def test_operators_and_norms():
    x = np.array([[1.0 + 1j], [2.0]])
    assert util.dot(tf.constant(x), tf.constant(x)).numpy() == 6
    unit, norm = util.l2normalize(tf.constant([3.0, 4.0]))
    assert norm.numpy() == util.l2norm(tf.constant([3.0, 4.0])).numpy() == 5
    np.testing.assert_allclose(unit.numpy(), [0.6, 0.8], rtol=1e-6)
    own = util.identity_operator(tf.zeros((2, 2)))
    assert own.shape == [2, 2]
    assert own.apply(5) == own.apply_adjoint(5) == 5
    turn = util.create_operator(tf.constant(np.array([[0, 1j], [1, 0]])))
    np.testing.assert_array_equal(turn.apply_adjoint(tf.constant(x)).numpy(), [[2.0], [1 - 1j]])

"""Every kind of linear operator against the dense matrix that it stands for."""

import numpy as np
import pytest

import tapeflow as tf

FULL = [[2.0, 1.0], [1.0, 4.0]]


def full(matrix, **hints):
    return tf.linalg.LinearOperatorFullMatrix(np.array(matrix), **hints)


OPERATORS = {
    "full": lambda: full(FULL),
    "self_adjoint": lambda: full(FULL, is_self_adjoint=True, is_positive_definite=True),
    "diag": lambda: tf.linalg.LinearOperatorDiag(np.array([1.0, -2.0, 3.0])),
    "diag_batch": lambda: tf.linalg.LinearOperatorDiag(np.array([[1.0, 2.0], [3.0, 4.0]])),
    "lower": lambda: tf.linalg.LinearOperatorLowerTriangular(np.array([[1.0, 9.0], [3.0, 4.0]])),
    "identity": lambda: tf.linalg.LinearOperatorIdentity(3, dtype=tf.float64),
    "identity_batch": lambda: tf.linalg.LinearOperatorIdentity(2, [2], tf.float64),
    "scaled": lambda: tf.linalg.LinearOperatorScaledIdentity(2, np.array([2.0, 3.0])),
    "permutation": lambda: tf.linalg.LinearOperatorPermutation([2, 0, 1], dtype=tf.float64),
    "householder": lambda: tf.linalg.LinearOperatorHouseholder(np.array([1.0, 2.0, 2.0])),
    "tridiag": lambda: tf.linalg.LinearOperatorTridiag(
        np.array([[1.0, 2.0, 0.0], [9.0, 8.0, 7.0], [0.0, 3.0, 4.0]])
    ),
    "toeplitz": lambda: tf.linalg.LinearOperatorToeplitz(
        np.array([5.0, 2.0]), np.array([5.0, 1.0])
    ),
    "adjoint": lambda: full([[1.0, 2.0], [3.0, 4.0]]).adjoint(),
    "inverse": lambda: full(FULL).inverse(),
    "composition": lambda: full(FULL) @ tf.linalg.LinearOperatorDiag(np.array([1.0, 2.0])),
    "kronecker": lambda: tf.linalg.LinearOperatorKronecker(
        [full(FULL), full([[1.0, 2.0], [0.0, 5.0]])]
    ),
    "block_diag": lambda: tf.linalg.LinearOperatorBlockDiag(
        [full(FULL), tf.linalg.LinearOperatorDiag(np.array([1.0, 2.0, 3.0]))]
    ),
    "block_lower": lambda: tf.linalg.LinearOperatorBlockLowerTriangular(
        [[full(FULL)], [full([[1.0, 2.0]]), full([[3.0]])]]
    ),
    "low_rank_update": lambda: tf.linalg.LinearOperatorLowRankUpdate(
        tf.linalg.LinearOperatorDiag(np.array([1.0, 2.0])),
        np.array([[1.0], [2.0]]),
        np.array([3.0]),
    ),
}


@pytest.fixture(params=OPERATORS)
def operator(request):
    return OPERATORS[request.param]()


def test_products(operator, rng):
    dense = operator.to_dense().numpy()
    x = rng.normal(size=(dense.shape[-1], 2))
    np.testing.assert_allclose(operator.matmul(x), dense @ x)
    np.testing.assert_allclose(operator.matmul(x, adjoint=True), dense.swapaxes(-1, -2) @ x)
    np.testing.assert_allclose(operator.matmul(x.T.copy(), adjoint_arg=True), dense @ x)
    np.testing.assert_allclose(operator.matvec(x[:, 0]), dense @ x[:, 0])
    np.testing.assert_allclose(operator.H.to_dense(), dense.swapaxes(-1, -2))


def test_equations(operator, rng):
    dense = operator.to_dense().numpy()
    rhs = rng.normal(size=(dense.shape[-1], 2))
    np.testing.assert_allclose(
        dense @ operator.solve(rhs).numpy(), np.broadcast_to(rhs, (dense @ rhs).shape)
    )
    solution = operator.solve(rhs, adjoint=True).numpy()
    np.testing.assert_allclose(
        dense.swapaxes(-1, -2) @ solution, np.broadcast_to(rhs, solution.shape)
    )
    np.testing.assert_allclose(operator.inverse().to_dense(), np.linalg.inv(dense), atol=1e-12)


def test_numbers(operator):
    dense = operator.to_dense().numpy()
    assert operator.shape == dense.shape
    np.testing.assert_allclose(operator.determinant(), np.linalg.det(dense))
    np.testing.assert_allclose(
        operator.log_abs_determinant(), np.linalg.slogdet(dense)[1], atol=1e-12
    )
    np.testing.assert_allclose(operator.trace(), np.trace(dense, axis1=-2, axis2=-1))
    np.testing.assert_allclose(operator.diag_part(), np.diagonal(dense, 0, -2, -1))
    np.testing.assert_allclose(operator.cond(), np.linalg.cond(dense))


def test_zeros():
    with pytest.raises(ValueError, match="self-adjoint"):
        tf.linalg.LinearOperatorZeros(2, 3, is_square=False)
    zeros = tf.linalg.LinearOperatorZeros(2, 3, is_square=False, is_self_adjoint=False)
    assert not zeros.to_dense().numpy().any()
    with pytest.raises(NotImplementedError, match="singular"):
        zeros.solve([[1.0], [2.0]])


def test_contradicting_hints():
    with pytest.raises(ValueError, match="always non-singular"):
        full(FULL, is_positive_definite=True, is_non_singular=False)


def test_dimensions_that_do_not_fit():
    with pytest.raises(ValueError, match="not compatible"):
        full(FULL).matmul([[1.0]] * 3)


def test_parts_of_blocks():
    blocks = OPERATORS["block_diag"]()
    upper, lower = blocks.matmul([np.ones((2, 1)), np.ones((3, 1))])
    assert upper.numpy().tolist() == [[3.0], [5.0]]
    assert lower.numpy().tolist() == [[1.0], [2.0], [3.0]]


def test_gradient_reaches_the_diagonal():
    diag = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(diag)
        y = tf.linalg.LinearOperatorDiag(diag).log_abs_determinant()
    assert tape.gradient(y, diag).numpy().tolist() == [1.0, 0.5]

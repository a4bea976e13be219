"""What follows from LU factors, and arguments that do not fit. The errors are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf

L = tf.linalg
A = np.random.default_rng(0).normal(size=(2, 3, 3))
ORDER = np.array([0, 1], np.int32)


def test_factors_make_the_matrices_again():
    factors, order = L.lu(A)
    np.testing.assert_allclose(L.lu_reconstruct(factors, order), A, rtol=1e-12)
    np.testing.assert_allclose(L.lu_reconstruct(factors[0], order[0]), A[0], rtol=1e-12)
    np.testing.assert_allclose(L.lu_matrix_inverse(factors, order, validate_args=True), np.linalg.inv(A), rtol=1e-9)
    x = L.lu_solve(factors, order, tf.ones([2, 3, 1], tf.float64), validate_args=True)
    np.testing.assert_allclose(A @ x, np.ones((2, 3, 1)), rtol=1e-9)


@pytest.mark.parametrize("order", [[0, 0], [0, 5], [-1, 0]])
def test_an_order_that_is_none(order):
    with pytest.raises(tf.errors.InvalidArgumentError):
        L.lu_reconstruct(np.eye(2), order)
    with pytest.raises(tf.errors.InvalidArgumentError):
        L.lu_reconstruct(np.eye(2)[None], [order])
    if order != [0, 0]:
        with pytest.raises(tf.errors.InvalidArgumentError, match="perm must be places"):
            L.lu_solve(np.eye(2), order, np.ones([2, 1]))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: L.lu_reconstruct(np.eye(2), [ORDER]), "must equal `rank\\(perm\\) \\+ 1`"),
        (lambda: L.lu_reconstruct(np.ones([2, 3]), ORDER), "must be square"),
        (lambda: L.lu_reconstruct(np.ones([2]), ORDER), "must have at least 2 dimensions"),
        (lambda: L.lu_solve(np.eye(2), ORDER, np.ones([2])), "Input `rhs` must have at least 2"),
        (lambda: L.lu_solve(np.eye(2), ORDER, np.ones([3, 1])), "must equal `rhs.shape"),
        (lambda: L.lu_matrix_inverse(np.ones([2, 3]), ORDER), "must be square"),
        (lambda: L.matrix_rank(np.ones([2])), "at least 2 dimensions \\(saw: 1\\)"),
        (lambda: L.pinv(np.ones([2])), "at least 2 dimensions \\(saw: 1\\)"),
    ],
)
def test_shapes_that_do_not_fit(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_whole_numbers():
    assert L.matrix_rank(np.array([[1, 2], [2, 4]])).numpy() == 1
    with pytest.raises(TypeError, match="must have `float`-like `dtype`"):
        L.pinv(np.array([[1, 2], [2, 4]]))


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (lambda x: L.matrix_rank(x, validate_args=True), np.ones([2])),
        (lambda x: L.pinv(x, validate_args=True), np.ones([2])),
        (lambda x: L.lu_reconstruct(x, ORDER, validate_args=True), np.ones([2, 3])),
        (lambda x: L.lu_solve(tf.constant(np.eye(2)), ORDER, x, validate_args=True), np.ones([3, 1])),
    ],
)
def test_what_only_a_graph_knows(function, given):
    spec = tf.TensorSpec(None, tf.float64)
    with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
        tf.function(function, input_signature=[spec])(given)


def test_gradients_pass_through():
    x = tf.constant(A)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(L.lu_reconstruct(*L.lu(x)) ** 2)
    np.testing.assert_allclose(tape.gradient(y, x), 2 * A, rtol=1e-9)

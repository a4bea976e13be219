"""Gradients of decompositions, through functions of them that do not depend on arbitrary signs and phases."""

import numpy as np
import pytest

import tapeflow as tf


def directional_difference(function, inputs, directions, weights, step=1e-4):
    """The derivative of sum(weights * function) along `directions`, by a central difference of fourth order."""

    def value(k):
        moved = [tf.constant(x + k * step * d) for x, d in zip(inputs, directions, strict=True)]
        return float((np.conj(weights) * function(*moved).numpy()).sum().real)

    return (value(-2) - 8 * value(-1) + 8 * value(1) - value(2)) / (12 * step)


def check_gradient(function, *shapes, complex_=False):
    rng = np.random.default_rng(0)

    def draw(shape):
        x = rng.normal(size=shape)
        return x + 1j * rng.normal(size=shape) if complex_ else x

    inputs = [draw(s) for s in shapes]
    variables = [tf.constant(x) for x in inputs]
    with tf.GradientTape() as tape:
        tape.watch(variables)
        out = function(*variables)
    weights = rng.normal(size=tuple(out.shape))
    directions = [draw(s) for s in shapes]
    gradients = tape.gradient(out, variables, output_gradients=tf.cast(weights, out.dtype))
    along = sum(
        float((np.conj(g.numpy()) * d).sum().real)
        for g, d in zip(gradients, directions, strict=True)
    )
    expected = directional_difference(function, inputs, directions, weights)
    assert along == pytest.approx(expected, rel=1e-5, abs=1e-6)


def with_values(left, values, right):
    return tf.matmul(
        left, tf.matmul(tf.linalg.diag(tf.cast(values, left.dtype)), right, adjoint_b=True)
    )


def svd_left(x):
    s, u, _ = tf.linalg.svd(x)
    return with_values(u, s * s, u)


def svd_right(x):
    s, _, v = tf.linalg.svd(x)
    return with_values(v, tf.exp(s), v)


def svd_both(x):
    s, u, v = tf.linalg.svd(x)
    return with_values(u, s**3, v)


@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 3)])
@pytest.mark.parametrize("function", [svd_left, svd_right, svd_both])
def test_svd(function, shape, complex_):
    check_gradient(function, shape, complex_=complex_)


def exponential_of_hermitian(x):
    e, v = tf.linalg.eigh(x + tf.linalg.adjoint(x))
    return with_values(v, tf.exp(e), v)


def exponential_by_eigenvectors(x):
    e, v = tf.linalg.eig(x)
    return tf.matmul(v, tf.matmul(tf.linalg.diag(tf.exp(e)), tf.linalg.inv(v)))


def root(x):
    return tf.linalg.cholesky(tf.matmul(x, x, adjoint_b=True) + tf.eye(3, dtype=x.dtype))


def lower_factor(x):
    return tf.linalg.lu(x)[0]


@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize(
    "function",
    [exponential_of_hermitian, exponential_by_eigenvectors, root, lower_factor, tf.linalg.expm],
)
def test_square(function, complex_):
    check_gradient(function, (3, 3), complex_=complex_)


@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("shape", [(4, 2), (2, 4)])
def test_least_squares(shape, complex_):
    check_gradient(
        lambda a, b: tf.linalg.lstsq(a, b, l2_regularizer=0.1),
        shape,
        (shape[0], 3),
        complex_=complex_,
    )


@pytest.mark.parametrize("order", [1, 2, "euclidean"])
def test_matrix_norm(order):
    check_gradient(lambda x: tf.norm(x, order, axis=[0, 1]), (3, 4))

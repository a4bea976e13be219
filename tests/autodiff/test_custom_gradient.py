"""`tf.custom_gradient` and what is made of it."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.contrib import eager as tfe


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)

    def grad(dy):
        return dy * (1 - 1 / (1 + e))

    return tf.math.log(1 + e), grad


def test_stable_gradient():
    grad = tfe.gradients_function(log1pexp)
    assert grad(0.0)[0].numpy() == 0.5
    assert grad(100.0)[0].numpy() == 1.0

    plain = tfe.gradients_function(lambda x: tf.math.log(1 + tf.exp(x)))
    assert plain(0.0)[0].numpy() == 0.5
    assert np.isnan(plain(100.0)[0].numpy())


def test_second_order():
    grad = tfe.gradients_function(log1pexp)
    second = tfe.gradients_function(lambda x: grad(x)[0])
    assert second(0.0)[0].numpy() == 0.25


def test_clip_by_norm():
    @tf.custom_gradient
    def clip_gradient_by_norm(x, norm):
        y = tf.identity(x)

        def grad_fn(dresult):
            return [tf.clip_by_norm(dresult, norm), None]

        return y, grad_fn

    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = clip_gradient_by_norm(x, 1.0)
    grad = tape.gradient(y, x, output_gradients=[3.0, 4.0])
    np.testing.assert_allclose(grad.numpy(), [0.6, 0.8], rtol=1e-6)


def test_variables():
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):
        def grad(dy, variables=None):
            assert [w is v for w in variables] == [True]
            return dy * 10.0, [dy * 100.0]

        return x * v, grad

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert [g.numpy() for g in tape.gradient(y, [x, v])] == [10.0, 100.0]


def test_missing_variables_argument():
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):
        return x * v, lambda dy: dy

    with pytest.raises(TypeError, match="grad_fn must accept keyword argument 'variables'"):
        f(tf.constant(1.0))


def test_wrong_number_of_gradients():
    @tf.custom_gradient
    def f(x):
        return x * 2.0, lambda dy: (dy, dy)

    with pytest.raises(ValueError, match="expected to return 1 gradients, but returned 2 instead"):
        tfe.gradients_function(f)(1.0)


def test_nested():
    @tf.custom_gradient
    def inner(x):
        return x * 1.0, lambda dy: dy * 5.0

    @tf.custom_gradient
    def outer(x):
        return inner(x), lambda dy: tfe.gradients_function(inner)(x)[0] * dy

    assert tfe.gradients_function(outer)(2.0)[0].numpy() == 5.0


def test_pass_through_and_recompute():
    assert tfe.gradients_function(tf.grad_pass_through(tf.floor))(2.5)[0].numpy() == 1.0

    v = tf.Variable(3.0)
    calls = []

    @tf.recompute_grad
    def f(x):
        calls.append(1)
        return x * x * v

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert [g.numpy() for g in tape.gradient(y, [x, v])] == [12.0, 4.0]
    assert len(calls) == 2


class Scaled:
    """A class whose methods say their gradients."""

    def __init__(self, factor):
        self.factor = factor

    @tf.custom_gradient
    def __call__(self, x):
        return x * self.factor, lambda dy: dy * 10.0

    @tf.custom_gradient
    def method(self, x, y):
        """The sum."""
        return x + y + self.factor, lambda dy: (dy * 2.0, dy * 3.0)


@pytest.mark.parametrize("in_function", [True, False])
def test_methods(in_function):
    """The object that a method is bound to is no tensor, and gets no gradient."""
    scaled = Scaled(4.0)
    x, y = tf.constant(1.0), tf.constant(2.0)

    def derivatives(x, y):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, y])
            called, summed = scaled(x), scaled.method(x, y)
        return called, summed, tape.gradient(called, x), tape.gradient(summed, [x, y])

    called, summed, slope, slopes = (tf.function(derivatives) if in_function else derivatives)(x, y)
    assert (float(called), float(summed), float(slope)) == (4.0, 7.0, 10.0)
    assert [float(s) for s in slopes] == [2.0, 3.0]
    assert Scaled.method.__doc__ == "The sum."
    assert float(Scaled.method.__get__(Scaled(1.0))(x, y)) == 4.0

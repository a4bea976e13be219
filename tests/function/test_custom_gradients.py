"""Gradients that programs define, in functions inside functions: they use tensors of the body that was copied."""

import functools
import itertools

import numpy as np
import pytest

import tapeflow as tf


@tf.custom_gradient
def weighted(x):
    slope = tf.nn.sigmoid(x)  # which the gradient alone uses
    random = tf.random.stateless_uniform([], [1, 2])

    def grad(dy):
        return dy * tf.cond(slope > 0.5, lambda: slope * 3.0 * random, lambda: slope)

    return x * random, grad


@tf.custom_gradient
def cube(x):
    square = x * x
    return square * x, lambda dy: dy * 3.0 * square


once = tf.function(weighted)
twice = tf.function(lambda x: once(x) * 1.0)
in_branch = tf.function(lambda x: tf.cond(x > 0.0, lambda: twice(x), lambda: x))
cubed = tf.function(cube)


@tf.function
def in_loop(x):
    for _ in tf.range(1):
        x = twice(x)
    return x


def slope_at_one(f):
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


@pytest.mark.parametrize("f", [once, twice, in_branch, in_loop])
def test_the_tape_may_be_in_a_function_around(f):
    expected = float(slope_at_one(weighted))
    assert float(slope_at_one(f)) == pytest.approx(expected)
    assert float(tf.function(lambda: slope_at_one(f))()) == pytest.approx(expected)


def test_a_function_that_is_called_several_times():
    def both(x):
        return twice(x) + twice(2.0 * x)

    expected = float(slope_at_one(lambda x: weighted(x) + weighted(2.0 * x)))
    assert float(tf.function(lambda: slope_at_one(both))()) == pytest.approx(expected)


@pytest.mark.parametrize("f", [cube, cubed, tf.function(lambda x: cubed(x) + 0.0)])
def test_second_order(f):
    @tf.function
    def step(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            dy = inner.gradient(y, x)
        return outer.gradient(dy, x)

    assert float(step(tf.constant(2.0))) == 12.0


def test_in_a_graph_of_1x():
    expected = slope_at_one(weighted)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [])
        (dx,) = tf.gradients(twice(x), x)
        np.testing.assert_allclose(session.run(dx, {x: 1.0}), expected, rtol=1e-6)


def test_optimizers_minimize_functions():
    v = tf.Variable(1.0)
    loss = tf.function(lambda: weighted(v + 0.0))
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(1.0)
    step = tf.function(lambda: optimizer.minimize(loss))
    step()
    np.testing.assert_allclose(v.numpy(), 1.0 - slope_at_one(weighted), rtol=1e-6)


@pytest.mark.parametrize("persistent", [False, True])
def test_a_constant_that_the_gradient_alone_uses(persistent):
    scale = tf.constant([2.0, 4.0])

    @tf.custom_gradient
    def scaled(x):
        return tf.identity(x), lambda dy: dy * scale

    function = tf.function(lambda x: scaled(x))
    x = tf.constant([1.0, 1.0])
    for _ in range(2):
        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch(x)
            y = function(x)
        np.testing.assert_array_equal(tape.gradient(y, x), scale)


@tf.custom_gradient
def nested(x):
    """A gradient that has a gradient of its own, of a value of the body."""
    y = tf.exp(x)

    def grad(dy):
        @tf.custom_gradient
        def inner(d, z):
            return d * z * 2.0, lambda u: (u * z, u * d * 10.0)

        return inner(dy, y)

    return y, grad


@tf.custom_gradient
def held(x):
    """A gradient whose own gradient holds a value of the body."""
    y = tf.exp(x)

    def grad(dy):
        @tf.custom_gradient
        def inner(d):
            return d * y, lambda u: u * y

        return inner(dy)

    return y, grad


once_of = functools.cache(tf.function)


def derivatives(f, persistent):
    x = tf.constant(0.5)
    with tf.GradientTape(persistent=persistent) as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=persistent) as inner:
            inner.watch(x)
            y = f(x) ** 2
        dy = inner.gradient(y, x)
    return float(y), float(dy), float(outer.gradient(dy, x))


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize(
    ("custom", "staged"),
    [
        *itertools.product(
            [nested, held, cube, weighted], [tf.function, lambda f: tf.function(lambda x: once_of(f)(x))]
        ),
        # What a branch's gradient holds of the branch is out of scope one order later, in TensorFlow everywhere.
        *itertools.product(
            [nested, cube, weighted], [lambda f: tf.function(lambda x: tf.cond(x > 0.0, lambda: f(x), lambda: x))]
        ),
    ],
)
def test_derivatives_are_those_of_eager_calls(custom, staged, persistent):
    np.testing.assert_allclose(derivatives(staged(custom), persistent), derivatives(custom, persistent), rtol=1e-5)

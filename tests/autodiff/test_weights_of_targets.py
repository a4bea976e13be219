"""Weights of a target's elements (`output_gradients`, `grad_ys`) of another shape than the target."""

import numpy as np
import pytest

import tapeflow as tf

X = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


def of_a_tape(weights):
    x = tf.Variable(X)
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x, output_gradients=weights)


def of_tape_in_function(weights):
    return tf.function(of_a_tape, autograph=False)(weights)


def of_tape_played_in_function(weights):
    x = tf.Variable(X)
    with tf.GradientTape() as tape:
        y = x * x
    return tf.function(lambda w: tape.gradient(y, x, output_gradients=w))(weights)


def of_gradients(weights):
    x = tf.Variable(X)

    def derivative(w):
        return tf.gradients(x * x, x, grad_ys=w)[0]

    return tf.function(derivative)(weights)


WAYS = {
    "tape": of_a_tape,
    "tape in function": of_tape_in_function,
    "tape played in function": of_tape_played_in_function,
    "gradients": of_gradients,
}


@pytest.fixture(params=list(WAYS))
def way(request, monkeypatch):
    made = tf.Variable  # a function makes its variable once
    if "in function" in request.param or request.param == "gradients":
        kept = []
        monkeypatch.setattr(tf, "Variable", lambda value: kept[0] if kept else (kept.append(made(value)), kept[0])[1])
    return WAYS[request.param]


@pytest.mark.parametrize("shape", [[], [2], [1, 2], [2, 1], [2, 2], [4]])
def test_weights_that_fit(way, shape):
    weights = np.arange(1.0, 1.0 + np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    full = weights.reshape(2, 2) if weights.size == 4 else np.broadcast_to(weights, [2, 2])
    np.testing.assert_allclose(way(tf.constant(weights)), 2 * X * full)


@pytest.mark.parametrize("shape", [[3, 2], [3], [0], [2, 2, 2]])
def test_weights_that_do_not_fit(way, shape):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="the target has shape"):
        way(tf.ones(shape))

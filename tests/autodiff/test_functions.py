"""`tfe.gradients_function` and related functions: the examples of the eager guide, and their bad inputs."""

import pytest

import tapeflow as tf
from tapeflow.contrib import eager as tfe


def square(x):
    return tf.multiply(x, x)


def test_orders():
    grad = tfe.gradients_function(square)
    assert square(3.0).numpy() == 9.0
    assert [g.numpy() for g in grad(3.0)] == [6.0]
    gradgrad = tfe.gradients_function(lambda x: grad(x)[0])
    assert [g.numpy() for g in gradgrad(3.0)] == [2.0]
    gradgradgrad = tfe.gradients_function(lambda x: gradgrad(x)[0])
    assert gradgradgrad(3.0) == [None]


def test_control_flow():
    def absolute(x):
        return x if x > 0.0 else -x

    grad = tfe.gradients_function(absolute)
    assert grad(3.0)[0].numpy() == 1.0
    assert grad(-3.0)[0].numpy() == -1.0


def test_two_arguments_and_params():
    def f(x, y):
        return x**2 + y**2

    assert [g.numpy() for g in tfe.gradients_function(f)(2.0, 3.0)] == [4.0, 6.0]
    assert [g.numpy() for g in tfe.gradients_function(f, params=["y"])(2.0, 3.0)] == [6.0]
    assert [g.numpy() for g in tfe.gradients_function(f, params=[0])(2.0, 3.0)] == [4.0]
    with pytest.raises(ValueError, match="params must be all strings or all integers"):
        tfe.gradients_function(f, params=[0, "y"])(2.0, 3.0)


def test_value_and_weights():
    value, grads = tfe.value_and_gradients_function(square)(3.0, dy=2.0)
    assert (value.numpy(), grads[0].numpy()) == (9.0, 12.0)


def test_implicit():
    vx, vy = tf.Variable(1.0, name="vx"), tf.Variable(1.0, name="vy")
    pairs = tfe.implicit_gradients(lambda x: 2 * vx * x)(2.0)
    assert len(pairs) == 1
    assert pairs[0][0].numpy() == 4.0
    assert pairs[0][1] is vx
    value, pairs = tfe.implicit_value_and_gradients(lambda: vx * vy * 3.0)()
    assert value.numpy() == 3.0
    assert [g.numpy() for g, _ in pairs] == [3.0, 3.0]


def test_bad_input():
    with pytest.raises(ValueError, match="Cannot differentiate a function that returns None"):
        tfe.gradients_function(lambda x: None)(1.0)
    with pytest.raises(ValueError, match="No trainable variables were accessed"):
        tfe.implicit_gradients(lambda: tf.constant(1.0))()
    with pytest.raises(ValueError, match="cannot receive keyword arguments"):
        tfe.gradients_function(square)(x=1.0)

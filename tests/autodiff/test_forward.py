"""Derivatives in a direction, against differences and against what is known of them."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf

Forward = tf.autodiff.ForwardAccumulator


def programs():
    kernel = tf.constant(np.random.default_rng(1).normal(size=[2, 2, 1, 3]))
    yield "elementwise", lambda x: tf.tanh(x) * tf.exp(-x) / (2.0 + tf.sin(x))
    yield "matmul", lambda x: tf.linalg.matmul(x, x, transpose_b=True)
    yield "reduction", lambda x: tf.reduce_logsumexp(x, axis=1)
    yield "gather", lambda x: tf.gather(x, [2, 0, 0], axis=1)
    yield "softmax", lambda x: tf.nn.softmax(x)
    yield "convolution", lambda x: tf.nn.conv2d(x[None, :, :, None], kernel, 1, "VALID")
    yield (
        "solve",
        lambda x: tf.linalg.solve(
            tf.linalg.matmul(x, x, transpose_b=True) + 3.0 * tf.eye(4, dtype=x.dtype), x
        ),
    )
    yield (
        "loop",
        tf.function(
            lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x))[1]
        ),
    )


@pytest.mark.parametrize(("name", "program"), list(programs()))
def test_against_differences(name, program):
    rng = np.random.default_rng(2)
    x, tangent = tf.constant(rng.normal(size=[4, 4])), tf.constant(rng.normal(size=[4, 4]))
    with Forward(x, tangent) as forward:
        y = program(x)
    h = 1e-6
    difference = (program(x + h * tangent) - program(x - h * tangent)) / (2 * h)
    np.testing.assert_allclose(forward.jvp(y), difference, rtol=1e-6, atol=1e-7)


def test_of_complex_numbers_it_is_the_holomorphic_derivative():
    c = tf.constant([1 + 2j])
    with Forward(c, tf.constant([1j])) as forward:
        y = c * c
    np.testing.assert_allclose(forward.jvp(y), [2 * (1 + 2j) * 1j])


def test_over_a_tape_it_multiplies_with_the_hessian():
    v = tf.Variable([1.0, 2.0])
    with Forward(v, tf.constant([1.0, 0.0])) as forward:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v**3) + v[0] * v[1]
        gradient = tape.gradient(loss, v)
    np.testing.assert_allclose(forward.jvp(gradient), [6.0, 1.0])


def test_below_a_tape_it_is_differentiated():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        with Forward(x, tf.ones([2])) as forward:
            y = tf.reduce_sum(x**3)
        derivative = forward.jvp(y)
    np.testing.assert_allclose(tape.gradient(derivative, x), [6.0, 12.0])


def test_nested_accumulators():
    x = tf.constant(2.0)
    with Forward(x, tf.constant(1.0)) as outer:
        with Forward(x, tf.constant(1.0)) as inner:
            y = x**4
        first = inner.jvp(y)
    assert float(first) == 32.0
    assert float(outer.jvp(first)) == 48.0


def test_structures_and_several_primals():
    a, b = tf.constant(2.0), tf.Variable(3.0)
    with Forward({"a": a, "b": b}, {"a": 1.0, "b": 10.0}) as forward:
        y = {"product": a * b, "count": tf.constant(1), "other": tf.constant(1.0)}
        inside = forward.jvp(y["product"])
    out = forward.jvp(y)
    assert float(inside) == float(out["product"]) == 23.0
    assert out["count"] is None
    assert out["other"] is None
    assert float(forward.jvp(y["other"], unconnected_gradients="zero")) == 0.0
    assert float(forward.jvp(a)) == 1.0


def test_in_a_function():
    @tf.function
    def f(x, v):
        with Forward(x, v) as forward:
            y = x
            for _ in tf.range(3):
                y = y * x
        return forward.jvp(y)

    assert float(f(tf.constant(2.0), tf.constant(1.0))) == 32.0


@pytest.mark.parametrize(
    ("primals", "tangents", "message"),
    [
        ([1.0], [1.0, 1.0], "nested structure"),
        (1.0, [1.0], "nested structure"),
        ([1.0, 2.0], [[1.0, 2.0], 1.0], "nested structure"),
        (1.0, None, "None"),
    ],
)
def test_bad_tangents(primals, tangents, message):
    primals = tf.nest.map_structure(tf.constant, primals)
    with pytest.raises(ValueError, match=message):
        Forward(primals, tangents)


def test_bad_use():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(ValueError, match="shape"):
        Forward(x, tf.constant([1.0]))
    with pytest.raises(ValueError, match="dtype float32"):
        Forward(x, tf.constant([1, 2]))
    with pytest.raises(ValueError, match="multiple times"):
        Forward([x, x], [x, x])
    with Forward(x, x) as forward, pytest.raises(ValueError, match="already recording"):
        forward.__enter__()
    with pytest.raises(ValueError, match="UnconnectedGradients"):
        forward.jvp(x, unconnected_gradients="bogus")


@pytest.mark.parametrize("wrap", [tf.function, lambda f: f])
def test_accumulators_around_see_derivatives_that_are_asked_for_later(wrap):
    f = wrap(lambda x: x**3.5)
    x, one = tf.constant(1.1), tf.constant(1.0)
    first, second, third = (tf.autodiff.ForwardAccumulator(x, one) for _ in range(3))
    with first, second, third:
        y = f(x)
    np.testing.assert_allclose(third.jvp(y), 3.5 * 1.1**2.5, rtol=1e-5)
    np.testing.assert_allclose(second.jvp(third.jvp(y)), 3.5 * 2.5 * 1.1**1.5, rtol=1e-5)
    np.testing.assert_allclose(first.jvp(second.jvp(third.jvp(y))), 3.5 * 2.5 * 1.5 * 1.1**0.5, rtol=1e-5)
    assert third.jvp(first.jvp(y)) is None

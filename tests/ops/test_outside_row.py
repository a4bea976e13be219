"""A row that is defined outside of the package works like the package's own, with nothing else to touch."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops import shapes
from tapeflow.ops.math import arithmetic, trigonometric
from tapeflow.ops.table import FLOATING, REGISTRY, Sample, op


@pytest.fixture(scope="module")
def swish():
    @op(
        "OutsideSwish",
        "x: T, y: T -> z: T",
        types={"T": FLOATING},
        attrs={"beta": 1.0},
        shape=shapes.broadcast_all,
        broadcast=True,
    )
    def OutsideSwish(xp, x, y, beta):
        """x / (1 + exp(-beta y))."""
        return x / (1 + xp.exp(-beta * y))

    @OutsideSwish.gradient(needs="x, y")
    def _(call, dz):
        gate = trigonometric.Sigmoid(arithmetic.Mul(call.y, call.beta))
        slope = gate * (1 - gate) * call.beta
        return arithmetic.Mul(dz, gate), arithmetic.Mul(dz, call.x * slope)

    @OutsideSwish.samples
    def _(rng):
        yield Sample(rng.normal(2, 3), rng.normal(3))

    @OutsideSwish.reference
    def _(x, y, beta):
        return x * (np.tanh(beta * y / 2) + 1) / 2

    yield OutsideSwish
    del REGISTRY["OutsideSwish"]


def test_eager(swish):
    x, y = np.array([[1.0, -2.0], [0.5, 3.0]]), np.array([0.25, -1.0])
    z = swish(x, y, beta=2.0)
    assert z.dtype == tf.float64
    np.testing.assert_allclose(z, swish.formula(x, y, 2.0))
    assert swish.native_dtypes() == []
    assert swish([1.0], [0.0]).numpy().tolist() == [0.5]
    assert swish(tf.ones([2], tf.bfloat16), 0.0).dtype == tf.bfloat16


def test_bad_arguments(swish):
    with pytest.raises(tf.errors.InvalidArgumentError, match="OutsideSwish"):
        swish(tf.constant([1]), tf.constant([1]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        swish(tf.ones([2]), tf.ones([2], tf.float64))
    with pytest.raises((TypeError, ValueError)):
        swish(tf.ones([2]), tf.ones([2]), gamma=3)


def gradient(swish, x, y):
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = tf.reduce_sum(swish(x, y, beta=2.0))
    return tape.gradient(z, [x, y])


def test_first_order_is_summed_to_the_inputs(swish):
    x, y = tf.constant([[1.0, -2.0], [0.5, 3.0]], tf.float64), tf.constant([0.25, -1.0], tf.float64)
    dx, dy = gradient(swish, x, y)
    gate = 1 / (1 + np.exp(-2 * y.numpy()))
    np.testing.assert_allclose(dx, np.broadcast_to(gate, (2, 2)))
    np.testing.assert_allclose(dy, 2 * (x.numpy() * gate * (1 - gate)).sum(0))


def test_second_order(swish):
    x, y = tf.constant([1.0, -2.0], tf.float64), tf.constant([0.25, -1.0], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(y)
        dy = gradient(swish, x, y)[1]
    gate = 1 / (1 + np.exp(-2 * y.numpy()))
    curve = 4 * x.numpy() * gate * (1 - gate) * (1 - 2 * gate)
    np.testing.assert_allclose(tape.gradient(dy, y), curve)


def test_row_without_a_gradient_says_so():
    @op("OutsideCube", "x: T -> y: T", types={"T": FLOATING}, shape=shapes.same_as_first)
    def OutsideCube(xp, x):
        return x**3

    del REGISTRY["OutsideCube"]
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = OutsideCube(x)
    assert float(y) == 8.0
    with pytest.raises(LookupError, match="OutsideCube"):
        tape.gradient(y, x)

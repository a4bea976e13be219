"""Activation functions: what TensorFlow 2.21 gives for the same numbers, names and gradients."""

import numpy as np
import pytest

import tapeflow as tf

activations = tf.keras.activations
X = np.array([[-7.0, -3, -2.5, -1.0, -0.3, 0.0, 0.2, 0.5, 2.0, 3.0, 5.0]], np.float32)
ARGUMENTS = {"threshold": (0.5, 9.0)}
FACTS = {
    "silu": [
        -0.0064,
        -0.1423,
        -0.1896,
        -0.2689,
        -0.1277,
        0.0,
        0.11,
        0.3112,
        1.7616,
        2.8577,
        4.9665,
    ],
    "log_softmax": [
        -12.1985,
        -8.1985,
        -7.6985,
        -6.1985,
        -5.4985,
        -5.1985,
        -4.9985,
        -4.6985,
        -3.1985,
        -2.1985,
        -0.1985,
    ],
    "celu": [-0.9991, -0.9502, -0.9179, -0.6321, -0.2592, 0.0, 0.2, 0.5, 2.0, 3.0, 5.0],
    "hard_tanh": [-1.0, -1.0, -1.0, -1.0, -0.3, 0.0, 0.2, 0.5, 1.0, 1.0, 1.0],
    "tanh_shrink": [
        -6.0,
        -2.005,
        -1.5134,
        -0.2384,
        -0.0087,
        0.0,
        0.0026,
        0.0379,
        1.036,
        2.005,
        4.0001,
    ],
    "soft_shrink": [-6.5, -2.5, -2.0, -0.5, 0.0, 0.0, 0.0, 0.0, 1.5, 2.5, 4.5],
    "hard_shrink": [-7.0, -3.0, -2.5, -1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 3.0, 5.0],
    "threshold": [9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 2.0, 3.0, 5.0],
    "squareplus": [0.14, 0.3028, 0.3508, 0.618, 0.8612, 1.0, 1.105, 1.2808, 2.4142, 3.3028, 5.1926],
    "sparse_plus": [0.0, 0.0, 0.0, 0.0, 0.1225, 0.25, 0.36, 0.5625, 2.0, 3.0, 5.0],
    "sparse_sigmoid": [0.0, 0.0, 0.0, 0.0, 0.35, 0.5, 0.6, 0.75, 1.0, 1.0, 1.0],
    "sparsemax": [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    "hard_silu": [0.0, 0.0, -0.2083, -0.3333, -0.135, 0.0, 0.1067, 0.2917, 1.6667, 3.0, 5.0],
    "log_sigmoid": [
        -7.0009,
        -3.0486,
        -2.5789,
        -1.3133,
        -0.8544,
        -0.6931,
        -0.5981,
        -0.4741,
        -0.1269,
        -0.0486,
        -0.0067,
    ],
}


@pytest.mark.parametrize("name", FACTS)
def test_values(name):
    found = getattr(activations, name)(tf.constant(X), *ARGUMENTS.get(name, ()))
    np.testing.assert_allclose(found, [FACTS[name]], atol=1e-4)


def test_gated_linear_unit_halves_the_axis():
    x = tf.reshape(tf.range(8.0), (2, 4))
    np.testing.assert_allclose(activations.glu(x), [[0.0, 0.95257], [3.99011, 4.99545]], rtol=1e-4)
    np.testing.assert_allclose(
        activations.glu(tf.transpose(x), 0), tf.transpose(activations.glu(x))
    )
    with pytest.raises(ValueError, match="axis size must be divisible by 2") as caught:
        activations.glu(tf.zeros([2, 3]))
    assert caught.traceback[-1].path.name == "test_activations.py"


def test_sparsemax_is_a_distribution_along_any_axis():
    x = tf.random.stateless_normal([5, 4, 3], [1, 2])
    for axis in (0, 1, -1):
        found = activations.sparsemax(x, axis)
        np.testing.assert_allclose(
            tf.reduce_sum(found, axis), np.ones(np.delete(x.shape, axis)), rtol=1e-5
        )
        assert float(tf.reduce_min(found)) >= 0.0


@pytest.mark.parametrize("name", [*FACTS, "glu"])
def test_gradients(name):
    arguments = ARGUMENTS.get(name, ())
    x = tf.constant([[-1.7, -0.31, 0.27, 0.8, 1.9, 3.3]], tf.float64)
    function = getattr(activations, name)
    symbolic, numeric = tf.test.compute_gradient(lambda x: function(x, *arguments), [x])
    np.testing.assert_allclose(symbolic[0], numeric[0], atol=1e-5)


@pytest.mark.parametrize("name", [*FACTS, "glu", "leaky_relu", "relu", "mish"])
def test_names_go_there_and_back(name):
    function = getattr(activations, name)
    assert activations.get(name) is function
    assert activations.deserialize(activations.serialize(function)) is function


def test_relu_with_a_slope_is_one_operation():
    with tf.Graph().as_default():
        assert activations.relu(tf.constant(X), alpha=0.5).op.type == "LeakyRelu"
    np.testing.assert_allclose(activations.relu(tf.constant([-4.0, 2.0]), 0.5), [-2.0, 2.0])


def test_other_names_of_one_function():
    assert activations.swish is activations.silu
    assert activations.hard_swish is activations.hard_silu
    assert activations.serialize(activations.get("swish")) == "silu"
    layer = tf.keras.layers.Dense(2, activation="hard_silu")
    assert layer.get_config()["activation"] == "hard_silu"

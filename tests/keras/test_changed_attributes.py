"""Attributes of layers that programs change after a layer was built: the next call follows them."""

import numpy as np
import pytest

import tapeflow as tf

L = tf.keras.layers
MADE = {
    "Dense": (lambda: L.Dense(3, activation="relu"), (2, 4)),
    "EinsumDense": (lambda: L.EinsumDense("ab,bc->ac", 3, activation="relu"), (2, 4)),
    "Conv1D": (lambda: L.Conv1D(3, 2, activation="relu"), (2, 5, 4)),
    "Conv2D": (lambda: L.Conv2D(3, 2, activation="relu"), (2, 5, 5, 4)),
    "Conv2DTranspose": (lambda: L.Conv2DTranspose(3, 2, activation="relu"), (2, 5, 5, 4)),
    "DepthwiseConv2D": (lambda: L.DepthwiseConv2D(2, activation="relu"), (2, 5, 5, 4)),
    "SeparableConv2D": (lambda: L.SeparableConv2D(3, 2, activation="relu"), (2, 5, 5, 4)),
}


@pytest.mark.parametrize("name", MADE)
def test_activation(name):
    make, shape = MADE[name]
    layer, x = make(), tf.constant(np.random.default_rng(0).normal(size=shape), tf.float32)
    inputs = tf.keras.Input(shape[1:])
    model = tf.keras.Model(inputs, layer(inputs))
    positive = model(x).numpy()
    layer.activation = lambda y: tf.ones_like(y) * 7
    np.testing.assert_array_equal(model(x), np.full_like(positive, 7))
    layer.activation = None
    plain = model(x).numpy()
    assert plain.min() < 0
    layer.activation = tf.keras.activations.linear
    np.testing.assert_array_equal(model(x), plain)
    np.testing.assert_allclose(np.maximum(plain, 0), positive, rtol=1e-6)

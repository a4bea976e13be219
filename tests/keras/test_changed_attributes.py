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


@pytest.mark.parametrize("name", [name for name in MADE if "Conv" in name])
def test_bias(name):
    make, shape = MADE[name]
    layer, x = make(), tf.constant(np.random.default_rng(0).normal(size=shape), tf.float32)
    plain = layer(x).numpy()
    layer.bias.assign(tf.fill(layer.bias.shape, 100.0))
    assert layer(x).numpy().min() > 50
    layer.use_bias = False
    np.testing.assert_allclose(layer(x), plain, rtol=1e-6)


def test_depthwise_kernel():
    layer, x = L.DepthwiseConv2D(2), tf.ones([1, 3, 3, 2])
    plain = layer(x).numpy()
    layer.kernel = tf.convert_to_tensor(layer.kernel) * 2
    np.testing.assert_allclose(layer(x), plain * 2, rtol=1e-6)


def test_weights_of_metrics():
    metric, other = tf.keras.metrics.Mean(), tf.keras.metrics.Mean()
    metric.update_state([1.0, 2.0, 6.0])
    other.set_weights(metric.get_weights())
    assert other.result() == 3
    with pytest.raises(ValueError, match="with a weight list of length 1, but the layer was expecting 2 weights"):
        other.set_weights([1.0])
    with pytest.raises(ValueError, match=r"weight shape \(\) is not compatible with provided weight shape \(2,\)"):
        other.set_weights([1.0, [1.0, 2.0]])


def test_hdf5_of_an_optimizer_that_lists_a_variable_twice(tmp_path):
    class Wrapping(tf.keras.optimizers.SGD):
        @property
        def variables(self):
            return [*super().variables, self.iterations]

    model = tf.keras.Sequential([tf.keras.Input((2,)), L.Dense(1)])
    model.compile(Wrapping(), "mse")
    model.fit(np.ones([4, 2]), np.ones([4, 1]), verbose=0)
    path = str(tmp_path / "model.h5")
    model.save(path)
    loaded = tf.keras.models.load_model(path, custom_objects={"Wrapping": Wrapping})
    assert loaded.optimizer.iterations == 1

"""Models that come ready."""

import numpy as np
import pytest

import tapeflow as tf

LinearModel = tf.keras.experimental.LinearModel


@pytest.mark.parametrize("use_bias", [True, False])
@pytest.mark.parametrize("given", ["tensor", "list", "dict"])
def test_a_linear_model_adds_a_product_for_each_input(given, use_bias):
    rng = np.random.default_rng(3)
    parts = [rng.normal(size=(4, n)).astype(np.float32) for n in ((3,) if given == "tensor" else (3, 1, 2))]
    inputs = {"tensor": parts[0], "list": parts, "dict": dict(zip("abc", parts, strict=False))}[given]
    model = LinearModel(2, "relu", use_bias, kernel_initializer="normal", bias_initializer="ones")
    found = model(inputs)
    kernels = [layer.kernel.numpy() for layer in model.dense_layers]
    expected = sum(x @ k for x, k in zip(parts, kernels, strict=True)) + use_bias
    np.testing.assert_allclose(found, np.maximum(expected, 0), rtol=1e-5)
    assert len(model.weights) == len(parts) + use_bias


def test_it_takes_sparse_inputs():
    inputs = tf.SparseTensor([[0, 0], [0, 2], [1, 0], [1, 1]], [0.4, 0.6, 0.8, 0.5], [2, 3])
    model = LinearModel(kernel_initializer="ones")
    np.testing.assert_allclose(model(inputs), [[1.0], [1.3]], rtol=1e-6)


def test_it_learns():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 256, 1)).astype(np.float32)
    model = LinearModel()
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    model.fit([a, b], 0.3 * a + 0.2 * b + 1, epochs=20, verbose=0)
    bias, *kernels = [weight.numpy().item() for weight in model.weights]
    np.testing.assert_allclose([*kernels, bias], [0.3, 0.2, 1.0], atol=0.02)


def test_its_config_makes_an_equal_one():
    model = LinearModel(3, "tanh", kernel_initializer="ones", bias_regularizer="l2")
    again = LinearModel.from_config(model.get_config())
    assert again.get_config() == model.get_config()
    np.testing.assert_allclose(again(tf.ones([1, 2])), np.tanh([[2.0] * 3]), rtol=1e-6)


def test_the_number_of_inputs_is_that_of_the_first_call():
    model = LinearModel()
    model([tf.ones([1, 2]), tf.ones([1, 1])])
    with pytest.raises(ValueError, match="built for 2 inputs, but is called with 1"):
        model(tf.ones([1, 2]))

"""Policies: half-precision computations with single-precision weights."""

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras


@pytest.fixture
def mixed():
    keras.mixed_precision.set_global_policy("mixed_float16")
    yield
    keras.mixed_precision.set_global_policy(None)


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (lambda: keras.layers.Dense(2), (2, 3)),
        (lambda: keras.layers.Conv2D(2, 2), (1, 4, 4, 2)),
        (lambda: keras.layers.BatchNormalization(), (4, 3)),
        (lambda: keras.layers.BatchNormalization(), (2, 4, 4, 3)),
        (lambda: keras.layers.LayerNormalization(), (4, 3)),
        (lambda: keras.layers.GroupNormalization(1), (4, 3)),
        (lambda: keras.layers.LSTM(3), (2, 4, 3)),
        (lambda: keras.layers.Bidirectional(keras.layers.GRU(2)), (2, 4, 3)),
        (lambda: keras.layers.ConvLSTM2D(2, 2), (1, 2, 4, 4, 1)),
        (lambda: keras.layers.EinsumDense("ab,bc->ac", 4), (2, 3)),
        (lambda: keras.layers.PReLU(), (2, 3)),
    ],
)
def test_layers_compute_in_half_precision(mixed, layer, shape):
    layer = layer()
    x = tf.constant(np.random.default_rng(0).normal(size=shape).astype("float32"))
    with tf.GradientTape() as tape:
        y = layer(x)
        loss = tf.reduce_sum(tf.cast(y, tf.float32) ** 2)
    assert y.dtype == tf.float16
    weights = layer.trainable_weights
    assert {w.dtype for w in layer.weights} == {"float32"}
    assert {g.dtype for g in tape.gradient(loss, weights)} == {tf.float32}


def test_weights_are_cast_only_in_calls():
    layer = keras.layers.Dense(2, dtype="mixed_bfloat16")
    layer.build([None, 3])
    assert layer.kernel.dtype == tf.float32
    assert isinstance(layer.kernel, tf.Variable)
    assert layer.dtype_policy.compute_dtype == "bfloat16"
    assert layer.dtype == "float32"
    layer.kernel.assign(np.ones([3, 2]))
    np.testing.assert_array_equal(layer.get_weights()[0], np.ones([3, 2]))
    again = keras.layers.Dense.from_config(layer.get_config())
    assert again.dtype_policy.name == "mixed_bfloat16"


def test_policies():
    policy = keras.mixed_precision.Policy("mixed_float16")
    assert (policy.compute_dtype, policy.variable_dtype) == ("float16", "float32")
    assert policy == keras.DTypePolicy("mixed_float16")
    assert policy != keras.DTypePolicy("float32")
    with pytest.raises(ValueError, match="Cannot convert value"):
        keras.mixed_precision.Policy("mixed_int4")
    with pytest.raises(TypeError, match="must be a string"):
        keras.mixed_precision.Policy(tf.float16)
    with pytest.raises(ValueError, match="floating-point"):
        keras.mixed_precision.set_global_policy("int32")

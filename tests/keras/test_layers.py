"""Layers: what they compute, which weights they make, what they say to wrong input."""

import numpy as np
import pytest
from scipy import signal

import tapeflow as tf

layers = tf.keras.layers


def test_dense(rng):
    x = rng.normal(size=(4, 3)).astype(np.float32)
    layer = layers.Dense(2, activation="tanh", name="d")
    outputs = layer(x)
    kernel, bias = layer.get_weights()
    np.testing.assert_allclose(outputs.numpy(), np.tanh(x @ kernel + bias), rtol=1e-5)
    assert [weight.path for weight in layer.weights] == ["d/kernel", "d/bias"]
    assert layer(x.reshape(2, 2, 3)).shape == (2, 2, 2)


def test_conv2d(rng):
    x = rng.normal(size=(1, 6, 5, 2)).astype(np.float32)
    layer = layers.Conv2D(3, (3, 2))
    outputs = layer(x).numpy()
    kernel, _ = layer.get_weights()
    for out in range(3):
        expected = sum(
            signal.correlate(x[0, :, :, c], kernel[:, :, c, out], "valid") for c in range(2)
        )
        np.testing.assert_allclose(outputs[0, :, :, out], expected, rtol=1e-4, atol=1e-5)


def test_channels_first_is_the_same_convolution(rng):
    x = rng.normal(size=(2, 5, 5, 3)).astype(np.float32)
    last = layers.Conv2D(4, 3)
    first = layers.Conv2D(4, 3, data_format="channels_first")
    outputs = last(x)
    first(np.transpose(x, [0, 3, 1, 2]))
    first.set_weights(last.get_weights())
    other = first(np.transpose(x, [0, 3, 1, 2])).numpy()
    np.testing.assert_allclose(np.transpose(other, [0, 2, 3, 1]), outputs.numpy(), atol=1e-5)


def test_batch_normalization(rng):
    x = rng.normal(2.0, 3.0, size=(50, 4)).astype(np.float32)
    layer = layers.BatchNormalization()
    outputs = layer(x, training=True).numpy()
    np.testing.assert_allclose(outputs.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(outputs.std(0), 1, atol=1e-2)
    np.testing.assert_allclose(layer.moving_mean.numpy(), 0.01 * x.mean(0), rtol=1e-4)
    np.testing.assert_allclose(layer.moving_variance.numpy(), 0.99 + 0.01 * x.var(0), rtol=1e-4)
    expected = (x - layer.moving_mean.numpy()) / np.sqrt(layer.moving_variance.numpy() + 1e-3)
    np.testing.assert_allclose(layer(x).numpy(), expected, rtol=1e-4)
    assert [weight.name for weight in layer.weights] == ["gamma", "beta", "moving_mean", "moving_variance"]
    assert len(layer.trainable_weights) == 2


def test_layer_normalization(rng):
    x = rng.normal(size=(3, 5)).astype(np.float32)
    outputs = layers.LayerNormalization()(x).numpy()
    np.testing.assert_allclose(
        outputs, (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-3), atol=1e-5
    )


def test_dropout_only_trains():
    x = tf.ones([100, 100])
    layer = layers.Dropout(0.25)
    assert layer(x) is x
    dropped = layer(x, training=True).numpy()
    assert set(np.unique(dropped)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs((dropped == 0).mean() - 0.25) < 0.02


def test_embedding_has_sparse_gradients():
    layer = layers.Embedding(10, 3)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(tf.constant([[1, 4], [1, 1]])))
    gradient = tape.gradient(loss, layer.embeddings)
    assert isinstance(gradient, tf.IndexedSlices)
    dense = tf.convert_to_tensor(gradient).numpy()
    assert dense[:, 0].tolist() == [0, 3, 0, 0, 1, 0, 0, 0, 0, 0]


X4 = np.arange(2 * 4 * 4 * 3, dtype=np.float32).reshape(2, 4, 4, 3)
SHAPES = {
    "Conv2D same": (lambda: layers.Conv2D(5, 3, 2, "same"), (2, 2, 2, 5)),
    "Conv2DTranspose": (lambda: layers.Conv2DTranspose(5, 3, 2), (2, 9, 9, 5)),
    "DepthwiseConv2D": (lambda: layers.DepthwiseConv2D(3, depth_multiplier=2), (2, 2, 2, 6)),
    "SeparableConv2D": (lambda: layers.SeparableConv2D(5, 3), (2, 2, 2, 5)),
    "MaxPooling2D": (lambda: layers.MaxPooling2D(), (2, 2, 2, 3)),
    "AveragePooling2D": (lambda: layers.AveragePooling2D(3, 1, "same"), (2, 4, 4, 3)),
    "GlobalAveragePooling2D": (lambda: layers.GlobalAveragePooling2D(), (2, 3)),
    "GlobalMaxPooling2D": (lambda: layers.GlobalMaxPooling2D(), (2, 3)),
    "Flatten": (lambda: layers.Flatten(), (2, 48)),
    "Reshape": (lambda: layers.Reshape((8, -1)), (2, 8, 6)),
    "Permute": (lambda: layers.Permute((3, 1, 2)), (2, 3, 4, 4)),
    "ZeroPadding2D": (lambda: layers.ZeroPadding2D(((1, 0), (2, 3))), (2, 5, 9, 3)),
    "Cropping2D": (lambda: layers.Cropping2D(1), (2, 2, 2, 3)),
    "UpSampling2D": (lambda: layers.UpSampling2D((2, 3)), (2, 8, 12, 3)),
    "ReLU": (lambda: layers.ReLU(max_value=3.0), (2, 4, 4, 3)),
    "Softmax": (lambda: layers.Softmax(), (2, 4, 4, 3)),
    "Lambda": (lambda: layers.Lambda(lambda x: x[:, 0]), (2, 4, 3)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    make, expected = SHAPES[name]
    layer = make()
    assert layer(X4).shape == expected
    assert tuple(make().compute_output_shape(X4.shape)) == expected
    if name != "Lambda":
        again = layers.deserialize(layers.serialize(layer))
        assert again.get_config() == layer.get_config()


MERGES = {
    "Add": lambda a, b: a + b,
    "Subtract": lambda a, b: a - b,
    "Multiply": lambda a, b: a * b,
    "Average": lambda a, b: (a + b) / 2,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "Concatenate": lambda a, b: np.concatenate([a, b], -1),
}


@pytest.mark.parametrize("name", MERGES)
def test_merges(name, rng):
    a, b = rng.normal(size=(2, 3, 4)).astype(np.float32)
    outputs = getattr(layers, name)()([tf.constant(a), tf.constant(b)])
    np.testing.assert_allclose(outputs.numpy(), MERGES[name](a, b), rtol=1e-6)


def test_own_layer():
    class MySimpleLayer(layers.Layer):
        def __init__(self, output_units):
            super().__init__()
            self.output_units = output_units

        def build(self, input_shape):
            self.kernel = self.add_variable("kernel", [input_shape[-1], self.output_units])

        def call(self, input):
            return tf.matmul(input, self.kernel)

    layer = MySimpleLayer(3)
    assert layer(tf.ones([2, 4])).shape == (2, 3)
    assert [weight.path for weight in layer.weights] == ["my_simple_layer/kernel"]
    assert layer.built


def test_names_count_up():
    tf.keras.backend.clear_session()
    assert [layers.Dense(1).name, layers.Dense(1).name, layers.Conv2D(1, 1).name] == [
        "dense",
        "dense_1",
        "conv2d",
    ]


def test_tracking_of_attributes_and_containers():
    class Block(layers.Layer):
        def __init__(self):
            super().__init__()
            self.scale = tf.Variable(2.0)
            self.parts = [layers.Dense(1), {"b": layers.Dense(1)}]
            self.extra = [tf.Variable(1.0)]

        def call(self, x):
            return self.parts[1]["b"](self.parts[0](x)) * self.scale * self.extra[0]

    block = Block()
    block.parts.append(layers.Dense(5))
    assert block(tf.ones([1, 1])).shape == (1, 1)
    block.parts[2](tf.ones([1, 1]))
    assert len(block.weights) == 8
    block.trainable = False
    assert block.trainable_weights == []
    assert len(block.non_trainable_weights) == 8
    block.parts = None
    assert len(block.weights) == 2


def test_losses_of_regularizers_and_calls():
    layer = layers.Dense(
        1, kernel_regularizer=tf.keras.regularizers.l2(0.5), activity_regularizer="l2"
    )
    layer(tf.ones([2, 1]))
    layer.kernel.assign([[2.0]])
    layer(tf.ones([2, 1]))
    values = sorted(float(loss) for loss in layer.losses)
    np.testing.assert_allclose(values, [0.04, 2.0], rtol=1e-5)


def test_training_reaches_inner_layers():
    class Outer(layers.Layer):
        def __init__(self):
            super().__init__()
            self.drop = layers.Dropout(0.5)

        def call(self, x):
            return self.drop(x)

    x = tf.ones([20, 20])
    outer = Outer()
    assert (outer(x).numpy() == 1).all()
    assert (outer(x, training=True).numpy() == 0).any()
    assert (outer(x).numpy() == 1).all()


def test_inputs_take_the_layers_dtype():
    layer = layers.Dense(2, dtype="float64")
    assert layer(np.ones([1, 2], np.float32)).dtype == tf.float64
    assert layers.Dense(2)(np.ones([1, 2])).dtype == tf.float32


BAD = {
    "no units": (lambda: layers.Dense(-1), ValueError, "expected a positive integer"),
    "rank 1": (
        lambda: layers.Dense(3)(tf.zeros([4])),
        ValueError,
        "expected min_ndim=2, found ndim=1",
    ),
    "a string": (lambda: layers.Dense(3)("a"), TypeError, "Inputs to a layer should be tensors"),
    "nothing": (lambda: layers.Dense(3)(), ValueError, "first argument to `Layer.call`"),
    "no kernel": (
        lambda: layers.Conv2D(3, 0),
        ValueError,
        "do not satisfy `value > 0`",
    ),
    "kernel of rank 3": (lambda: layers.Conv2D(3, (3, 3, 3)), ValueError, "tuple of 2 integers"),
    "padding": (lambda: layers.Conv2D(3, 3, padding="x"), ValueError, "`padding` argument"),
    "layout": (lambda: layers.Conv2D(3, 3, data_format="x"), ValueError, "`data_format` argument"),
    "strides and dilation": (
        lambda: layers.Conv2D(3, 3, 2, dilation_rate=2),
        ValueError,
        "`strides > 1` not supported",
    ),
    "too small": (lambda: layers.Conv2D(3, 5)(tf.zeros([1, 3, 3, 1])), ValueError, "is <= 0"),
    "rate": (lambda: layers.Dropout(1.5), ValueError, "Expected a float value between 0 and 1"),
    "window": (lambda: layers.MaxPooling2D(0), ValueError, "`pool_size` argument"),
    "index": (
        lambda: layers.Embedding(3, 2)(tf.constant([5])),
        tf.errors.InvalidArgumentError,
        r"5 is not in \[0, 3\)",
    ),
    "activation": (
        lambda: layers.Activation("foo"),
        ValueError,
        "Could not interpret activation function identifier: foo",
    ),
    "initializer": (
        lambda: layers.Dense(1, kernel_initializer="foo"),
        ValueError,
        "Could not interpret initializer identifier: foo",
    ),
    "axis": (
        lambda: layers.BatchNormalization(axis=5)(tf.zeros([2, 3])),
        ValueError,
        "Invalid value",
    ),
    "keyword": (lambda: layers.Layer(foo=1), ValueError, "Unrecognized keyword arguments passed to Layer: {.foo.: 1}"),
    "one input": (lambda: layers.Add()(tf.zeros([2, 3])), ValueError, "list of inputs"),
    "shapes": (
        lambda: layers.Concatenate()([tf.zeros([2, 3]), tf.zeros([3, 3])]),
        ValueError,
        "matching shapes",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    make, error, message = BAD[name]
    with pytest.raises(error, match=message):
        make()


def test_another_size_on_a_later_call():
    layer = layers.Dense(3)
    layer(tf.zeros([2, 4]))
    layer(tf.zeros([2, 4]))
    with pytest.raises(ValueError, match="expected axis -1 of input shape to have value 4"):
        layer(tf.zeros([2, 5]))

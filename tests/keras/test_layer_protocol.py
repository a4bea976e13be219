"""What layers have besides a call: configs of builds, specs, stores, symbolic connections, initializers' axes."""

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras


def test_building_from_a_config():
    layer = keras.layers.Dense(2)
    assert layer.get_build_config() is None
    layer(np.ones([4, 3], "float32"))
    again = keras.layers.Dense.from_config(layer.get_config())
    again.build_from_config(layer.get_build_config())
    assert [w.shape for w in again.weights] == [w.shape for w in layer.weights]


def test_specs_and_symbolic_calls():
    layer = keras.layers.Dense(2)
    spec = layer.compute_output_spec(keras.KerasTensor((None, 3)))
    assert tuple(spec.shape.as_list()) == (None, 2)
    assert spec.dtype == tf.float32
    assert tuple(layer.symbolic_call(keras.Input((3,))).shape.as_list()) == (None, 2)


def test_calls_without_state():
    layer = keras.layers.BatchNormalization(momentum=0.5)
    x = np.random.default_rng(0).normal(size=(4, 2)).astype("float32")
    layer.build([None, 2])
    y, state = layer.stateless_call(
        [np.full(2, 3.0), np.ones(2)], [np.zeros(2), np.ones(2)], x, training=True
    )
    np.testing.assert_allclose(y.numpy().mean(0), 1.0, rtol=1e-5)
    np.testing.assert_allclose(state[0].numpy(), x.mean(0) / 2, rtol=1e-5)
    np.testing.assert_array_equal(layer.gamma.numpy(), np.ones(2))
    np.testing.assert_array_equal(layer.moving_mean.numpy(), np.zeros(2))
    with pytest.raises(ValueError, match="list with length 0, but expected 2 variables"):
        layer.stateless_call([], [], x)


def test_stores_of_variables():
    layer, store = keras.layers.Dense(2), {}
    layer.build([None, 3])
    layer.save_own_variables(store)
    other = keras.layers.Dense(2)
    other.build([None, 3])
    other.load_own_variables(store)
    np.testing.assert_array_equal(other.kernel.numpy(), layer.kernel.numpy())
    with pytest.raises(ValueError, match="expected 2 variables"):
        other.load_own_variables({"0": np.ones(2)})


def test_weights_before_the_build():
    with pytest.raises(AttributeError, match="must build the layer"):
        _ = keras.layers.Dense(2).kernel
    assert not hasattr(keras.layers.Embedding(2, 3), "embeddings")


def test_shared_layers_have_several_calls():
    layer = keras.layers.Dense(2)
    a, b = keras.Input((3,)), keras.Input((3,))
    layer(a)
    second = layer(b)
    assert layer.get_input_at(1) is b
    assert layer.get_output_at(1) is second
    assert layer.get_output_shape_at(0) == (None, 2)
    with pytest.raises(AttributeError, match="multiple inbound nodes"):
        _ = layer.output
    with pytest.raises(ValueError, match="only 2 inbound nodes"):
        layer.get_input_at(2)


def test_losses_of_masked_steps():
    x = np.array([[[1.0], [1.0]], [[0.0], [0.0]]], "float32")
    inputs = keras.Input((2, 1))
    masked = keras.layers.Masking()(inputs)
    outputs = keras.layers.TimeDistributed(keras.layers.Dense(1, kernel_initializer="ones"))(masked)
    model = keras.Model(inputs, outputs)
    model.compile("sgd", "mse")
    assert float(model.train_on_batch(x, np.ones([2, 2, 1]))) == 0.0


def test_modules_of_layers_count():
    class Inner(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = tf.Variable(1.0)

    layer = keras.layers.Layer()
    layer.inner = Inner()
    assert layer.weights == [layer.inner.v]


def test_initializers_of_named_axes():
    shape = (4, 5, 6, 7)
    given = keras.initializers.GlorotUniform(seed=1, input_axes=0, output_axes=(2, 3))
    limit = np.sqrt(3.0 / ((4 * 5 + 42 * 5) / 2))
    values = given(shape).numpy()
    assert np.abs(values).max() <= limit
    assert np.abs(values).max() > 0.9 * limit
    assert given.clone().get_config() == given.get_config()


def test_waves():
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(8) / 7)
    wave = keras.initializers.STFT("real", window, None)((8, 1, 5)).numpy()
    expected = (
        np.cos(-2 * np.pi * np.arange(8)[:, None, None] * np.arange(5) / 8) * window[:, None, None]
    )
    np.testing.assert_allclose(wave, expected, atol=1e-6)
    with pytest.raises(ValueError, match="side should be"):
        keras.initializers.STFT("both")


def test_radial_constraint():
    kernel = np.arange(16, dtype="float32").reshape(4, 4, 1, 1)
    ringed = keras.constraints.RadialConstraint()(tf.constant(kernel)).numpy()[..., 0, 0]
    assert ringed.tolist() == [[15] * 4, [15, 5, 5, 15], [15, 5, 5, 15], [15] * 4]


def test_locally_connected():
    x = np.arange(12, dtype="float32").reshape(1, 6, 2)
    one = keras.layers.LocallyConnected1D(2, 3)
    one(x)
    rng = np.random.default_rng(0)
    kernel = rng.normal(size=one.kernel.shape.as_list()).astype("float32")
    one.set_weights([kernel, np.zeros(one.bias.shape.as_list())])
    expected = np.stack([x[0, i : i + 3].reshape(-1) @ kernel[i] for i in range(4)])
    np.testing.assert_allclose(one(x).numpy()[0], expected, rtol=1e-5)
    two = keras.layers.LocallyConnected1D(2, 3, padding="same", implementation=2)
    assert two(x).shape == (1, 6, 2)
    with pytest.raises(ValueError, match="Invalid border mode"):
        keras.layers.LocallyConnected2D(2, 3, padding="same")


def test_layers_of_saved_models(tmp_path):
    class Double(tf.Module):
        def __init__(self):
            super().__init__()
            self.factor = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec([None, 2])])
        def serve(self, x):
            return x * self.factor

    tf.saved_model.save(Double(), str(tmp_path))
    layer = keras.layers.TFSMLayer(str(tmp_path))
    np.testing.assert_array_equal(layer(np.ones([1, 2], "float32")).numpy(), [[2.0, 2.0]])
    with pytest.raises(ValueError, match="neither an attribute"):
        keras.layers.TFSMLayer(str(tmp_path), call_endpoint="other")


class Between(keras.layers.Layer):
    """Compares queries with values of another size."""

    def build(self, query_shape, value_shape, key_shape=None):
        assert key_shape is None
        self.kernel = self.add_weight(shape=(query_shape[-1], value_shape[-1]))

    def call(self, query, value, key=None):
        return tf.matmul(tf.matmul(query, self.kernel), value, transpose_b=True)


def test_build_takes_a_shape_for_each_input(tmp_path):
    query, value = tf.ones([1, 4, 3]), tf.ones([1, 5, 6])
    assert Between()(query, value=value).shape == (1, 4, 5)
    inputs = [keras.Input((4, 3)), keras.Input((5, 6))]
    model = keras.Model(inputs, Between()(*inputs))
    path = str(tmp_path / "model.keras")
    model.save(path)
    loaded = keras.models.load_model(path, custom_objects={"Between": Between})
    assert loaded([query, value]).numpy().tolist() == model([query, value]).numpy().tolist()


@pytest.mark.parametrize("layer", [
    keras.layers.MultiHeadAttention(2, 3), keras.layers.GroupQueryAttention(3, 4, 2),
])  # fmt: skip
def test_attention_is_built_by_name(layer):
    layer.build(query_shape=(None, 4, 6), value_shape=(None, 5, 7))
    weights = layer.weights
    assert len(weights) == 8
    assert layer(tf.ones([1, 4, 6]), tf.ones([1, 5, 7])).shape == (1, 4, 6)
    assert list(map(id, layer.weights)) == list(map(id, weights))

"""What models make of inputs and labels that are vectors, of integers, or of several dtypes."""

import numpy as np
import pytest

import tapeflow as tf

keras, layers = tf.keras, tf.keras.layers
x = np.arange(8.0, dtype="float32")


def normalized():
    layer = layers.Normalization(input_shape=[1], axis=None)
    layer.adapt(x)
    return keras.Sequential([layer, layers.Dense(1)])


def functional():
    inputs = keras.Input((1,))
    return keras.Model(inputs, layers.Dense(1)(inputs))


MODELS = {
    "sequential": lambda: keras.Sequential([keras.Input((1,)), layers.Dense(1)]),
    "functional": functional,
    "normalized": normalized,
}


@pytest.mark.parametrize("source", ["arrays", "dataset"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
@pytest.mark.parametrize("name", MODELS)
def test_vectors_become_columns(name, dtype, source):
    model = MODELS[name]()
    model.compile("sgd", "mse", metrics=["mae"])
    data = x.astype(dtype), (2 * x).astype(dtype)
    if source == "arrays":
        history = model.fit(*data, batch_size=4, verbose=0).history
    else:
        history = model.fit(tf.data.Dataset.from_tensor_slices(data).batch(4), verbose=0).history
    assert sorted(history) == ["loss", "mae"]
    predictions = model.predict(data[0], verbose=0)
    assert predictions.shape == (8, 1)
    assert predictions.dtype == np.float32
    assert len(model.evaluate(*data, verbose=0)) == 2


@pytest.mark.parametrize("columns", [False, True])
def test_inputs_of_several_dtypes(columns):
    a, b = keras.Input((1,), dtype="int32"), keras.Input((1,))
    model = keras.Model([a, b], layers.Dense(1)(layers.Concatenate()([a, b])))
    model.compile("sgd", "mse")
    given = [np.arange(8), x]
    if columns:
        given = [v[:, None] for v in given]
    model.fit(given, x, verbose=0)
    assert model.predict(given, verbose=0).shape == (8, 1)


@pytest.mark.parametrize("name", ["Add", "Multiply", "Average", "Maximum", "Minimum", "Subtract", "Concatenate"])
def test_integers_beside_floats_become_floats(name):
    merged = getattr(layers, name)()
    numbers, fractions = tf.constant([[2]]), tf.constant([[1.5]])
    result = merged([numbers, fractions])
    assert result.dtype == tf.float32
    np.testing.assert_array_equal(result, merged([tf.constant([[2.0]]), fractions]))


@pytest.mark.parametrize(
    "name",
    ["BatchNormalization", "LayerNormalization", "GroupNormalization", "RMSNormalization", "UnitNormalization"],
)
def test_normalization_takes_integers(name):
    layer = getattr(layers, name)(**({"groups": 2} if name[0] == "G" else {}))
    result = layer(np.array([[1, 2], [5, 3]]))
    assert result.dtype == tf.float32
    np.testing.assert_array_equal(result, layer(tf.constant([[1.0, 2.0], [5.0, 3.0]])))


def test_sizes_that_inputs_declare_are_known_where_those_of_the_data_are_not():
    seen = []

    class Sees(tf.keras.layers.Layer):
        def call(self, inputs):
            seen.append(inputs.shape.as_list())
            return inputs

    inputs = tf.keras.Input(batch_shape=(1, 3))
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(2)(Sees()(inputs)))
    seen.clear()

    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def apply(x):
        return model(x)

    assert apply(np.ones([1, 3], np.float32)).shape == (1, 2)
    assert seen == [[1, 3]]

"""`clone_model`: how layers, calls and models inside are copied."""

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras


def renamed(layer):
    return type(layer).from_config({**layer.get_config(), "name": f"{layer.name}_new"})


@pytest.fixture
def model():
    inner = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="inside")], name="inner")
    x = keras.Input((3,))
    shared = keras.layers.Dense(3, name="shared")
    made = keras.Model(x, keras.layers.Dense(1, name="last")(inner(shared(shared(x)))))
    made.compile("sgd", "mse")
    return made


def test_clones_have_new_weights_and_are_compiled(model):
    clone = keras.models.clone_model(model)
    assert [w.shape for w in clone.weights] == [w.shape for w in model.weights]
    assert not {id(w) for w in clone.weights} & {id(w) for w in model.weights}
    assert clone.compiled
    clone.set_weights(model.get_weights())
    x = tf.ones([2, 3])
    assert clone(x).numpy().tolist() == model(x).numpy().tolist()


def test_models_inside_are_cloned_as_layers_or_recursively(model):
    def named(layer):
        return layer if isinstance(layer, keras.Model) else renamed(layer)

    flat = keras.models.clone_model(model, clone_function=named)
    assert flat.get_layer("inner") is model.get_layer("inner")
    deep = keras.models.clone_model(model, clone_function=named, recursive=True)
    assert deep.get_layer("inner") is not model.get_layer("inner")
    assert [layer.name for layer in deep.get_layer("inner").layers] == ["inside_new"]


def test_calls_are_made_by_a_function(model):
    called = []

    def call(layer, *args, **kwargs):
        called.append(layer.name)
        return layer(*args, **kwargs) * 2.0

    clone = keras.models.clone_model(model, call_function=call)
    assert called == ["shared", "shared", "inner", "last"]
    clone.set_weights(model.get_weights())
    with_bias = keras.models.clone_model(model)
    for weight in (*clone.weights, *with_bias.weights):
        weight.assign(tf.ones_like(weight) if len(weight.shape) == 2 else tf.zeros_like(weight))
    x = tf.ones([1, 3])
    assert clone(x).numpy() == pytest.approx(16 * with_bias(x).numpy())


def test_sequential_models_take_tensors_and_no_function_of_calls():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    clone = keras.models.clone_model(model, keras.Input((3,), batch_size=4))
    assert clone.input_shape == (4, 3)
    with pytest.raises(ValueError, match="call_function"):
        keras.models.clone_model(model, call_function=lambda layer, x: layer(x))
    with pytest.raises(ValueError, match="one KerasTensor"):
        keras.models.clone_model(model, [tf.ones([1, 3])])


def test_unknown_arguments_are_refused(model):
    with pytest.raises(ValueError, match="Unexpected keyword"):
        keras.models.clone_model(model, deep=True)


def test_operators_are_copied():
    x = tf.keras.Input((6,))
    y = tf.keras.ops.concatenate([x[:, :3] * 2.0, x[:, 3:]], axis=-1)
    model = tf.keras.Model(x, tf.keras.layers.Dense(2)(y))
    clone = tf.keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    given = np.ones((2, 6), "float32")
    np.testing.assert_allclose(clone(given), model(given))

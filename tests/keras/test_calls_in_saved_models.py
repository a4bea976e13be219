"""Calls of layers in SavedModels in the layout of Keras 2, by which it calls layers whose class it does not know."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import release
from tapeflow.keras.engine.files.saved_functions import functions_of_layer

X = np.arange(8, dtype=np.float32).reshape(2, 4)


@pytest.fixture(autouse=True)
def keras_2():
    release.use_keras_2(True)
    yield
    release.use_keras_2(False)


class Scaled(tf.keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(name="scale", shape=(), initializer="ones")

    def call(self, x, training=False):
        self.add_loss(tf.reduce_sum(x))
        return x * self.scale * (2.0 if training else 1.0)


class Joined(tf.keras.layers.Layer):
    def call(self, given):
        return given["a"] + 2.0 * given["b"]


class Failing(tf.keras.layers.Layer):
    broken = False

    def call(self, x):
        if self.broken:
            raise TypeError("no")
        return x


class Masked(tf.keras.layers.Layer):
    def call(self, x, mask=None):
        return x


def saved(path, *layers, given=lambda x: x):
    """The calls of the layers in the SavedModel of a model of them."""
    inputs = y = tf.keras.Input((4,))
    for layer in layers:
        y = layer(given(y))
    tf.keras.Model(inputs, y).save(path)
    root = tf.saved_model.load(path)
    found = [getattr(root, f"layer-{i + 1}", None) for i in range(len(layers))]
    return [getattr(getattr(each, "keras_api", None), "call_and_return_conditional_losses", None) for each in found]


def test_a_class_of_the_program(tmp_path):
    layer = Scaled()
    (call,) = saved(tmp_path / "m", layer)
    for training in (False, True):
        outputs, losses = call(tf.constant(X), training=training)
        np.testing.assert_array_equal(outputs, X * (1 + training))
        assert [float(each) for each in losses] == [X.sum()]


def test_inputs_in_a_structure(tmp_path):
    (call,) = saved(tmp_path / "m", Joined(), given=lambda x: {"a": x, "b": x})
    outputs, losses = call({"a": tf.constant(X), "b": tf.constant(X + 1)})
    np.testing.assert_array_equal(outputs, 3 * X + 2)
    assert not losses


def test_a_class_that_keras_2_does_not_look_up(tmp_path):
    layer = tf.keras.layers.SpectralNormalization(tf.keras.layers.Dense(3))
    dense = tf.keras.layers.Dense(2)
    call, of_dense = saved(tmp_path / "m", layer, dense)
    np.testing.assert_allclose(call(tf.constant(X), training=False)[0], layer(X), rtol=1e-6)
    assert of_dense is None


def test_a_call_that_cannot_be_traced_is_left_out():
    layer = Failing(name="failing")
    layer(tf.keras.Input((4,)))
    assert functions_of_layer(layer, list)
    layer.broken = True
    with pytest.warns(UserWarning, match="The call of layer failing is not saved: no"):
        assert functions_of_layer(layer, list) == {}


def test_calls_with_more_arguments_are_left_out(tmp_path):
    assert saved(tmp_path / "m", Masked()) == [None]


def test_operations_are_called_with_what_the_config_says():
    """Keras 2 hands the first argument of an operation over as it is written: one tensor is in no list."""
    inputs = tf.keras.Input((4,))
    doubled = inputs * 2.0
    model = tf.keras.Model(inputs, tf.concat([doubled[:, 1:], doubled], 1))
    calls = {layer["class_name"]: layer["inbound_nodes"] for layer in model.get_config()["layers"]}
    assert calls["SlicingOpLambda"][0][:3] == ["tf.math.multiply", 0, 0]
    assert [each[0] for each in calls["TFOpLambda"][0]] == ["tf.__operators__.getitem", "tf.math.multiply"]
    again = tf.keras.Model.from_config(model.get_config())
    np.testing.assert_array_equal(again(X), model(X))


def test_operations_as_keras_2_writes_them():
    inputs = tf.keras.Input((4,))
    model = tf.keras.Model(inputs, (inputs * 2.0)[:, 1:])
    config = model.get_config()
    for layer in config["layers"]:
        if layer["class_name"] == "TFOpLambda":
            layer["inbound_nodes"][0][3]["name"] = None
        if layer["class_name"] == "SlicingOpLambda":
            ends = {"start": None, "stop": None, "step": None}
            layer["inbound_nodes"][0][3]["slice_spec"] = [ends, ends | {"start": 1}]
    np.testing.assert_array_equal(tf.keras.Model.from_config(config)(X), model(X))

"""Sequential models that get and lose layers."""

import numpy as np
import pytest

import tapeflow as tf

keras, layers = tf.keras, tf.keras.layers


def test_a_model_is_made_anew_when_it_is_asked_for():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(4)])
    late = layers.Dense(2)
    model.add(late, rebuild=False)
    assert not model.built
    assert not late.built
    model.add(layers.Dense(5))
    assert late.built
    assert model.output_shape == (None, 5)
    assert model(np.ones((2, 3), "float32")).shape == (2, 5)


@pytest.mark.parametrize("rebuild", [True, False])
def test_the_last_layer_is_given_back(rebuild):
    model = keras.Sequential([keras.Input((3,)), layers.Dense(4), layers.Dense(2, name="last")])
    assert model.pop(rebuild=rebuild).name == "last"
    assert model.built is rebuild
    assert model(np.ones((2, 3), "float32")).shape == (2, 4)
    assert model.built
    assert len(model.weights) == 2


def test_layers_added_without_a_shape_wait_for_one():
    model = keras.Sequential([layers.Dense(4)])
    model.add(layers.Dense(2), rebuild=False)
    model.build((None, 3))
    assert [tuple(weight.shape) for weight in model.weights] == [(3, 4), (4,), (4, 2), (2,)]


def test_a_layer_stands_at_several_places(tmp_path):
    shared, x = layers.Dense(3, name="shared"), np.arange(6, dtype="float32").reshape(2, 3)
    model = keras.Sequential([keras.Input((3,)), shared, layers.ReLU(), shared, layers.Dense(1)])
    np.testing.assert_allclose(model(x), model.layers[-1](shared(tf.nn.relu(shared(x)))), rtol=1e-6)
    assert len(model.layers) == 4
    assert model.count_params() == 12 + 4
    assert len(keras.models.clone_model(model).weights) == 4
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.layers[0] is loaded.layers[2]
    np.testing.assert_allclose(loaded(x), model(x), rtol=1e-6)
    with pytest.raises(ValueError, match="unique names"):
        model.add(layers.Dense(3, name="shared"))

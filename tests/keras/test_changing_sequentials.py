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

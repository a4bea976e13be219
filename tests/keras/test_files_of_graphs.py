"""Models that are saved and loaded where a graph is built: the values are those of the session."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import keras
from tapeflow.core import release


def made(kind):
    if kind == "functional":
        x = keras.layers.Input((3,))
        return keras.Model(x, keras.layers.Dense(2)(keras.layers.BatchNormalization()(keras.layers.Dense(4)(x))))
    layers = [keras.layers.Dense(4, input_shape=(3,)), keras.layers.BatchNormalization(), keras.layers.Dense(2)]
    return keras.Sequential(layers)


@pytest.fixture
def graph():
    with tf.Graph().as_default(), tf.compat.v1.Session().as_default():
        yield


@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize("file", ["model.keras", "model.h5", "folder"])
@pytest.mark.parametrize("kind", ["functional", "sequential"])
def test_a_model_keeps_its_values(kind, file, trained, legacy, graph, tmp_path, monkeypatch):
    monkeypatch.setattr(release, "_keras_2", legacy)
    x, y = np.arange(12, dtype=np.float32).reshape(4, 3) / 7, np.ones((4, 2), np.float32)
    model, path = made(kind), str(tmp_path / file)
    if trained:
        model.compile(keras.optimizers.Adam(0.1), "mse")
        model.fit(x, y, epochs=2, verbose=0)
    expected = model.predict(x, verbose=0)
    model.save(path)
    loaded = keras.models.load_model(path)
    np.testing.assert_array_equal(loaded.predict(x, verbose=0), expected)
    for a, b in zip(loaded.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    if trained:
        assert loaded.train_on_batch(x, y) == pytest.approx(model.train_on_batch(x, y))
        np.testing.assert_allclose(loaded.predict(x, verbose=0), model.predict(x, verbose=0), rtol=1e-5)

"""Losses given as a structure: for parts of nested outputs, several for one output."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import keras
from tapeflow.keras import layers

X = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
Y1, Y2 = np.ones((8, 1), "float32"), np.zeros((8, 1), "float32")


def nested():
    x = keras.Input((3,))
    one, two = layers.Dense(1, name="one")(x), layers.Dense(1, name="two")(x)
    three = layers.Dense(1, name="three")(x)
    return keras.Model(x, {"a": (one, two), "b": three})


def distance(y_true, y_pred):
    assert len(y_true) == len(y_pred) == 2
    return sum(tf.reduce_mean(abs(t - p), -1) for t, p in zip(y_true, y_pred))


def error(model, part, y):
    return float(np.mean((part - y) ** 2))


def test_losses_of_parts_and_of_a_whole():
    model = nested()
    model.compile("sgd", {"a": [distance, (None, "mse")], "b": "mse"}, loss_weights=None)
    results = model.evaluate(X, {"a": (Y1, Y2), "b": Y1}, return_dict=True, verbose=0)
    outputs = model.predict(X, verbose=0)
    assert set(results) == {"loss", "a_loss", "a/two_loss", "b_loss"}
    whole = float(np.mean(abs(outputs["a"][0] - Y1)) + np.mean(abs(outputs["a"][1] - Y2)))
    assert results["a_loss"] == pytest.approx(whole, rel=1e-5)
    assert results["a/two_loss"] == pytest.approx(error(model, outputs["a"][1], Y2), rel=1e-5)
    parts = results["a_loss"] + results["a/two_loss"] + results["b_loss"]
    assert results["loss"] == pytest.approx(parts, rel=1e-5)
    history = model.fit(X, {"a": (Y1, Y2), "b": Y1}, epochs=20, verbose=0).history
    assert history["loss"][-1] < history["loss"][0]


def test_one_loss_serves_all_parts_of_nested_outputs():
    model = nested()
    model.compile("sgd", "mse")
    results = model.evaluate(X, {"a": (Y1, Y2), "b": Y1}, return_dict=True, verbose=0)
    assert set(results) == {"loss", "a/one_loss", "a/two_loss", "b_loss"}


def test_several_losses_of_one_output_and_their_weights():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1, name="out")])
    model.compile("sgd", [["mse", "mae"]], loss_weights=[[2.0, 3.0]])
    results = model.evaluate(X, Y1, return_dict=True, verbose=0)
    out = model.predict(X, verbose=0)
    expected = 2 * np.mean((out - Y1) ** 2) + 3 * np.mean(abs(out - Y1))
    assert results["loss"] == pytest.approx(float(expected), rel=1e-5)
    model.compile("sgd", ["mse", "mae"])
    assert set(model.evaluate(X, Y1, return_dict=True, verbose=0)) == {"loss", "mse_loss", "mae_loss"}
    model.compile("sgd", [["mse", "mae"]], loss_weights=[1.0])
    with pytest.raises(ValueError, match="must match the number of losses"):
        model.evaluate(X, Y1, verbose=0)


def test_losses_of_what_there_is_not():
    model = nested()
    model.compile("sgd", {"a": ("mse", None), "c": "mse"})
    with pytest.raises(KeyError, match="in the `loss` argument, can't be found"):
        model.evaluate(X, {"a": (Y1, Y2), "b": Y1}, verbose=0)
    model.compile("sgd", {"a": ("mse", None)})
    with pytest.raises(ValueError, match="different structures"):
        model.evaluate(X, Y1, verbose=0)

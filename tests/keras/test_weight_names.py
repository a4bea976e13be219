"""Names, paths and texts of weights: those of Keras 3, and of Keras 2 where it is asked for."""

import copy
import pickle

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import release

keras = tf.keras


class Inner(keras.layers.Layer):
    def __init__(self):
        super().__init__(name="inner")
        self.early = self.add_weight(name="early", shape=(2,), initializer="zeros")
        self.dense = keras.layers.Dense(2, name="dense")

    def build(self, shape):
        self.scale = self.add_weight(shape=(), initializer="ones")

    def call(self, x):
        return self.dense(x * self.scale + self.early)


def called(layer, shape):
    layer(tf.ones(shape))
    return layer


def built(layer, shape):
    layer.build(shape)
    return layer


def functional():
    x = keras.Input((3,))
    return keras.Model(x, keras.layers.Dense(4, name="out")(x), name="model")


# What has weights, and their paths in Keras 3 and in Keras 2.
CASES = {
    "built": (
        lambda: built(keras.layers.Dense(2, name="d"), (None, 3)),
        ["d/kernel", "d/bias"],
        ["kernel:0", "bias:0"],
    ),
    "called": (
        lambda: called(keras.layers.Dense(2, name="d"), (1, 3)),
        ["d/kernel", "d/bias"],
        ["d/kernel:0", "d/bias:0"],
    ),
    "sequential": (
        lambda: keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="d")], name="s"),
        ["s/d/kernel", "s/d/bias"],
        ["d/kernel:0", "d/bias:0"],
    ),
    "sequential called": (
        lambda: called(keras.Sequential([keras.layers.Dense(2, name="d")], name="s"), (1, 3)),
        ["s/d/kernel", "s/d/bias"],
        ["d/kernel:0", "d/bias:0"],
    ),
    "functional": (functional, ["out/kernel", "out/bias"], ["out/kernel:0", "out/bias:0"]),
    "nested": (
        lambda: called(Inner(), (1, 2)),
        ["inner/early", "inner/variable", "inner/dense/kernel", "inner/dense/bias"],
        ["early:0", "inner/Variable:0", "inner/dense/kernel:0", "inner/dense/bias:0"],
    ),
    "metric": (lambda: keras.metrics.Mean(name="m"), ["m/total", "m/count"], ["total:0", "count:0"]),
}


@pytest.mark.parametrize("case", CASES)
def test_keras_3(case):
    keras.backend.clear_session()
    make, paths, _ = CASES[case]
    weights = make().variables
    assert [weight.path for weight in weights] == paths
    assert [weight.name for weight in weights] == [path.rpartition("/")[2] for path in paths]


@pytest.mark.parametrize("case", CASES)
def test_keras_2(case, monkeypatch):
    monkeypatch.setattr(release, "_keras_2", True)
    keras.backend.clear_session()
    make, _, names = CASES[case]
    assert [weight.name for weight in make().variables] == names


def test_text():
    layer = built(keras.layers.Dense(2, name="d"), (None, 3))
    layer.bias.assign([1.0, 2.5])
    text = "<Variable path=d/bias, shape=(2,), dtype=float32, value=[1.  2.5]>"
    assert (str(layer.bias), repr(layer.bias), f"{layer.bias}") == (text, text, text)


def test_copies_keep_their_paths():
    layer = called(keras.layers.Dense(2, name="d"), (1, 3))
    for twin in (copy.deepcopy(layer.kernel), pickle.loads(pickle.dumps(layer.kernel))):
        assert twin.path == "d/kernel"
        np.testing.assert_array_equal(twin.numpy(), layer.kernel.numpy())


def test_layers_have_paths():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="d")], name="s")
    assert (model.path, model.layers[0].path) == ("s", "s/d")

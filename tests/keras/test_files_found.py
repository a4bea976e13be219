"""What the exchange of files with Keras 3 found (test_files_oracle.py), without Keras."""

import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras
layers = keras.layers


def test_archives_whose_weights_begin_where_hdf5_may(tmp_path):
    pytest.importorskip("h5py")
    model = keras.Sequential([keras.Input((3,)), layers.Dense(2)])
    model.save(tmp_path / "m.keras")
    with zipfile.ZipFile(tmp_path / "m.keras") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    weights = members.pop("model.weights.h5")
    for padding in (0, 4096 - sum(len(c) + 30 + len(n) for n, c in members.items()) - 30 - len("model.weights.h5")):
        with zipfile.ZipFile(tmp_path / "padded.keras", "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content + b" " * (padding if name == "config.json" else 0))
            archive.writestr("model.weights.h5", weights)
        at = (tmp_path / "padded.keras").read_bytes().index(b"\x89HDF")
        loaded = keras.models.load_model(tmp_path / "padded.keras")
        np.testing.assert_array_equal(loaded.get_weights()[0], model.get_weights()[0])
    assert at == 4096


def test_training_of_a_model_goes_before_that_of_a_call():
    x = keras.Input((100,))
    noisy, still = (keras.Model(x, layers.Dropout(0.5)(x, training=training)) for training in (True, False))
    ones = tf.ones([1, 100])
    assert np.ptp(noisy(ones)) == 2
    assert np.ptp(noisy(ones, training=False)) == 0
    assert np.ptp(still(ones)) == 0
    assert np.ptp(still(ones, training=True)) == 2


def test_layers_in_models(tmp_path):
    x = keras.Input((8, 8, 3))
    assert layers.RandomCrop(4, 3)(x).shape == (None, 4, 3, 3)
    image = tf.reshape(tf.range(192.0), [1, 8, 8, 3])
    equalize = layers.ContrastLimitedAdaptiveHistogramEqualization()
    np.testing.assert_array_equal(equalize(image, training=False), equalize(image, training=True))
    assert layers.RandomSaturation(0.2).get_config()["factor"] == [-0.2, 0.2]
    words = layers.TextVectorization(vocabulary=["a", "cat"])
    given = keras.Input((), dtype="string")
    keras.Model(given, words(given)).export(str(tmp_path / "words"))
    served = tf.saved_model.load(str(tmp_path / "words")).serve(tf.constant(["a cat", "cat dog"]))
    np.testing.assert_array_equal(served, [[2, 3], [3, 1]])


@pytest.mark.parametrize("dtype", [None, "int64"])
def test_overlaps_in_integers(dtype):
    metrics = keras.metrics
    for metric, labels, predictions, expected in (
        (metrics.IoU(3, [0, 1], dtype=dtype), [0, 1, 2, 1], [0, 1, 1, 1], 5 / 6),
        (metrics.BinaryIoU(dtype=dtype), [0, 1, 1], [0.2, 0.7, 0.4], 0.5),
        (metrics.OneHotMeanIoU(3, dtype=dtype), [[1, 0, 0], [0, 1, 0]], [[0.8, 0.1, 0.1], [0.5, 0.3, 0.2]], 0.25),
    ):
        metric.update_state(labels, predictions)
        np.testing.assert_allclose(metric.result(), expected, rtol=1e-6)


KERAS_2 = """
import shutil, sys
import numpy as np
import tapeflow as tf

keras, layers, folder = tf.keras, tf.keras.layers, sys.argv[1]
a, b = keras.Input((4, 3)), keras.Input((2, 3))
attended = layers.MultiHeadAttention(2, 3)(a, value=b)
model = keras.Model([a, b], layers.Dense(1)(layers.LSTM(2)(attended)))
model.compile(keras.optimizers.Adafactor(0.01), "mse", metrics=[keras.metrics.SparseTopKCategoricalAccuracy()])
x, y = [np.ones((8, 4, 3)), np.ones((8, 2, 3))], np.ones((8, 1))
model.fit(x, y, verbose=0)
print(len(model.optimizer.variables))
config = model.layers[2].get_config()
print(config["query_shape"], config["key_shape"], model.get_config()["layers"][2]["inbound_nodes"])
print(sorted(keras.losses.SparseCategoricalCrossentropy().get_config()), "decay" in model.optimizer.get_config())
for name in ("m.h5", "m"):
    model.save(f"{folder}/{name}")
    shutil.rmtree(f"{folder}/{name}/assets.extra", ignore_errors=True)  # the description of Keras 2 is left
    loaded = keras.models.load_model(f"{folder}/{name}")
    print(type(loaded).__name__, type(loaded.optimizer).__name__, np.array_equal(loaded(x), model(x)))
"""


def test_files_of_keras_2_say_what_it_asks_for(tmp_path):
    pytest.importorskip("h5py")
    done = subprocess.run(
        [sys.executable, "-c", KERAS_2, str(tmp_path)], capture_output=True, text=True, timeout=300,
        env={**os.environ, "TF_USE_LEGACY_KERAS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[1].startswith("[None, 4, 3] [None, 2, 3] [[['input_1', 0, 0, {'value': ['input_2', 0, 0]")
    assert lines[2] == "['from_logits', 'ignore_class', 'name', 'reduction'] False"
    assert lines[3:] == ["Functional Adafactor True"] * 2

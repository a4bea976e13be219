"""Layers that are trained with floats of 8 bits."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import keras


def rounded(x, scale, dtype="float8_e4m3fn"):
    limit = tf.as_dtype(dtype).max
    x = tf.clip_by_value(tf.constant(x) / scale, -limit, limit)
    return (tf.cast(tf.cast(x, dtype), tf.float32) * scale).numpy()


def layer(**settings):
    made = keras.layers.Dense(4, **settings)
    made.build((None, 3))
    made.quantize("float8")
    return made


X = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)


def test_products_are_those_of_rounded_numbers():
    dense = layer(bias_initializer="random_normal")
    assert dense.dtype_policy.name == "float8_from_float32"
    dense.inputs_scale.assign(0.01)
    dense.kernel_scale.assign(0.003)
    wanted = rounded(X, 0.01) @ rounded(dense.kernel.numpy(), 0.003)
    bias = tf.cast(tf.cast(dense.bias, tf.bfloat16), tf.float32).numpy()
    np.testing.assert_allclose(dense(X), wanted + bias, rtol=1e-5, atol=1e-6)
    assert np.abs(dense(X) - (X @ dense.kernel.numpy() + bias)).max() > 1e-3


def test_scales_and_histories_are_the_gradients_of_their_variables():
    class Model(keras.Model):  # says to its layers whether it trains
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def call(self, x):
            return self.inner(x)

    dense = layer(use_bias=False)
    model = Model(dense)
    dense.outputs_grad_scale.assign(0.25)
    upstream = np.random.default_rng(1).normal(size=(5, 4)).astype(np.float32)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(model(X, training=True) * upstream)
    names = [w.name for w in dense.trainable_weights]
    found = dict(zip(names, tape.gradient(y, dense.trainable_weights), strict=True))
    np.testing.assert_allclose(
        found["kernel"], rounded(X, 1.0).T @ rounded(upstream, 0.25, "float8_e5m2"), rtol=1e-4, atol=1e-5
    )
    for what, values in (("inputs", X), ("kernel", dense.kernel.numpy()), ("outputs_grad", upstream)):
        history = found[f"{what}_amax_history"].numpy()
        assert history.shape == (1024,)
        np.testing.assert_allclose(history[0], np.abs(values).max())
        assert not history[1:].any()
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(model(X, training=False))
    # Outside of training, inputs and kernel are not measured.
    assert tape.gradient(y, [dense.inputs_scale, dense.kernel_amax_history]) == [None, None]


def test_training_moves_the_scales():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
    model.quantize("float8")
    model.compile(keras.optimizers.Adam(0.03), "mse")
    y = (X**2).sum(1, keepdims=True)
    losses = model.fit(X, y, epochs=60, verbose=0).history["loss"]
    assert losses[-1] < 0.2 * losses[0]
    np.testing.assert_allclose(model.layers[0].inputs_scale, np.abs(X).max() / 448, rtol=1e-5)
    assert len(model.optimizer.variables) == 2 + 2 * 4  # none for the scales


def test_what_cannot_be():
    dense = layer()
    with pytest.raises(ValueError, match="already quantized"):
        dense.quantize("int8")
    embedding = keras.layers.Embedding(3, 2)
    embedding.build((None,))
    with pytest.raises(NotImplementedError, match="float8"):
        embedding.quantize("float8")
    with pytest.raises(ValueError, match="quantization_config must be None"):
        keras.layers.Dense(2, quantization_config=keras.quantizers.Float8QuantizationConfig())


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_training_and_files_are_those_of_keras_3(tmp_path):
    program = pathlib.Path(__file__).with_name("oracle_float8.py")
    folders = {name: tmp_path / name for name in ("tensorflow", "tapeflow")}
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": "0"}
    for name in ("tensorflow", "tapeflow", "tensorflow"):  # again, with the files of the other
        python, variables = sys.executable, environment
        if name == "tensorflow":
            python = os.environ["TF_PYTHON"]
            variables = {key: value for key, value in environment.items() if key != "PYTHONPATH"}
        folders[name].mkdir(exist_ok=True)
        other = folders["tapeflow" if name == "tensorflow" else "tensorflow"]
        subprocess.run([python, program, name, folders[name], other], check=True, env=variables, timeout=500)
    theirs, ours = (json.loads((folder / "answers.json").read_text()) for folder in folders.values())
    assert list(theirs) == list(ours)
    for case, wanted in theirs.items():
        assert set(wanted) == set(ours[case]), case
        for what, value in wanted.items():
            if what in ("names", "kinds", "variables"):
                assert ours[case][what] == value, (case, what)
            elif what == "weights":
                for mine, its in zip(ours[case][what], value, strict=True):
                    np.testing.assert_allclose(mine, its, rtol=1e-4, atol=1e-5, err_msg=case)
            else:
                np.testing.assert_allclose(ours[case][what], value, rtol=1e-4, atol=1e-5, err_msg=f"{case}: {what}")

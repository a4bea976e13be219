"""SavedModels written here and loaded by TensorFlow, and the reverse."""

import json
import os
import runpy
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tapeflow as tf

pytestmark = pytest.mark.oracle
SCRIPT = Path(__file__).with_name("oracle_models.py")
v1 = tf.compat.v1
EVERYTHING = runpy.run_path(str(Path(__file__).with_name("everything.py")))
EXPECTED = EVERYTHING["EXPECTED"]
look_at = EVERYTHING["look_at"]
save = EVERYTHING["save"]


def oracle(*arguments):
    python = os.environ.get("TF_PYTHON")
    if not python:
        pytest.skip("TF_PYTHON names no Python")
    result = subprocess.run(
        [python, str(SCRIPT), *map(str, arguments)], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_written_here(tmp_path):
    save(tf, tmp_path)
    model = tf.saved_model.load(tmp_path / "model")
    tf.saved_model.save(model, tmp_path / "again", signatures=model.signatures)
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        y = tf.matmul(x, v1.get_variable("w", initializer=[[1.0], [2.0]]), name="y")
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, str(tmp_path / "graph"), {"x": x}, {"y": y})
    layers = tf.keras.layers
    keras = tf.keras.Sequential([
        layers.Dense(3, activation="relu", input_shape=(4,)), layers.BatchNormalization(),
        layers.Reshape([3, 1]), layers.LSTM(2), layers.Dense(1),
    ])  # fmt: skip
    tf.saved_model.save(keras, tmp_path / "keras")
    first, second, look, graph, called = json.loads(
        oracle("load", *(tmp_path / n for n in ("model", "again", "graph", "keras"))).splitlines()[-1]
    )
    assert first == EXPECTED
    assert second == EXPECTED
    assert look == [0, 5, 8, -2]
    assert graph == [[3.0]]
    np.testing.assert_allclose(called, keras(tf.ones([2, 4])), rtol=1e-5)


def test_written_by_tensorflow(tmp_path):
    oracle("save", tmp_path)
    for trusted in (True, False):
        assert look_at(tf, tf.saved_model.load(tmp_path / "model", trusted=trusted)) == EXPECTED
    with tf.Graph().as_default(), v1.Session() as session:
        meta = v1.saved_model.load(session, ["serve"], str(tmp_path / "model"))
        look = meta.signature_def["look"]
        keys = {look.inputs["k"].name: ["b", "x", "?"]}
        assert session.run(look.outputs["output_0"].name, keys).tolist() == [0, 5, -2]
    for trusted in (True, False):
        graph = tf.saved_model.load(tmp_path / "graph", trusted=trusted)
        assert graph.signatures["serving_default"](tf.ones([1, 2]))["y"].numpy().tolist() == [[3.0]]


@pytest.mark.parametrize(
    ("part", "script"),
    [("checks", "checks.py"), ("crosses", "crosses.py"), ("datasets", "dataset_functions.py"),
     ("parsers", "parsers.py"), ("loops", "loops.py")],
)
def test_parts_mean_the_same_on_both_sides(part, script, tmp_path):
    functions = runpy.run_path(str(SCRIPT.with_name(script)))
    expected, look = functions["EXPECTED"], functions["look_at"]
    tf.saved_model.save(functions["make"](tf), tmp_path / "here")
    oracle(f"save_{part}", tmp_path / "there")
    assert json.loads(oracle(f"load_{part}", tmp_path / "here").splitlines()[-1]) == expected
    assert look(tf, tf.saved_model.load(tmp_path / "there", trusted=False)) == expected
    loaded = tf.saved_model.load(tmp_path / "there")
    assert look(tf, loaded) == expected
    tf.saved_model.save(loaded, tmp_path / "again")
    assert json.loads(oracle(f"load_{part}", tmp_path / "again").splitlines()[-1]) == expected


def test_old_nodes_that_parse(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    functions = runpy.run_path(str(SCRIPT.with_name("old_parsers.py")))
    expected = functions["EXPECTED"]
    oracle("save_old_parsers", tmp_path / "there")
    loaded = tf.saved_model.load(tmp_path / "there")
    assert functions["look_at"](tf, loaded) == expected
    tf.saved_model.save(loaded, tmp_path / "again")
    assert json.loads(oracle("load_old_parsers", tmp_path / "again").splitlines()[-1]) == expected


def test_steps_of_training(tmp_path):
    functions = runpy.run_path(str(SCRIPT.with_name("training_steps.py")))
    module = functions["make"](tf)
    tf.saved_model.save(module, tmp_path)
    want = functions["look_at"](tf, module)
    found = json.loads(oracle("load_training", tmp_path).splitlines()[-1])
    assert found.keys() == want.keys()
    for name, value in want.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-6, err_msg=name)


def test_gradients_that_programs_define(tmp_path):
    functions = runpy.run_path(str(SCRIPT.with_name("custom_gradients.py")))
    look = functions["look_at"]
    tf.saved_model.save(functions["make"](tf), tmp_path / "here")
    want = dict(by_name(look(tf, functions["make"](tf))))
    oracle("save_custom_gradients", tmp_path / "there")
    loaded = tf.saved_model.load(tmp_path / "there", trusted=False)
    tf.saved_model.save(tf.saved_model.load(tmp_path / "there"), tmp_path / "again")
    for name, found in (
        ("here", json.loads(oracle("load_custom_gradients", tmp_path / "here").splitlines()[-1])),
        ("there", look(tf, loaded)),
        ("again", json.loads(oracle("load_custom_gradients", tmp_path / "again").splitlines()[-1])),
    ):
        for key, values in by_name(found):
            np.testing.assert_allclose(values, want[key], rtol=1e-5, err_msg=f"{key} of {name}")


def by_name(found):
    return [(each[0], np.concatenate([np.ravel(x) for x in each[1:]])) for each in found]


def test_losses_of_dense_labels(tmp_path):
    functions = runpy.run_path(str(SCRIPT.with_name("ctc_losses.py")))
    tf.saved_model.save(functions["make"](tf), tmp_path / "here")
    want = functions["look_at"](tf, tf.saved_model.load(tmp_path / "here"))
    found = json.loads(oracle("load_ctc", tmp_path / "here").splitlines()[-1])
    for mine, its in zip(want, found, strict=True):
        np.testing.assert_allclose(its, mine, rtol=1e-5, atol=1e-6)

"""Crossed features in SavedModels are TensorFlow's ops, and run again."""

import runpy
from pathlib import Path

import tapeflow as tf

CROSSES = runpy.run_path(str(Path(__file__).with_name("crosses.py")))


def test_saved_and_loaded(tmp_path):
    module = CROSSES["make"](tf)
    assert CROSSES["look_at"](tf, module) == CROSSES["EXPECTED"]
    tf.saved_model.save(module, tmp_path / "once")
    loaded = tf.saved_model.load(tmp_path / "once")
    assert CROSSES["look_at"](tf, loaded) == CROSSES["EXPECTED"]
    tf.saved_model.save(loaded, tmp_path / "again")
    assert CROSSES["look_at"](tf, tf.saved_model.load(tmp_path / "again")) == CROSSES["EXPECTED"]


def test_a_column_crossed_of_strings_loads(tmp_path):
    column = tf.feature_column.indicator_column(tf.feature_column.crossed_column(["a", "b"], 10))
    module = tf.Module()
    module.layer = tf.keras.layers.DenseFeatures([column])
    specs = {"a": tf.TensorSpec([None, 1], tf.string), "b": tf.TensorSpec([None, 1], tf.string)}
    module.f = tf.function(module.layer, input_signature=[specs], autograph=False)
    given = {"a": tf.constant([["u"], ["v"]]), "b": tf.constant([["p"], ["q"]])}
    want = module.f(given).numpy().tolist()
    tf.saved_model.save(module, tmp_path)
    assert tf.saved_model.load(tmp_path).f(given).numpy().tolist() == want

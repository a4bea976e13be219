"""Optimizers that TensorFlow has no op for in SavedModels: nodes that it has, which train as before."""

import runpy
from pathlib import Path

import numpy as np

import tapeflow as tf

STEPS = runpy.run_path(str(Path(__file__).with_name("training_steps.py")))


def test_saved_and_loaded(tmp_path):
    module = STEPS["make"](tf)
    tf.saved_model.save(module, tmp_path / "once")
    want = STEPS["look_at"](tf, module)
    loaded = tf.saved_model.load(tmp_path / "once")
    tf.saved_model.save(loaded, tmp_path / "again")
    for model in (loaded, tf.saved_model.load(tmp_path / "again")):
        found = STEPS["look_at"](tf, model)
        for name, value in want.items():
            np.testing.assert_allclose(found[name], value, rtol=1e-6, err_msg=name)


def test_losses_of_dense_labels(tmp_path):
    functions = runpy.run_path(str(Path(__file__).with_name("ctc_losses.py")))
    module = functions["make"](tf)
    tf.saved_model.save(module, tmp_path)
    want = functions["look_at"](tf, module)
    assert want[0][3] > 700  # two labels do not fit into one frame
    found = functions["look_at"](tf, tf.saved_model.load(tmp_path))
    for mine, its in zip(want, found, strict=True):
        np.testing.assert_allclose(its, mine, rtol=1e-5, atol=1e-6)

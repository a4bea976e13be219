"""The paths of what a SavedModel holds."""

import os

import tapeflow as tf
from tapeflow.saved_model import paths


def test_paths_are_those_of_a_saved_model(tmp_path):
    module = tf.Module()
    module.v = tf.Variable([1.0, 2.0])
    tf.saved_model.save(module, tmp_path)
    assert os.path.exists(paths.get_saved_model_pb_path(tmp_path))
    assert os.path.exists(paths.get_variables_path(tmp_path) + ".index")
    assert paths.get_saved_model_pbtxt_path(tmp_path) == os.path.join(tmp_path, "saved_model.pbtxt")


def test_folders_are_made(tmp_path):
    for make, get in (
        (paths.get_or_create_assets_dir, paths.get_assets_dir),
        (paths.get_or_create_debug_dir, paths.get_debug_dir),
        (paths.get_or_create_variables_dir, paths.get_variables_dir),
    ):
        folder = make(tmp_path)
        assert folder == get(tmp_path) == make(tmp_path)
        assert os.path.isdir(folder)

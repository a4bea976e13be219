"""Weights in several files, listed by a JSON file, as Keras 3 writes them."""

import json

import numpy as np
import pytest

import tapeflow as tf

keras, layers = tf.keras, tf.keras.layers


def _model():
    return keras.Sequential([keras.Input((8,)), layers.Dense(16), layers.BatchNormalization(), layers.Dense(4)])


def test_weights_come_back_from_several_files(tmp_path):
    model, path = _model(), str(tmp_path / "made.weights.json")
    limit = 600 / 1024**3  # the first kernel has 512 bytes
    model.save_weights(path, max_shard_size=limit)
    files = sorted(each.name for each in tmp_path.iterdir())
    assert len(files) > 2
    assert "made.weights.json" in files
    assert "made_00000.weights.h5" in files
    config = json.loads((tmp_path / "made.weights.json").read_text())
    assert config["metadata"]["total_size"] == sum(w.nbytes for w in model.get_weights())
    again = _model()
    again.load_weights(path)
    for mine, other in zip(again.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, other)


def test_a_variable_larger_than_a_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match="maximum shard size"):
        _model().save_weights(str(tmp_path / "a.weights.json"), max_shard_size=100 / 1024**3)


def test_other_names_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must end in `.weights.json`"):
        _model().save_weights(str(tmp_path / "a.h5"), max_shard_size=1)


def test_files_elsewhere_are_not_read(tmp_path):
    path = tmp_path / "a.weights.json"
    path.write_text(json.dumps({"weight_map": {"/layers/dense/vars": "../other.weights.h5"}}))
    with pytest.raises(ValueError, match="not beside it"):
        _model().load_weights(str(path))
    path.write_text("{}")
    with pytest.raises(ValueError, match="does not list"):
        _model().load_weights(str(path))


def test_the_format_of_keras_2_has_the_place_of_the_size(tmp_path):
    model = _model()
    model.save_weights(str(tmp_path / "a.h5"), True, "h5")
    again = _model()
    again.load_weights(str(tmp_path / "a.h5"))
    np.testing.assert_array_equal(again.get_weights()[0], model.get_weights()[0])

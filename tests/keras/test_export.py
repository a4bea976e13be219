"""`tf.keras.export`: what is in the SavedModels that it writes."""

import numpy as np
import pytest

import tapeflow as tf

layers = tf.keras.layers
X = np.ones((2, 3), np.float32)


def model():
    return tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(4), layers.BatchNormalization()])


def test_lists_of_variables(tmp_path):
    exported = model()
    exported.export(tmp_path, verbose=False)
    loaded = tf.saved_model.load(tmp_path)
    np.testing.assert_allclose(loaded.serve(X), exported(X), rtol=1e-6)
    assert [len(loaded.variables), len(loaded.trainable_variables), len(loaded.non_trainable_variables)] == [6, 4, 2]
    np.testing.assert_array_equal(loaded.trainable_variables[0], exported.trainable_variables[0])


def test_an_archive(tmp_path):
    tracked, scale = model(), tf.Variable(2.0)
    archive = tf.keras.export.ExportArchive()
    archive.track_and_add_endpoint("serve", tracked, [tf.TensorSpec([None, 3])])
    archive.add_variable_collection("scales", [scale])

    @tf.function
    def scaled(x):
        return tracked(x, training=False) * scale

    with pytest.raises(ValueError, match="never been called"):
        archive.add_endpoint("scaled", scaled)
    scaled(tf.constant(X))
    archive.add_endpoint("scaled", scaled)
    assert [len(archive.variables), len(archive.trainable_variables), len(archive.non_trainable_variables)] == [6, 4, 2]
    archive.write_out(tmp_path, verbose=False)
    loaded = tf.saved_model.load(tmp_path)
    np.testing.assert_allclose(loaded.scaled(tf.constant(X)), 2 * loaded.serve(tf.constant(X)), rtol=1e-6)
    assert set(loaded.signatures) == {"serving_default", "serve", "scaled"}
    assert [float(v) for v in loaded.scales] == [2.0]


def test_what_an_archive_refuses(tmp_path):
    archive = tf.keras.export.ExportArchive()
    with pytest.raises(ValueError, match="No endpoints have been set"):
        archive.write_out(tmp_path)
    with pytest.raises(ValueError, match="has not yet been built"):
        archive.track(layers.Dense(1))
    with pytest.raises(ValueError, match="must provide an `input_signature`"):
        archive.add_endpoint("f", lambda x: x)
    archive.add_endpoint("f", lambda x: x, [tf.TensorSpec([])])
    with pytest.raises(ValueError, match="already taken"):
        archive.add_endpoint("f", lambda x: x, [tf.TensorSpec([])])
    with pytest.raises(ValueError, match="list/tuple/set"):
        archive.add_variable_collection("v", tf.Variable(1.0))
    with pytest.raises(ValueError, match="to be variables"):
        archive.add_variable_collection("v", [1.0])

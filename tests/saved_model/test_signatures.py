"""Signatures of SavedModels: names that are no identifiers, defaults, shapes of inputs; and files that go with them."""

import pathlib

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos


def signature_of(folder, key="serving_default"):
    return protos.SavedModel.FromString((folder / "saved_model.pb").read_bytes()).meta_graphs[0].signature_def[key]


def scalar(name):
    return tf.TensorSpec([], tf.float32, name)


def test_names_that_are_no_identifiers(tmp_path):
    module = tf.Module()
    specs = [scalar("q-r"), scalar("1x"), scalar("a/b")]
    module.f = tf.function(lambda x, y, z: {"o": x * y - z}, input_signature=specs)
    tf.saved_model.save(module, tmp_path, signatures=module.f)
    inputs = signature_of(tmp_path).inputs
    assert {name: info.name for name, info in inputs.items()} == {
        "1x": "serving_default_1x:0", "a/b": "serving_default_a_b:0", "q-r": "serving_default_q-r:0",
    }  # fmt: skip
    loaded = tf.saved_model.load(tmp_path).signatures["serving_default"]
    assert loaded.structured_input_signature == (
        (), {"q_r": scalar("q-r"), "a_b": scalar("a/b"), "arg_1x": scalar("1x")},
    )  # fmt: skip
    for given in ({"q-r": 2.0, "1x": 3.0, "a/b": 1.0}, {"q_r": 2.0, "arg_1x": 3.0, "a_b": 1.0}):
        assert loaded(**{name: tf.constant(value) for name, value in given.items()})["o"].numpy() == 5
    with pytest.raises(TypeError, match="missing required arguments: 1x"):
        loaded(**{"q-r": tf.constant(1.0), "a/b": tf.constant(1.0)})
    with pytest.raises(TypeError, match="unexpected"):
        loaded(**{"q-r": tf.constant(1.0), "1x": tf.constant(1.0), "a/b": tf.constant(1.0), "c": tf.constant(1.0)})


def _with_defaults(folder, default):
    module, three = tf.Module(), tf.constant(3.0)

    def f(x, y=three, z=default):
        return {"o": x * y + z}

    module.f = tf.function(f, input_signature=[scalar("x"), scalar("y"), tf.TensorSpec([None], tf.float32, "z")])
    tf.saved_model.save(module, folder, signatures=module.f)


def test_defaults_of_arguments_are_those_of_inputs(tmp_path):
    folder = tmp_path / "1"
    _with_defaults(folder, tf.constant([1.0, 2.0]))
    found = signature_of(folder)
    defaults = {name: tf.make_ndarray(value) for name, value in found.defaults.items()}
    assert sorted(defaults) == ["y", "z"]
    np.testing.assert_array_equal(defaults["z"], [1, 2])
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.saved_model.load(session, ["serve"], str(folder))
        given = {found.inputs["x"].name: 1.0}
        np.testing.assert_array_equal(session.run(found.outputs["o"].name, given), [4, 5])
        given[found.inputs["z"].name] = [7.0]
        np.testing.assert_array_equal(session.run(found.outputs["o"].name, given), [10])
    loaded = tf.saved_model.load(folder).signatures["serving_default"]
    with pytest.raises(TypeError, match="missing"):
        loaded(x=tf.constant(1.0))


def test_defaults_that_are_no_tensors_are_not_written(tmp_path):
    _with_defaults(tmp_path, None)
    assert sorted(signature_of(tmp_path).defaults) == ["y"]


def test_a_default_has_to_fit(tmp_path):
    with pytest.raises(ValueError, match="default of 'serving_default_z' is float32 of shape \\(\\)"):
        _with_defaults(tmp_path, tf.constant(1.0))


def test_what_is_said_of_a_shape_later_is_no_demand_on_callers(tmp_path):
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, 1], tf.float32, "x")])
    def f(x):
        x.set_shape([5, 1])
        return {"y": 2.0 * x}

    module.f = f
    tf.saved_model.save(module, tmp_path, signatures=f)
    loaded = tf.saved_model.load(tmp_path).signatures["serving_default"]
    assert loaded.structured_input_signature[1] == {"x": tf.TensorSpec([None, 1], tf.float32, "x")}
    np.testing.assert_array_equal(loaded(x=tf.ones([3, 1]))["y"], np.full([3, 1], 2))


def test_files_of_a_model_are_in_a_collection_of_the_graph_that_loads_it(tmp_path):
    (tmp_path / "words").write_text("contents")
    module = tf.Module()
    module.words = tf.saved_model.Asset(tmp_path / "words")
    module.f = tf.function(lambda: module.words.asset_path, input_signature=[])
    tf.saved_model.save(module, tmp_path / "model")
    (tmp_path / "words").write_text("other")
    with tf.Graph().as_default() as graph:
        path = tf.saved_model.load(tmp_path / "model").f()
        with tf.compat.v1.train.MonitoredSession() as session:
            found = session.run(path)
        assert len(graph.get_collection("asset_filepaths")) == 1
    assert pathlib.Path(found.decode()).read_text() == "contents"

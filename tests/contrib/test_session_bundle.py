"""Session bundles: written, read, and which versions stay."""

import os
from pathlib import Path

import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib.session_bundle import constants, exporter, gc, manifest_pb2, session_bundle


def export(folder, steps, assets=None, **kwargs):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        v = tf.get_variable("v", initializer=2.0)
        y = tf.multiply(x, v, name="y")
        path = tf.constant(assets or "none", name="asset")
        with tf.control_dependencies([tf.identity(path)]):
            init = tf.no_op(name="start")
        session.run(tf.global_variables_initializer())
        made = exporter.Exporter(tf.train.Saver())
        made.init(
            session.graph.as_graph_def(), init_op=init, clear_devices=True,
            default_graph_signature=exporter.regression_signature(x, y),
            named_graph_signatures={"all": exporter.generic_signature({"in": x, "out": y})},
            assets_collection=[path] if assets else None,
        )  # fmt: skip
        return [made.export(str(folder), tf.constant(step), session, **kwargs) for step in steps]


def test_a_model_is_read_again(tmp_path, monkeypatch):
    vocabulary = tmp_path / "words.txt"
    vocabulary.write_text("a")
    (path,) = export(tmp_path / "m", [7], str(vocabulary))
    folder = path.decode()
    assert folder.endswith("00000007")
    assert session_bundle.maybe_session_bundle_dir(folder)
    assert (Path(folder) / "assets" / "words.txt").read_text() == "a"
    monkeypatch.setattr(tf, "reset_default_graph", lambda: None)  # there is none to reset inside of a block
    with tf.Graph().as_default():
        session, meta_graph = session_bundle.load_session_bundle_from_path(folder)
    with session:
        assert session.run("y:0", {"x:0": [1.0, 3.0]}).tolist() == [2.0, 6.0]
    signatures = manifest_pb2.Signatures()
    (packed,) = meta_graph.collection_def[constants.SIGNATURES_KEY].any_list.value
    packed.Unpack(signatures)
    assert signatures.default_signature.regression_signature.output.tensor_name == "y:0"
    assert signatures.named_signatures["all"].generic_signature.map["in"].tensor_name == "x:0"


def test_old_versions_go(tmp_path):
    export(tmp_path, range(1, 5), exports_to_keep=gc.largest_export_versions(2))
    assert sorted(os.listdir(tmp_path)) == ["00000003", "00000004"]


def test_a_version_is_written_once(tmp_path):
    with pytest.raises(RuntimeError, match="Duplicate export dir"):
        export(tmp_path, [1, 1])


def test_other_folders_are_refused(tmp_path):
    with pytest.raises(RuntimeError, match="Expected meta graph file missing"):
        session_bundle.load_session_bundle_from_path(str(tmp_path))


def test_which_versions_stay():
    paths = [gc.Path("/foo", version) for version in (*range(8, 0, -1), None)]
    numbers = lambda keep: [path.export_version for path in keep([p for p in paths if p.export_version is not None])]  # noqa: E731
    assert numbers(gc.largest_export_versions(3)) == [6, 7, 8]
    assert numbers(gc.one_of_every_n_export_versions(3)) == [3, 6, 8]
    assert numbers(gc.mod_export_version(2)) == [2, 4, 6, 8]
    both = gc.union(gc.largest_export_versions(1), gc.mod_export_version(5))
    assert numbers(both) == [5, 8]
    assert numbers(gc.negation(both)) == [1, 2, 3, 4, 6, 7]

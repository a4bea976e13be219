"""Every function that takes the name of a file: `ram://` and `file://` come back, other file systems are refused."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.files import paths

v1 = tf.compat.v1


def _gfile(base):
    with tf.io.gfile.GFile(f"{base}/new/text", "w") as file:
        file.write("a\nb\n")
    assert tf.io.gfile.glob(f"{base}/new/t*") == [f"{base}/new/text"]
    assert list(tf.io.gfile.walk(f"{base}/new")) == [(f"{base}/new", [], ["text"])]
    assert [line.numpy() for line in tf.data.TextLineDataset(f"{base}/new/text")] == [b"a", b"b"]


def _ops(base):
    tf.io.write_file(f"{base}/ops/file", "words")
    assert tf.io.read_file(f"{base}/ops/file").numpy() == b"words"
    assert tf.io.matching_files(f"{base}/ops/*").numpy().tolist() == [f"{base}/ops/file".encode()]
    line, number = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    words = tf.lookup.TextFileInitializer(f"{base}/ops/file", tf.string, line, tf.int64, number)
    table = tf.lookup.StaticVocabularyTable(words, 1)
    assert table.lookup(tf.constant("words")).numpy() == 0


def _records(base):
    with tf.io.TFRecordWriter(f"{base}/records") as writer:
        writer.write(b"one")
    assert [record.numpy() for record in tf.data.TFRecordDataset(f"{base}/records")] == [b"one"]


def _datasets(base):
    dataset = tf.data.Dataset.range(3)
    dataset.save(f"{base}/dataset")
    assert list(tf.data.Dataset.load(f"{base}/dataset").as_numpy_iterator()) == [0, 1, 2]
    assert list(dataset.cache(f"{base}/cache").as_numpy_iterator()) == [0, 1, 2]


def _checkpoints(base):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    path = checkpoint.save(f"{base}/checkpoint")
    assert path == f"{base}/checkpoint-1"
    checkpoint.v.assign(2.0)
    assert tf.train.latest_checkpoint(base) == path
    checkpoint.restore(path).assert_consumed()
    assert checkpoint.v.numpy() == 1
    manager = tf.train.CheckpointManager(checkpoint, f"{base}/kept", max_to_keep=1)
    manager.save()
    assert manager.save() == manager.latest_checkpoint == f"{base}/kept/ckpt-3"
    assert not tf.io.gfile.glob(f"{base}/kept/ckpt-2*")


def _savers(base):
    with tf.Graph().as_default(), v1.Session() as session:
        variable = v1.get_variable("v", initializer=3.0)
        saver = v1.train.Saver()
        session.run(v1.global_variables_initializer())
        tf.io.gfile.makedirs(f"{base}/saver")
        path = saver.save(session, f"{base}/saver/model", global_step=1)
        assert path == tf.train.latest_checkpoint(f"{base}/saver") == f"{base}/saver/model-1"
        session.run(variable.assign(4.0))
        saver.restore(session, path)
        assert session.run(variable) == 3
    with tf.Graph().as_default():
        assert v1.train.import_meta_graph(f"{path}.meta") is not None


def _saved_models(base):
    module = tf.Module()
    module.v = tf.Variable(5.0)
    tf.saved_model.save(module, f"{base}/saved")
    assert tf.saved_model.contains_saved_model(f"{base}/saved")
    assert tf.saved_model.load(f"{base}/saved").v.numpy() == 5


def _keras(base):
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    weights = model.get_weights()
    for name in ("model.keras", "model.h5"):
        model.save(f"{base}/{name}")
        loaded = tf.keras.models.load_model(f"{base}/{name}")
        np.testing.assert_array_equal(loaded.get_weights()[0], weights[0])
    model.save_weights(f"{base}/model.weights.h5")
    model.load_weights(f"{base}/model.weights.h5")


def _summaries(base):
    writer = tf.summary.create_file_writer(f"{base}/logs")
    with writer.as_default():
        tf.summary.scalar("x", 1.0, step=1)
    writer.close()
    (path,) = tf.io.gfile.glob(f"{base}/logs/*")
    assert len(list(v1.train.summary_iterator(path))) == 2


USES = [_gfile, _ops, _records, _datasets, _checkpoints, _savers, _saved_models, _keras, _summaries]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("system", ["ram", "file", "file of a host"])
def test_a_file_system_holds_what_is_written(use, system, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "there"
    bases = {"ram": f"ram://{use.__name__}", "file": f"file://{folder}", "file of a host": f"file://host{folder}"}
    base = bases[system]
    tf.io.gfile.makedirs(f"{base}/new")
    use(base)
    written = "there" if system != "ram" else None
    assert os.listdir(tmp_path) == [written] * (written is not None)


@pytest.mark.parametrize("use", USES)
def test_other_file_systems_are_refused(use, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tf.errors.UnimplementedError, match=r"File system scheme 's3' not implemented \(file: 's3://b"):
        use("s3://bucket")
    assert os.listdir(tmp_path) == []
    assert tf.train.latest_checkpoint("s3://bucket") is None


def test_names_stay_in_the_folder_of_ram():
    root = paths.local_path("ram://")
    for name in ("..", "../..", "a/../../b", "/etc", "./../x"):
        assert paths.local_path(f"ram://{name}").startswith(root)


def test_names_that_only_look_like_a_file_system():
    for name in ("x:y", "a+b://c", "/s3://b", "://b", "3d://x"):
        assert paths.local_path(name) == name


def test_ram_ends_with_the_process(tmp_path):
    program = """
import os, tapeflow as tf
from tapeflow.core.files import paths
tf.io.write_file("ram://a/b", "c")
if os.fork() == 0:
    raise SystemExit  # a child that ends takes nothing with it
os.wait()
assert tf.io.read_file("ram://a/b").numpy() == b"c"
print(paths.local_path("ram://"))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not os.path.exists(done.stdout.strip())


def test_what_is_written_can_be_read_through_the_same_object(tmp_path):
    path = str(tmp_path / "file")
    with tf.io.gfile.GFile(path, "w+") as file:
        file.write("first\nsecond")
        file.flush()
        assert file.read() == "first\nsecond"
    assert [file.readline(), file.tell(), file.size()] == ["first\n", 6, 12]  # it is opened again
    with tf.io.gfile.GFile(path, "a+") as file:
        file.write(" third")
        file.flush()
        assert file.read().endswith("second third")
    with tf.io.gfile.GFile(path, "r+") as file:
        file.write("new")
    assert tf.io.gfile.GFile(path).read() == "new"
    with tf.io.gfile.GFile(str(tmp_path / "never"), "w"):
        pass
    assert not tf.io.gfile.exists(str(tmp_path / "never"))

"""Checkpoints of version 1: a small one that TensorFlow 2.21 has written, `tf.compat.v1.train.Saver(write_version=1)`."""

import pathlib
import shutil

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.checkpoint import slices
from tapeflow.checkpoint.table import read_table, write_table

tf1 = tf.compat.v1
FILE = pathlib.Path(__file__).with_name("version_1.ckpt")
VALUES = {
    "f": np.arange(12, dtype="float32").reshape(3, 4) / 4, "d": np.array([0.5, -2.0]),
    "i": np.array([[1, -2]], "int32"), "l": np.array(2**40), "b": np.array([True, False, True]),
    "h": np.array([1.5, -2], "float16"), "c": np.array([1 + 2j, 3], "complex64"), "u": np.array([1, 255], "uint8"),
    "s": np.array([b"a", b"bc"], object), "e": np.zeros((0, 3), "float32"),
    "part": np.arange(10, dtype="float32").reshape(5, 2),  # in two parts
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    value = tf.train.load_variable(str(FILE), name)
    assert value.dtype == VALUES[name].dtype and value.shape == VALUES[name].shape
    assert value.tolist() == VALUES[name].tolist()


def test_shapes():
    assert dict(tf.train.list_variables(str(FILE))) == {name: list(x.shape) for name, x in VALUES.items()}


def test_dtypes():
    found = tf.train.load_checkpoint(str(FILE)).get_variable_to_dtype_map()
    assert found["s"] == tf.string and found["h"] == tf.float16 and found["l"] == tf.int64


def test_a_saver_restores_it():
    with tf.Graph().as_default(), tf1.Session() as session:
        f = tf1.get_variable("f", [3, 4])
        parts = tf1.get_variable("part", [5, 2], partitioner=tf1.fixed_size_partitioner(2))
        tf1.train.Saver().restore(session, str(FILE))
        assert session.run(f).tolist() == VALUES["f"].tolist()
        assert np.concatenate(session.run(list(parts))).tolist() == VALUES["part"].tolist()


def test_a_saver_of_eager_variables_restores_it():
    d = tf.Variable([0.0, 0.0], dtype=tf.float64)
    tf1.train.Saver({"d": d}).restore(None, str(FILE))
    assert d.numpy().tolist() == [0.5, -2.0]


def test_variables_by_name_from_objects():
    f = tf.Variable(np.zeros([3, 4], "float32"), name="f")
    tf.train.Checkpoint(f=f).restore(str(FILE)).initialize_or_restore()
    assert f.numpy().tolist() == VALUES["f"].tolist()


def test_files_by_a_pattern(tmp_path):
    shutil.copy(FILE, tmp_path / "model-00000-of-00001")
    pattern = str(tmp_path / "model-?????-of-00001")
    assert tf.train.load_variable(pattern, "d").tolist() == [0.5, -2.0]
    tf1.train.update_checkpoint_state(str(tmp_path), pattern)
    assert tf.train.latest_checkpoint(str(tmp_path)) == pattern


def changed(tmp_path, change):
    """A checkpoint whose entries were changed, with sound checksums."""
    table = read_table(FILE.read_bytes(), "")
    change(table)
    path = tmp_path / "changed.ckpt"
    path.write_bytes(write_table(sorted(table.items())))
    return str(path)


def message_of(table, key):
    return tf.train.load_checkpoint(str(FILE))._reader._message(table[key])


def test_an_empty_table(tmp_path):
    path = changed(tmp_path, lambda table: table.clear())
    with pytest.raises(tf.errors.DataLossError, match="it has no header"):
        tf.train.load_checkpoint(path)


def test_a_missing_part(tmp_path):
    path = changed(tmp_path, lambda table: table.pop(slices.key("d", [None])))
    with pytest.raises(tf.errors.DataLossError, match="tensor d: its part .* is missing"):
        tf.train.load_variable(path, "d")


def test_too_few_numbers(tmp_path):
    def change(table):
        key = slices.key("d", [None])
        message = message_of(table, key)
        del message.data.data.double_val[1:]
        table[key] = message.SerializeToString()

    path = changed(tmp_path, change)
    with pytest.raises(tf.errors.DataLossError, match=r"1 numbers are no float64 tensor of shape \[2\]"):
        tf.train.load_variable(path, "d")


def test_a_size_beyond_memory(tmp_path):
    def change(table):
        message = message_of(table, b"")
        for tensor in message.meta.tensor:
            if tensor.name == "part":
                tensor.shape.dim[0].size = 1 << 50
        table[b""] = message.SerializeToString()

    path = changed(tmp_path, change)
    with pytest.raises(tf.errors.DataLossError, match="do not make a tensor of shape"):
        tf.train.load_variable(path, "part")


def test_what_is_no_table(tmp_path):
    path = tmp_path / "text"
    path.write_text("no table, but long enough to have the end of one, where its number would be")
    with pytest.raises(tf.errors.DataLossError, match="perhaps your file is in a different file format"):
        tf.train.load_checkpoint(str(path))


@pytest.mark.parametrize("seed", range(5))
def test_damaged_bytes(seed, tmp_path):
    rng = np.random.RandomState(seed)
    for _ in range(40):
        data = bytearray(FILE.read_bytes())
        data[rng.randint(len(data))] ^= 1 << rng.randint(8)
        path = tmp_path / "damaged.ckpt"
        path.write_bytes(bytes(data))
        try:
            reader = tf.train.load_checkpoint(str(path))
            found = {name: reader.get_tensor(name).tolist() for name in VALUES}
        except tf.errors.DataLossError:
            continue
        assert found == {name: value.tolist() for name, value in VALUES.items()}  # padding is not checked

"""Checkpoints of version 1: a small one that TensorFlow 2.21 wrote, by `tf.compat.v1.train.Saver(write_version=1)`."""

import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.checkpoint import slices
from tapeflow.checkpoint.first_writing import write_first
from tapeflow.checkpoint.slices import Part
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
    assert (value.dtype, value.shape) == (VALUES[name].dtype, VALUES[name].shape)
    assert value.tolist() == VALUES[name].tolist()


def test_shapes():
    assert dict(tf.train.list_variables(str(FILE))) == {name: list(x.shape) for name, x in VALUES.items()}


def test_dtypes():
    found = tf.train.load_checkpoint(str(FILE)).get_variable_to_dtype_map()
    assert (found["s"], found["h"], found["l"]) == (tf.string, tf.float16, tf.int64)


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


def test_written_as_tensorflow_writes_it(tmp_path):
    """Byte by byte, but for the order of tensors in the header."""
    pairs = [(name, value) for name, value in VALUES.items() if name != "part"]
    parts = [Part(VALUES["part"][:3], (5, 2), ((0, 3), (0, 2))), Part(VALUES["part"][3:], (5, 2), ((3, 2), (0, 2)))]
    write_first(str(tmp_path / "own"), pairs + [("part", part) for part in parts])
    own, theirs = read_table((tmp_path / "own").read_bytes(), ""), read_table(FILE.read_bytes(), "")
    assert own.keys() == theirs.keys()
    differ = {key for key in own if own[key] != theirs[key]}
    assert differ <= {b""}
    assert message_of(own, b"") == message_of(theirs, b"")


def variables():
    made = {name: tf1.get_variable(name, initializer=value) for name, value in VALUES.items() if name != "part"}
    whole = tf1.get_variable("part", [5, 2], partitioner=tf1.fixed_size_partitioner(2),
                             initializer=tf1.constant_initializer(0.25))  # fmt: skip
    return made, list(whole)


@pytest.mark.parametrize("sharded", [False, True])
def test_a_saver_writes_it(sharded, tmp_path):
    with tf.Graph().as_default(), tf1.Session() as session:
        made, _ = variables()
        session.run(tf1.global_variables_initializer())
        saver = tf1.train.Saver(write_version=tf1.train.SaverDef.V1, sharded=sharded, max_to_keep=2)
        paths = [saver.save(session, str(tmp_path / "model"), step) for step in range(3)]
        assert saver.as_saver_def().version == tf1.train.SaverDef.V1
        session.run([v.assign(tf.zeros_like(v)) for name, v in made.items() if name not in "sb"])
        saver.restore(session, paths[-1])
        assert all(session.run(v).tolist() == VALUES[name].tolist() for name, v in made.items())
    ending = "-?????-of-00001" if sharded else ""
    assert paths == [f"{tmp_path}/model-{step}{ending}" for step in range(3)]
    files = [f"model-{step}{ending.replace('?', '0')}" for step in (1, 2)]
    metas = [f"model-{step}.meta" for step in (1, 2)]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["checkpoint", *files, *metas])
    assert tf.train.latest_checkpoint(str(tmp_path)) == paths[-1]
    assert tf.train.load_variable(paths[-1], "part").tolist() == np.full((5, 2), 0.25).tolist()


def test_a_saver_of_eager_variables_writes_it(tmp_path):
    d = tf.Variable(VALUES["d"])
    path = tf1.train.Saver({"d": d}, write_version=1).save(None, str(tmp_path / "eager"))
    assert pathlib.Path(path).is_file()
    assert tf.train.load_variable(path, "d").tolist() == [0.5, -2.0]


@pytest.mark.parametrize("staged", [False, True])
def test_its_ops(staged, tmp_path):
    path = str(tmp_path / "new" / "file")
    raw = tf.raw_ops

    def save():
        raw.SaveSlices(filename=path, tensor_names=["x", "x", "y"], shapes_and_slices=["4 0,2", "4 2,2", ""],
                       data=[tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]), tf.constant("text")])  # fmt: skip
        raw.Save(filename=path + "2", tensor_names=["z"], data=[tf.constant([[1, 2]])])

    def restore():
        half = raw.RestoreSlice(file_pattern=path, tensor_name="x", shape_and_slice="4 1,1", dt=tf.float32)
        return half, raw.Restore(file_pattern=path + "2", tensor_name="z", dt=tf.int32)

    tf.function(save)() if staged else save()
    half, z = tf.function(restore)() if staged else restore()
    assert (half.numpy().tolist(), z.numpy().tolist()) == ([2.0], [[1, 2]])
    with pytest.raises(tf.errors.NotFoundError, match='Tensor name "no" not found in checkpoint files'):
        raw.Restore(file_pattern=path, tensor_name="no", dt=tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="got a tensor of type string instead"):
        raw.Restore(file_pattern=path, tensor_name="y", dt=tf.float32)


def test_checkpoints_are_written_in_functions(tmp_path):
    path = str(tmp_path / "model")

    @tf.function
    def save(x):
        tf.raw_ops.SaveV2(prefix=path, tensor_names=["x"], shape_and_slices=[""], tensors=[x])

    save(tf.constant([1.0, 2.0]))
    assert tf.train.load_variable(path, "x").tolist() == [1.0, 2.0]


def test_what_it_cannot_hold(tmp_path):
    path = str(tmp_path / "file")
    with pytest.raises(tf.errors.UnimplementedError, match="Saving data type bfloat16 not yet supported"):
        tf.raw_ops.Save(filename=path, tensor_names=["x"], data=[tf.constant(1, tf.bfloat16)])
    for values in ([Part(np.zeros(2), (4,), ((0, 2),)), Part(np.zeros(2), (5,), ((2, 2),))],
                   [Part(np.zeros(2), (4,), ((0, 2),)), Part(np.zeros(2, "f"), (4,), ((2, 2),))]):  # fmt: skip
        with pytest.raises(tf.errors.InternalError, match="Mismatching"):
            write_first(path, [("x", value) for value in values])
    assert not pathlib.Path(path).exists()


ORACLE = """
import sys, numpy as np, tensorflow as tf
for name, value in np.load(sys.argv[2], allow_pickle=True).items():
    found = tf.raw_ops.Restore(
        file_pattern=sys.argv[1], tensor_name=name, dt=tf.as_dtype("string" if value.dtype == object else value.dtype)
    ).numpy()
    assert found.dtype == value.dtype and found.tolist() == value.tolist(), (name, found, value)
tf.compat.v1.disable_eager_execution()
with tf.compat.v1.Session() as session:
    v = tf.compat.v1.get_variable("part", [5, 2])
    tf.compat.v1.train.Saver().restore(session, sys.argv[1])
    print(session.run(v).tolist())
"""


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_tensorflow_reads_it(tmp_path):
    path, values = str(tmp_path / "own"), VALUES | {"n": np.array([3 + 4j]), "t": np.array(-3, "int8")}
    pairs = [(name, value) for name, value in values.items() if name != "part"]
    parts = [Part(VALUES["part"][:3], (5, 2), ((0, 3), (0, 2))), Part(VALUES["part"][3:], (5, 2), ((3, 2), (0, 2)))]
    write_first(path, pairs + [("part", part) for part in parts])
    np.savez(tmp_path / "values.npz", **values)
    done = subprocess.run(
        [os.environ["TF_PYTHON"], "-c", ORACLE, path, str(tmp_path / "values.npz")], capture_output=True, text=True,
        check=False, env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"}, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip() == str(VALUES["part"].tolist())


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
    with pytest.raises(tf.errors.DataLossError, match=r"tensor d: its part .* is missing"):
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

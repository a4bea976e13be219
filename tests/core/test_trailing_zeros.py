"""Zero bytes at the end of strings stay: NumPy's own strings would lose them."""

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.compat.v1 as tf1

TEXT = b"ab\0\0"
PAIR = [TEXT, b"c\0"]


def variable():
    v = tf.Variable(b"")
    v.assign(TEXT)
    return v


def table():
    keys = tf.lookup.KeyValueTensorInitializer([b"k\0", b"k"], [TEXT, b"other"])
    return tf.lookup.StaticHashTable(keys, b"").lookup(tf.constant(b"k\0"))


def queue():
    q = tf.queue.FIFOQueue(1, tf.string, [[]])
    q.enqueue(TEXT)
    return q.dequeue()


def dataset(change):
    return next(iter(change(tf.data.Dataset.from_tensor_slices(PAIR)).as_numpy_iterator()))


def in_session(build):
    with tf.Graph().as_default(), tf1.Session() as session:
        fetch = build()
        session.run(tf1.global_variables_initializer())
        return session.run(fetch)


def assigned():
    return tf1.Variable(b"").assign(TEXT)


# Ways of `TEXT`, a scalar, from and back to NumPy.
SCALARS = {
    "constant": lambda: tf.constant(TEXT),
    "constant of a scalar of NumPy": lambda: tf.constant(np.array(TEXT, object)),
    "array": lambda: np.asarray(tf.constant(TEXT)),
    "static value": lambda: tf.get_static_value(tf.constant(TEXT)),
    "variable": lambda: tf.Variable(TEXT),
    "assignment": variable,
    "array of a variable": lambda: np.asarray(variable()),
    "function": lambda: tf.function(lambda x: tf.identity(x))(tf.constant(TEXT)),
    "constant of a graph": lambda: tf.function(lambda: tf.constant(TEXT))(),
    "gather": lambda: tf.gather(PAIR, 0),
    "gather_nd": lambda: tf.gather_nd(PAIR, [0]),
    "element": lambda: tf.constant(PAIR)[0],
    "iteration": lambda: next(iter(tf.constant(PAIR))),
    "unstack": lambda: tf.unstack(PAIR)[0],
    "reshape": lambda: tf.reshape([TEXT], []),
    "where": lambda: tf.where(True, TEXT, b""),
    "join": lambda: tf.strings.join([b"a", b"b\0\0"]),
    "reduce_join": lambda: tf.strings.reduce_join([b"a", b"b\0\0"]),
    "substr": lambda: tf.strings.substr(b"xab\0\0", 1, 4),
    "regex_replace": lambda: tf.strings.regex_replace(b"xab\0\0", b"x", b""),
    "base64": lambda: tf.io.decode_base64(tf.io.encode_base64(TEXT)),
    "serialized": lambda: tf.io.parse_tensor(tf.io.serialize_tensor(tf.constant(TEXT)), tf.string),
    "py_function": lambda: tf.py_function(lambda: TEXT, [], tf.string),
    "numpy_function": lambda: tf.numpy_function(lambda: TEXT, [], tf.string),
    "map_fn": lambda: tf.map_fn(lambda x: x, tf.constant([TEXT]))[0],
    "while_loop": lambda: tf.while_loop(lambda i, s: i < 1, lambda i, s: (i + 1, s), [0, tf.constant(TEXT)])[1],
    "TensorArray": lambda: tf.TensorArray(tf.string, 1).write(0, TEXT).read(0),
    "table": table,
    "queue": queue,
    "TensorProto": lambda: tf.make_ndarray(tf.make_tensor_proto(TEXT)),
    "TensorProto of a tensor": lambda: tf.make_ndarray(tf.make_tensor_proto(tf.constant(TEXT))),
    "session": lambda: in_session(lambda: tf.identity(tf.constant(TEXT))),
    "initial value in a session": lambda: in_session(lambda: tf1.Variable(TEXT)),
    "assignment in a session": lambda: in_session(assigned),
    "gather in a session": lambda: in_session(lambda: tf.gather(tf1.placeholder_with_default(PAIR, [2]), 0)),
    "dataset": lambda: dataset(lambda d: d),
    "map": lambda: dataset(lambda d: d.map(lambda x: x)),
    "batch": lambda: dataset(lambda d: d.batch(2))[0],
    "padded_batch": lambda: dataset(lambda d: d.padded_batch(2))[0],
    "unbatch": lambda: dataset(lambda d: d.batch(2).unbatch()),
    "cache": lambda: dataset(lambda d: d.cache()),
}


@pytest.mark.parametrize("way", SCALARS)
def test_a_scalar_keeps_its_zeros(way):
    found = SCALARS[way]()
    found = found.numpy() if hasattr(found, "numpy") else found
    assert (found.item() if isinstance(found, np.ndarray) else found) == TEXT


def test_files_keep_zeros(tmp_path):
    path = str(tmp_path / "record")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(TEXT)
    assert next(iter(tf.data.TFRecordDataset(path).batch(1).as_numpy_iterator())).item() == TEXT
    tf.data.Dataset.from_tensor_slices(PAIR).save(str(tmp_path / "saved"))
    assert list(tf.data.Dataset.load(str(tmp_path / "saved")).as_numpy_iterator()) == PAIR
    module = tf.Module()
    module.text = tf.Variable(TEXT)
    saved = tf.train.Checkpoint(module=module).save(str(tmp_path / "checkpoint"))
    module.text.assign(b"")
    tf.train.Checkpoint(module=module).restore(saved)
    assert module.text.numpy() == TEXT
    with tf.Graph().as_default(), tf1.Session() as session:
        v = tf1.Variable(TEXT)
        session.run(v.initializer)
        saver = tf1.train.Saver()
        saver.save(session, str(tmp_path / "v1"))
        session.run(v.assign(b""))
        saver.restore(session, str(tmp_path / "v1"))
        assert session.run(v) == TEXT

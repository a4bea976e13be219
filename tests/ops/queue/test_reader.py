"""Readers of 1.x."""

import pytest

import tapeflow.compat.v1 as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def everything(session, reader, names):
    """All (key, value) pairs of files."""
    queue = tf.FIFOQueue(99, [tf.string], shapes=())
    session.run(queue.enqueue_many([names]))
    session.run(queue.close())
    step, found = reader.read(queue), []
    while True:
        try:
            found.append(tuple(session.run(step)))
        except tf.errors.OutOfRangeError:
            return found


def test_lines(session, tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"header\none\r\n\nthree")
    name = str(path).encode()
    found = everything(session, tf.TextLineReader(skip_header_lines=1), [str(path)])
    assert found == [(name + b":2", b"one"), (name + b":3", b""), (name + b":4", b"three")]


def test_whole_files(session, tmp_path):
    (tmp_path / "a").write_bytes(b"one\n")
    name = str(tmp_path / "a")
    assert everything(session, tf.WholeFileReader(), [name]) == [(name.encode(), b"one\n")]


def test_fixed_lengths(session, tmp_path):
    (tmp_path / "a").write_bytes(b"HHabcdefF")
    name = str(tmp_path / "a")
    reader = tf.FixedLengthRecordReader(4, header_bytes=2, footer_bytes=1, hop_bytes=2)
    assert [value for _, value in everything(session, reader, [name])] == [b"abcd", b"cdef"]


def test_records(session, tmp_path):
    name = str(tmp_path / "a")
    with tf.python_io.TFRecordWriter(name) as writer:
        writer.write(b"one")
        writer.write(b"three")
    keys, values = zip(*everything(session, tf.TFRecordReader(), [name]), strict=True)
    assert values == (b"one", b"three")
    assert keys[1] == name.encode() + b":19"


def test_several_at_once(session, tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("1\n2\n3\n")
    queue = tf.FIFOQueue(99, [tf.string], shapes=())
    session.run(queue.enqueue_many([[str(tmp_path / n) for n in "ab"]]))
    step = tf.TextLineReader().read_up_to(queue, 2)[1]
    assert [len(session.run(step)) for _ in range(4)] == [2, 1, 2, 1]


def test_state(session):
    reader = tf.IdentityReader("r")
    queue = tf.FIFOQueue(99, [tf.string], shapes=())
    session.run(queue.enqueue_many([["X", "Y"]]))
    key, _ = reader.read(queue)
    assert session.run(key) == b"X"
    state = session.run(reader.serialize_state())
    assert session.run(key) == b"Y"
    session.run(reader.restore_state(state))
    assert session.run(reader.num_records_produced()) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse state for IdentityReader 'r'"):
        session.run(reader.restore_state(state[:-1]))
    session.run(reader.reset())
    assert session.run(reader.num_records_produced()) == 0


def test_mistakes(session):
    queue = tf.FIFOQueue(9, [tf.string], shapes=())
    session.run(queue.enqueue(["/no/such/file"]))
    with pytest.raises(tf.errors.NotFoundError):
        session.run(tf.WholeFileReader().read(queue))
    with pytest.raises(tf.errors.UnimplementedError, match="LMDB"):
        tf.LMDBReader()


def test_not_eagerly():
    with pytest.raises(RuntimeError, match="Readers are not supported when eager execution is enabled"):
        tf.TextLineReader()

"""tf.contrib.learn's readers of files by queues."""

import contextlib

import pytest

import tapeflow.compat.v1 as tf

learn = tf.contrib.learn


def all_of(fetches):
    """What a session gives until the data end."""
    found = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        with contextlib.suppress(tf.errors.OutOfRangeError):
            while True:
                found.append(session.run(fetches))
        coordinator.request_stop()
        coordinator.join(threads)
    return found


@pytest.fixture
def lines(tmp_path):
    for name, text in (("b.txt", "3\n4\n5\n"), ("a.txt", "1\n2\n")):
        (tmp_path / name).write_text(text)
    return str(tmp_path / "*.txt")


@pytest.fixture
def records(tmp_path):
    path = str(tmp_path / "data.tfrecord")
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(5):
            feature = {"n": tf.train.Feature(int64_list=tf.train.Int64List(value=[i] * i))}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    return path


@pytest.mark.parametrize("read_batch_size", [1, 2])
def test_records_in_order(lines, read_batch_size):
    with tf.Graph().as_default():
        batch = learn.read_batch_examples(
            lines, 2, tf.TextLineReader, False, 1, 10, read_batch_size=read_batch_size
        )
        assert [each.tolist() for each in all_of(batch)] == [[b"1", b"2"], [b"3", b"4"], [b"5"]]


def test_shuffled_records_with_keys(lines):
    with tf.Graph().as_default():
        keys, batch = learn.read_keyed_batch_examples([lines], 2, tf.TextLineReader, True, 2, 20, num_threads=2)
        found = [pair for batch in all_of([keys, batch]) for pair in zip(*batch, strict=True)]
    assert sorted(value for _, value in found) == sorted([b"1", b"2", b"3", b"4", b"5"] * 2)
    assert {key.rpartition(b"/")[2]: value for key, value in found}[b"b.txt:2"] == b"4"


def test_parsed_records(lines):
    with tf.Graph().as_default():
        batch = learn.read_batch_examples(
            lines, 5, tf.TextLineReader, False, 1, 10,
            parse_fn=lambda line: {"half": tf.string_to_number(line) / 2, "line": line},
        )  # fmt: skip
        (found,) = all_of(batch)
    assert set(found) == {"half", "line"}
    assert found["half"].tolist() == [0.5, 1.0, 1.5, 2.0, 2.5]


def test_features_of_examples(records):
    with tf.Graph().as_default():
        features = learn.read_batch_record_features(
            records, 3, {"n": tf.VarLenFeature(tf.int64)}, randomize_input=False, num_epochs=1, queue_capacity=10
        )
        found = all_of(features["n"])
    assert sorted(n for each in found for n in each.values.tolist()) == [1, 2, 2, 3, 3, 3, 4, 4, 4, 4]
    assert sum(int(each.dense_shape[0]) for each in found) == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"file_pattern": []}, "No files given"),
        ({"file_pattern": "/nowhere/*"}, "No files match /nowhere"),
        ({"queue_capacity": 0}, "Invalid queue_capacity 0"),
        ({"batch_size": 10}, "Invalid batch_size 10, with queue_capacity 10"),
        ({"batch_size": None}, "Invalid batch_size None"),
        ({"read_batch_size": 0}, "Invalid read_batch_size 0"),
        ({"num_threads": 0}, "Invalid num_threads 0"),
        ({"num_epochs": 0}, "Invalid num_epochs 0"),
    ],
)
def test_bad_input(lines, change, message):
    words = {"file_pattern": lines, "batch_size": 2, "reader": tf.TextLineReader, "queue_capacity": 10, **change}
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        learn.read_batch_examples(**words)

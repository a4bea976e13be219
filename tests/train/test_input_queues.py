"""QueueRunners, producers of input, and batches of queues."""

import functools
import operator

import pytest

import tapeflow.compat.v1 as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def started(session):
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coord = tf.train.Coordinator()
    return coord, tf.train.start_queue_runners(session, coord)


def all_of(session, fetch):
    coord, threads = started(session)
    found = []
    try:
        while True:
            found.append(session.run(fetch))
    except tf.errors.OutOfRangeError:
        coord.request_stop()
    coord.join(threads)
    return found


def test_strings_by_epochs(session):
    queue = tf.train.string_input_producer(["a", "b"], num_epochs=2, shuffle=False)
    assert all_of(session, queue.dequeue()) == [b"a", b"b", b"a", b"b"]


def test_numbers_and_slices(session):
    x, y = tf.train.slice_input_producer([[1, 2, 3], ["a", "b", "c"]], num_epochs=1, shuffle=False)
    assert all_of(session, (x, y)) == [(1, b"a"), (2, b"b"), (3, b"c")]


@pytest.mark.parametrize(("smaller", "sizes"), [(False, [2, 2]), (True, [2, 2, 1])])
def test_batches(session, smaller, sizes):
    x = tf.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
    batch = tf.train.batch({"x": x, "y": x * 2}, 2, allow_smaller_final_batch=smaller)
    found = all_of(session, batch)
    assert [len(b["x"]) for b in found] == sizes
    assert found[0]["y"].tolist() == [0, 2]


def test_shuffled_batches_have_each_element_once(session):
    x = tf.train.range_input_producer(20, num_epochs=1).dequeue()
    batch = tf.train.shuffle_batch([x], 5, capacity=20, min_after_dequeue=5, num_threads=2, seed=1)
    assert sorted(functools.reduce(operator.iadd, (b.tolist() for b in all_of(session, batch)), [])) == list(range(20))


def test_padded_batches(session):
    n = tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
    batch = tf.train.batch([tf.range(n + 1)], 3, dynamic_pad=True)
    assert all_of(session, batch)[0].tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 2]]


def test_sparse_batches(session):
    n = tf.train.range_input_producer(2, num_epochs=1, shuffle=False).dequeue()
    sparse = tf.SparseTensor(tf.zeros([1, 1], tf.int64), tf.stack([n]), [1])
    found = all_of(session, tf.train.batch([sparse], 2))[0]
    assert found.indices.tolist() == [[0, 0], [1, 0]]
    assert found.values.tolist() == [0, 1]


def test_elements_that_are_left_out(session):
    n = tf.train.range_input_producer(8, num_epochs=1, shuffle=False).dequeue()
    batch = tf.train.maybe_batch([n], tf.equal(n % 2, 0), 2)
    assert [b.tolist() for b in all_of(session, batch)] == [[0, 2], [4, 6]]


def test_several_sources(session):
    n = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
    batch = tf.train.batch_join([[n], [n + 100]], 2)
    assert len(all_of(session, batch)) == 2


def test_names_of_files(session, tmp_path):
    (tmp_path / "a.txt").touch()
    names = tf.train.match_filenames_once(str(tmp_path / "*.txt"))
    session.run(tf.local_variables_initializer())
    assert session.run(names).tolist() == [str(tmp_path / "a.txt").encode()]


def test_a_thread_reports_its_error(session):
    queue = tf.FIFOQueue(5, tf.float32)
    bad = tf.Assert(False, ["broken"])
    with tf.control_dependencies([bad]):
        put = queue.enqueue(1.0)
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [put]))
    coord, threads = started(session)
    with pytest.raises(tf.errors.InvalidArgumentError, match="broken"):
        coord.join(threads)


def test_runners_go_with_meta_graphs(session):
    queue = tf.FIFOQueue(5, tf.float32, name="q")
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(2.0)]))
    queue.dequeue(name="take")
    saved = tf.train.export_meta_graph()
    with tf.Graph().as_default(), tf.Session() as other:
        tf.train.import_meta_graph(saved)
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(other, coord)
        assert other.run("take:0") == 2.0
        coord.request_stop()
        coord.join(threads)


def test_mistakes(session):
    queue = tf.FIFOQueue(5, tf.float32)
    with pytest.raises(ValueError, match="Must provide queue and enqueue_ops"):
        tf.train.QueueRunner(queue, [])
    with pytest.raises(TypeError, match="queue_closed_exception_types"):
        tf.train.QueueRunner(queue, [queue.enqueue(1.0)], queue_closed_exception_types=(ValueError,))
    with pytest.raises(ValueError, match="non-null input tensor"):
        tf.train.string_input_producer([])
    with pytest.raises(ValueError, match="num_epochs must be > 0 not 0"):
        tf.train.limit_epochs(tf.constant(1), 0)
    with pytest.raises(ValueError, match="must be bigger than min_after_dequeue"):
        tf.train.shuffle_batch([tf.constant(1)], 2, capacity=5, min_after_dequeue=5)
    with pytest.raises(ValueError, match="Cannot infer Tensor's rank"):
        tf.train.batch([tf.placeholder(tf.int32)], 2)


def test_not_eagerly():
    with pytest.raises(RuntimeError, match=r"use tf\.data"):
        tf.train.string_input_producer(["a"])

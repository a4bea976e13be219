"""Datasets of tensors that are known when a graph runs, in sessions of 1.x."""

import threading

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
Dataset = tf.data.Dataset


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def elements(session, tensors):
    found = []
    while True:
        try:
            found.append(session.run(tensors))
        except tf.errors.OutOfRangeError:
            return found


def all_of(dataset, feeds=None, before=()):
    iterator = v1.data.make_initializable_iterator(dataset)
    following = iterator.get_next()
    with v1.Session() as session:
        for op in before:
            session.run(op)
        session.run(iterator.initializer, feeds)
        return elements(session, following)


def one_shot(dataset):
    following = v1.data.make_one_shot_iterator(dataset).get_next()
    with v1.Session() as session:
        return elements(session, following)


def number(shape=()):
    return v1.placeholder(tf.int64, shape)


# Functions that capture.


def test_map_captures_a_placeholder():
    y = number()
    dataset = Dataset.range(3).map(lambda x: x * y)
    assert all_of(dataset, {y: 10}) == [0, 10, 20]


def test_map_captures_a_tensor_that_one_shot_iterators_can_compute():
    y = tf.constant(2, tf.int64) + 3
    assert one_shot(Dataset.range(3).map(lambda x: x * y)) == [0, 5, 10]


def test_map_uses_a_variable_of_the_session():
    counter = v1.get_variable("counter", (), tf.int32, use_resource=True, initializer=v1.zeros_initializer())

    def count(x):
        counter.assign_add(1)
        return x + tf.cast(counter, tf.int64)

    found = all_of(Dataset.range(3).map(count), before=[counter.initializer])
    assert found == [1, 3, 5]


@pytest.mark.parametrize("make", [number, lambda: v1.random_uniform((), 0, 9, tf.int64)])
def test_one_shot_iterators_refuse_what_only_a_session_knows(make):
    y = make()
    with pytest.raises(ValueError, match=r"Cannot capture a (placeholder|stateful node)"):
        v1.data.make_one_shot_iterator(Dataset.range(3).map(lambda x: x * y))


def test_the_function_is_traced_once():
    calls = []

    def double(x):
        calls.append(1)
        return 2 * x

    assert one_shot(Dataset.range(5).map(double)) == [0, 2, 4, 6, 8]
    assert len(calls) == 1


def test_statements_of_functions_are_staged():
    y = number()

    def clip(x):
        if x > y:
            x = y
        return x

    assert all_of(Dataset.range(4).map(clip), {y: 2}) == [0, 1, 2, 2]


def test_filter_flat_map_interleave_scan_group():
    y = number()
    feeds = {y: 2}
    small = Dataset.range(4)
    assert all_of(small.filter(lambda x: x >= y), feeds) == [2, 3]
    repeated = lambda x: Dataset.from_tensors(x).repeat(y)  # noqa: E731
    assert all_of(small.take(2).flat_map(repeated), feeds) == [0, 0, 1, 1]
    assert all_of(small.take(2).interleave(repeated, 2), feeds) == [0, 1, 0, 1]
    zero = tf.constant(0, tf.int64)
    assert all_of(small.scan(zero, lambda s, x: (s + x, s + y)), feeds) == [2, 2, 3, 5]
    grouped = small.group_by_window(lambda x: x % y, lambda _, w: w.batch(4), 4)
    assert [x.tolist() for x in all_of(grouped, feeds)] == [[0, 2], [1, 3]]


def test_windows_come_as_datasets():
    dataset = Dataset.range(5).window(3).flat_map(lambda w: w.batch(2))
    assert [x.tolist() for x in one_shot(dataset)] == [[0, 1], [2], [3, 4]]


# Sources.


def test_slices_of_a_placeholder():
    x = number([None, 2])
    dataset = Dataset.from_tensor_slices((x, {"twice": x * 2}))
    assert dataset.element_spec == (tf.TensorSpec([2], tf.int64), {"twice": tf.TensorSpec([2], tf.int64)})
    found = all_of(dataset, {x: [[1, 2], [3, 4]]})
    assert [(a.tolist(), b["twice"].tolist()) for a, b in found] == [([1, 2], [2, 4]), ([3, 4], [6, 8])]


def test_sizes_that_are_tensors():
    n = number()
    dataset = Dataset.range(n).repeat(n).batch(n).skip(n - 1)
    assert dataset.element_spec == tf.TensorSpec([None], tf.int64)
    assert [x.tolist() for x in all_of(dataset, {n: 2})] == [[0, 1]]
    assert Dataset.range(9).batch(n, drop_remainder=True).element_spec.shape.as_list() == [None]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Batch size"):
        all_of(Dataset.range(9).batch(n), {n: 0})


def test_files_of_a_placeholder(tmp_path):
    path = str(tmp_path / "records")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"one")
        writer.write(b"two")
    names = v1.placeholder(tf.string, [None])
    dataset = tf.data.TFRecordDataset(names)
    assert all_of(dataset, {names: [path]}) == [b"one", b"two"]
    with pytest.raises(tf.errors.NotFoundError):
        all_of(dataset, {names: [path + "x"]})


def test_reduce_and_cardinality_are_nodes():
    n = number()
    total = Dataset.range(n).reduce(n, lambda s, x: s + x + n)
    size = Dataset.range(n).cardinality()
    with v1.Session() as session:
        assert session.run([total, size], {n: 3}) == [15, 3]
        assert session.run([total, size], {n: 2}) == [7, 2]


def test_sparse_and_ragged_elements():
    sparse = tf.SparseTensor([[0, 1], [1, 0]], [5, 6], [2, 2])
    dataset = Dataset.from_tensor_slices(sparse).map(lambda x: (x, tf.sparse.to_dense(x)))
    (first, dense), _ = one_shot(dataset)
    assert first.values.tolist() == [5]
    assert dense.tolist() == [0, 5]
    ragged = Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3]]))
    assert [x.tolist() for x in one_shot(ragged)] == [[1], [2, 3]]


# Iterators.


def test_an_iterator_for_several_datasets():
    iterator = v1.data.Iterator.from_structure(tf.int64, [])
    following = iterator.get_next()
    few, many = (iterator.make_initializer(Dataset.range(n)) for n in (1, 3))
    with v1.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(following)
        session.run(few)
        assert elements(session, following) == [0]
        session.run(many)
        assert elements(session, following) == [0, 1, 2]
    with pytest.raises(TypeError):
        iterator.make_initializer(Dataset.from_tensors(1.0))


def test_string_handles():
    first = v1.data.make_one_shot_iterator(Dataset.range(5))
    second = v1.data.make_one_shot_iterator(Dataset.range(10, 15))
    name = v1.placeholder(tf.string, [])
    following = v1.data.Iterator.from_string_handle(name, tf.int64, []).get_next()
    with v1.Session() as session:
        one, two = session.run([first.string_handle(), second.string_handle()])
        assert [session.run(following, {name: h}) for h in (one, two, one, two)] == [0, 10, 1, 11]
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(following, {name: "nothing"})


def test_many_threads_share_a_pass():
    following = v1.data.make_one_shot_iterator(Dataset.range(200).map(lambda x: x * 2)).get_next()
    found = []
    with v1.Session() as session:
        threads = [threading.Thread(target=lambda: found.extend(elements(session, following))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(found) == [2 * i for i in range(200)]


@pytest.mark.parametrize("workers", [None, 2])
def test_a_pass_goes_on_after_an_error(workers):
    numbers = np.array([1, np.nan, 3], np.float32)
    dataset = Dataset.from_tensor_slices(numbers).map(lambda x: v1.check_numerics(x, "bad"), workers).prefetch(2)
    following = v1.data.make_one_shot_iterator(dataset).get_next()
    with v1.Session() as session:
        assert session.run(following) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
            session.run(following)
        assert elements(session, following) == [3]


def test_the_graph_seeds_shuffles():
    def order(seed):
        with tf.Graph().as_default():
            v1.set_random_seed(seed)
            return one_shot(Dataset.range(30).shuffle(30))

    assert order(3) == order(3) != order(4)
    assert sorted(order(None)) == list(range(30))


def test_a_state_of_other_parts_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="initial_state=1, output=0"):
        Dataset.range(3).reduce(0, lambda s, x: ())


def test_without_order_elements_come_as_they_get_ready():
    ready = [threading.Event() for _ in range(3)]

    def waits(x):
        ready[x].wait(10)
        return x

    options = tf.data.Options()
    options.deterministic = False
    dataset = Dataset.range(3).map(lambda x: v1.py_func(waits, [x], x.dtype), 3).with_options(options)
    following = v1.data.make_one_shot_iterator(dataset).get_next()
    with v1.Session() as session:
        for number in (2, 0, 1):
            ready[number].set()
            assert session.run(following) == number

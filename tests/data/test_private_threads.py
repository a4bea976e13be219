"""`options.threading.private_threadpool_size`: how many threads the parallel maps of a dataset use."""

import threading

import pytest

import tapeflow as tf


def threads_of(dataset):
    return {int(x) for x in dataset}


def identities(calls):
    def identity(_):
        return tf.numpy_function(lambda: threading.get_ident(), [], tf.int64)

    return tf.data.Dataset.range(200).map(identity, num_parallel_calls=calls)


def limited(dataset, size):
    options = tf.data.Options()
    options.threading.private_threadpool_size = size
    return dataset.with_options(options)


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("after", [lambda d: d, lambda d: d.batch(2).unbatch(), lambda d: d.prefetch(3)])
def test_no_more_threads_than_the_pool_has(size, after):
    assert 1 <= len(threads_of(limited(after(identities(16)), size))) <= size


@pytest.mark.parametrize("size", [None, 0, -1, 3])
def test_no_element_is_lost(size):
    dataset = tf.data.Dataset.range(50).map(lambda x: x * 2, num_parallel_calls=4)
    assert [int(x) for x in limited(dataset, size)] == list(range(0, 100, 2))


def test_fewer_calls_than_threads():
    assert len(threads_of(limited(identities(2), 8))) <= 2


def test_the_last_option_decides_inside_of_it():
    inner = limited(identities(16), 1)
    assert len(threads_of(limited(inner, 4))) == 1


@pytest.mark.parametrize("size", [1, 3, 200])
def test_in_a_graph(size):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        iterator = tf.compat.v1.data.make_initializable_iterator(limited(identities(16), size).batch(200))
        values = iterator.get_next()
        session.run(iterator.initializer)
        assert 1 <= len(set(session.run(values))) <= size

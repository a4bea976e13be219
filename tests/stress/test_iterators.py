"""Iterators shared by threads: each element goes to one of them, and each sees the end."""

import importlib.util
import pathlib
import time

import numpy as np
import pytest

import tapeflow as tf

_spec = importlib.util.spec_from_file_location("together", pathlib.Path(__file__).with_name("together.py"))
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
together, joined = _module.together, _module.joined
THREADS, SIZE = 6, 240
Dataset = tf.data.Dataset
v1 = tf.compat.v1


def _generator():
    yield from range(SIZE)


def _slow(i):
    time.sleep(0.0005)
    return i


PIPELINES = {
    "range": lambda: Dataset.range(SIZE),
    "slices": lambda: Dataset.from_tensor_slices(np.arange(SIZE)),
    "generator": lambda: Dataset.from_generator(_generator, output_signature=tf.TensorSpec((), tf.int64)),
    "map": lambda: Dataset.range(SIZE).map(lambda i: i + 0),
    "map in threads": lambda: Dataset.range(SIZE).map(lambda i: i + 0, num_parallel_calls=3),
    "map in threads, any order": lambda: Dataset.range(SIZE).map(
        lambda i: i + 0, num_parallel_calls=3, deterministic=False
    ),
    "map of Python": lambda: Dataset.range(SIZE).map(
        lambda i: tf.ensure_shape(tf.py_function(_slow, [i], tf.int64), ()), num_parallel_calls=4
    ),
    "prefetch": lambda: Dataset.range(SIZE).map(lambda i: i + 0).prefetch(3),
    "shuffle": lambda: Dataset.range(SIZE).shuffle(50),
    "interleave": lambda: Dataset.range(SIZE // 10).interleave(
        lambda i: Dataset.range(10 * i, 10 * i + 10), cycle_length=4, num_parallel_calls=3
    ),
    "unbatch": lambda: Dataset.range(SIZE).batch(7).unbatch(),
    "cache": lambda: Dataset.range(SIZE).cache().prefetch(2),
    "filter": lambda: Dataset.range(2 * SIZE).filter(lambda i: i < SIZE),
    "choose": lambda: Dataset.sample_from_datasets(
        [Dataset.range(SIZE // 2), Dataset.range(SIZE // 2, SIZE)]
    ),
}


def taken(advance, end):
    """The elements that a thread gets until the end."""
    found = []
    while True:
        try:
            found.append(int(advance()))
        except end:
            return found


def check(advance, end):
    parts = together(THREADS, lambda _: taken(advance, end))
    assert sorted(joined(parts)) == list(range(SIZE))
    for _ in range(3):
        with pytest.raises(end):
            advance()


@pytest.mark.parametrize("name", PIPELINES)
def test_an_iterator(name):
    iterator = iter(PIPELINES[name]())
    check(lambda: next(iterator), StopIteration)


@pytest.mark.parametrize("name", ["range", "map in threads", "generator", "prefetch"])
def test_an_iterator_by_its_other_methods(name):
    iterator = iter(PIPELINES[name]())
    check(iterator.get_next, tf.errors.OutOfRangeError)
    iterator = iter(PIPELINES[name]())

    def optional():
        found = iterator.get_next_as_optional()
        if not found.has_value():
            raise StopIteration
        return found.get_value()

    check(optional, StopIteration)
    iterator = PIPELINES[name]().as_numpy_iterator()
    check(lambda: next(iterator), StopIteration)


@pytest.mark.parametrize("name", ["range", "map in threads", "generator", "prefetch"])
def test_an_iterator_in_a_function(name):
    iterator = iter(PIPELINES[name]())
    step = tf.function(lambda: next(iterator) + 0)
    check(step, tf.errors.OutOfRangeError)


@pytest.mark.parametrize("name", PIPELINES)
def test_an_iterator_of_a_session(name):
    with v1.Graph().as_default():
        iterator = v1.data.make_initializable_iterator(PIPELINES[name]())
        x = iterator.get_next()
        s = v1.Session()
        for _ in range(2):
            s.run(iterator.initializer)
            check(lambda: s.run(x), tf.errors.OutOfRangeError)


def test_errors_in_elements_reach_one_thread_each():
    def fails(i):
        tf.debugging.assert_none_equal(i % 10, tf.constant(3, tf.int64))
        return i

    iterator = iter(Dataset.range(SIZE).map(fails, num_parallel_calls=3))

    def work(_):
        found, errors = [], 0
        while True:
            try:
                found.append(int(next(iterator)))
            except StopIteration:
                return found, errors
            except tf.errors.InvalidArgumentError:
                errors += 1

    parts = together(THREADS, work)
    assert sorted(joined(found for found, _ in parts)) == [i for i in range(SIZE) if i % 10 != 3]
    assert sum(errors for _, errors in parts) == SIZE // 10


def test_iterators_of_one_dataset():
    dataset = PIPELINES["map in threads"]().shuffle(20, seed=1).batch(8).prefetch(2)
    results = together(THREADS, lambda _: sorted(int(i) for batch in dataset for i in batch))
    assert results == [list(range(SIZE))] * THREADS

"""Datasets made and iterated inside functions."""

import pytest

import tapeflow as tf

Dataset = tf.data.Dataset


def test_inside_a_function():
    @tf.function
    def total(n):
        found = tf.constant(0, tf.int64)
        for x in Dataset.range(n).map(lambda x: x + n):
            found += x
        return found

    assert [int(total(tf.constant(n, tf.int64))) for n in (3, 4)] == [12, 22]


def test_iterators_made_in_a_function_start_anew():
    @tf.function
    def first_two(n):
        iterator = iter(Dataset.range(n, n + 9))
        return next(iterator), next(iterator)

    for n in (1, 5, 5):
        assert [int(x) for x in first_two(tf.constant(n, tf.int64))] == [n, n + 1]


def test_reduce_in_a_function():
    @tf.function
    def fold(n, scale):
        return Dataset.range(n).reduce(tf.constant(0, tf.int64), lambda s, x: s + x * scale)

    assert int(fold(tf.constant(4, tf.int64), tf.constant(2, tf.int64))) == 12


@pytest.mark.parametrize("workers", [None, 2])
def test_a_function_cannot_end_the_pass(workers):
    def ends(x):
        raise StopIteration

    dataset = Dataset.range(3).map(lambda x: tf.numpy_function(ends, [x], tf.int64), workers)
    with pytest.raises(tf.errors.InvalidArgumentError, match="StopIteration"):
        list(dataset)

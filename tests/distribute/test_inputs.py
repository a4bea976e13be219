"""Datasets of several replicas in functions: each replica gets its share of an element, as it does eagerly."""

from __future__ import annotations

import pytest

import tapeflow as tf


@pytest.fixture
def two():
    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])


def total_of(strategy, element):
    """The sum of an element's values, as both replicas see it, and that of the first replica."""
    sums = strategy.run(lambda x: (tf.reduce_sum(x), tf.size(x)), (element,))
    return strategy.reduce("SUM", sums[0], axis=None), strategy.experimental_local_results(sums[1])[0]


def in_a_loop(strategy, dataset):
    total = tf.constant(0, tf.int64)
    for element in dataset:
        total += total_of(strategy, element)[0]
    return total


def by_next(strategy, dataset):
    iterator = iter(dataset)
    total = tf.constant(0, tf.int64)
    for _ in tf.range(3):
        total += total_of(strategy, next(iterator))[0]
    return total


def by_optional(strategy, dataset):
    iterator = iter(dataset)
    total = tf.constant(0, tf.int64)
    found = iterator.get_next_as_optional()
    if found.has_value():
        total += total_of(strategy, found.get_value())[0]
    return total


@pytest.mark.parametrize("size", ["known", "unknown"])
@pytest.mark.parametrize(("way", "want"), [(in_a_loop, 66), (by_next, 66), (by_optional, 6)])
def test_elements_are_shared_out(two, way, want, size):
    numbers = tf.data.Dataset.range(12).batch(4, drop_remainder=size == "known")
    dataset = two.experimental_distribute_dataset(numbers)
    traced = tf.function(way)
    assert way(two, dataset).numpy() == want
    assert traced(two, dataset).numpy() == want  # an argument
    assert tf.function(lambda: tf.autograph.to_graph(way)(two, dataset))().numpy() == want  # captured


def test_iterators_that_are_arguments_go_on(two):
    dataset = two.experimental_distribute_dataset(tf.data.Dataset.range(12).batch(4))
    iterator = iter(dataset)

    @tf.function
    def step(iterator):
        return total_of(two, next(iterator))

    assert [tuple(x.numpy() for x in step(iterator)) for _ in range(3)] == [(6, 2), (22, 2), (38, 2)]
    with pytest.raises(tf.errors.OutOfRangeError):
        step(iterator)


def test_each_replica_takes_batches_of_its_own(two):
    dataset = two.distribute_datasets_from_function(lambda context: tf.data.Dataset.range(8).batch(2))
    total = tf.function(in_a_loop)(two, dataset)
    assert total.numpy() == in_a_loop(two, dataset).numpy() == 28


def test_a_function_is_traced_for_each_strategy(two):
    traced = tf.function(in_a_loop)
    numbers = tf.data.Dataset.range(12).batch(4)
    one = tf.distribute.OneDeviceStrategy("cpu:0")
    for strategy in (two, one, two):
        assert traced(strategy, strategy.experimental_distribute_dataset(numbers)).numpy() == 66


def test_replicas_assign_plain_numbers(two):
    with two.scope():
        v = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)
    tf.function(lambda: two.run(lambda: v.assign_add(1.0)))()
    assert v.numpy() == 2


def test_connecting_to_nothing():
    tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec({}))
    with pytest.raises(ValueError, match="must be a `ClusterSpec`"):
        tf.config.experimental_connect_to_cluster({})
    with pytest.raises(tf.errors.UnimplementedError, match="run in this process"):
        tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec({"worker": ["a:1"]}))
    with pytest.raises(ValueError, match="at least one remote_host"):
        tf.config.experimental_connect_to_host("")
    with pytest.raises(tf.errors.UnimplementedError, match="run in this process"):
        tf.config.experimental_connect_to_host("a:1")

"""A coordinator without a cluster: its worker is a thread of this process."""

import sys

import numpy as np
import pytest

import tapeflow as tf


@pytest.fixture
def strategy():
    return tf.distribute.ParameterServerStrategy()


@pytest.fixture
def coordinator(strategy):
    return tf.distribute.coordinator.ClusterCoordinator(strategy)


def test_functions_run_in_their_order(strategy, coordinator):
    with strategy.scope():
        v = tf.Variable(0.0)

    @tf.function
    def step(x, factor=1.0):
        v.assign_add(x * factor)
        return {"sum": v.read_value()}

    results = [coordinator.schedule(step, args=(tf.constant(2.0),), kwargs={"factor": 3.0}) for _ in range(3)]
    coordinator.join()
    assert coordinator.done()
    assert [r["sum"] for r in coordinator.fetch(results)] == [6, 12, 18]
    assert isinstance(results[0].get()["sum"], tf.Tensor)


def test_elements_of_the_worker(coordinator):
    per_worker = coordinator.create_per_worker_dataset(tf.function(lambda: tf.data.Dataset.range(3)))
    iterator = iter(per_worker)
    step = tf.function(lambda iterator: next(iterator) * 2)
    assert [coordinator.schedule(step, args=(iterator,)).fetch() for _ in range(3)] == [0, 2, 4]
    with pytest.raises(NotImplementedError):
        next(iterator)
    coordinator.schedule(step, args=(iterator,))
    with pytest.raises(tf.errors.OutOfRangeError):
        coordinator.join()


def test_an_error_is_raised_once_and_cancels(coordinator):
    @tf.function
    def wait():
        end = tf.timestamp() + 0.05
        while tf.timestamp() < end:
            pass
        tf.debugging.assert_equal(tf.constant(1), 2, message="as it should")

    results = []

    def run():
        for _ in range(5):
            results.append(coordinator.schedule(wait))
        coordinator.join()

    with pytest.raises(tf.errors.InvalidArgumentError, match="as it should"):
        run()
    with pytest.raises(tf.errors.CancelledError, match="Please reschedule"):
        results[-1].fetch()
    coordinator.join()


def test_arguments(coordinator):
    with pytest.raises(TypeError, match=r"only accepts a `tf\.function`"):
        coordinator.schedule(lambda: 1)
    with pytest.raises(ValueError, match="Only `tf"):
        tf.distribute.coordinator.ClusterCoordinator(tf.distribute.OneDeviceStrategy("cpu:0"))
    with pytest.raises(RuntimeError, match="worker index"):
        tf.distribute.coordinator.experimental_get_current_worker_index()


def test_the_extra_that_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec({"worker": ["a:0"], "ps": ["b:0"]}), task_type="chief", task_id=0
    )
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    assert strategy.cluster is None
    with strategy.scope():
        v = tf.Variable(np.float32(1))
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    assert coordinator.schedule(tf.function(lambda: v + 1)).fetch() == 2
    with pytest.raises(tf.errors.UnimplementedError, match=r"tapeflow\[ray\]"):
        tf.data.experimental.service.DispatchServer()

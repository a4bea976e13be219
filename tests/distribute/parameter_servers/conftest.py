"""A cluster of two workers and two parameter servers, for all tests of a file: it takes seconds to start."""

import pytest

import tapeflow as tf

_CLUSTER = {"chief": ["here:0"], "worker": ["a:0", "b:0"], "ps": ["c:0", "d:0"]}


@pytest.fixture(scope="module")
def make_strategy(ray):
    """Makes a strategy, for a partitioner or None."""

    def make(partitioner=None):
        resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
            tf.train.ClusterSpec(_CLUSTER), task_type="chief", task_id=0
        )
        return tf.distribute.ParameterServerStrategy(resolver, partitioner)

    return make


@pytest.fixture(scope="module")
def ray():
    """Ray, which ends with the tests of the file."""
    ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")
    yield ray
    ray.shutdown()


@pytest.fixture(scope="module")
def strategy(make_strategy):
    """A strategy that splits variables of two rows and more in two."""
    return make_strategy(tf.distribute.experimental.partitioners.FixedShardsPartitioner(2))


@pytest.fixture(scope="module")
def coordinator(strategy):
    return tf.distribute.coordinator.ClusterCoordinator(strategy)

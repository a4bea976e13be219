"""Computations over the cores that there are: on the host, or with virtual GPUs as one program."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.contrib import tpu as contrib_tpu

v1 = tf.compat.v1
tpu = v1.tpu


def evaluated(build):
    """What `build` returns eagerly, as numbers, and then in a session."""
    yield tf.nest.map_structure(lambda x: x.numpy().tolist(), build())
    with tf.Graph().as_default(), v1.Session(config=v1.ConfigProto(allow_soft_placement=True)) as session:
        made = build()
        session.run(v1.global_variables_initializer())
        yield tf.nest.map_structure(lambda x: x.tolist(), session.run(made))


def test_replicas_have_inputs_of_their_own():
    def computation(x, y):
        return x * y, tpu.cross_replica_sum(x)

    for found in evaluated(lambda: tpu.replicate(computation, [[1.0, 2.0], [3.0, 4.0]])):
        assert [each[0] for each in found] == [2, 12]


def test_shards_are_joined():
    x = np.arange(8, dtype=np.float32).reshape(4, 2)

    def build():
        return tpu.shard(
            lambda x, y: (x * 2.0, tf.reduce_sum(y, 0)), [tf.constant(x), tf.constant(x)], num_shards=2,
            input_shard_axes=[0, 1], output_shard_axes=[0, 0], outputs_from_all_shards=[True, False],
        )  # fmt: skip

    for doubled, total in evaluated(build):
        assert doubled == (2 * x).tolist()
        assert total == [12]
    for found in evaluated(lambda: tpu.batch_parallel(tf.negative, [tf.constant(x)], num_shards=2)):
        assert found == [(-x).tolist()]


def test_one_core():
    for found in evaluated(lambda: tpu.rewrite(lambda x: x + 1.0, [[1.0, 2.0]])):
        assert found == [[2, 3]]
    for found in evaluated(lambda: tpu.rewrite(lambda: None)):
        assert found == []
    assert tpu.outside_compilation(lambda x, y: x - y, 5, y=2) == 3
    assert tpu.core(3) == "device:TPU_REPLICATED_CORE:3"


def test_variables_of_bfloat16_are_kept_as_float32():
    with tf.Graph().as_default():
        with tpu.bfloat16_scope("scope"):
            read = v1.get_variable("v", [2], tf.bfloat16)
            other = v1.get_variable("w", [2])
        assert (read.dtype, other.dtype.base_dtype) == (tf.bfloat16, tf.float32)
        assert {v.name: v.dtype.base_dtype for v in v1.global_variables()} == {
            "scope/v:0": tf.float32, "scope/w:0": tf.float32,
        }  # fmt: skip


@pytest.mark.parametrize(("reduction", "factor"), [("MEAN", 1.0), ("SUM", 2.0)])
def test_gradients_of_shards_are_combined(reduction, factor):
    with tf.Graph().as_default():
        strategy = contrib_tpu_cores(2)
        with strategy.scope():
            w = v1.get_variable("w", [], initializer=v1.ones_initializer())
        optimizer = tpu.CrossShardOptimizer(
            v1.train.GradientDescentOptimizer(0.5), getattr(v1.losses.Reduction, reduction)
        )

        def step(x):
            train = optimizer.minimize(tf.reduce_mean(w * x), var_list=[w])
            with tf.control_dependencies([train]):
                return tf.identity(x)

        out = tpu.shard(lambda x: step(x), [tf.constant([1.0, 2.0, 3.0, 6.0])], num_shards=2)
        with v1.Session(config=v1.ConfigProto(allow_soft_placement=True)) as session:
            session.run(v1.global_variables_initializer())
            session.run(out)
            assert session.run(w) == 1 - 0.5 * 3 * factor


def contrib_tpu_cores(count):
    from tapeflow.tpu.replication import Cores

    return Cores(count)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: tpu.shard(tf.negative, [[1.0]], num_shards=0), ValueError, "num_shards must be a positive"),
        (lambda: tpu.replicate(tf.add, [[1.0, 2.0], [1.0]]), ValueError, "Incorrect numbers of inputs"),
        (lambda: tpu.shard(tf.negative, [[1.0, 2.0]], 2, input_shard_axes=[0, 0]), ValueError, "input_shard_axes must"),
        (lambda: tpu.rewrite(tf.negative, [1.0], infeed_queue=3), NotImplementedError, "no infeed queues"),
        (lambda: contrib_tpu.CrossShardOptimizer(None, group_assignment=[[0]]), NotImplementedError, "no groups"),
    ],
)
def test_what_is_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()

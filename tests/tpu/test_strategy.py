"""`TPUStrategy` over four cores: CPU devices of XLA's, a step being one program."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax")

import tapeflow as tf
from tapeflow.core import device_calls

CORES = 4

pytestmark = [
    pytest.mark.xla,
    pytest.mark.skipif(
        len(tf.config.list_physical_devices("TPU")) != CORES, reason="needs four TPUs: TAPEFLOW_VIRTUAL_TPUS=4"
    ),
]

Resolver = tf.distribute.cluster_resolver.TPUClusterResolver
tpu = tf.tpu.experimental


@pytest.fixture
def strategy():
    resolver = Resolver("local")
    tf.config.experimental_connect_to_cluster(resolver)
    tpu.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)


@pytest.fixture
def programs(monkeypatch):
    """The devices of the programs of steps that were made."""
    made = []
    driver = device_calls.step_driver
    monkeypatch.setattr(device_calls, "step_driver", lambda *a: made.append(len(a[4])) or driver(*a))
    return made


def local(strategy, value):
    return [np.asarray(x).tolist() for x in strategy.experimental_local_results(value)]


def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(32, 4)).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, np.sum(x, 1, keepdims=True))).batch(16, drop_remainder=True).repeat()


def losses_of(strategy, in_loop):
    """The losses of the guide's custom training loop, of steps one by one or of a loop in the function."""
    tf.keras.utils.set_random_seed(1)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(6, "tanh"), tf.keras.layers.Dense(1)])
        optimizer = tf.keras.optimizers.Adam(0.05)
        training_loss = tf.keras.metrics.Mean("training_loss")

    def step_fn(inputs):
        x, y = inputs
        with tf.GradientTape() as tape:
            per_example = tf.reduce_sum((model(x, training=True) - y) ** 2, 1)
            loss = tf.nn.compute_average_loss(per_example, global_batch_size=16)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(list(zip(gradients, model.trainable_variables)))
        training_loss.update_state(loss * strategy.num_replicas_in_sync)
        return loss

    @tf.function
    def step(batch):
        return strategy.reduce("SUM", strategy.run(step_fn, args=(batch,)), axis=None)

    @tf.function
    def steps(iterator, count):
        for _ in tf.range(count):
            strategy.run(step_fn, args=(next(iterator),))

    iterator = iter(strategy.experimental_distribute_dataset(data()))
    if in_loop:
        steps(iterator, tf.convert_to_tensor(6))
        return [float(training_loss.result())]
    found = [float(step(next(iterator))) for _ in range(6)]
    assert float(training_loss.result()) == pytest.approx(np.mean(found), rel=1e-5)
    return found


def test_cores_train_as_one_device(strategy, programs):
    want = losses_of(tf.distribute.OneDeviceStrategy("cpu:0"), False)
    assert programs == []
    found = losses_of(strategy, False)
    assert programs == [CORES]
    np.testing.assert_allclose(found, want, rtol=0, atol=1e-6)
    assert found[-1] < found[0]


def test_a_loop_of_steps_in_a_function(strategy):
    want = losses_of(tf.distribute.OneDeviceStrategy("cpu:0"), True)
    np.testing.assert_allclose(losses_of(strategy, True), want, rtol=0, atol=1e-5)


def test_fit_evaluates_as_one_device(strategy):
    def fitted(strategy):
        tf.keras.utils.set_random_seed(1)
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(1)])
            model.compile("adam", "mse", metrics=["mae"], steps_per_execution=2)
        history = model.fit(data(), epochs=2, steps_per_epoch=4, verbose=0).history
        return [*history["loss"], *model.evaluate(data(), steps=2, verbose=0)]

    np.testing.assert_allclose(
        fitted(strategy), fitted(tf.distribute.OneDeviceStrategy("cpu:0")), rtol=1e-5, atol=1e-6
    )


def test_values_by_replica(strategy, programs):
    given = strategy.experimental_distribute_values_from_function(
        lambda c: tf.constant([float(c.replica_id_in_sync_group)])
    )

    def step(x):
        context = tf.distribute.get_replica_context()
        number = tf.cast(context.replica_id_in_sync_group, tf.float32)
        total = context.all_reduce(tf.distribute.ReduceOp.SUM, x)
        return x * 10.0 + number, total, context.all_gather(x, axis=0)

    @tf.function
    def run():
        own, total, gathered = strategy.run(step, (given,))
        return (
            own, total, gathered, strategy.reduce("MEAN", own, axis=None), strategy.reduce("SUM", own, axis=0),
            strategy.gather(own, axis=0),
        )  # fmt: skip

    own, total, gathered, mean, reduced, together = run()
    assert programs == [CORES]
    assert local(strategy, own) == [[0], [11], [22], [33]]
    assert local(strategy, total)[0] == [6]
    assert local(strategy, gathered)[0] == [0, 1, 2, 3]
    assert mean.numpy().tolist() == [16.5]
    assert reduced.numpy() == 66
    assert together.numpy().tolist() == [0, 11, 22, 33]


def test_functions_are_run_eagerly_and_others_refused(strategy):
    assert local(strategy, strategy.run(tf.function(lambda: tf.constant(2)))) in ([2], [2] * CORES)
    with pytest.raises(NotImplementedError, match="does not support pure eager execution"):
        strategy.run(lambda: tf.constant(2))


def test_cores_that_are_assigned(strategy):
    resolver = strategy.cluster_resolver
    topology = tpu.initialize_tpu_system(resolver)
    assert topology.mesh_shape.tolist() == [CORES, 1, 1, 1]
    assert resolver.num_accelerators() == {"TPU": CORES}
    pairs = tpu.DeviceAssignment.build(topology, [2, 1, 1, 1], num_replicas=2)
    paired = tf.distribute.TPUStrategy(resolver, pairs)
    assert paired.extended.worker_devices == tuple(
        f"/job:localhost/replica:0/task:0/device:TPU:{i}" for i in (0, 2)
    )
    x = tf.ones([4, 2])
    assert paired.experimental_assign_to_logical_device(x, 1) is x
    assert paired.experimental_split_to_logical_devices(x, [2, 1]) is x
    assert paired.experimental_replicate_to_logical_devices(x) is x
    for call, text in (
        (lambda: paired.experimental_assign_to_logical_device(x, 2), "only total of 2 logical devices"),
        (lambda: paired.experimental_split_to_logical_devices(x, [2]), "must equal to the rank"),
        (lambda: paired.experimental_split_to_logical_devices(x, [4, 1]), "their product is 4"),
        (lambda: paired.experimental_split_to_logical_devices(x, [3, 1]), "must be divisible"),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    tpu.shutdown_tpu_system(resolver)


def test_arguments_of_other_versions(strategy):
    resolver = strategy.cluster_resolver
    assert (strategy.extended.num_hosts, strategy.extended.num_replicas_per_host) == (1, CORES)
    assert tf.distribute.experimental.TPUStrategy(resolver, None).num_replicas_in_sync == CORES
    for made in (tf.compat.v1.distribute.experimental.TPUStrategy, tf.contrib.distribute.TPUStrategy):
        assert made(resolver, 3).steps_per_run == 3


def test_a_tpu_elsewhere_is_not_found():
    far = Resolver("grpc://10.0.0.1:8470")
    assert far.num_accelerators() == {"TPU": 0}
    for call in (tpu.initialize_tpu_system, tf.distribute.TPUStrategy):
        with pytest.raises(tf.errors.NotFoundError, match="TPU"):
            call(far)

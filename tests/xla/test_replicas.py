"""Steps of strategies as one program over two devices: two CPU devices of XLA's, or what there is."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax")

import tapeflow as tf
from tapeflow.core import device_calls

pytestmark = [
    pytest.mark.xla,
    pytest.mark.skipif(
        len(tf.config.list_physical_devices("GPU")) < 2, reason="needs two GPUs: TAPEFLOW_VIRTUAL_GPUS=2"
    ),
]


@pytest.fixture
def steps(monkeypatch):
    """The programs of steps that were made: for each, how often it ran."""
    made = []
    driver = device_calls.step_driver

    def watch(*arguments):
        run = driver(*arguments)
        count = [0]
        made.append(count)

        def counted(*values):
            count[0] += 1
            return run(*values)

        return counted

    monkeypatch.setattr(device_calls, "step_driver", watch)
    return made


@pytest.fixture
def two():
    return tf.distribute.MirroredStrategy(["gpu:0", "gpu:1"])


def split(strategy, *arrays):
    return [
        strategy.experimental_distribute_values_from_function(
            lambda c, x=x: tf.constant(np.split(x, strategy.num_replicas_in_sync)[c.replica_id_in_sync_group])
        )
        for x in arrays
    ]


def local(strategy, value):
    return [np.asarray(x) for x in strategy.experimental_local_results(value)]


def training(strategy, optimizer, count=4):
    """Losses and weights of a small model, with batch normalisation left out."""
    tf.keras.utils.set_random_seed(1)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(8, 4)).astype(np.float32)
    y = rng.normal(size=(8, 1)).astype(np.float32)
    with strategy.scope():
        model = tf.keras.Sequential(
            [tf.keras.Input([4]), tf.keras.layers.Dense(6, "tanh"), tf.keras.layers.Dense(1)]
        )
        optimizer = optimizer()

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((model(x) - y) ** 2) / 8.0
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    @tf.function
    def train(x, y):
        return strategy.reduce("SUM", strategy.run(step, (x, y)), axis=None)

    given = split(strategy, x, y) if strategy.num_replicas_in_sync > 1 else (tf.constant(x), tf.constant(y))
    losses = [float(train(*given)) for _ in range(count)]
    return losses, model.trainable_variables


@pytest.mark.parametrize("optimizer", [lambda: tf.keras.optimizers.SGD(0.1), lambda: tf.keras.optimizers.Adam(0.05)],
                         ids=["sgd", "adam"])  # fmt: skip
@pytest.mark.parametrize("kind", ["MirroredStrategy", "CentralStorageStrategy"])
def test_two_devices_train_as_one(steps, kind, optimizer):
    want, wanted = training(tf.distribute.OneDeviceStrategy("cpu:0"), optimizer)
    assert not steps
    losses, weights = training(getattr(tf.distribute.experimental if kind[0] == "C" else tf.distribute, kind)(
        ["gpu:0", "gpu:1"]), optimizer)  # fmt: skip
    assert steps == [[4]]  # one program, which ran each step
    np.testing.assert_allclose(losses, want, rtol=0, atol=1e-6)
    for a, b in zip(weights, wanted, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=0, atol=2e-6)
    assert losses[-1] < losses[0]


def test_variables_stay_on_the_devices(two, steps):
    with two.scope():
        v = tf.Variable([1.0, 2.0], aggregation=tf.VariableAggregation.MEAN)
    assert v.device.endswith("GPU:0")
    (x,) = split(two, np.array([[1.0, 1.0], [3.0, 5.0]], np.float32))

    @tf.function
    def step(x):
        return two.run(lambda x: v.assign_add(x[0]), (x,))

    step(x)
    assert v.numpy().tolist() == [3, 5]
    v.assign([0.0, 0.0])
    step(x)
    assert v.numpy().tolist() == [2, 3]
    assert v.device.endswith("GPU:0")
    assert steps == [[2]]


def test_values_of_replicas_meet(two, steps):
    (x,) = split(two, np.array([[1.0, 2.0], [3.0, 5.0]], np.float32))

    def step(x):
        replica = tf.distribute.get_replica_context()
        number = replica.replica_id_in_sync_group
        return {
            "sum": replica.all_reduce("SUM", x),
            "mean": replica.all_reduce("MEAN", x),
            "all": replica.all_gather(x, 0),
            "merged": replica.merge_call(lambda s, y: s.reduce("MEAN", y, axis=0), (x,)),
            "own": x * 2.0,
            "number": number,
            "none": None,
        }

    found = tf.function(lambda x: two.run(step, (x,)))(x)
    assert steps == [[1]]
    wanted = {"sum": [[4, 7]], "mean": [[2, 3.5]], "all": [[1, 2], [3, 5]]}
    for name, value in wanted.items():  # the same in each replica
        results = two.experimental_local_results(found[name])
        assert [y.numpy().tolist() for y in results] == [value, value], name
    # What the merged call returns is one value for all replicas.
    (merged,) = two.experimental_local_results(found["merged"])
    assert merged.numpy().tolist() == [2, 3.5]
    own = two.experimental_local_results(found["own"])
    assert [y.numpy().tolist() for y in own] == [[[2, 4]], [[6, 10]]]
    assert [y.device[-5:] for y in own] == ["GPU:0", "GPU:1"]
    assert [int(i) for i in local(two, found["number"])] == [0, 1]
    assert found["none"] is None
    assert two.gather(found["own"], 0).numpy().tolist() == [[2, 4], [6, 10]]
    assert two.reduce("SUM", found["own"], axis=0).numpy().tolist() == [8, 14]


def test_gradients_go_through_sums_over_replicas(two, steps):
    (x,) = split(two, np.array([[1.0], [3.0]], np.float32))

    def step(x):
        replica = tf.distribute.get_replica_context()
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = replica.all_reduce("SUM", x) ** 2 * x
        return tape.gradient(y, x)

    # The sum over replicas i of (S^2 x_i), S being the sum, by x_j: S^2 + 2 S S.
    found = tf.function(lambda x: two.run(step, (x,)))(x)
    assert steps == [[1]]
    assert [y.item() for y in local(two, found)] == [48, 48]


def test_each_replica_draws_its_own_numbers(two, steps):
    @tf.function
    def draw():
        return two.run(lambda: tf.random.uniform([3], seed=7))

    tf.random.set_seed(3)
    first, second = local(two, draw()), local(two, draw())
    assert len(steps) == 1
    every = np.concatenate([*first, *second])
    assert len(set(every.tolist())) == 12
    tf.random.set_seed(3)
    again = tf.function(lambda: two.run(lambda: tf.random.uniform([3], seed=7)))
    np.testing.assert_array_equal(local(two, again()), first)


def test_batch_normalisation_has_moments_by_replica(two, steps):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(8, 3)).astype(np.float32) * 4
    with two.scope():
        layer = tf.keras.layers.BatchNormalization(momentum=0.5)
        layer.build([4, 3])

    @tf.function
    def step(x):
        return two.run(lambda x: layer(x, training=True), (x,))

    found = local(two, step(*split(two, x)))
    assert steps == [[1]]
    for part, y in zip(np.split(x, 2), found, strict=True):
        np.testing.assert_allclose(y, (part - part.mean(0)) / np.sqrt(part.var(0) + 1e-3), rtol=1e-4, atol=1e-5)
    means = np.mean([part.mean(0) for part in np.split(x, 2)], 0)
    np.testing.assert_allclose(layer.moving_mean.numpy(), 0.5 * means, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "step",
    [lambda x: tf.unique(x[0])[0],  # which does not compile
     lambda x: x * 2.0 if tf.distribute.get_replica_context().devices[0].endswith("0") else x * 3.0],
    ids=["not compiled", "differs in Python"],
)  # fmt: skip
def test_other_steps_are_traced_by_replica(two, steps, step):
    (x,) = split(two, np.array([[1.0, 1.0], [2.0, 3.0]], np.float32))
    found = local(two, tf.function(lambda x: two.run(step, (x,)))(x))
    assert not any(count[0] for count in steps)
    assert [y.tolist() for y in found] in ([[1], [2, 3]], [[[2, 2]], [[6, 9]]])


def test_a_variable_of_no_strategy_is_updated_by_each_replica(two, steps):
    v = tf.Variable(0.0)
    tf.function(lambda: two.run(lambda: v.assign_add(1.0)))()
    assert v.numpy() == 2
    assert not steps


def test_uneven_shares(two, steps):
    numbers = tf.data.Dataset.from_tensor_slices(np.arange(5, dtype=np.float32))
    dataset = two.experimental_distribute_dataset(numbers.batch(4))
    run = tf.function(lambda x: two.reduce("SUM", two.run(tf.reduce_sum, (x,)), axis=None))
    assert [run(x).numpy() for x in dataset] == [6, 4]
    assert steps == [[1]]


def fitted(strategy, sizes=(32,)):
    tf.keras.utils.set_random_seed(1)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 4)).astype(np.float32)
    y = np.sum(x, 1, keepdims=True)
    with strategy.scope():
        model = tf.keras.Sequential(
            [tf.keras.Input([4]), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.BatchNormalization(),
             tf.keras.layers.Dense(1)]
        )  # fmt: skip
        model.compile(tf.keras.optimizers.Adam(0.05), "mse", metrics=["mae"])
    history = model.fit(x, y, batch_size=24, epochs=3, verbose=0, shuffle=False).history  # the last batch has 16 rows
    return model, history, model.evaluate(x, y, verbose=0), model.predict(x[:5], verbose=0)


def test_keras_trains_on_two_devices_as_on_one(two, monkeypatch):
    from tapeflow.xla.replicated import MeshMemory

    parts = []
    shared_out = MeshMemory.shared_out

    def watch(self, given):
        array = shared_out(self, given)
        parts.append([shard.data.shape[0] for shard in array.addressable_shards] if array.ndim else [])
        return array

    _, want, evaluated, predicted = fitted(tf.distribute.OneDeviceStrategy("cpu:0"))
    monkeypatch.setattr(MeshMemory, "shared_out", watch)
    model, history, scores, outputs = fitted(two)
    assert [12, 12] in parts
    assert [8, 8] in parts
    assert model.distribute_strategy is two
    assert {v.device[-5:] for v in model.variables} == {"GPU:0"}
    for name, values in want.items():
        np.testing.assert_allclose(history[name], values, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(scores, evaluated, rtol=1e-4)
    np.testing.assert_allclose(outputs, predicted, rtol=1e-4, atol=1e-5)
    assert history["loss"][-1] < history["loss"][0]

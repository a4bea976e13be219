"""Strategies: what replicas are given, and how their values come together."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import config
from tapeflow.distribute.mirrored import MirroredVariable


@pytest.fixture
def two():
    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])


def batches(*rows):
    return tf.data.Dataset.from_tensor_slices(np.array(rows, np.float32))


def test_default_strategy():
    strategy = tf.distribute.get_strategy()
    assert not tf.distribute.has_strategy()
    assert strategy.num_replicas_in_sync == 1
    assert strategy.run(lambda x: x + 1, (1,)) == 2
    assert strategy.reduce("SUM", 1.0, axis=None) == 1.0
    assert tf.distribute.get_replica_context().replica_id_in_sync_group == 0


def test_scopes_of_variables(two):
    outside, default = tf.Variable(1.0), tf.distribute.get_strategy()
    with two.scope():
        inside = tf.Variable(1.0)
    assert [default.extended.variable_created_in_scope(v) for v in (outside, inside)] == [True, False]
    assert [two.extended.variable_created_in_scope(v) for v in (outside, inside)] == [False, True]


def test_one_replica_gets_plain_values():
    strategy = tf.distribute.MirroredStrategy(["cpu:0"])
    with strategy.scope():
        assert tf.distribute.get_strategy() is strategy
        assert tf.distribute.in_cross_replica_context()
        v = tf.Variable(1.0)
    dataset = strategy.experimental_distribute_dataset(batches([1, 2], [3, 4]))
    total = [strategy.run(lambda x: tf.reduce_sum(x) * v, (x,)).numpy() for x in dataset]
    assert total == [3, 7]


def test_each_replica_has_its_own_share(two):
    (shared,) = two.experimental_distribute_dataset(tf.data.Dataset.range(5).batch(5))
    assert [part.numpy().tolist() for part in shared.values] == [[0, 1, 2], [3, 4]]
    ids = two.run(lambda: tf.distribute.get_replica_context().replica_id_in_sync_group)
    assert [int(x) for x in two.experimental_local_results(ids)] == [0, 1]


def test_next_in_code_that_is_not_converted_takes_an_element_each_time(two):
    inside = tf.data.Dataset.range(2).flat_map(lambda i: tf.data.Dataset.range(4).map(lambda x: x + 4 * i))
    elements = iter(two.experimental_distribute_dataset(inside.batch(4)))
    taken = tf.function(lambda: two.experimental_local_results(next(elements)), autograph=False)
    assert [[part.numpy().tolist() for part in taken()] for _ in range(2)] == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    with pytest.raises(tf.errors.OutOfRangeError):
        taken()


def test_reduce(two):
    values = two.experimental_distribute_values_from_function(
        lambda c: tf.constant([1.0, 2.0]) * (c.replica_id_in_sync_group + 1)
    )
    assert two.reduce("SUM", values, axis=None).numpy().tolist() == [3, 6]
    assert two.reduce(tf.distribute.ReduceOp.MEAN, values, axis=None).numpy().tolist() == [1.5, 3]
    assert two.reduce("SUM", values, axis=0).numpy() == 9
    assert two.reduce("MEAN", values, axis=0).numpy() == 2.25
    assert two.gather(values, 0).numpy().tolist() == [1, 2, 2, 4]
    with pytest.raises(ValueError, match="'MAX' is not a valid ReduceOp"):
        two.reduce("MAX", values, axis=None)
    with pytest.raises(TypeError, match=r"Expected `reduce_op` to be a `tf\.distribute\.ReduceOp`, not: None"):
        two.reduce(None, values, axis=None)


def test_replicas_meet_in_all_reduce(two):
    def step(x):
        context = tf.distribute.get_replica_context()
        return context.all_reduce("SUM", x), context.merge_call(lambda s, y: s.reduce("MEAN", y, axis=None), (x,))

    (x,) = two.experimental_distribute_dataset(batches(2.0, 4.0).batch(2))
    total, mean = two.run(step, (x,))
    assert [part.numpy().tolist() for part in two.experimental_local_results(total)] == [[6], [6]]
    assert mean.numpy().tolist() == [3]


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "function"])
def test_gradients_go_through_what_replicas_have_in_common(two, compiled):
    """Each replica has the gradient of the sum of all results, as in TensorFlow."""
    (x,) = two.experimental_distribute_dataset(batches([1.0], [3.0]).batch(2))

    def step(x):
        context = tf.distribute.get_replica_context()
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            total = context.all_reduce("SUM", x) ** 2 * x
            mean = context.all_reduce("MEAN", x) * x
            every = context.all_gather(x, 0) ** 2 * tf.constant([[1.0], [10.0]])
        return [tape.gradient(y, x) for y in (total, mean, every)]

    run = lambda: two.run(step, (x,))  # noqa: E731
    found = (tf.function(run) if compiled else run)()
    # d/dx_j of the sum of S^2 x_i: S^2 + 2 S S; of M x_i: M + S / 2; of w_i x_i^2, twice: 4 w_j x_j.
    wanted = [[48, 48], [4, 4], [4, 120]]
    for parts, values in zip(found, wanted, strict=True):
        assert [part.numpy().item() for part in two.experimental_local_results(parts)] == values


def test_replicas_of_a_traced_function_meet(two):
    with two.scope():
        v = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN)

    @tf.function
    def step(x):
        v.assign_add(x)
        replica = tf.distribute.get_replica_context()
        return replica.all_reduce("sum", x) + tf.cast(replica.replica_id_in_sync_group, tf.float32)

    x = two.experimental_distribute_values_from_function(lambda context: context.replica_id_in_sync_group + 1.0)
    inside = tf.function(lambda: two.run(step, args=(x,)))
    for result in (two.run(step, args=(x,)), two.run(step, args=(x,)), inside()):
        assert [part.numpy() for part in result.values] == [3, 4]
    assert v.numpy() == 5.5


def test_optimizer_sums_the_gradients_of_all_replicas(two):
    with two.scope():
        w = tf.Variable(1.0)
        optimizer = tf.keras.optimizers.SGD(0.1)

    def step(x):
        with tf.GradientTape() as tape:
            loss = w * tf.reduce_sum(x)
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        return loss

    @tf.function
    def train(x):
        return two.reduce("SUM", two.run(step, (x,)), axis=None)

    (x,) = two.experimental_distribute_dataset(batches(1.0, 2.0).batch(2))
    assert train(x).numpy() == 3
    np.testing.assert_allclose(w.numpy(), 0.7, rtol=1e-6)
    assert optimizer.iterations.numpy() == 1
    two.run(step, (x,))
    np.testing.assert_allclose(w.numpy(), 0.4, rtol=1e-6)


@pytest.mark.parametrize(("aggregation", "want"), [("SUM", 4.0), ("MEAN", 2.5), ("ONLY_FIRST_REPLICA", 2.0)])
def test_variables_aggregate_what_replicas_assign(two, aggregation, want):
    with two.scope():
        v = tf.Variable(1.0, aggregation=tf.VariableAggregation[aggregation])
    assert isinstance(v, MirroredVariable)
    ids = two.experimental_distribute_values_from_function(lambda c: 1.0 + c.replica_id_in_sync_group)
    two.run(lambda d: v.assign_add(d), (ids,))
    assert v.numpy() == want


def test_variable_without_aggregation_is_not_assigned_in_a_replica(two):
    with two.scope():
        v = tf.Variable(1.0)
    with pytest.raises(ValueError, match="aggregation method"):
        two.run(lambda: v.assign(2.0))
    v.assign(3.0)
    assert v.numpy() == 3


def test_an_error_of_a_replica_arrives(two):
    def fail():
        if tf.distribute.get_replica_context().replica_id_in_sync_group == 1:
            raise KeyError("second")
        return tf.distribute.get_replica_context().all_reduce("SUM", tf.constant(1.0))

    with pytest.raises(KeyError, match="second"):
        two.run(fail)


def test_replicas_that_do_not_meet(two):
    def step():
        context = tf.distribute.get_replica_context()
        return context.all_reduce("SUM", tf.constant(1.0)) if context.replica_id_in_sync_group else 0.0

    with pytest.raises(RuntimeError, match="merge_call"):
        two.run(step)


def test_strategies_do_not_mix(two):
    other = tf.distribute.OneDeviceStrategy("cpu:0")
    with two.scope(), pytest.raises(RuntimeError, match="Mixing different"):
        other.scope()


def test_model_trains_in_a_scope(two):
    with two.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
        model.compile("sgd", "mse")
    x = np.linspace(0, 1, 32, dtype=np.float32)[:, None]
    history = model.fit(x, 2 * x, epochs=3, verbose=0)
    assert history.history["loss"][-1] < history.history["loss"][0]


@pytest.mark.parametrize("given", ["/cpu:0", "cpu:0", "/job:localhost/replica:0/task:0/device:CPU:0"])
def test_devices_have_their_full_names(given):
    full = "/job:localhost/replica:0/task:0/device:CPU:0"
    for kind in (tf.distribute.OneDeviceStrategy, lambda name: tf.distribute.MirroredStrategy([name])):
        extended = kind(given).extended
        assert extended.worker_devices == extended.parameter_devices == (full,)


def test_functions_are_traced_for_each_place():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

    @tf.function
    def across():
        return tf.constant(tf.distribute.in_cross_replica_context())

    @tf.function
    def number():
        replica = tf.distribute.get_replica_context()
        return tf.constant(-1 if replica is None else int(replica.replica_id_in_sync_group))

    @tf.function
    def both():
        return strategy.run(number), number()

    for _ in range(2):
        assert not across()
        with strategy.scope():
            assert across()
            assert int(number()) == -1
            assert not any(strategy.experimental_local_results(strategy.run(across)))
            parts, here = both()
            assert [int(x) for x in strategy.experimental_local_results(parts)] == [0, 1]
            assert int(here) == -1
        assert int(number()) == 0


@pytest.mark.parametrize(
    ("make", "shape", "dtype", "axis", "expected"),
    [
        (lambda p: p.FixedShardsPartitioner(3), [10, 3], tf.float32, 0, [3, 1]),
        (lambda p: p.FixedShardsPartitioner(4), [10, 3], tf.float32, 1, [1, 3]),
        (lambda p: p.MinSizePartitioner(4, 5), [6, 1], tf.float32, 0, [5, 1]),
        (lambda p: p.MinSizePartitioner(4, 10), [6, 1], tf.float32, 0, [6, 1]),
        (lambda p: p.MaxSizePartitioner(4), [6, 1], tf.float32, 0, [6, 1]),
        (lambda p: p.MaxSizePartitioner(8, 2), [6, 1], tf.float32, 0, [2, 1]),
        (lambda p: p.MaxSizePartitioner(1024), [6, 1], tf.float32, 0, [1, 1]),
        (lambda p: p.MaxSizePartitioner(64), [6, 7], tf.string, 1, [1, 7]),
    ],
)
def test_partitioners(make, shape, dtype, axis, expected):
    assert make(tf.distribute.experimental.partitioners)(tf.TensorShape(shape), dtype, axis=axis) == expected


@pytest.mark.parametrize(
    ("kind", "arguments", "name"),
    [
        ("MinSizePartitioner", (0,), "min_shard_bytes"), ("MinSizePartitioner", (4, 0), "max_shards"),
        ("MinSizePartitioner", (4, 1, 0), "bytes_per_string"), ("MaxSizePartitioner", (0,), "max_shard_bytes"),
        ("MaxSizePartitioner", (4, 1, 0), "bytes_per_string"),
    ],
)  # fmt: skip
def test_partitioners_take_positive_numbers(kind, arguments, name):
    with pytest.raises(ValueError, match=f"Argument `{name}` must be positive. Received: 0"):
        getattr(tf.distribute.experimental.partitioners, kind)(*arguments)


def test_union_of_resolvers_takes_its_own_task():
    cluster = tf.train.ClusterSpec({"worker": ["a:1", "b:1"]})
    resolvers = tf.distribute.cluster_resolver
    one = resolvers.SimpleClusterResolver(cluster, task_type="worker", task_id=1, rpc_layer="grpc")
    both = resolvers.UnionResolver(one)
    assert (both.task_type, both.task_id, both.rpc_layer) == ("worker", 1, "grpc")
    both = resolvers.UnionResolver(one, task_type="ps", task_id=2, rpc_layer="other")
    assert (both.task_type, both.task_id, both.rpc_layer) == ("ps", 2, "other")
    with pytest.raises(ValueError, match="Unexpected kwargs"):
        resolvers.UnionResolver(one, rpc="grpc")
    with pytest.raises(TypeError, match="ClusterResolver"):
        resolvers.UnionResolver("a:1")
    with pytest.raises(TypeError, match="ClusterSpec"):
        resolvers.SimpleClusterResolver({"worker": ["a:1"]})


def test_runs_of_1_x_take_what_an_iterator_has():
    v1 = tf.compat.v1
    for strategy in (v1.distribute.MirroredStrategy(["cpu:0"]), v1.distribute.get_strategy()):
        assert strategy.experimental_run(lambda: tf.constant(3)).numpy() == 3
        iterator = strategy.make_dataset_iterator(tf.data.Dataset.range(4).batch(2))
        assert strategy.experimental_run(lambda x: x * 2, iterator).numpy().tolist() == [0, 2]
        assert strategy.experimental_run(lambda x: x * 2, iterator).numpy().tolist() == [4, 6]
        with pytest.raises(tf.errors.OutOfRangeError):
            strategy.experimental_run(lambda x: x, iterator)


def test_what_was_said_of_devices_is_undone():
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
    config.reset_devices()
    assert len(tf.config.list_logical_devices("CPU")) == 1
    assert tf.config.get_logical_device_configuration(cpu) is None


def test_local_results_of_a_structure(two):
    """What `all_reduce` gave is the same in every replica, but each has its own."""

    @tf.function
    def step():
        def replica():
            context = tf.distribute.get_replica_context()
            i = tf.cast(context.replica_id_in_sync_group, tf.float32)
            every = context.all_gather(tf.reshape(i, [1]), axis=0)
            return {"mean": context.all_reduce("MEAN", i), "own": i, "all": every}

        return two.run(replica)

    for found in (step(), step.python_function()):
        parts = two.experimental_local_results(found)
        assert [float(part["own"]) for part in parts] == [0.0, 1.0]
        assert [float(part["mean"]) for part in parts] == [0.5, 0.5]
        assert [part["all"].numpy().tolist() for part in parts] == [[0.0, 1.0]] * 2
        assert [float(x) for x in two.experimental_local_results(found["mean"])] == [0.5, 0.5]


def test_workers_read_their_files(tmp_path):
    from tapeflow.distribute.sharding import of_worker

    for i in range(4):
        (tmp_path / f"{i}.txt").write_text(f"{i}a\n{i}b\n")
    names = [str(tmp_path / f"{i}.txt") for i in range(4)]
    lines = tf.data.TextLineDataset(names).map(tf.strings.upper).batch(4)
    listed = tf.data.Dataset.list_files(str(tmp_path / "*.txt"), shuffle=False)
    interleaved = listed.interleave(tf.data.TextLineDataset, cycle_length=1).map(tf.strings.upper).batch(4)
    for dataset in (lines, interleaved):
        parts = [of_worker(dataset, 2, i) for i in range(2)]
        assert not any(even for _, even in parts)
        found = [[x.numpy().tolist() for x in part] for part, _ in parts]
        assert found == [[[b"0A", b"0B"], [b"2A", b"2B"]], [[b"1A", b"1B"], [b"3A", b"3B"]]]


def test_workers_take_their_rows_of_batches():
    from tapeflow.distribute.sharding import of_worker

    dataset = tf.data.Dataset.range(7).batch(4)
    found = [[x.numpy().tolist() for x in of_worker(dataset, 2, i)[0]] for i in range(2)]
    assert found == [[[0, 1], [4, 5]], [[2, 3], [6]]]
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.FILE
    with pytest.raises(tf.errors.InvalidArgumentError, match="no files"):
        of_worker(dataset.with_options(options), 2, 0)
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    whole, _ = of_worker(dataset.with_options(options), 2, 0)
    assert [x.numpy().tolist() for x in whole] == [[0, 1], [2, 3], [4, 5], [6]]


def test_a_strategy_has_no_mesh():
    """Keras 2 tells strategies of DTensor by that name, and shows how a model's variables are shared out."""
    distribute = tf.distribute
    for strategy in (distribute.get_strategy(), distribute.MirroredStrategy(), distribute.OneDeviceStrategy("CPU:0")):
        assert not hasattr(strategy, "_mesh")


@pytest.mark.parametrize("given", ["ring", tf.distribute.experimental.CollectiveCommunication.NCCL])
def test_the_experimental_strategy_of_workers_takes_how_they_communicate(given):
    made = tf.distribute.experimental.MultiWorkerMirroredStrategy(given)
    assert isinstance(made, tf.distribute.MultiWorkerMirroredStrategy)
    assert made.num_replicas_in_sync == 1
    with pytest.raises(ValueError, match="not a valid"):
        tf.distribute.experimental.MultiWorkerMirroredStrategy(communication="pigeon")

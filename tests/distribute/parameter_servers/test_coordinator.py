"""Functions that workers in other processes run."""

import gc

import numpy as np
import pytest

import tapeflow as tf

pytestmark = pytest.mark.slow


@pytest.fixture
def variable(strategy):
    with strategy.scope():
        return tf.Variable(0.0)


def test_results(coordinator, variable):
    @tf.function
    def step(x, scale=2.0):
        variable.assign_add(x)
        return {"sum": x * scale, "text": tf.strings.as_string(x)}

    results = [coordinator.schedule(step, args=(tf.constant(float(i)),), kwargs={"scale": 3.0}) for i in range(4)]
    coordinator.join()
    assert coordinator.done()
    assert [r.fetch()["sum"] for r in results] == [0, 3, 6, 9]
    assert coordinator.fetch(results)[1]["text"] == b"1.000000"
    assert isinstance(results[0].get()["sum"], tf.Tensor)
    assert variable.numpy() == 6


def test_only_functions_of_graphs(coordinator):
    with pytest.raises(TypeError, match=r"only accepts a `tf\.function` or a concrete function"):
        coordinator.schedule(lambda: 1)


def test_results_are_no_arguments(coordinator):
    result = coordinator.schedule(tf.function(lambda: 1.0))
    with pytest.raises(ValueError, match="RemoteValue"):
        coordinator.schedule(tf.function(lambda x: x), args=(result,))
    coordinator.join()


def test_several_functions_and_control_flow(coordinator, variable):
    @tf.function
    def inner(n):
        for i in tf.range(n):
            if i % 2 == 0:
                variable.assign_add(1.0)
        return variable.read_value()

    result = coordinator.schedule(tf.function(lambda n: inner(n) + 0.5), args=(tf.constant(5),))
    assert result.fetch() == 3.5
    coordinator.join()


def test_reads_follow_writes(coordinator, variable):
    @tf.function
    def step():
        before = variable.read_value()
        variable.assign(4.0)
        between = variable.read_value()
        variable.assign_add(1.0)
        return before, between, variable.read_value()

    assert coordinator.schedule(step).fetch() == (0, 4, 5)
    coordinator.join()


def test_both_workers_take_elements_of_their_own(coordinator):
    per_worker = coordinator.create_per_worker_dataset(lambda: tf.data.Dataset.range(100).map(lambda x: x * 2))
    iterator = iter(per_worker)
    assert per_worker.element_spec == tf.TensorSpec([], tf.int64)
    with pytest.raises(NotImplementedError):
        next(iterator)

    @tf.function
    def step(iterator):
        end = tf.timestamp() + 0.05
        while tf.timestamp() < end:
            pass
        return next(iterator), tf.distribute.coordinator.experimental_get_current_worker_index()

    results = [coordinator.schedule(step, args=(iterator,)) for _ in range(12)]
    coordinator.join()
    taken = {0: [], 1: []}
    for value, worker in coordinator.fetch(results):
        taken[int(worker)].append(int(value))
    assert taken[0]
    assert taken[1]
    for values in taken.values():
        assert values == list(range(0, 2 * len(values), 2))


def test_dataset_knows_its_worker(coordinator):
    def make():
        return tf.data.Dataset.from_tensors(tf.distribute.coordinator.experimental_get_current_worker_index()).repeat()

    iterator = iter(coordinator.create_per_worker_dataset(make))

    @tf.function
    def step(iterator):
        return next(iterator), tf.distribute.coordinator.experimental_get_current_worker_index()

    for made, worker in coordinator.fetch([coordinator.schedule(step, args=(iterator,)) for _ in range(4)]):
        assert made == worker
    coordinator.join()


def test_an_iterator_that_is_gone_is_forgotten(coordinator, ray):
    step = tf.function(lambda iterator: next(iterator))
    for _ in range(2):  # a new iterator begins anew, whatever is left of the one before
        iterator = iter(coordinator.create_per_worker_dataset(tf.data.Dataset.range(9)))
        assert coordinator.schedule(step, args=(iterator,)).fetch() == 0
        coordinator.join()
    workers = coordinator.strategy.cluster.worker_actors
    held = [ray.get(worker.held.remote()) for worker in workers]
    iterator = None
    gc.collect()
    after = [ray.get(worker.held.remote()) for worker in workers]
    assert sum(after) < sum(held)


def test_end_of_the_data_is_an_error(coordinator):
    iterator = iter(coordinator.create_per_worker_dataset(tf.data.Dataset.range(1)))
    step = tf.function(lambda iterator: next(iterator))

    def run():
        for _ in range(3):
            coordinator.schedule(step, args=(iterator,))
        coordinator.join()

    with pytest.raises(tf.errors.OutOfRangeError):
        run()
    coordinator.join()


def test_python_stays_here(coordinator):
    with pytest.raises(tf.errors.UnimplementedError, match="from_generator"):
        coordinator.create_per_worker_dataset(
            tf.data.Dataset.from_generator(lambda: iter([1]), output_signature=tf.TensorSpec([], tf.int32))
        )
    with pytest.raises(tf.errors.UnimplementedError, match="Python"):
        coordinator.schedule(tf.function(lambda: tf.py_function(lambda: 1, [], tf.int32)))


def test_variables_of_this_process_stay_here(coordinator):
    own = tf.Variable(1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="outside of the scope"):
        coordinator.schedule(tf.function(lambda: own + 1))


def test_an_error_cancels_what_waits(coordinator):
    @tf.function
    def fail(x):
        tf.debugging.assert_equal(x, 3.0, message="as it should")
        return x

    @tf.function
    def slow():
        end = tf.timestamp() + 0.2
        while tf.timestamp() < end:
            pass

    bad = coordinator.schedule(fail, args=(tf.constant(1.0),))
    rest = []

    def run():
        for _ in range(20):
            rest.append(coordinator.schedule(slow))
        coordinator.join()

    with pytest.raises(tf.errors.InvalidArgumentError, match="as it should"):
        run()
    with pytest.raises(tf.errors.InvalidArgumentError, match="as it should"):
        bad.fetch()
    with pytest.raises(tf.errors.CancelledError, match="Please reschedule"):
        rest[-1].fetch()
    coordinator.join()  # the error was raised once
    assert coordinator.done()


def test_training_with_a_sharded_table(strategy, coordinator):
    with strategy.scope():
        table = tf.Variable(tf.zeros([6, 4]), name="table")
        weights = tf.Variable(tf.ones([4, 1]), name="weights")
        optimizer = tf.keras.optimizers.Adagrad(0.5)
        variables = [*table.variables, *weights.variables]
        optimizer.build(variables)

    def make():
        ids = np.arange(6).repeat(4)
        data = tf.data.Dataset.from_tensor_slices((ids, (ids % 3).astype(np.float32)[:, None]))
        return data.shuffle(24, seed=1).repeat().batch(8)

    @tf.function
    def step(iterator):
        ids, labels = next(iterator)
        with tf.GradientTape() as tape:
            found = tf.matmul(tf.nn.embedding_lookup(table, ids), tf.convert_to_tensor(weights))
            loss = tf.reduce_mean((found - labels) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    iterator = iter(coordinator.create_per_worker_dataset(make))
    first = coordinator.schedule(step, args=(iterator,)).fetch()
    for _ in range(60):
        coordinator.schedule(step, args=(iterator,))
    coordinator.join()
    last = coordinator.schedule(step, args=(iterator,)).fetch()
    assert first > 0.5
    assert last < 0.05
    assert optimizer.iterations.numpy() == 62


def test_a_killed_worker_loses_no_function(coordinator, variable, ray):
    iterator = iter(coordinator.create_per_worker_dataset(tf.data.Dataset.range(1000)))

    @tf.function
    def step(iterator):
        end = tf.timestamp() + 0.02
        while tf.timestamp() < end:
            pass
        variable.assign_add(1.0)
        return next(iterator)

    results = [coordinator.schedule(step, args=(iterator,)) for _ in range(50)]
    results[2].fetch()
    ray.kill(coordinator.strategy.cluster.worker_actors[0], no_restart=False)
    coordinator.join()
    assert len(coordinator.fetch(results)) == 50
    assert variable.numpy() >= 50  # at least once


def test_a_killed_server_is_an_error(ray, make_strategy):
    strategy = make_strategy()
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        variables = [tf.Variable(1.0) for _ in range(2)]
    step = tf.function(lambda: variables[0] + variables[1])
    assert coordinator.schedule(step).fetch() == 2
    ray.kill(strategy.cluster.server_actors[1])

    def run():
        for _ in range(3):
            coordinator.schedule(step)
        coordinator.join()

    with pytest.raises(tf.errors.UnavailableError, match="/job:ps/task:1"):
        run()
    with pytest.raises(tf.errors.UnavailableError, match="/job:ps/task:1"):
        variables[1].numpy()
    assert variables[0].numpy() == 1

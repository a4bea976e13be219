"""Variables that parameter servers hold, as the coordinator and functions see them."""

import gc

import numpy as np
import pytest

import tapeflow as tf

pytestmark = pytest.mark.slow


@pytest.fixture
def variable(strategy):
    with strategy.scope():
        return tf.Variable(2.0, name="v")


@pytest.fixture
def table(strategy):
    with strategy.scope():
        return tf.Variable(np.arange(10.0).reshape(5, 2), name="table")


def test_servers_take_turns(strategy):
    with strategy.scope():
        devices = [tf.Variable(0.0).device for _ in range(4)]
    assert sorted(devices) == [f"/job:ps/replica:0/task:{i}/device:CPU:0" for i in (0, 0, 1, 1)]


def test_updates_and_reads(variable):
    variable.assign(5.0)
    variable.assign_add(1.0)
    variable.assign_sub(0.5)
    assert variable.numpy() == 5.5
    assert (variable * 2).numpy() == 11
    assert tf.convert_to_tensor(variable).numpy() == 5.5


def test_what_was_read_stays(variable):
    before = variable.read_value()
    variable.assign(7.0)
    assert before.numpy() == 2


def test_gradient_of_eager_code(variable):
    with tf.GradientTape() as tape:
        loss = variable * variable
    assert tape.gradient(loss, variable).numpy() == 4


def test_function_of_the_coordinator(variable):
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = variable * x
        variable.assign_sub(tape.gradient(loss, variable))
        for _ in tf.range(3):
            variable.assign_add(1.0)
        return variable.read_value()

    assert step(tf.constant(1.0)).numpy() == 4


def test_wrong_shapes_and_dtypes(variable):
    with pytest.raises(ValueError, match="shape"):
        variable.assign([1.0, 2.0])
    with pytest.raises((ValueError, TypeError)):
        variable.assign("text")


def test_errors_of_the_server(strategy):
    with strategy.scope():
        v = tf.Variable(np.zeros([3], np.float32), shape=tf.TensorShape([None]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="equal"):
        v.assign_add(np.zeros([2], np.float32))


def test_slices(strategy):
    with strategy.scope():
        v = tf.Variable([[1.0, 2.0]], name="row")  # one row cannot be split
    v.scatter_add(tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([0])))
    v[0, 1].assign(9.0)
    np.testing.assert_array_equal(v.numpy(), [[4, 9]])
    np.testing.assert_array_equal(v.gather_nd([[0, 0]]).numpy(), [4])


def test_strings(strategy):
    with strategy.scope():
        v = tf.Variable("ein")
    v.assign("zwei")
    assert v.numpy() == b"zwei"


def test_half_precision(strategy):
    with strategy.scope():
        v = tf.Variable(tf.constant(1.5, tf.bfloat16))
    v.assign_add(tf.constant(1.0, tf.bfloat16))
    assert float(v.numpy()) == 2.5
    assert v.read_value().dtype == tf.bfloat16


def test_slots_are_beside_their_variable(strategy):
    with strategy.scope():
        variables = [tf.Variable(1.0) for _ in range(3)]
        optimizer = tf.keras.optimizers.Adam(0.1)
        optimizer.build(variables)
    optimizer.apply_gradients([(tf.constant(1.0), v) for v in variables])
    np.testing.assert_allclose([v.numpy() for v in variables], 0.9, rtol=1e-6)
    for v in variables:
        slots = [s for s in optimizer.variables if getattr(s, "device", None) == v.device]
        assert len(slots) >= 2


def test_optimizer_of_1x(strategy):
    with strategy.scope():
        variables = [tf.Variable(1.0), tf.Variable(2.0)]
        optimizer = tf.compat.v1.train.MomentumOptimizer(0.5, 0.9)
        for _ in range(2):
            optimizer.apply_gradients([(tf.constant(1.0), v) for v in variables])
    np.testing.assert_allclose([v.numpy() for v in variables], [1 - 0.5 - 0.95, 2 - 0.5 - 0.95], rtol=1e-6)


def test_server_forgets_what_nobody_has(strategy, ray):
    with strategy.scope():
        v = tf.Variable(1.0)
    connection, key = v.connection, v.description.key
    v = None
    gc.collect()
    from tapeflow.distribute.parameter_servers.server import Call, Held

    with pytest.raises(KeyError):
        connection.run(Call("VarIsInitializedOp", (Held(key),), {}), True)


# Variables in parts


def test_parts_are_on_all_servers(table):
    assert isinstance(table, tf.__internal__.distribute.ShardedVariable)
    assert [v.shape[0] for v in table.variables] == [3, 2]
    assert len({v.device for v in table.variables}) == 2
    np.testing.assert_array_equal(table.numpy(), np.arange(10.0).reshape(5, 2))


def test_lookup_and_its_gradient(table):
    with tf.GradientTape() as tape:
        rows = tf.nn.embedding_lookup(table, [4, 0, 4])
        loss = tf.reduce_sum(rows)
    np.testing.assert_array_equal(rows.numpy(), [[8, 9], [0, 1], [8, 9]])
    gradients = tape.gradient(loss, table.variables)
    np.testing.assert_array_equal(tf.convert_to_tensor(gradients[0]).numpy(), [[1, 1], [0, 0], [0, 0]])
    np.testing.assert_array_equal(tf.convert_to_tensor(gradients[1]).numpy(), [[0, 0], [2, 2]])


def test_updates_of_parts(table):
    table.scatter_sub(tf.IndexedSlices(tf.ones([2, 2], tf.float64), tf.constant([0, 3])))
    table.assign_add(np.ones([5, 2]))
    expected = np.arange(10.0).reshape(5, 2) + 1
    expected[[0, 3]] -= 1
    np.testing.assert_array_equal(table.numpy(), expected)


def test_checkpoint_of_parts_is_that_of_the_whole(table, strategy, tmp_path):
    path = tf.train.Checkpoint(v=table).write(str(tmp_path / "c"))
    assert dict(tf.train.list_variables(path))["v/.ATTRIBUTES/VARIABLE_VALUE"] == [5, 2]
    whole = tf.Variable(np.zeros([5, 2]))
    tf.train.Checkpoint(v=whole).read(path).assert_consumed()
    np.testing.assert_array_equal(whole.numpy(), np.arange(10.0).reshape(5, 2))
    whole.assign_add(np.ones([5, 2]))
    path = tf.train.Checkpoint(v=whole).write(str(tmp_path / "d"))
    tf.train.Checkpoint(v=table).read(path).assert_consumed()
    np.testing.assert_array_equal(table.numpy(), np.arange(10.0).reshape(5, 2) + 1)

"""Graphs of 1.x whose operations are placed on `GPU:0` and `GPU:1`: two CPU devices of XLA's, or what there is."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax")

import tapeflow as tf
from tapeflow import _native
from tapeflow.core import context, device_calls

v1 = tf.compat.v1
pytestmark = [
    pytest.mark.xla,
    pytest.mark.skipif(
        len(tf.config.list_physical_devices("GPU")) < 2, reason="needs two GPUs: TAPEFLOW_VIRTUAL_GPUS=2"
    ),
]

FIRST = "/job:localhost/replica:0/task:0/device:GPU:0"
SECOND = "/job:localhost/replica:0/task:0/device:GPU:1"


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def programs(monkeypatch):
    """The programs that sessions make: [operations, whether it ran on the device the last time]."""
    made = []
    driver = device_calls.part_driver

    def watch(part, attrs_of, on_host):
        entry = [part, True]

        def plan():
            entry[1] = False
            return on_host()

        made.append(entry)
        return driver(part, attrs_of, plan)

    monkeypatch.setattr(device_calls, "part_driver", watch)
    return made


def places(session):
    with context.eager_mode():
        held = session._engine.shared.variables.values()
        return {v.name: _native.Variable.read_value(v).device for v in held if v._is_set}


def test_a_placed_part_is_one_program(graph, programs):
    x = v1.placeholder(tf.float32, [None, 3])
    before = x * 2.0
    with tf.device("/gpu:0"):
        y = tf.matmul(before, tf.ones([3, 2])) + 1.0
        z = tf.nn.relu(y)
    after = tf.reduce_sum(z)  # with what it takes
    with tf.device("/cpu:0"):
        last = after + 1.0
    with v1.Session() as session:
        given = np.arange(6, dtype=np.float32).reshape(2, 3)
        for _ in range(2):
            assert session.run([z, last], {x: given})[1] == 65
    ((part, on_device),) = programs
    assert on_device
    assert part.index == 1
    assert {op.type for op in part.operations} >= {"MatMul", "Relu", "Sum"}
    assert before.op not in part.operations
    assert [y.name for y in part.outputs] == [z.name, after.name]


def test_parts_of_two_devices_and_the_host(graph, programs):
    with tf.device("/gpu:0"):
        a = tf.constant([3.0, 1.0, 3.0]) * 2.0
    values, _ = tf.unique(a)  # which does not compile
    with tf.device("/gpu:1"):
        b = tf.reduce_sum(values) + tf.reduce_sum(a)
    with v1.Session(config=v1.ConfigProto(allow_soft_placement=True)) as session:
        assert session.run(b) == 22
    assert [(part.index, on_device) for part, on_device in programs] == [(1, True), (2, True)]


def trained(place, optimizer):
    with tf.Graph().as_default():
        v1.set_random_seed(3)
        x = v1.placeholder(tf.float32, [8, 4])
        with tf.device(place):
            w = v1.get_variable("w", [4, 2], initializer=v1.random_normal_initializer())
            noise = v1.random_normal([8, 2], seed=5) * 0.1
            loss = tf.reduce_mean((tf.tanh(tf.matmul(x, w)) - 0.5 + noise) ** 2)
            train = optimizer().minimize(loss)
        with v1.Session(config=v1.ConfigProto(allow_soft_placement=True)) as session:
            session.run(v1.global_variables_initializer())
            given = np.linspace(-1, 1, 32, dtype=np.float32).reshape(8, 4)
            losses = [session.run([loss, train], {x: given})[0] for _ in range(4)]
            return losses, places(session), session.run(w)


@pytest.mark.parametrize(
    "optimizer",
    [lambda: v1.train.GradientDescentOptimizer(0.5), lambda: v1.train.AdamOptimizer(0.1),
     lambda: v1.train.MomentumOptimizer(0.1, 0.9)],
    ids=["sgd", "adam", "momentum"],
)  # fmt: skip
def test_training_is_that_of_the_host(programs, optimizer):
    want, _, wanted = trained("/cpu:0", optimizer)
    assert not programs
    losses, where, w = trained("/gpu:1", optimizer)
    np.testing.assert_allclose(losses, want, rtol=1e-5)
    np.testing.assert_allclose(w, wanted, rtol=1e-5)
    assert len(set(losses)) == 4
    assert {place for name, place in where.items() if name.startswith("w")} == {SECOND}
    assert programs[-1][1]  # the step ran on the device


def test_a_variable_without_a_value(graph):
    with tf.device("/gpu:0"):
        v = v1.get_variable("v", [2], initializer=v1.ones_initializer())
        read = v * 2.0
        known = v1.is_variable_initialized(v)
    with v1.Session(config=v1.ConfigProto(allow_soft_placement=True)) as session:
        assert not session.run(known)
        with pytest.raises(tf.errors.FailedPreconditionError, match="v"):
            session.run(read)
        session.run(v.initializer)
        assert session.run(known)
        assert session.run(read).tolist() == [2, 2]
        assert set(places(session).values()) == {FIRST}
        session.run(v.assign_add([1.0, 2.0]))
        assert session.run(v).tolist() == [2, 3]


def test_a_checkpoint_is_restored_to_the_device(graph, tmp_path):
    with tf.device("/gpu:0"):
        v = v1.get_variable("v", [2], initializer=v1.ones_initializer())
        more = v.assign_add([1.0, 1.0])
    saver = v1.train.Saver()
    config = v1.ConfigProto(allow_soft_placement=True)
    with v1.Session(config=config) as session:
        session.run(v.initializer)
        session.run(more)
        path = saver.save(session, str(tmp_path / "model"))
    with v1.Session(config=config) as session:
        saver.restore(session, path)
        assert set(places(session).values()) == {FIRST}
        assert session.run(more).tolist() == [3, 3]


def test_control_inputs_keep_the_order(graph):
    with tf.device("/gpu:0"):
        v = v1.get_variable("v", [], initializer=v1.zeros_initializer())
        first = v.assign(1.0)
    with tf.device("/cpu:0"), tf.control_dependencies([first]):
        between = v1.py_func(lambda: np.float32(2), [], tf.float32)
    with tf.device("/gpu:0"), tf.control_dependencies([between]):
        last = v.assign_add(between)
    with v1.Session(config=v1.ConfigProto(allow_soft_placement=True)) as session:
        assert session.run(last) == 3


def test_a_fed_tensor_stands_as_it_is(graph):
    with tf.device("/gpu:0"):
        a = tf.constant(2.0) * 3.0
        b = a + 1.0
    with v1.Session() as session:
        assert session.run([a, b], {a: 10.0}) == [10, 11]
        assert session.run([a, b]) == [6, 7]


def test_a_device_that_there_is_not(graph):
    with tf.device("/gpu:7"):
        y = tf.constant(1.0, name="one") + 1.0
    with v1.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(y)
    assert "Cannot assign a device for operation" in str(caught.value)
    assert "was explicitly assigned to /device:GPU:7 but available devices are [ /job:localhost" in str(caught.value)
    with v1.Session(config=v1.ConfigProto(allow_soft_placement=True)) as session:
        assert session.run(y) == 2


def test_placement_is_logged(graph, capfd):
    with tf.device("/gpu:0"):
        y = tf.add(tf.constant(1.0, name="one"), 1.0, name="sum")
    with v1.Session(config=v1.ConfigProto(log_device_placement=True)) as session:
        session.run(y)
        logged = capfd.readouterr().err
        session.run(y)
        assert "sum" not in capfd.readouterr().err
    assert f"sum: (AddV2): {FIRST}" in logged

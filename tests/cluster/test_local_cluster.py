"""Graphs on the tasks of a cluster whose servers are all in this process."""

import signal
import threading
import time

import numpy as np
import pytest

pytest.importorskip("grpc")

import tapeflow.compat.v1 as tf
from tapeflow import protos
from tapeflow.cluster import master
from tapeflow.cluster.client import LocalMaster
from tapeflow.cluster.server import _free_ports


@pytest.fixture(scope="module")
def servers():
    """(workers, parameter servers): two and two."""
    return tf.test.create_local_cluster(2, 2)


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def config_of(**fields):
    return tf.ConfigProto(**fields)


def by_rpc(**fields):
    made = tf.ConfigProto(**fields)
    made.rpc_options.use_rpc_for_inprocess_master = True
    return made


def test_towers_on_two_tasks_give_what_one_process_gives(servers, graph):
    x = np.random.RandomState(0).randn(8, 3).astype(np.float32)
    losses, results = [], []
    for place in (lambda i: f"/job:worker/task:{i}", lambda i: None):
        with tf.Graph().as_default():
            with tf.device("/job:ps/task:0" if place(0) else None):
                w = tf.Variable(np.ones((3, 2), np.float32), name="w_towers")
            towers = []
            for i in range(2):
                with tf.device(place(i)):
                    towers.append(tf.reduce_sum(tf.square(tf.tanh(tf.matmul(x[4 * i : 4 * i + 4], w)))))
            loss = tf.add_n(towers)
            train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
            with tf.Session(servers[0][0].target if place(0) else "") as session:
                session.run(tf.global_variables_initializer())
                losses.append([session.run([loss, train])[0] for _ in range(5)])
                results.append(session.run(w))
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-6)
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)


def test_each_task_runs_what_is_placed_on_it(servers, graph):
    with tf.device("/job:worker/task:1"):
        a = tf.square(tf.constant(3.0), name="a")
    with tf.device("/job:ps/task:1"):
        b = tf.add(a, 1.0, name="b")
    c = tf.multiply(b, 2.0, name="c")
    metadata = tf.RunMetadata()
    options = tf.RunOptions(output_partition_graphs=True, trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session(servers[0][0].target) as session:
        assert session.run(c, options=options, run_metadata=metadata) == 20.0
    where = {node.name: node.device for part in metadata.partition_graphs for node in part.node}
    assert where["a"].startswith("/job:worker/replica:0/task:1/")
    assert where["b"].startswith("/job:ps/replica:0/task:1/")
    assert where["c"].startswith("/job:worker/replica:0/task:0/")
    ran = {stats.node_name: each.device for each in metadata.step_stats.dev_stats for stats in each.node_stats}
    assert ran["b"] == where["b"]


def test_what_is_fed_reaches_every_task(servers, graph):
    x = tf.placeholder(tf.float32, [2])
    with tf.device("/job:worker/task:1"):
        y = x * 2.0
    constant = tf.constant(5.0, name="constant")
    with tf.device("/job:ps/task:0"):
        z = constant + x
    with tf.Session(servers[0][0].target) as session:
        found = session.run([y, z, x], {x: [1.0, 2.0], constant: 7.0})
    np.testing.assert_array_equal(found, [[2.0, 4.0], [8.0, 9.0], [1.0, 2.0]])


def test_control_dependencies_cross_tasks(servers, graph):
    with tf.device("/job:ps/task:0"):
        v = tf.Variable(1.0, name="v_control", use_resource=True)
    with tf.control_dependencies([v.assign_add(2.0)]), tf.device("/job:worker/task:1"):
        read = v.read_value() * 1.0
    with tf.Session(servers[0][0].target) as session:
        session.run(v.initializer)
        assert [session.run(read) for _ in range(3)] == [3.0, 5.0, 7.0]


def test_sessions_of_all_masters_share_what_a_task_holds(servers, graph):
    with tf.device("/job:ps/task:1"):
        v = tf.Variable(4.0, name="v_shared")
        queue = tf.FIFOQueue(3, tf.int32, shared_name="shared_queue")
    put, take = queue.enqueue(7), queue.dequeue()
    with tf.Session(servers[0][0].target) as first, tf.Session(servers[0][1].target) as second:
        first.run([v.initializer, put])
        assert second.run([v, take]) == [4.0, 7]
    with tf.Session(servers[0][1].target) as third:
        assert third.run(v) == 4.0


def test_a_reset_of_a_container_reaches_all_tasks(servers, graph):
    with tf.device("/job:ps/task:0"):
        with graph.container("mine"):
            v = tf.Variable(1.0, name="v_mine")
        w = tf.Variable(2.0, name="w_default")
    with tf.device("/job:ps/task:1"), graph.container("mine"):
        u = tf.Variable(3.0, name="u_mine")
    ready = [tf.is_variable_initialized(each) for each in (v, w, u)]
    old = tf.Session(servers[0][0].target)
    old.run(tf.global_variables_initializer())
    other = tf.Session(servers[0][1].target)
    assert other.run(ready) == [True, True, True]
    tf.Session.reset(servers[0][0].target, ["mine"])
    with pytest.raises(tf.errors.AbortedError):
        old.run(v)
    # The session of another master goes on, and sees that they are gone.
    assert other.run(ready) == [False, True, False]


def test_a_waiting_client_does_not_stop_others(servers, graph):
    with tf.device("/job:ps/task:0"):
        queue = tf.FIFOQueue(1, tf.float32, shared_name="slow")
    take, put = queue.dequeue(), queue.enqueue(5.0)
    found = []
    with tf.Session(servers[0][0].target) as first, tf.Session(servers[0][1].target) as second:
        thread = threading.Thread(target=lambda: found.append(first.run(take)))
        thread.start()
        assert second.run(tf.constant(1.0)) == 1.0
        assert first.run(tf.constant(2.0)) == 2.0
        second.run(put)
        thread.join(30)
    assert found == [5.0]


@pytest.mark.parametrize("config", [config_of, by_rpc])
def test_the_time_of_a_run_can_be_limited(servers, graph, config):
    with tf.device("/job:ps/task:0"):
        take = tf.FIFOQueue(1, tf.float32, shared_name="empty").dequeue()
    with tf.Session(servers[0][0].target, config=config()) as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(take, options=tf.RunOptions(timeout_in_ms=200))
        assert session.run(tf.constant(1.0)) == 1.0
    late = pytest.raises(tf.errors.DeadlineExceededError)
    with tf.Session(servers[0][0].target, config=config(operation_timeout_in_ms=200)) as session, late:
        session.run(take)


@pytest.mark.parametrize("config", [config_of, by_rpc])
def test_closing_a_session_ends_what_waits_in_it(servers, graph, config):
    with tf.device("/job:ps/task:0"):
        queue = tf.FIFOQueue(1, tf.float32, shared_name="closing")
    take, put = queue.dequeue(), queue.enqueue(1.0)
    session = tf.Session(servers[0][0].target, config=config())
    raised = []

    def work():
        try:
            session.run(take)
        except tf.errors.CancelledError as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.5)
    session.close()
    thread.join(30)
    assert "Session::Close" in raised[0].message
    with tf.Session(servers[0][0].target) as other:  # nothing takes what comes later
        other.run(put)
        assert other.run(take) == 1.0


def test_an_error_of_a_part_is_that_of_the_run(servers, graph):
    with tf.device("/job:worker/task:1"):
        x = tf.placeholder(tf.float32, [None])
        checked = tf.debugging.check_numerics(x, "not a number", name="checked")
    with tf.device("/job:ps/task:0"):
        y = tf.reduce_sum(checked)
    with tf.Session(servers[0][0].target) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="not a number") as caught:
            session.run(y, {x: [np.nan]})
        assert caught.value.op is checked.op
        assert caught.value.message.startswith("From /job:worker/replica:0/task:1:\n")
        assert session.run(y, {x: [1.0, 2.0]}) == 3.0


def test_branches_and_loops_run_on_their_task(servers, graph):
    p = tf.placeholder(tf.bool, [])
    with tf.device("/job:ps/task:0"):
        v = tf.Variable(2.0, name="v_branches", use_resource=True)
    with tf.device("/job:worker/task:1"):
        either = tf.cond(p, lambda: v * 10.0, lambda: v + 1.0)
        _, power = tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a * v), [0, tf.constant(1.0)])
    with tf.Session(servers[0][0].target) as session:
        session.run(v.initializer)
        assert session.run([either, power], {p: True}) == [20.0, 32.0]
        assert session.run(either, {p: False}) == 3.0


def test_variables_of_two_tasks_in_one_branch_are_named(servers, graph):
    made = []
    for i in range(2):
        with tf.device(f"/job:ps/task:{i}"):
            made.append(tf.Variable(1.0, name=f"v_two_{i}", use_resource=True))
    either = tf.cond(tf.placeholder_with_default(True, []), lambda: made[0] + made[1], lambda: made[0] - made[1])
    with tf.Session(servers[0][0].target) as session, pytest.raises(tf.errors.InvalidArgumentError, match="v_two_"):
        session.run(either)


def test_functions_of_python_run_in_their_own_process(servers, graph):
    with tf.device("/job:worker/task:1"):
        y = tf.py_func(lambda x: x + 1.0, [tf.constant(2.0)], tf.float32)
    with tf.Session(servers[0][0].target) as session:
        assert session.run(y) == 3.0
    refused = pytest.raises(tf.errors.PermissionDeniedError, match="calls a Python function")
    with tf.Session(servers[0][0].target, config=by_rpc()) as session, refused:
        session.run(y)


def test_a_device_outside_of_the_cluster_is_named(servers, graph):
    with tf.device("/job:worker/task:7"):
        x = tf.constant(1.0, name="far")
    with tf.Session(servers[0][0].target) as session:
        text = "Cannot assign a device for operation far: .* was explicitly assigned to /job:worker/task:7"
        with pytest.raises(tf.errors.InvalidArgumentError, match=text) as caught:
            session.run(x)
    assert "/job:ps/replica:0/task:1/device:CPU:0" in caught.value.message


def test_devices_of_a_task_may_be_replaced_where_that_is_allowed(servers, graph):
    with tf.device("/job:worker/task:1/device:GPU:3"):
        x = tf.constant(1.0) + 1.0
    with tf.Session(servers[0][0].target) as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(x)
    with tf.Session(servers[0][0].target, config=config_of(allow_soft_placement=True)) as session:
        assert session.run(x) == 2.0


def test_filters_leave_tasks_out(servers, graph):
    with tf.device("/job:ps/task:1"):
        x = tf.constant(1.0) + 1.0
    config = config_of(device_filters=["/job:ps/task:0"])
    with tf.Session(servers[0][0].target, config=config) as session:
        names = sorted(each.name for each in session.list_devices())
        assert [name.rpartition("/")[0] for name in names if "CPU" in name] == [
            "/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0",
        ]  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device"):
            session.run(x)


def test_placement_is_logged(servers, graph, capfd):
    with tf.device("/job:ps/task:1"):
        x = tf.add(1.0, 2.0, name="logged")
    with tf.Session(servers[0][0].target, config=config_of(log_device_placement=True)) as session:
        session.run(x)
    assert "logged: (AddV2): /job:ps/replica:0/task:1/device:CPU:0" in capfd.readouterr().err


def test_graphs_grow_between_runs(servers, graph):
    with tf.Session(servers[0][0].target) as session:
        x = tf.constant(2.0)
        assert session.run(x) == 2.0
        with tf.device("/job:worker/task:1"):
            y = x * 3.0
        assert session.run([y, x]) == [6.0, 2.0]
        call = session.make_callable(y + 1.0)
        assert call() == 7.0


def test_accumulators_and_tables_live_on_their_task(servers, graph):
    with tf.device("/job:ps/task:0"):
        held = tf.ConditionalAccumulator(tf.float32, shape=(), shared_name="held")
        pairs = tf.lookup.KeyValueTensorInitializer(tf.constant([1], tf.int64), tf.constant([10], tf.int64))
        table = tf.lookup.StaticHashTable(pairs, -1)
    give = held.apply_grad(tf.placeholder_with_default(4.0, []))
    mean = held.take_grad(2)
    with tf.Session(servers[0][0].target) as first, tf.Session(servers[0][1].target) as second:
        first.run([give, tf.tables_initializer()])
        second.run(give)
        assert second.run(mean) == 4.0
        assert second.run(table.lookup(tf.constant([1], tf.int64))) == [10]


def test_a_saver_saves_what_tasks_hold(servers, graph, tmp_path):
    made = []
    for i in range(2):
        with tf.device(f"/job:ps/task:{i}"):
            made.append(tf.Variable(float(i + 1), name=f"v_saved_{i}"))
    saver = tf.train.Saver(sharded=True)
    with tf.Session(servers[0][0].target) as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "model"))
        session.run([v.assign(0.0) for v in made])
        saver.restore(session, path)
        assert session.run(made) == [1.0, 2.0]


@pytest.mark.parametrize("place", ["/job:worker/task:0", "/job:ps/task:0"])
def test_an_interrupt_ends_a_run(servers, graph, place):
    with tf.device(place):
        queue = tf.FIFOQueue(1, tf.float32, shared_name="interrupted")
        take, put = queue.dequeue(), queue.enqueue(1.0)
    # A shell may have started the tests with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    main = threading.get_ident()
    try:
        with tf.Session(servers[0][0].target) as session:
            threading.Timer(0.5, signal.pthread_kill, (main, signal.SIGINT)).start()
            with pytest.raises(KeyboardInterrupt):
                session.run(take)
            session.run(put)
            assert session.run(take) == 1.0
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_python_function_that_exits_ends_the_run(servers, graph):
    def leave(x):
        raise SystemExit(3)

    for place in ("/job:worker/task:0", "/job:ps/task:0"):
        with tf.device(place):
            y = tf.py_func(leave, [1.0], tf.float32)
        with tf.device("/job:worker/task:1"):
            z = y + 1.0
        with tf.Session(servers[0][0].target) as session, pytest.raises((SystemExit, tf.errors.OpError)):
            session.run(z)


def test_a_graph_that_was_not_taken_is_sent_again(servers, graph):
    with tf.Session(servers[0][0].target) as session:
        x = tf.constant(2.0, name="first")
        session.run(x)
        request = protos.ExtendSessionRequest(session_handle=session._engine._handle, current_graph_version=1)
        request.graph_def.node.add(name="other", op="NoOp")
        LocalMaster(servers[0][0].master).start("ExtendSession", request).result()
        y = x * 3.0
        for _ in range(2):
            with pytest.raises(tf.errors.AbortedError, match="Current version is 2 but caller expected 1"):
                session.run(y)


def test_long_errors_arrive(servers, graph):
    text = "é" * 10_000
    failing = tf.Assert(tf.placeholder_with_default(False, []), [text], summarize=100_000)
    raised = pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed")
    with tf.Session(servers[0][0].target, config=by_rpc()) as session, raised:
        session.run(failing)


def test_a_name_that_is_no_address_is_named():
    for address in ("localhost", "unix:/tmp/x:1", "unix:x:1", "localhost:x", "localhost:70000"):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"Could not interpret \"{address}\" as a host-port"):
            tf.train.Server({"ps": [address], "worker": ["localhost:0"]}, "worker", 0, start=False)


def test_tasks_that_are_waited_for_are_logged(graph, monkeypatch, caplog):
    monkeypatch.setattr(master, "_TELL", 0.0)
    port = _free_ports(1)[0]
    server = tf.train.Server({"ps": [f"localhost:{port}"], "worker": ["localhost:0"]}, "worker", 0)
    tf.constant(1.0)
    config = by_rpc(operation_timeout_in_ms=1500)
    with pytest.raises(tf.errors.DeadlineExceededError):
        tf.Session(server.target, config=config)
    assert "still waiting for response from worker: /job:ps/replica:0/task:0" in caplog.text

"""Sessions: fetches, feeds, variables, partial runs, callables, and everything that must raise."""

import collections
import threading

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow import protos


@pytest.fixture
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_fetches_of_any_nesting(graph):
    a, b = tf.constant(1), tf.constant([2.0, 3.0])
    Point = collections.namedtuple("Point", "x y")
    with tf.Session() as sess:
        got = sess.run({"p": Point(a, [b, "Const:0"]), "op": a.op, "t": (a,)})
    assert got["p"].x == 1
    assert got["op"] is None
    assert got["t"] == (1,)
    np.testing.assert_array_equal(got["p"].y[0], [2, 3])
    assert got["p"].y[1] == 1
    assert isinstance(got["p"], Point)


def test_any_tensor_can_be_fed(graph):
    a = tf.constant(1.0)
    b = a + 1.0
    c = b * 3.0
    with tf.Session() as sess:
        assert sess.run(c) == 6.0
        assert sess.run(c, {b: 10.0}) == 30.0
        assert sess.run([b, c], {b: 10.0}) == [10.0, 30.0]


@pytest.mark.parametrize(
    ("feed", "error", "text"),
    [
        ({"x:0": [1.0, 2.0, 3.0]}, ValueError, "Cannot feed value of shape"),
        ({"x:0": "words"}, ValueError, "could not convert"),
        ({"nothing:0": 1.0}, TypeError, "Cannot interpret feed_dict key as Tensor"),
        ({3: 1.0}, TypeError, "Cannot interpret feed_dict key as Tensor"),
    ],
)
def test_wrong_feeds(graph, feed, error, text):
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.Session() as sess, pytest.raises(error, match=text):
        sess.run(x, feed)


def test_a_tensor_is_no_feed(graph):
    x = tf.placeholder(tf.float32, [])
    with (
        tf.Session() as sess,
        pytest.raises(TypeError, match=r"value of a feed cannot be a tf\.Tensor"),
    ):
        sess.run(x, {x: tf.constant(1.0)})


def test_an_unfed_placeholder_is_named(graph):
    x = tf.placeholder(tf.float32, [None, 2], name="images")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(x + 1.0)
    assert (
        "You must feed a value for placeholder tensor 'images' with dtype float and shape [?,2]"
        in str(caught.value)
    )


@pytest.mark.parametrize("fetch", [None, 3, 1.5, object()])
def test_what_is_no_fetch(graph, fetch):
    tf.constant(1)
    with tf.Session() as sess, pytest.raises(TypeError):
        sess.run(fetch)


def test_fetches_of_another_graph(graph):
    tf.constant(1)
    with tf.Graph().as_default():
        other = tf.constant(2)
    with tf.Session() as sess, pytest.raises(ValueError, match="not an element of this graph"):
        sess.run(other)


def test_a_closed_session_says_so(graph):
    x = tf.constant(1)
    sess = tf.Session()
    sess.run(x)
    sess.close()
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        sess.run(x)


def test_an_empty_graph_says_so(graph):
    with tf.Session() as sess, pytest.raises(RuntimeError, match="The Session graph is empty"):
        sess.run([])


def test_sessions_own_their_variables(graph):
    v = tf.Variable(1.0)
    up = v.assign_add(1.0)
    with tf.Session() as one, tf.Session() as two:
        one.run(v.initializer)
        two.run(v.initializer)
        assert one.run(up) == 2.0
        assert one.run(v) == 2.0
        assert two.run(v) == 1.0


def test_an_uninitialised_variable_is_named(graph):
    v = tf.Variable(1.0, name="weights")
    with tf.Session() as sess, pytest.raises(tf.errors.FailedPreconditionError, match="weights"):
        sess.run(v + 1.0)


def test_control_dependencies_order_effects(graph):
    v = tf.Variable(1.0)
    with tf.control_dependencies([v.assign(5.0)]):
        after = v.read_value() * 2.0
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(after) == 10.0


def test_operations_change_the_plan(graph):
    a = tf.constant(1.0)
    with tf.Session() as sess:
        assert sess.run(a) == 1.0
        b = a + 1.0
        assert sess.run([a, b]) == [1.0, 2.0]


def test_partial_runs(graph):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    r1 = a + 1.0
    r2 = r1 * b
    with tf.Session() as sess:
        handle = sess.partial_run_setup([r1, r2], [a, b])
        assert sess.partial_run(handle, r1, {a: 2.0}) == 3.0
        assert sess.partial_run(handle, r2, {b: 5.0}) == 15.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="has already been fetched"):
            sess.partial_run(handle, r2)


def test_callables(graph):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.Session() as sess:
        f = sess.make_callable([a * b, a], feed_list=[a, b])
        assert f(2.0, 3.0) == [6.0, 2.0]
        with pytest.raises(ValueError, match="Expected 2 values"):
            f(1.0)


def test_run_metadata_has_the_steps(graph):
    x = tf.tanh(tf.random_uniform([2]), name="squashed")
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(x, options=options, run_metadata=metadata)
    names = [n.node_name for d in metadata.step_stats.dev_stats for n in d.node_stats]
    assert "squashed" in names


def test_run_metadata_has_the_graph_that_ran(graph):
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.tanh(x, name="y")
    tf.sinh(x, name="unused")
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(y, {x: 1.0}, tf.RunOptions(), metadata)
        assert not metadata.partition_graphs
        for _ in range(2):  # the second run replaces what the first one told
            sess.run(y, {x: 1.0}, tf.RunOptions(output_partition_graphs=True), metadata)
        (ran,) = tf.RunMetadata.FromString(metadata.SerializeToString()).partition_graphs
        sess.run(y, {x: 1.0}, None, metadata)
        assert not metadata.partition_graphs
    assert [node.name for node in ran.node] == ["x", "y"]


def test_threads_share_a_session(graph):
    v = tf.Variable(0.0)
    up = v.assign_add(1.0)
    x = tf.placeholder(tf.float32, [])
    y = tf.tanh(x) * 2.0
    wrong = []
    with tf.Session() as sess:
        sess.run(v.initializer)

        def work(k):
            for i in range(100):
                sess.run(up.op)
                if abs(sess.run(y, {x: k + i}) - 2 * np.tanh(np.float32(k + i))) > 1e-6:
                    wrong.append((k, i))

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not wrong
        assert sess.run(v) == 400.0


def test_closing_while_others_run(graph):
    x = tf.constant(1.0) + 1.0
    sess = tf.Session()
    ended = []

    def work():
        try:
            while True:
                sess.run(x)
        except RuntimeError as error:
            ended.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    sess.close()
    for t in threads:
        t.join(20)
    assert ended == ["Attempted to use a closed Session."] * 2


def test_default_sessions(graph):
    x = tf.constant(2.0) * 3.0
    with pytest.raises(ValueError, match="No default session is registered"):
        x.eval()
    with tf.Session().as_default() as sess:
        assert x.eval() == 6.0
        assert tf.get_default_session() is sess
    interactive = tf.InteractiveSession()
    assert x.eval() == 6.0
    interactive.close()


def test_finalised_graphs_refuse(graph):
    graph.finalize()
    with pytest.raises(RuntimeError, match="Graph is finalized and cannot be modified"):
        tf.constant(1)


def test_cycles_are_an_error(graph):
    a, b = tf.constant(1.0), tf.constant(2.0)
    c = a + b
    c.op._update_input(0, c)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="cycle"):
        sess.run(c)


def test_unknown_operations_are_an_error(graph):
    op = graph.create_op("NoSuchOp", [], [tf.float32])
    with tf.Session() as sess, pytest.raises(tf.errors.OpError, match="NoSuchOp"):
        sess.run(op.outputs[0])


def test_a_raising_py_func_is_not_lost(graph):
    def bad(x):
        raise ZeroDivisionError("from inside")

    y = tf.py_func(bad, [tf.constant(1.0)], tf.float32)
    with tf.Session() as sess, pytest.raises(Exception, match="from inside"):
        sess.run(y)


def test_optimizers_name_and_train(graph):
    w = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
    loss = tf.reduce_sum(tf.square(w - [1.0, -2.0]))
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
    assert train.name == "Adam"
    assert {v.name for v in tf.global_variables()} >= {
        "w:0",
        "w/Adam:0",
        "w/Adam_1:0",
        "beta1_power:0",
        "global_step:0",
    }
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(200):
            sess.run(train)
        np.testing.assert_allclose(sess.run(w), [1, -2], atol=1e-2)
        assert sess.run(step) == 200


def test_scopes_share_and_refuse(graph):
    with tf.variable_scope("a"):
        w = tf.get_variable("w", [1])
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("w", [1]) is w
        with pytest.raises(ValueError, match="does not exist"):
            tf.get_variable("other", [1])
        with pytest.raises(ValueError, match="shape"):
            tf.get_variable("w", [2])
    with tf.variable_scope("a"), pytest.raises(ValueError, match="already exists, disallowed"):
        tf.get_variable("w", [1])
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
        assert tf.get_variable("w", [1]) is w
        assert tf.get_variable("fresh", [1]).name == "a/fresh:0"


def test_partitioned_variables(graph):
    v = tf.get_variable(
        "v", [5, 2], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2)
    )
    assert [p.name for p in v] == ["v/part_0:0", "v/part_1:0"]
    assert [p.shape.as_list() for p in v] == [[3, 2], [2, 2]]
    total = tf.reduce_sum(tf.convert_to_tensor(v))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(total) == 10.0


def test_iterators(graph):
    data = tf.data.Dataset.from_tensor_slices(np.arange(4)).map(lambda x: x * 2).batch(2)
    once = data.make_one_shot_iterator().get_next()
    again = data.make_initializable_iterator()
    element = again.get_next()
    with tf.Session() as sess:
        assert [sess.run(once).tolist() for _ in range(2)] == [[0, 2], [4, 6]]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(once)
        with pytest.raises(tf.errors.FailedPreconditionError, match="not been initialized"):
            sess.run(element)
        for _ in range(2):
            sess.run(again.initializer)
            assert sess.run(element).tolist() == [0, 2]


def test_an_assignment_of_another_shape(graph):
    v = tf.Variable([1.0, 2.0])
    before = tf.shape(v)
    longer = tf.assign(v, [1.0, 2.0, 3.0], validate_shape=False)
    x = tf.placeholder(tf.float32)
    fed, same = tf.assign(v, x, validate_shape=False), tf.assign(v, x)
    after, count = tf.shape(v), tf.size(longer)
    assert (longer.shape.as_list(), fed.shape.rank) == ([3], None)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run([v, before])[1].tolist() == [2]
        assert sess.run(longer).tolist() == [1, 2, 3]
        assert (sess.run(after).tolist(), sess.run(count)) == ([3], 3)
        assert sess.run(fed, {x: [[5.0]]}).tolist() == [[5]]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected \[1,1\] got \[2\]"):
            sess.run(same, {x: [1.0, 2.0]})
        sess.run(v.initializer)
        assert sess.run(v).tolist() == [1, 2]
    with pytest.raises(ValueError, match="Shape mismatch"):
        tf.assign(v, [1.0])


@pytest.mark.parametrize("derive", [tf.gradients, tf.hessians])
def test_a_method_of_aggregation_that_is_none(graph, derive):
    x = tf.constant(1.0)
    derive(x * x, x, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE)
    with pytest.raises(ValueError, match="Invalid `aggregation_method` specified 7"):
        derive(x * x, x, aggregation_method=7)


def test_a_reset_forgets_what_sessions_of_a_server_share(graph):
    server = tf.train.Server.create_local_server()
    v = tf.Variable(1.0, name="v")
    with graph.container("other"):
        w = tf.Variable(2.0, name="w")
    ready = [tf.is_variable_initialized(v), tf.is_variable_initialized(w)]
    first = tf.Session(server.target)
    first.run(tf.global_variables_initializer())
    assert tf.Session(server.target).run(ready) == [True, True]
    tf.Session.reset(server.target, ["other"])
    with pytest.raises(tf.errors.AbortedError, match="reset"):
        first.run(v)
    assert tf.Session(server.target).run(ready) == [True, False]
    tf.Session.reset(server.target)
    assert tf.Session(server.target).run(ready) == [False, False]
    with pytest.raises(tf.errors.NotFoundError):
        tf.Session.reset("nowhere")


def test_a_name_in_two_containers_is_two_variables(graph):
    v = tf.Variable(1.0, name="v")
    with tf.Graph().as_default() as second, second.container("other"):
        w = tf.Variable(2.0, name="v")
        begin = w.initializer
    server = tf.train.Server.create_local_server()
    with tf.Session(server.target, graph=graph) as one, tf.Session(server.target, graph=second) as other:
        one.run(v.initializer)
        other.run(begin)
        assert (one.run(v), other.run(w)) == (1, 2)


def test_an_assignment_to_parts_without_reading_them(graph):
    v = tf.get_variable("v", [4], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2))
    ops = v.assign([1.0, 2.0, 3.0, 4.0], read_value=False)
    assert all(isinstance(op, tf.Operation) for op in ops)
    with tf.Session() as sess:
        sess.run(ops)
        assert sess.run(v.as_tensor()).tolist() == [1, 2, 3, 4]


def test_callable_of_options_feeds_tensors_by_tensors():
    """What feeds and what is fetched come of the same run: the counter is read once."""
    with tf.Graph().as_default(), tf.Session() as session:
        counter = tf.get_variable("counter", initializer=0.0, use_resource=True)
        session.run(counter.initializer)
        count = tf.identity(tf.assign_add(counter, 1.0))
        x, y = tf.placeholder(tf.float32, [], "x"), tf.placeholder(tf.float32, [], "y")
        result = x * 10.0 + y
        options = protos.CallableOptions()
        options.feed.append(y.name)
        options.fetch.extend([result.name, count.name, result.name])
        options.tensor_connection.add(from_tensor=count.name, to_tensor=x.name)
        call = session._make_callable_from_options(options)
        assert call(5.0) == [15.0, 1.0, 15.0]
        assert call(6.0) == [26.0, 2.0, 26.0]
        assert session._partial == {}

"""The graph programs of the talks and of the guide: placeholders, sessions, and functions that are graphs.

Each runs in the block of a graph of its own, as it would in a process that has not enabled eager execution.
"""

import numpy as np
import pytest

import tapeflow as tf2
import tapeflow.compat.v1 as tf
import tapeflow.contrib.eager as tfe


@pytest.fixture
def graph():
    with tf.Graph().as_default() as g:
        yield g


def lines(capsys):
    return capsys.readouterr().out.splitlines()


def test_linear_model(graph, capsys):
    W = tf.Variable([0.3], tf.float32)
    b = tf.Variable([-0.3], tf.float32)

    x = tf.placeholder(tf.float32)
    linear_model = W * x + b
    y = tf.placeholder(tf.float32)

    loss = tf.reduce_sum(tf.square(linear_model - y))

    optimizer = tf.train.GradientDescentOptimizer(0.01)
    train = optimizer.minimize(loss)

    x_train = [1, 2, 3, 4]
    y_train = [0, -1, -2, -3]

    init = tf.global_variables_initializer()
    sess = tf.Session()
    sess.run(init)
    for i in range(1000):
        sess.run(train, {x: x_train, y: y_train})

    curr_W, curr_b, curr_loss = sess.run([W, b, loss], {x: x_train, y: y_train})
    print("W: %s b: %s loss: %s" % (curr_W, curr_b, curr_loss))
    # The talk's own run printed W: [-0.9999969] b: [ 0.99999082] loss: 5.69997e-11
    (shown,) = lines(capsys)
    assert shown.startswith("W: [-0.999996")
    assert " b: [0.99999" in shown
    np.testing.assert_allclose([curr_W[0], curr_b[0]], [-1, 1], atol=1e-5)
    assert curr_loss < 1e-10


def test_boilerplate(graph, capsys):
    x = tf.placeholder(tf.float32, shape=[1, 1])
    m = tf.matmul(x, x)

    print(m)
    with tf.Session() as sess:
        m_out = sess.run(m, feed_dict={x: [[2.0]]})
    print(m_out)
    assert lines(capsys) == ['Tensor("MatMul:0", shape=(1, 1), dtype=float32)', "[[4.]]"]


def test_delayed_error(graph):
    x = tf.gather([0, 1, 2], 7)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(x)
    assert "indices = 7 is not in [0, 3)" in str(caught.value)
    assert __file__ in str(caught.value)


def test_each_iteration_adds_nodes(graph):
    x = tf.random_uniform([2, 2])
    before = len(graph.get_operations())
    with tf.Session() as sess:
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                assert 0 <= sess.run(x[i, j]) < 1
    assert len(graph.get_operations()) >= before + 4


def test_define_and_run(graph, capsys):
    v1 = tf.constant(1)
    v2 = tf.constant(2)
    v3 = v1 + v2
    print(v3)
    sess = tf.Session()
    print(sess.run(v3))
    assert lines(capsys) == ['Tensor("add:0", shape=(), dtype=int32)', "3"]


def test_eager_inside_of_a_graph(graph, capsys):
    def my_py_func(x):
        x = tf.matmul(x, x)
        print(x)
        return x

    with tf.Session() as sess:
        x = tf.placeholder(dtype=tf.float32)
        pf = tfe.py_func(my_py_func, [x], tf.float32)
        result = sess.run(pf, feed_dict={x: [[2.0]]})
    np.testing.assert_array_equal(result, [[4.0]])
    assert lines(capsys) == ["tf.Tensor([[4.]], shape=(1, 1), dtype=float32)"]


def lstm_cell(x, w, h, c):
    xhw = tf.matmul(tf.concat([x, h], axis=1), w)
    y = tf.split(xhw, 4, axis=1)
    in_value = tf.tanh(y[0])
    in_gate, forget_gate, out_gate = [tf.sigmoid(z) for z in y[1:]]
    c = (forget_gate * c) + (in_gate * in_value)
    h = out_gate * tf.tanh(c)
    return h, c


@pytest.mark.parametrize("decorate", [tfe.graph_callable, tfe.defun, tf2.function])
def test_lstm_cell_as_a_graph(decorate):
    rng = np.random.default_rng(0)
    x, h, c = (tf2.constant(rng.normal(size=(3, n)), tf.float32) for n in (4, 5, 5))
    w = tf2.constant(rng.normal(size=(9, 20)), tf.float32)
    got = decorate(lstm_cell)(x, w, h, c)
    for a, b in zip(got, lstm_cell(x, w, h, c), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_existing_graph_code_and_line_search():
    """The cat generator's shape: a net in graph style, differentiated by its input, and nudged towards a class."""

    @tf.nn.graph_callable
    def net(image):
        hidden = tf.get_variable("hidden", [12, 8], initializer=tf.random_normal_initializer(seed=1))
        out = tf.get_variable("out", [8, 5], initializer=tf.random_normal_initializer(seed=2))
        return tf.nn.softmax(tf.matmul(tf.nn.relu(tf.matmul(image, hidden)), out))

    def objective(x):
        log_p = tf.log(net(x)[0, 3])
        return -tf.reshape(log_p, [])

    grad_fn = tfe.gradients_function(objective)
    image = tf2.ones([1, 12])
    values = []
    for _ in range(10):
        val, (grad,) = objective(image), grad_fn(image)
        values.append(float(val))
        image -= 0.05 * grad
    assert len(net.variables) == 2
    assert values[-1] < values[0]


def test_existing_graph_code_is_restored_before_it_is_called(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        weights = tf.get_variable("net/weights", initializer=tf.constant([[2.0], [3.0]]))
        mean = tf.get_variable("net/mean", initializer=tf.constant(1.0), trainable=False)
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver([weights, mean]).save(session, str(tmp_path / "net"))

    @tf.nn.graph_callable
    def net(x):
        with tf.variable_scope("net"):
            weights = tf.get_variable("weights", [2, 1])
            return tf.matmul(x, weights) + tf.get_variable("mean", [], trainable=False)

    net.restore(path)
    assert len(net.variables) == 2
    assert net(tf2.ones([1, 2])).numpy() == 6.0
    assert net(tf2.ones([3, 2])).shape == (3, 1)
    assert [v.name for v in net.trainable_variables] == ["net/weights:0"]
    assert len(net.variables) == 2


def test_abs_becomes_a_conditional():
    @tf2.function
    def abs(x):
        if x >= 0:
            return x
        else:
            return -x

    assert float(abs(tf2.constant(-3.0))) == 3.0
    assert float(abs(tf2.constant(3.0))) == 3.0
    kinds = [op.type for op in abs.get_concrete_function(tf2.constant(1.0)).graph.get_operations()]
    assert "If" in kinds


def test_loop_over_a_range():
    @tf2.function
    def fn_graph(x):
        for i in tf2.range(1000):
            x += i
        return x

    def fn_eager(x):
        for i in tf2.range(1000):
            x += i
        return x

    assert int(fn_graph(0)) == int(fn_eager(0)) == 499500


def test_eager_mode_is_disabled_in_functions(capfd):
    @tf2.function
    def fn_graph():
        tf2.print(tf2.executing_eagerly())
        return

    def fn_eager():
        tf2.print(tf2.executing_eagerly())
        return

    fn_graph()
    fn_eager()
    assert capfd.readouterr().err.split() == ["False", "True"]


def test_variables_are_created_once():
    @tf2.function
    def f(x):
        v = tf2.Variable(1.0)
        return v * x

    with pytest.raises(ValueError, match=r"only supports singleton tf\.Variables created on the first call"):
        f(tf2.constant(1.0))

"""cond, case, switch_case and while_loop as nodes: values, gradients, shapes, effects, and what must raise."""

import numpy as np
import pytest

import tapeflow as tf2
import tapeflow.compat.v1 as tf


@pytest.fixture
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(fetches, feeds=None):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches, feeds)


def test_cond_takes_one_branch(graph):
    x = tf.placeholder(tf.float32, [])
    v = tf.Variable(0.0)

    def up():
        with tf.control_dependencies([v.assign_add(1.0)]):
            return tf.identity(x * 2.0)

    y = tf.cond(x > 0.0, up, lambda: x - 1.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(y, {x: 3.0}) == 6.0
        assert sess.run(y, {x: -3.0}) == -4.0
        assert sess.run(v) == 1.0


def test_cond_keeps_structures(graph):
    x = tf.placeholder(tf.float32, [])
    got = tf.cond(x > 0.0, lambda: {"a": x, "b": [x, x + 1]}, lambda: {"a": -x, "b": [x, x]})
    assert run(got, {x: 1.0}) == {"a": 1.0, "b": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("true_fn", "false_fn", "error"),
    [
        (lambda: tf.constant(1), lambda: tf.constant(1.0), TypeError),
        (lambda: [tf.constant(1), tf.constant(2)], lambda: tf.constant(1), (TypeError, ValueError)),
        (None, lambda: 1, TypeError),
    ],
)
def test_cond_refuses(graph, true_fn, false_fn, error):
    with pytest.raises(error):
        tf.cond(tf.placeholder(tf.bool, []), true_fn, false_fn)


def test_gradients_of_a_cond(graph):
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(x > 0.0, lambda: x * x * x, lambda: tf.exp(x))
    (d1,) = tf.gradients(y, x)
    (d2,) = tf.gradients(d1, x)
    np.testing.assert_allclose(run([d1, d2], {x: 2.0}), [12, 12])
    np.testing.assert_allclose(run([d1, d2], {x: -1.0}), [np.exp(-1)] * 2, rtol=1e-6)


def test_case_and_switch(graph):
    x = tf.placeholder(tf.int32, [])
    by_case = tf.case(
        [(x < 1, lambda: tf.constant(10)), (x < 2, lambda: tf.constant(20))],
        default=lambda: tf.constant(-1),
    )
    by_switch = tf.switch_case(
        x, [lambda: tf.constant(1), lambda: tf.constant(2)], default=lambda: tf.constant(-1)
    )
    assert [run([by_case, by_switch], {x: i}) for i in (0, 1, 2)] == [[10, 1], [20, 2], [-1, -1]]


def test_while_with_many_variables(graph):
    i, a, b = tf.while_loop(lambda i, a, b: i < 10, lambda i, a, b: (i + 1, b, a + b), [0, 0, 1])
    assert run([i, a, b]) == [10, 55, 89]


def test_nested_loops_with_captures(graph):
    n = tf.placeholder(tf.int32, [])

    def outer(i, total):
        _, inner = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + i * j), [0, 0])
        return i + 1, total + inner

    _, total = tf.while_loop(lambda i, t: i < n, outer, [0, 0])
    assert run(total, {n: 6}) == sum(i * j for i in range(6) for j in range(i))


def test_gradients_of_a_loop(graph):
    x, w = tf.placeholder(tf.float32, [2]), tf.Variable([0.5, 2.0])
    n = tf.placeholder(tf.int32, [])
    _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.sin(y) * w + x), [0, x])
    dx, dw = tf.gradients(tf.reduce_sum(y), [x, w])

    def eager(x, w, n):
        y = x
        for _ in range(n):
            y = tf2.sin(y) * w + x
        return y

    for count in (0, 1, 4):
        start = np.array([0.3, -0.7], np.float32)
        got = run([y, dx, dw], {x: start, n: count})
        with tf2.init_scope():
            pass
        from tapeflow.core import context

        with context.eager_mode():
            xs, ws = tf2.constant(start), tf2.constant([0.5, 2.0])
            with tf2.GradientTape() as tape:
                tape.watch([xs, ws])
                want = eager(xs, ws, count)
            grads = tape.gradient(
                want, [xs, ws], unconnected_gradients=tf2.UnconnectedGradients.ZERO
            )
            wanted = [want.numpy(), *(g.numpy() for g in grads)]
        for a, b in zip(got, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_loop_may_grow_with_invariants(graph):
    _, x = tf.while_loop(
        lambda i, x: i < 4, lambda i, x: (i + 1, tf.concat([x, [i]], 0)), [0, tf.zeros([1], tf.int32)],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )  # fmt: skip
    assert x.shape.as_list() == [None]
    assert run(x).tolist() == [0, 0, 1, 2, 3]


def test_a_loop_that_grows_is_refused(graph):
    with pytest.raises(ValueError, match="shape_invariants"):
        tf.while_loop(
            lambda i, x: i < 4,
            lambda i, x: (i + 1, tf.concat([x, [i]], 0)),
            [0, tf.zeros([1], tf.int32)],
        )


@pytest.mark.parametrize(
    "body",
    [lambda i, x: i + 1, lambda i, x: (i + 1, x, x), lambda i, x: (i + 1, tf.cast(x, tf.float64))],
)
def test_a_body_must_return_its_variables(graph, body):
    with pytest.raises((TypeError, ValueError)):
        tf.while_loop(lambda i, x: i < 4, body, [0, 1.0])


def test_maximum_iterations(graph):
    limit = tf.placeholder(tf.int32, [])
    x = tf.while_loop(lambda x: True, lambda x: x + 1, [0], maximum_iterations=limit)
    assert run(x, {limit: 7}) == 7


def test_errors_inside_of_bodies_are_named(graph):
    x = tf.placeholder(tf.int32, [])
    _, y = tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, tf.gather([1, 2, 3], y + i)), [0, x]
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not in") as caught:
        run(y, {x: 5})
    assert __file__ in str(caught.value)


def test_effects_in_loops_happen_each_time(graph):
    v = tf.Variable(0.0)

    def body(i):
        with tf.control_dependencies([v.assign_add(2.0)]):
            return i + 1

    i = tf.while_loop(lambda i: i < 5, body, [0])
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(i)
        assert sess.run(v) == 10.0


def test_hessians(graph):
    x = tf.placeholder(tf.float32, [3])
    (h,) = tf.hessians(tf.reduce_sum(x**3), x)
    np.testing.assert_allclose(run(h, {x: [1, 2, 3]}), np.diag([6, 12, 18]))


def test_integers_have_no_gradient(graph):
    x = tf.constant(3)
    assert tf.gradients(x * x, x) == [None]
    with pytest.raises(TypeError):
        tf.gradients(x * x, x, grad_ys=[tf.constant(1.0)])


def test_stop_gradients(graph):
    x = tf.constant(3.0)
    y = x * x
    z = y * x
    assert run(tf.gradients(z, x)) == [27.0]
    assert run(tf.gradients(z, x, stop_gradients=[y])) == [9.0]


def test_the_dtype_of_a_loop_variable_is_fixed():
    @tf.function
    def loop():
        x = tf.constant(1.0, name="start")
        return tf.while_loop(lambda x: x < 3, lambda x: tf.cast(x, tf.float16), [x])

    message = r"start:0 enters the loop with type <dtype: 'float32'> but has type <dtype: 'float16'> after 1 iteration"
    with pytest.raises(TypeError, match=message):
        loop()

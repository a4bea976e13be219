"""Control flow and functions as ops, run eagerly."""

import numpy as np
import pytest

import tapeflow as tf


def test_cond_runs_one_branch():
    ran = []
    out = tf.cond(tf.constant(1) < 2, lambda: ran.append("a") or 1, lambda: ran.append("b") or 2)
    assert (out, ran) == (1, ["a"])
    with pytest.raises(TypeError, match="must be callable"):
        tf.cond(True, 1, 2)


def test_while_loop_counts():
    i, total = tf.while_loop(lambda i, t: i < 5, lambda i, t: (i + 1, t + i), [0, tf.constant(0)])
    assert (int(i), int(total)) == (5, 10)
    out = tf.while_loop(lambda i: True, lambda i: [i * 2], [tf.constant(1)], maximum_iterations=4)
    assert int(out[0]) == 16


def test_gradient_through_a_loop():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, tf.constant(1.0)])[1]
    assert float(tape.gradient(y, x)) == 27.0


def test_case_and_switch_case():
    pairs = [(tf.constant(False), lambda: 1), (tf.constant(True), lambda: 2)]
    assert tf.case(pairs) == 2
    assert tf.case(pairs[:1], default=lambda: 7) == 7
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.case([(tf.constant(True), lambda: 1), (tf.constant(True), lambda: 2)], exclusive=True)
    assert tf.switch_case(tf.constant(1), [lambda: "a", lambda: "b"]) == "b"
    assert tf.switch_case(tf.constant(9), {1: lambda: "b", 0: lambda: "a"}) == "b"
    with pytest.raises(ValueError, match=r"contiguous range of \[0 to 2\) but found \{0,4\}"):
        tf.switch_case(tf.constant(0), {0: lambda: "a", 4: lambda: "b"})


def test_map_fn():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(tf.map_fn(tf.reduce_sum, x).numpy(), [3, 7])
    pair = tf.map_fn(
        lambda t: (t[0] + t[1], t[0] > 1), (x, x), fn_output_signature=(tf.float32, tf.bool)
    )
    np.testing.assert_array_equal(pair[0].numpy(), 2 * x.numpy())
    with pytest.raises(TypeError, match="not callable"):
        tf.map_fn(3, x)


def test_scan_and_folds():
    x = tf.constant([1, 2, 3, 4])
    np.testing.assert_array_equal(tf.scan(lambda a, e: a + e, x).numpy(), [1, 3, 6, 10])
    np.testing.assert_array_equal(
        tf.scan(lambda a, e: a + e, x, reverse=True).numpy(), [10, 9, 7, 4]
    )
    assert int(tf.foldl(lambda a, e: a * 10 + e, x)) == 1234
    assert int(tf.foldr(lambda a, e: a * 10 + e, x)) == 4321
    assert int(tf.foldl(lambda a, e: a + e, x, initializer=5)) == 15


def test_python_functions_as_ops():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(lambda v: v * v, [x], tf.float32)
    assert float(tape.gradient(y, x)) == 6.0
    assert float(tf.numpy_function(np.sin, [np.float64(0)], tf.float64)) == 0.0
    with pytest.raises(ValueError, match="to be callable"):
        tf.py_function("x", [x], tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="float32, but int32 was promised"):
        tf.py_function(lambda v: v, [x], tf.int32)

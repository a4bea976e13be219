"""vectorized_map: one run for a whole batch, and one after the other where there is no such run."""

import numpy as np
import pytest

import tapeflow as tf


def count_calls(f):
    calls = []

    def counted(*args):
        calls.append(args)
        return f(*args)

    return counted, calls


def test_function_runs_once():
    f, calls = count_calls(lambda x: x * 2)
    np.testing.assert_array_equal(tf.vectorized_map(f, tf.range(5)), 2 * np.arange(5))
    assert len(calls) == 1


def test_structures():
    found = tf.vectorized_map(
        lambda row: {"sum": row["a"] + row["b"][0], "one": tf.constant(1.0)},
        {"a": tf.constant([1.0, 2.0]), "b": [tf.constant([10.0])]},
    )
    np.testing.assert_array_equal(found["sum"], [11.0, 12.0])
    np.testing.assert_array_equal(found["one"], [1.0, 1.0])


def test_results_that_are_none():
    assert tf.vectorized_map(lambda x: None, tf.range(3)) is None
    found = tf.vectorized_map(lambda x: {"a": None, "b": x}, tf.range(3))
    assert found["a"] is None
    np.testing.assert_array_equal(found["b"], [0, 1, 2])


def test_branches_on_values_run_one_by_one():
    f, calls = count_calls(lambda x: x if x > 0 else -x)
    np.testing.assert_array_equal(tf.vectorized_map(f, tf.constant([1, -2, 3])), [1, 2, 3])
    assert len(calls) == 4  # one of them stopped at the branch
    with pytest.raises(Exception, match="bool"):
        tf.vectorized_map(f, tf.constant([1, -2, 3]), fallback_to_while_loop=False)


def test_changes_of_state_run_one_by_one():
    total = tf.Variable(0)
    found = tf.vectorized_map(lambda x: total.assign_add(x), tf.constant([1, 2, 3]))
    np.testing.assert_array_equal(found, [1, 3, 6])
    assert total.numpy() == 6
    with pytest.raises(ValueError, match="cannot be vectorized"):
        tf.vectorized_map(lambda x: total.assign_add(x), tf.constant([1, 2]), fallback_to_while_loop=False)


def test_random_numbers_differ():
    found = tf.vectorized_map(lambda x: x + tf.random.uniform([2]), tf.zeros([4])).numpy()
    assert found.shape == (4, 2)
    assert len(np.unique(found)) == 8


def test_functions_inside():
    inner = tf.function(lambda x, y: tf.reduce_sum(x) * y)
    found = tf.vectorized_map(lambda x: inner(x, 2.0), tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    np.testing.assert_array_equal(found, [6.0, 14.0])


def test_errors_are_those_of_the_function():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        tf.vectorized_map(lambda x: x + tf.ones([3]), tf.ones([2, 2]))


def per_example(f, variable):
    def gradient(x):
        with tf.GradientTape() as tape:
            y = f(x)
        return tape.gradient(y, variable)

    return gradient


@pytest.mark.parametrize("how", ["eager", "function", "unknown batch"])
def test_gradients_of_each_example(how):
    rng = np.random.default_rng(1)
    kernel = tf.Variable(rng.normal(size=(3, 3, 1, 4)), dtype=tf.float32)

    def loss(image):
        y = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(image[None], kernel, 1, "SAME")), 2, 2, "VALID")
        return tf.reduce_sum(tf.nn.log_softmax(tf.reshape(y, [1, -1]))[0, :3])

    images = tf.constant(rng.normal(size=(5, 6, 6, 1)), tf.float32)
    gradient = per_example(loss, kernel)
    want = np.stack([gradient(image) for image in images])
    run = lambda images: tf.vectorized_map(gradient, images)  # noqa: E731
    if how != "eager":
        signature = None if how == "function" else [tf.TensorSpec([None, 6, 6, 1])]
        run = tf.function(run, signature)
    np.testing.assert_allclose(run(images), want, rtol=1e-4, atol=1e-5)


def test_gradient_through_it():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    scale = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.vectorized_map(lambda row: scale * tf.reduce_sum(row**2), x)
    dx, d_scale = tape.gradient(y, [x, scale])
    np.testing.assert_allclose(dx, 6 * x)
    np.testing.assert_allclose(d_scale, 30.0)


def test_own_gradients_stay():
    @tf.custom_gradient
    def clipped(x):
        return x * 2.0, lambda dy: tf.clip_by_value(dy, -0.5, 0.5)

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.vectorized_map(clipped, x)
    np.testing.assert_array_equal(tape.gradient(y, x), [0.5, 0.5])


def test_no_elements():
    assert tf.vectorized_map(lambda x: tf.reduce_sum(x), tf.zeros([0, 3])).shape == (0,)

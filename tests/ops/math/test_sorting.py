"""tf.sort and tf.argsort against NumPy."""

import numpy as np
import pytest

import tapeflow as tf


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint32, np.float16, np.float64])
def test_sorts_along_an_axis(rng, dtype, axis):
    x = rng.integers(0, 100, (5, 7)).astype(dtype)
    np.testing.assert_array_equal(tf.sort(x, axis), np.sort(x, axis))
    falling = tf.sort(x, axis, "DESCENDING")
    np.testing.assert_array_equal(falling, np.flip(np.sort(x, axis), axis))


def test_the_least_integer_sorts_first():
    np.testing.assert_array_equal(tf.sort(tf.constant([0, -128, 127], tf.int8)), [-128, 0, 127])


def test_equal_elements_keep_their_order():
    np.testing.assert_array_equal(tf.argsort([3, 1, 3, 1]), [1, 3, 0, 2])
    np.testing.assert_array_equal(tf.argsort([3, 1, 3, 1], direction="DESCENDING"), [0, 2, 1, 3])


def test_the_gradient_goes_back_to_where_each_element_was():
    x = tf.constant([3.0, 1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.sort(x) * [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(tape.gradient(y, x), [3.0, 1.0, 2.0])


def test_an_unknown_direction_is_an_error():
    with pytest.raises(ValueError, match="direction=up"):
        tf.sort([2, 1], direction="up")


@pytest.mark.parametrize(("values", "axis"), [([2, 1], 1), ([2, 1], -2), (3, -1)])
def test_an_axis_that_there_is_not_is_an_error(values, axis):
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
        tf.argsort(values, axis)

"""TensorArray, eagerly: what is written is read, once, and differentiates."""

import numpy as np
import pytest

import tapeflow as tf


def test_write_and_stack():
    array = tf.TensorArray(tf.float32, 2).write(1, [3.0, 4.0]).write(0, [1.0, 2.0])
    np.testing.assert_array_equal(array.stack().numpy(), [[1, 2], [3, 4]])


def test_grows_where_it_may():
    array = tf.TensorArray(tf.int32, 0, dynamic_size=True, element_shape=[]).write(2, 7)
    assert int(array.size()) == 3
    np.testing.assert_array_equal(array.stack().numpy(), [0, 0, 7])


def test_unstack_scatter_split_and_concat():
    array = tf.TensorArray(tf.float32, 2).unstack([[1.0], [2.0]])
    np.testing.assert_array_equal(array.concat().numpy(), [1, 2])
    array = tf.TensorArray(tf.float32, 3).scatter([2, 0], tf.constant([1.0, 2.0]))
    np.testing.assert_array_equal(array.gather([0, 2]).numpy(), [2, 1])
    array = tf.TensorArray(tf.float32, 2).split([1.0, 2.0, 3.0], [1, 2])
    np.testing.assert_array_equal(array.read(1).numpy(), [2, 3])


def test_gradient():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        array = tf.TensorArray(tf.float32, 3)
        for i in range(3):
            array = array.write(i, x[i] ** 2)
        y = tf.reduce_sum(array.stack())
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [2, 4, 6])


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (
            lambda a: a.write(2, 1.0),
            tf.errors.OutOfRangeError,
            "Tried to write to index 2 but array is not resizeable and size is: 2",
        ),
        (lambda a: a.read(-1), tf.errors.OutOfRangeError, "Tried to read from index -1"),
        (lambda a: a.write(0, tf.constant(1)), tf.errors.InvalidArgumentError, "write dtype int32"),
        (
            lambda a: a.write(0, 1.0).write(1, [1.0]),
            ValueError,
            r"Incompatible shape for value \(\(1,\)\)",
        ),
        (lambda a: (a.write(0, 1.0).read(0), a.read(0)), tf.errors.InvalidArgumentError, "twice"),
        (lambda a: a.unstack([1.0, 2.0, 3.0]), ValueError, "Cannot unstack 3 tensors"),
        (lambda a: a.scatter([-1], [1.0]), tf.errors.OutOfRangeError, r"negative indices \(index -1\)"),
        (lambda a: a.unstack([1.0, 2.0]).concat(), tf.errors.InvalidArgumentError, "saw a scalar shape at index 0"),
        (lambda a: a.split([1.0, 2.0], 1), tf.errors.InvalidArgumentError, r"lengths to be a vector, .* \[\]"),
        (lambda a: a.split([1.0, 2.0], [1]), tf.errors.InvalidArgumentError, r"sum of lengths is 1 .* \[2\]"),
        (lambda a: a.split(1.0, [1]), tf.errors.InvalidArgumentError, r"value to be at least a vector, .* \[\]"),
        (lambda a: a.split([1.0], [1]), tf.errors.InvalidArgumentError, r"size of lengths \(2 vs. 1\)"),
    ],
)
def test_errors(function, error, text):
    with pytest.raises(error, match=text):
        function(tf.TensorArray(tf.float32, 2))


def test_only_reading_takes_elements_away():
    array = tf.TensorArray(tf.float32, 3).unstack([1.0, 2.0, 3.0])
    for _ in range(2):
        assert array.stack().numpy().tolist() == [1.0, 2.0, 3.0]
        assert array.gather([2, 0]).numpy().tolist() == [3.0, 1.0]
    assert array.scatter([1], [5.0]).stack().numpy().tolist() == [1.0, 5.0, 3.0]
    array.read(1)
    assert array.stack().numpy().tolist() == [1.0, 0.0, 3.0]


def test_what_was_read_and_cleared_is_zeros_for_the_others():
    def read_once():
        array = tf.TensorArray(tf.float32, 3).unstack([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        array.read(1)
        return array

    assert read_once().stack().numpy().tolist() == [[1.0, 2.0], [0.0, 0.0], [5.0, 6.0]]
    assert read_once().gather([0, 1]).numpy().tolist() == [[1.0, 2.0], [0.0, 0.0]]
    assert read_once().concat().numpy().tolist() == [1.0, 2.0, 0.0, 0.0, 5.0, 6.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="index 1 twice because it was cleared"):
        read_once().read(1)


def test_subclasses():
    class Counted(tf.TensorArray):
        def write(self, index, value, name=None):
            Counted.writes += 1
            return super().write(index, value, name)

    Counted.writes = 0
    array = Counted(tf.float32, size=2)
    array = array.write(0, 1.0).write(1, 2.0)
    assert (int(array.size()), array.stack().numpy().tolist(), Counted.writes) == (2, [1.0, 2.0], 2)

"""Operators between arrays and tensors of a graph: the array takes the tensor's dtype, on either side."""

import operator

import numpy as np
import pytest

import tapeflow as tf

ARRAYS = {
    "float64": np.array([1.0, 2.0, 3.0]),
    "a float64": np.float64(2),
    "int64": np.array([1, 2, 3]),
    "float16": np.array([1.0, 2.0, 3.0], np.float16),
    "bool": np.array([True, False, True]),
}
ARITHMETIC = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.floordiv, operator.mod,
]  # fmt: skip


@pytest.mark.parametrize("function", ARITHMETIC)
@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("variable", [False, True])
def test_arithmetic(function, array, variable):
    with tf.Graph().as_default():
        t = tf.compat.v1.placeholder_with_default(np.float32([1.5, 2.0, 4.0]), [3])
        if variable:
            t = tf.compat.v1.Variable(np.float32([1.5, 2.0, 4.0]))
        left = function(array, t)
        assert left.dtype == tf.float32
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            expected = function(np.asarray(array, np.float32), np.float32([1.5, 2.0, 4.0]))
            np.testing.assert_allclose(session.run(left), expected, rtol=1e-6)


def test_whole_numbers_and_names():
    with tf.Graph().as_default():
        i = tf.compat.v1.placeholder(tf.int32, [3])
        assert (np.array([1.5, 2.0, 3.0]) - i).dtype == tf.int32
        assert (np.array([1, 0, 1]) & i).dtype == tf.int32
        c = np.array([1j, 0, 1]) * tf.zeros([3])
        assert c.dtype == tf.float32
        assert c.op.inputs[0].name == "mul/x:0"
        d = np.ones((1, 3)) @ tf.zeros([3, 1])
        assert d.dtype == tf.float32


def test_in_a_function():
    @tf.function
    def f(x):
        return np.arange(3.0) - x

    assert f(tf.constant([1.0, 1.0, 1.0])).numpy().tolist() == [-1.0, 0.0, 1.0]


def test_a_tensor_keeps_its_dtype():
    with tf.Graph().as_default(), pytest.raises(TypeError, match="float64"):
        tf.constant([1.0], tf.float64) - tf.constant([1.0])

"""Handles of variables in functions, by raw ops: the same state, in the same order, as the variables themselves."""

from __future__ import annotations

import numpy as np

import tapeflow as tf

R = tf.raw_ops


def test_raw_ops_and_methods_take_turns():
    variable = tf.Variable([1.0, 2.0])

    @tf.function
    def changed():
        R.AssignVariableOp(resource=variable.handle, value=[5.0, 6.0])
        first = variable.read_value()
        variable.assign([7.0, 8.0])
        second = R.ReadVariableOp(resource=variable.handle, dtype=tf.float32)
        R.AssignAddVariableOp(resource=variable.handle, value=[1.0, 1.0])
        return first, second

    for _ in range(2):
        first, second = changed()
        np.testing.assert_array_equal(first, [5.0, 6.0])
        np.testing.assert_array_equal(second, [7.0, 8.0])
        np.testing.assert_array_equal(variable, [8.0, 9.0])


def test_shapes_are_those_of_the_variable():
    variable, shapes = tf.Variable([1.0, 2.0]), []

    @tf.function
    def read():
        found = R.ReadVariableOp(resource=variable.handle, dtype=tf.float32)
        row = R.ResourceGather(resource=variable.handle, indices=[0], dtype=tf.float32)
        shapes.extend([found.shape, row.shape, R.VariableShape(input=variable.handle).shape])
        return row

    read()
    assert [s.as_list() for s in shapes] == [[2], [1], [1]]


def test_read_in_a_loop():
    variable = tf.Variable(3.0)

    @tf.function
    def last():
        body = lambda _: R.ReadVariableOp(resource=variable.handle, dtype=tf.float32)  # noqa: E731
        return tf.while_loop(lambda _: True, body, [0.0], maximum_iterations=2)

    assert last()[0].numpy() == 3.0


def test_gradients_by_the_variable():
    variable = tf.Variable([1.0, 2.0])

    @tf.function
    def gradient():
        with tf.GradientTape() as tape:
            y = R.ReadVariableOp(resource=variable.handle, dtype=tf.float32) * 3.0
        return tape.gradient(y, variable)

    np.testing.assert_array_equal(gradient(), [3.0, 3.0])

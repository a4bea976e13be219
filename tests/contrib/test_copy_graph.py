"""Operations and variables copied to another graph."""

import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib.copy_graph import copy_op_to_graph, copy_variable_to_graph, get_copied_op


def test_a_copy_computes_on_copied_variables():
    first, second = tf.Graph(), tf.Graph()
    with first.as_default():
        v = tf.get_variable("v", initializer=2.0)
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.multiply(v, x, name="y")
        tf.add_to_collection("outputs", y)
    variable = copy_variable_to_graph(v, second, "copy")
    copy = copy_op_to_graph(y, second, [variable], "copy")
    assert copy.name == "copy/y:0"
    assert copy.graph is second
    assert second.get_collection("copy/outputs") == [copy]
    assert second.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES) == [variable]
    assert copy_op_to_graph(y, second, [variable], "copy") is copy
    with tf.Session(graph=second) as session:
        session.run(variable.initializer)
        given = get_copied_op(x, second, "copy")
        assert session.run(copy, {given: 3.0}) == 6.0
        session.run(variable.assign(5.0))
        assert session.run(copy, {given: 3.0}) == 15.0


def test_parts_are_copied_once():
    first, second = tf.Graph(), tf.Graph()
    with first.as_default():
        a = tf.constant(2.0, name="scope/a")
        b = tf.square(a, name="b")
        with tf.control_dependencies([b.op]):
            c = tf.add(a, a, name="c")
    inner = copy_op_to_graph(a, second, [])
    outer = copy_op_to_graph(c, second, [])
    assert outer.op.inputs[1] is inner
    assert [op.name for op in outer.op.control_inputs] == [b.op.name]
    with tf.Session(graph=second) as session:
        assert session.run(outer) == 4.0


def test_only_operations_and_variables_are_copied():
    with pytest.raises(TypeError, match="Could not copy instance"):
        copy_op_to_graph("x", tf.Graph(), [])
    with pytest.raises(TypeError, match="is not a Variable"):
        copy_variable_to_graph(3.0, tf.Graph())
    with tf.Graph().as_default():
        x = tf.constant(1.0)
    with pytest.raises(KeyError):
        get_copied_op(x, tf.Graph())

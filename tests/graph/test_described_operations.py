"""`tf.Operation(node_def, graph)`, and inputs that follow later."""

import copy

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def renamed(op, name):
    node = copy.deepcopy(op.node_def)
    node.name = name
    return node


def values(tensors, feeds=None):
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        return session.run(tensors, feeds)


def copied(op, known):
    """`op` again, and all that it is made of, below "copy/", as libraries of 2017 copy parts of graphs."""
    if op not in known:
        new = tf.Operation(renamed(op, "copy/" + op.name), op.graph, [], op._output_types, [], [], None, op.op_def)
        op.graph._add_op(new)
        known[op] = new
        new._add_control_inputs([copied(each, known) for each in op.control_inputs])
        for x in op.inputs:
            new._add_input(copied(x.op, known).outputs[x.value_index])
    return known[op]


def add(x):
    return x + 2.0


def product(x):
    return tf.matmul(x, tf.ones([3, 4]))


def lists(x):
    return tf.concat([x, x * x], 1)


def split(x):
    return tf.split(x, 3, 1)[1]


def decided(x):
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 3.0, lambda: x - 1.0)


def waits(x):
    with tf.control_dependencies([tf.debugging.assert_positive(x)]):
        return tf.identity(x)


@pytest.mark.parametrize("function", [add, product, lists, split, decided, waits])
def test_copies_compute_the_same(graph, function):
    x = v1.placeholder(tf.float32, [2, 3])
    y = function(x)
    again = copied(y.op, {x.op: x.op}).outputs[y.value_index]
    assert (again.shape, again.dtype, again.name) == (y.shape, y.dtype, "copy/" + y.name)
    want, got = values([y, again], {x: np.arange(1.0, 7.0).reshape(2, 3)})
    np.testing.assert_array_equal(got, want)


def test_inputs_may_be_given_at_once(graph):
    x, y = tf.constant([1.0]), tf.constant([2.0])
    node = renamed((x - y).op, "again")
    for make in (tf.Operation, tf.Operation.from_node_def):
        op = make(node, graph, [y, x], [tf.float32], [x.op])
        assert isinstance(op, tf.Operation)
        assert op.control_inputs == [x.op]
        assert values(op.outputs[0]) == [1.0]
        node.name = "once_more"


def test_the_value_of_a_variable_stands_for_the_variable(graph):
    v = v1.get_variable("v", initializer=3.0)
    read = tf.convert_to_tensor(v)
    op = tf.Operation(renamed(read.op, "again"), graph, [])
    op._add_input(read)
    assert values(op.outputs[0]) == 3.0


def test_an_operation_without_its_inputs_cannot_run(graph):
    node = renamed((tf.constant(1.0) + tf.constant(2.0)).op, "again")
    op = tf.Operation(node, graph)
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="again expected inputs"):
            values(op.outputs[0])
        op._add_input(tf.constant(1.0))
    assert values(op.outputs[0]) == 2.0
    with pytest.raises(ValueError, match="has all of its 2 inputs"):
        op._add_input(tf.constant(1.0))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"node_def": "Add"}, TypeError, "must be a NodeDef"),
        ({"g": None}, TypeError, "must be a Graph"),
        ({"inputs": (1, 2)}, TypeError, "shall be a list of Tensors"),
        ({"inputs": [1, 2]}, TypeError, "shall be Tensor"),
        ({"control_inputs": [3]}, TypeError, "Control input must be an Operation"),
        ({"output_types": [tf.int32]}, TypeError, "has outputs of types"),
        ({"name": "sum"}, ValueError, "Duplicate node name"),
        ({"op": "NoSuchOp"}, tf.errors.NotFoundError, "NoSuchOp"),
    ],
)
def test_mistakes_are_named(graph, change, error, message):
    x = tf.constant(1.0)
    node = renamed(tf.add(x, x, name="sum").op, change.pop("name", "again"))
    node.op = change.pop("op", node.op)
    with pytest.raises(error, match=message):
        tf.Operation(**{"node_def": node, "g": graph, "inputs": [x, x], **change})

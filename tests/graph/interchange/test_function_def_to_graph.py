"""Graphs of `FunctionDef`s, and variants that sessions cannot give."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.graph.interchange.function_def_to_graph import function_def_to_graph

v1 = tf.compat.v1


def _graph():
    """A graph with a loop whose body calls nothing else."""
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 2], "x")
        v1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2.0), [0, x])
    return graph


def _body(graph):
    return next(f.definition for f in graph._functions.values() if len(f.definition.signature.output_arg) == 2)


def test_functions_that_a_graph_calls_become_graphs():
    holder = _graph()
    definition = _body(holder)
    with holder.as_default():
        graph = function_def_to_graph(definition)
    assert [x.dtype for x in graph.inputs] == [tf.int32, tf.float32]
    assert [x.op.name for x in graph.inputs] == [x.name for x in definition.signature.input_arg]
    with v1.Session(graph=graph) as session:
        values = dict(zip(graph.inputs, [np.int32(1), np.ones((3, 2), np.float32)], strict=True))
        i, y = session.run(graph.outputs, values)
    assert i == 2
    np.testing.assert_array_equal(y, [[2, 2]] * 3)


def test_shapes_of_the_inputs():
    holder = _graph()
    with holder.as_default():
        graph = function_def_to_graph(_body(holder), input_shapes=[tf.TensorShape([]), [5, 2]])
        assert graph.inputs[1].shape == [5, 2]
        assert graph.outputs[1].shape == [5, 2]
        with pytest.raises(ValueError, match="Expected 2, got 1"):
            function_def_to_graph(_body(holder), input_shapes=[[5, 2]])


def test_a_variant_has_no_numpy_value():
    with tf.Graph().as_default(), v1.Session() as session:
        listed = tf.raw_ops.TensorListReserve(element_shape=[2], num_elements=3, element_dtype=tf.float32)
        for _ in range(2):
            with pytest.raises(tf.errors.InternalError, match="Tensorflow type 21 not convertible to numpy dtype"):
                session.run(listed)
        with pytest.raises(tf.errors.InternalError, match="not convertible"):
            session.run([listed])

"""Imported nodes with bodies: they run, have gradients, and keep variables apart."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos
from tapeflow.graph.interchange import attributes

v1 = tf.compat.v1


def body(name, build, shapes=((),)):
    """(FunctionDef, GraphDef's functions) of `build(*placeholders)`, made by a branch of a condition."""
    graph = tf.Graph()
    with graph.as_default():
        given = [v1.placeholder(tf.float32, shape) for shape in shapes]
        tf.cond(v1.placeholder(tf.bool, []), lambda: build(*given), lambda: build(*given), name="c")
    made = graph.as_graph_def()
    node = next(n for n in made.node if n.name == "c")
    functions = {f.signature.name: f for f in made.library.function}
    found = functions.pop(node.attr["then_branch"].func.name)
    functions.pop(node.attr["else_branch"].func.name)
    found.signature.name = name
    return found, list(functions.values())


def calling(function, others=(), op="PartitionedCall", times=1):
    """A GraphDef with placeholders x0, x1, ... and calls y0, y1, ... of a function on them."""
    made = protos.GraphDef()
    made.versions.producer = 2474
    inputs = [f"x{i}" for i in range(len(function.signature.input_arg))]
    for name in inputs:
        node = made.node.add(name=name, op="Placeholder")
        node.attr["dtype"].type = protos.DataType.DT_FLOAT
        node.attr["shape"].shape.SetInParent()
    for i in range(times):
        node = made.node.add(name=f"y{i}", op=op, input=inputs)
        if op == "PartitionedCall":
            node.attr["Tin"].CopyFrom(attributes.of([tf.float32] * len(inputs), "list(type)"))
            node.attr["Tout"].CopyFrom(attributes.of([tf.float32], "list(type)"))
            node.attr["f"].func.name = function.signature.name
    made.library.function.extend([function, *others])
    return made


def run(fetches, feeds):
    with v1.Session() as session:
        return session.run(fetches, feeds)


@pytest.mark.parametrize("op", ["PartitionedCall", "cube"])
def test_a_call_runs_and_has_gradients_of_every_order(op):
    function, others = body("cube", lambda x: x * tf.square(x))
    with tf.Graph().as_default():
        x, y = tf.import_graph_def(calling(function, others, op), return_elements=["x0:0", "y0:0"])
        (first,) = v1.gradients(y, x)
        (second,) = v1.gradients(first, x)
        assert run([y, first, second], {x: 2.0}) == [8, 12, 12]


def test_calls_of_one_function_have_gradients_of_their_own():
    function, others = body("product", lambda a, b: tf.exp(a) * tf.sin(b), ((), ()))
    made = calling(function, others, times=2)
    with tf.Graph().as_default() as graph:
        a, b, y, z = tf.import_graph_def(made, return_elements=["x0:0", "x1:0", "y0:0", "y1:0"])
        gradients = v1.gradients([y, z], [a, b])
        found = run([y, z, *gradients], {a: 0.5, b: 0.25})
        # Written with what the gradients added, and read again.
        again = graph.as_graph_def()
    expected = np.exp(0.5) * np.sin(0.25)
    wanted = [expected, expected, 2 * expected, 2 * np.exp(0.5) * np.cos(0.25)]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    with tf.Graph().as_default():
        tf.import_graph_def(again, name="")
        feeds = {a.name: 0.5, b.name: 0.25}
        np.testing.assert_allclose(run([g.name for g in gradients], feeds), wanted[2:], rtol=1e-6)


def test_conditions_and_loops_in_a_function():
    def build(x):
        y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), [0, x])[1]
        return tf.cond(x > 0, lambda: y, lambda: -y)

    function, others = body("power", build)
    with tf.Graph().as_default():
        x, y = tf.import_graph_def(calling(function, others), return_elements=["x0:0", "y0:0"])
        (dx,) = v1.gradients(y, x)
        assert run([y, dx], {x: 2.0}) == [16, 32]
        assert run([y, dx], {x: -2.0}) == [-16, 32]


def test_imported_conditions_and_loops_have_gradients():
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [], name="x")
        y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), [0, x])[1]
        tf.cond(x > 0, lambda: y * x, lambda: -y, name="z")
    with tf.Graph().as_default():
        x, z = tf.import_graph_def(graph.as_graph_def(), return_elements=["x:0", "z:0"])
        (dx,) = v1.gradients(z, x)
        assert run([z, dx], {x: 2.0}) == [32, 80]


def test_variables_of_different_shapes_in_one_function():
    with tf.Graph().as_default() as graph:
        p = v1.placeholder(tf.bool, [], name="p")
        a = v1.get_variable("a", initializer=[1.0, 2.0])
        b = v1.get_variable("b", initializer=[[3.0]])
        tf.cond(p, lambda: a * 2, lambda: a, name="y")
        init = v1.global_variables_initializer().name
    made = graph.as_graph_def()
    node = next(n for n in made.node if n.name == "y")
    other = made.node.add()
    other.CopyFrom(node)
    other.name = "z"
    other.input[1] = b.op.name
    del other.attr["output_shapes"]
    with tf.Graph().as_default():
        y, z = tf.import_graph_def(made, name="", return_elements=["y:0", "z:0"])
        with v1.Session() as session:
            session.run(init)
            found = session.run([y, z], {"p:0": True})
    np.testing.assert_array_equal(found[0], [2, 4])
    np.testing.assert_array_equal(found[1], [[6]])


def test_effects_in_a_function_happen():
    with tf.Graph().as_default() as graph:
        p = v1.placeholder(tf.bool, [], name="p")
        v = v1.get_variable("v", initializer=1.0)
        tf.cond(p, lambda: v.assign_add(1.0), lambda: v.assign_add(10.0), name="y")
        init = v1.global_variables_initializer().name
    with tf.Graph().as_default():
        tf.import_graph_def(graph.as_graph_def(), name="")
        with v1.Session() as session:
            session.run(init)
            session.run("y", {"p:0": True})
            session.run("y", {"p:0": False})
            assert session.run("v/Read/ReadVariableOp:0") == 12

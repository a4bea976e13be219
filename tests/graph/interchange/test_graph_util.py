"""Parts of GraphDefs, and variables turned into constants."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos

v1 = tf.compat.v1
util = v1.graph_util


def chain():
    graph = tf.Graph()
    with graph.as_default():
        a = tf.constant(1.0, name="a")
        b = tf.identity(a, name="b")
        with tf.control_dependencies([b]):
            c = tf.negative(a, name="c")
        tf.debugging.check_numerics(c, "bad", name="d")
        tf.identity(graph.get_tensor_by_name("d:0"), name="e")
        tf.exp(graph.get_tensor_by_name("e:0"), name="f")
    return graph


def names(graph_def):
    return [node.name for node in graph_def.node]


def test_extract_sub_graph():
    made = chain().as_graph_def()
    part = util.extract_sub_graph(made, ["c"])
    assert names(part) == ["a", "b", "c"]
    assert part.versions == made.versions


def test_extract_sub_graph_refuses():
    made = chain().as_graph_def()
    with pytest.raises(TypeError, match=r"must be a graph_pb2\.GraphDef proto"):
        util.extract_sub_graph(3, ["c"])
    with pytest.raises(TypeError, match="must be an iterable of strings"):
        util.extract_sub_graph(made, "c")
    with pytest.raises(AssertionError, match="z is not in graph"):
        util.extract_sub_graph(made, ["z"])


def test_remove_training_nodes():
    made = chain().as_graph_def()
    # b stays: c waits for it.
    found = util.remove_training_nodes(made)
    assert names(found) == ["a", "b", "c", "f"]
    assert list(found.node[-1].input) == ["c"]
    assert names(util.remove_training_nodes(made, protected_nodes=["d"])) == [
        "a",
        "b",
        "c",
        "d",
        "f",
    ]


def test_must_run_on_cpu():
    graph = tf.Graph()
    with graph.as_default():
        assert not util.must_run_on_cpu(tf.constant(1.0).op)
        assert util.must_run_on_cpu(tf.constant("a").op)
        assert util.must_run_on_cpu(tf.constant(1).op.node_def)
        v = v1.get_variable("v", initializer=1.0)
        assert not util.must_run_on_cpu(v.op)
        assert util.must_run_on_cpu(v.op, pin_variables_on_cpu=True)
    with pytest.raises(AssertionError):
        util.must_run_on_cpu(3)


def test_tensor_shape_from_node_def_name():
    graph = tf.Graph()
    with graph.as_default():
        v1.placeholder(tf.float32, [None, 2], name="x")
    assert util.tensor_shape_from_node_def_name(graph, "x").as_list() == [None, 2]
    assert util.tensor_shape_from_node_def_name(graph, "x:0").as_list() == [None, 2]


@pytest.fixture
def trained():
    """A session with a variable that was changed, and the names of what to compute."""
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        w = v1.get_variable("w", initializer=[[1.0], [2.0]])
        e = v1.get_variable("e", initializer=[[1.0, 2.0], [3.0, 4.0]])
        y = tf.matmul(x, w)
        c = tf.cond(
            tf.reduce_sum(y) > 0,
            lambda: tf.cond(tf.reduce_sum(w) > 0, lambda: w * 2, lambda: w),
            lambda: w + 1,
        )
        total = tf.while_loop(
            lambda i, a: i < 3, lambda i, a: (i + 1, a + tf.reduce_sum(w)), [0, 0.0]
        )[1]
        fetches = [y, tf.identity(c), tf.identity(total), tf.gather(e, [1, 0, 1])]
        change = w.assign([[3.0], [4.0]]).op
        init = v1.global_variables_initializer()
    with v1.Session(graph=graph) as session:
        session.run(init)
        session.run(change)
        yield session, [t.name for t in fetches]


def test_frozen_variables_keep_their_values(trained):
    session, fetches = trained
    feeds = {"x:0": np.float32([[1, 1]])}
    expected = session.run(fetches, feeds)
    nodes = [name.split(":")[0] for name in fetches]
    made = util.convert_variables_to_constants(session, session.graph.as_graph_def(), nodes)
    assert not {"VarHandleOp", "ReadVariableOp", "AssignVariableOp"} & {
        node.op for node in made.node
    }
    made = protos.GraphDef.FromString(made.SerializeToString())
    with tf.Graph().as_default():
        tf.import_graph_def(made, name="")
        with v1.Session() as other:
            found = other.run(fetches, feeds)
    for mine, its in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, its)


def test_some_variables_can_stay(trained):
    session, fetches = trained
    nodes = [name.split(":")[0] for name in fetches]
    made = session.graph.as_graph_def()
    kept = util.convert_variables_to_constants(session, made, nodes, variable_names_blacklist=["e"])
    assert [node.name for node in kept.node if node.op == "VarHandleOp"] == ["e"]
    kept = util.convert_variables_to_constants(session, made, nodes, variable_names_whitelist=["e"])
    assert [node.name for node in kept.node if node.op == "VarHandleOp"] == ["w"]


def test_an_assignment_cannot_be_frozen(trained):
    session, _ = trained
    assign = next(op for op in session.graph.get_operations() if op.type == "AssignVariableOp")
    with pytest.raises(ValueError, match=f"Node '{assign.name}'.*cannot be converted"):
        util.convert_variables_to_constants(session, session.graph.as_graph_def(), [assign.name])
    with pytest.raises(AssertionError, match="zz is not in graph"):
        util.convert_variables_to_constants(session, session.graph.as_graph_def(), ["zz"])

"""Graphs as GraphDefs: nodes, attrs, functions, versions."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos
from tapeflow.graph.nodes.from_node_def import load_all_rows
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.ops.table import REGISTRY

v1 = tf.compat.v1


def nodes(graph):
    return {node.name: node for node in graph.as_graph_def().node}


def round_trip(graph):
    """The graph of a graph's GraphDef, which went through bytes."""
    made = protos.GraphDef.FromString(graph.as_graph_def(add_shapes=True).SerializeToString())
    again = tf.Graph()
    with again.as_default():
        tf.import_graph_def(made, name="")
    return made, again


def test_a_node_has_what_its_operation_has():
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        with tf.control_dependencies([x]):
            c = tf.constant([1, 2], name="c")
        with tf.device("/cpu:0"):
            tf.strided_slice(x, [0], [1], name="s")
    found = nodes(graph)
    assert found["x"].op == "Placeholder"
    assert [d.size for d in found["x"].attr["shape"].shape.dim] == [-1, 2]
    assert list(found["c"].input) == ["^x"]
    assert found["c"].attr["value"].tensor.tensor_content == np.int32([1, 2]).tobytes()
    assert found["s"].device == "/device:CPU:0"
    assert found["s"].attr["T"].type == protos.DataType.DT_FLOAT
    assert found["s"].attr["Index"].type == protos.DataType.DT_INT32
    assert found["s"].attr["begin_mask"].i == 0
    assert graph.get_operation_by_name("s").node_def == found["s"]
    assert c.op.op_def.name == "Const"


def test_versions_and_parts():
    graph = tf.Graph()
    with graph.as_default():
        tf.constant(1, name="a")
        before = graph.version
        tf.constant(2, name="b")
    made = graph.as_graph_def()
    assert made.versions.producer == graph.graph_def_versions.producer > 0
    assert [n.name for n in graph.as_graph_def(from_version=before).node] == ["b"]


def test_shapes_on_request():
    graph = tf.Graph()
    with graph.as_default():
        v1.placeholder(tf.float32, [None, 2], name="x")
        v1.placeholder(tf.float32, name="y")
    shapes = {
        n.name: n.attr["_output_shapes"].list.shape[0]
        for n in graph.as_graph_def(add_shapes=True).node
    }
    assert [d.size for d in shapes["x"].dim] == [-1, 2]
    assert shapes["y"].unknown_rank
    assert "_output_shapes" not in nodes(graph)["x"].attr


def test_lists_write_their_length():
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.int32, [4], name="x")
        a, _ = tf.split(x, 2, name="s")
        tf.concat([x, a, a], 0, name="c")
    found = nodes(graph)
    assert found["s"].attr["num_split"].i == 2
    assert found["c"].attr["N"].i == 3
    assert list(found["c"].input)[:3] == ["x", "s", "s"]


def test_bodies_are_functions():
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [], name="x")
        tf.cond(x > 0, lambda: x * 2, lambda: x, name="c")
        tf.while_loop(lambda i: i < x, lambda i: i + 1, [x])
    made = graph.as_graph_def()
    functions = {f.signature.name: f for f in made.library.function}
    node = next(n for n in made.node if n.name == "c")
    assert node.op == "StatelessIf"
    then = functions[node.attr["then_branch"].func.name]
    assert len(then.signature.input_arg) == len(node.attr["Tin"].list.type)
    assert list(node.attr["Tout"].list.type) == [protos.DataType.DT_FLOAT]
    loop = next(n for n in made.node if n.op == "StatelessWhile")
    body = functions[loop.attr["body"].func.name]
    assert len(body.signature.output_arg) == len(loop.attr["T"].list.type) == len(loop.input)
    assert graph.as_graph_def() == made  # names of functions stay


def test_effects_make_a_node_stateful():
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [], name="x")
        v = v1.get_variable("v", initializer=1.0)
        tf.cond(x > 0, lambda: v.assign_add(x).op and x, lambda: x, name="c")
    made = graph.as_graph_def()
    node = next(n for n in made.node if n.name == "c")
    assert node.op == "If"
    then = next(
        f for f in made.library.function if f.signature.name == node.attr["then_branch"].func.name
    )
    assert then.signature.is_stateful
    assert len(then.control_ret) == 1


def test_written_again_after_reading_it_is_the_same():
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        y = tf.matmul(x, [[1.0], [2.0]], name="y")
        z = tf.cond(tf.reduce_sum(y) > 0, lambda: y * 2, lambda: y, name="z")
        tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + y), [0, z], name="w")
        tf.identity_n([y, x], name="n")
    made, again = round_trip(graph)
    assert again.as_graph_def(add_shapes=True) == made


def test_an_attr_without_meaning_elsewhere_is_left_out():
    graph = tf.Graph()
    with graph.as_default():
        tf.py_function(lambda: 1.0, [], tf.float32, name="p")
    assert set(nodes(graph)["p"].attr) <= {"token", "Tin", "Tout", "is_async"}


def test_every_row_has_a_definition():
    load_all_rows()
    for name, row in REGISTRY.items():
        made = op_defs.op_def(name)
        assert [a.name for a in made.input_arg] == list(row.inputs)
        assert [a.name for a in made.output_arg] == list(row.outputs)
        named = {a.name for a in made.attr}
        for argument in (*made.input_arg, *made.output_arg):
            assert (
                bool(argument.type) + bool(argument.type_attr) + bool(argument.type_list_attr) == 1
            )
            assert {argument.type_attr, argument.number_attr} - {""} <= named


@pytest.mark.parametrize("text", [True, False])
def test_write_graph(tmp_path, text):
    from google.protobuf import text_format

    graph = tf.Graph()
    with graph.as_default():
        tf.constant([1.5, 2.5], name="c")
        path = tf.io.write_graph(graph, str(tmp_path / "deep"), name="g", as_text=text)
        v1.train.write_graph(graph.as_graph_def(), tmp_path, "again", text)
    data = (tmp_path / "deep" / "g").read_bytes()
    assert path == str(tmp_path / "deep" / "g")
    assert data == (tmp_path / "again").read_bytes()
    read = (
        text_format.Parse(data.decode(), protos.GraphDef())
        if text
        else protos.GraphDef.FromString(data)
    )
    assert read == graph.as_graph_def()


def test_which_ops_a_graph_uses():
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [], name="x")
        tf.cond(x > 0, lambda: tf.sin(x), lambda: tf.cond(x > 1, lambda: tf.cos(x), lambda: x))
    made = graph.as_graph_def()
    used = tf.contrib.util.ops_used_by_graph_def(made)
    assert {"Placeholder", "Greater", "StatelessIf", "Sin", "Cos"} <= used
    listed = tf.contrib.util.stripped_op_list_for_graph(made)
    assert [op.name for op in listed.op] == sorted(used)
    made.node.add(name="z", op="Foo")
    with pytest.raises(ValueError, match="Op Foo is used by the graph, but is not registered"):
        tf.contrib.util.stripped_op_list_for_graph(made)


def counted_loop():
    """A graph of 1.x with a loop and a branch in it."""
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        v1.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2.0 + x), [0, x], name="w")
    return graph


def test_a_loop_is_written_with_a_counter_and_the_most_iterations_first():
    written = nodes(counted_loop())
    loop = written["w/counted"]
    assert loop.op == "StatelessWhile"
    assert list(loop.input[:2]) == ["w/loop_counter", "w/maximum_iterations"]
    values = [tf.make_ndarray(written[name].attr["value"].tensor) for name in loop.input[:2]]
    assert [int(x) for x in values] == [0, -1]
    assert list(loop.attr["T"].list.type[:3]) == [3, 3, 3]
    assert written["w"].op == "IdentityN"
    assert list(written["w"].input) == ["w/counted:2", "w/counted:3"]


def test_names_of_a_loops_results_hold_in_what_is_written():
    _, again = round_trip(counted_loop())
    for graph in (counted_loop(), again):
        with v1.Session(graph=graph) as session:
            steps, result = session.run(["w:0", "w:1"], {"x:0": [[1.0, 2.0]]})
        assert steps == 3
        np.testing.assert_array_equal(result, [[15.0, 30.0]])


def test_operations_show_a_loop_as_they_have_it():
    graph = counted_loop()
    loop = graph.get_operation_by_name("w")
    assert list(loop.node_def.input) == [x.op.name for x in loop.inputs]
    assert len(graph._functions[loop.get_attr("body").name].definition.signature.input_arg) == len(loop.inputs)

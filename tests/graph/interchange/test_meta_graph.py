"""MetaGraphs: a graph with its collections, out and in again."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos

v1 = tf.compat.v1


def model():
    """A graph with a variable and collections of every kind."""
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        with v1.variable_scope("layer"):
            w = v1.get_variable("w", initializer=[[1.0], [2.0]])
            y = tf.matmul(x, w, name="y")
        with tf.device("/cpu:0"):
            tf.exp(y, name="z")
        for key, value in (("losses", y), ("n", 3), ("f", 1.5), ("s", "text"), ("ops", y.op)):
            v1.add_to_collection(key, value)
        v1.global_variables_initializer()
    return graph


def exported(**arguments):
    with model().as_default():
        return v1.train.export_meta_graph(**arguments)


def test_what_is_exported():
    made = exported()
    found = made.collection_def
    assert found["losses"].node_list.value == ["layer/y:0"]
    assert found["ops"].node_list.value == ["layer/y"]
    assert list(found["n"].int64_list.value) == [3]
    assert list(found["f"].float_list.value) == [1.5]
    assert list(found["s"].bytes_list.value) == [b"text"]
    (data,) = found["variables"].bytes_list.value
    definition = protos.VariableDef.FromString(data)
    assert definition.variable_name == "layer/w:0"
    assert definition.is_resource
    assert definition.trainable
    ops = {op.name for op in made.meta_info_def.stripped_op_list.op}
    assert {"MatMul", "VarHandleOp", "Placeholder"} <= ops
    assert made.meta_info_def.tensorflow_version


def test_parts_on_request():
    made = exported(collection_list=["n"], clear_devices=True, strip_default_attrs=True)
    assert list(made.collection_def) == ["n"]
    assert not any(node.device for node in made.graph_def.node)
    matmul = next(node for node in made.graph_def.node if node.op == "MatMul")
    assert "transpose_a" not in matmul.attr
    assert any(node.device for node in exported().graph_def.node)


@pytest.mark.parametrize("text", [True, False])
def test_round_trip_through_a_file(tmp_path, text):
    path = str(tmp_path / "model.meta")
    exported(filename=path, as_text=text)
    with tf.Graph().as_default() as graph:
        saver = v1.train.import_meta_graph(path)
        assert isinstance(saver, v1.train.Saver)
        (w,) = v1.global_variables()
        assert w is v1.trainable_variables()[0]
        assert w.name == "layer/w:0"
        assert v1.get_collection("losses") == [graph.get_tensor_by_name("layer/y:0")]
        assert v1.get_collection("ops") == [graph.get_operation_by_name("layer/y")]
        assert (v1.get_collection("n"), v1.get_collection("f"), v1.get_collection("s")) == (
            [3],
            [1.5],
            [b"text"],
        )
        with v1.Session() as session:
            session.run(w.initializer)
            session.run(w.assign([[3.0], [4.0]]))
            np.testing.assert_array_equal(session.run("layer/y:0", {"x:0": [[1.0, 1.0]]}), [[7.0]])
        again = v1.train.export_meta_graph()
        assert again.collection_def["variables"] == exported().collection_def["variables"]


def test_into_a_scope():
    made = exported()
    with tf.Graph().as_default():
        v1.train.import_meta_graph(made, import_scope="inside")
        (w,) = v1.global_variables()
        assert w.name == "inside/layer/w:0"
        assert v1.get_collection("losses")[0].name == "inside/layer/y:0"
        x = v1.placeholder(tf.float32, [1, 2])
        v1.train.import_meta_graph(made, import_scope="inside", input_map={"x:0": x})
        assert v1.global_variables()[-1].name == "inside_1/layer/w:0"


def test_of_a_scope():
    made = exported(export_scope="layer")
    assert "y" in [node.name for node in made.graph_def.node]
    assert made.collection_def["losses"].node_list.value == ["y:0"]
    assert list(made.collection_def["unbound_inputs"].bytes_list.value) == [b"$unbound_inputs_x"]
    with tf.Graph().as_default() as graph:
        with pytest.raises(ValueError, match="unbound inputs"):
            v1.train.import_meta_graph(made)
        x = tf.constant([[1.0, 1.0]])
        v1.train.import_meta_graph(made, input_map={"$unbound_inputs_x": x})
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            np.testing.assert_array_equal(session.run(graph.get_tensor_by_name("y:0")), [[3.0]])


def test_mistakes(tmp_path):
    with pytest.raises(RuntimeError, match="eager execution is enabled"):
        v1.train.export_meta_graph()
    with pytest.raises(RuntimeError, match="eager execution is enabled"):
        v1.train.import_meta_graph("nowhere")
    broken = tmp_path / "broken"
    broken.write_bytes(b"\xff\xff\xff")
    with tf.Graph().as_default():
        with pytest.raises(OSError, match="nowhere does not exist"):
            v1.train.import_meta_graph("nowhere")
        with pytest.raises(OSError, match="Cannot parse file"):
            v1.train.import_meta_graph(str(broken))
        with pytest.raises(TypeError, match="unexpected keyword"):
            v1.train.export_meta_graph(banana=1)


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("variables", lambda c: c.bytes_list.value.append(b"\xff")),
        ("variables", lambda c: c.bytes_list.value.append(b"")),
        ("losses", lambda c: c.node_list.value.append("gone:0")),
        ("losses", lambda c: c.node_list.value.append("a:b:c")),
    ],
)
def test_damaged_collections(key, change):
    made = exported()
    change(made.collection_def[key])
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"Collection|Variable|name"):
        v1.train.import_meta_graph(made)


def test_what_cannot_be_written_is_told(caplog):
    with model().as_default():
        v1.add_to_collection("odd", object())
        made = v1.train.export_meta_graph()
    assert "odd" not in made.collection_def
    assert "Issue encountered when serializing odd" in caplog.text

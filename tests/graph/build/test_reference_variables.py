"""GraphDefs with the reference variables of 1.x: they run, and names mean what they did."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos
from tapeflow.graph.build import reference_variables
from tapeflow.graph.interchange import attributes

v1 = tf.compat.v1


class Nodes:
    """Makes a GraphDef node by node."""

    def __init__(self):
        self.graph_def = protos.GraphDef()
        self.graph_def.versions.producer = 27

    def add(self, name, op, *inputs, **attrs):
        node = self.graph_def.node.add(name=name, op=op, input=inputs)
        for key, value in attrs.items():
            kind = "type" if isinstance(value, tf.DType) else "shape" if key == "shape" else None
            node.attr[key].CopyFrom(
                attributes.of(value, kind) if kind else attributes.guessed(value)
            )
        return node

    def constant(self, name, value, dtype=tf.float32):
        node = self.add(name, "Const", dtype=dtype)
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value, dtype))


@pytest.fixture
def nodes():
    """A variable w of [1, 2], with what 1.x adds to one."""
    made = Nodes()
    made.constant("first", [1.0, 2.0])
    made.constant("one", [1.0, 1.0])
    made.add("w", "VariableV2", dtype=tf.float32, shape=[2], container="", shared_name="")
    made.add(
        "w/Assign", "Assign", "w", "first", T=tf.float32, validate_shape=True, use_locking=True
    )
    made.add("w/read", "Identity", "w", T=tf.float32)
    made.add("twice", "AddV2", "w/read", "w/read", T=tf.float32)
    return made


def session(nodes):
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(nodes.graph_def, name="")
    made = v1.Session(graph=graph)
    made.run("w/Assign")
    return made


def test_values_by_the_old_names(nodes):
    with session(nodes) as made:
        for name, expected in (
            ("w:0", [1, 2]),
            ("w/read:0", [1, 2]),
            ("twice:0", [2, 4]),
            ("w/Assign:0", [1, 2]),
        ):
            np.testing.assert_array_equal(made.run(name), expected)


def test_updates(nodes):
    nodes.constant("rate", 0.5)
    nodes.constant("place", [1], tf.int32)
    nodes.constant("ten", [10.0])
    nodes.add("plus", "AssignAdd", "w", "one", T=tf.float32)
    nodes.add("minus", "AssignSub", "w", "one", T=tf.float32)
    nodes.add("step", "ApplyGradientDescent", "w", "rate", "one", T=tf.float32)
    nodes.add("put", "ScatterUpdate", "w", "place", "ten", T=tf.float32, Tindices=tf.int32)
    nodes.add("after", "Mul", "plus", "one", T=tf.float32)
    with session(nodes) as made:
        for name, expected in (
            ("plus:0", [2, 3]), ("minus:0", [1, 2]), ("step:0", [0.5, 1.5]), ("put:0", [0.5, 10]),
            ("after:0", [1.5, 11]),
        ):  # fmt: skip
            np.testing.assert_array_equal(made.run(name), expected)
            np.testing.assert_array_equal(made.run("w:0"), expected)


def test_an_update_of_an_update(nodes):
    nodes.add("plus", "AssignAdd", "w", "one", T=tf.float32)
    nodes.add("again", "AssignAdd", "plus", "one", T=tf.float32)
    with session(nodes) as made:
        np.testing.assert_array_equal(made.run("again:0"), [3, 4])


def test_who_waits_reads_late(nodes):
    nodes.add("plus", "AssignAdd", "w", "one", T=tf.float32)
    nodes.add("late", "Identity", "w", "^plus", T=tf.float32)
    nodes.add("sum", "AddV2", "w", "one", "^plus", T=tf.float32)
    with session(nodes) as made:
        np.testing.assert_array_equal(made.run("late:0"), [2, 3])
        np.testing.assert_array_equal(made.run("sum:0"), [4, 5])


def test_whether_it_has_a_value(nodes):
    nodes.add("there", "IsVariableInitialized", "w", dtype=tf.float32)
    with tf.Graph().as_default():
        tf.import_graph_def(nodes.graph_def, name="")
        with v1.Session() as made:
            assert not made.run("there:0")
            made.run("w/Assign")
            assert made.run("there:0")


def test_collections_of_old_variables(nodes):
    meta = protos.MetaGraphDef(graph_def=nodes.graph_def)
    old = protos.VariableDef(
        variable_name="w:0", initializer_name="w/Assign", snapshot_name="w/read:0", trainable=True
    )
    meta.collection_def["variables"].bytes_list.value.append(old.SerializeToString())
    for _ in range(2):  # what was imported can be exported, and imported again
        with tf.Graph().as_default():
            v1.train.import_meta_graph(meta)
            (w,) = v1.global_variables()
            assert w.name == "w:0"
            with v1.Session() as made:
                made.run(w.initializer)
                made.run(w.assign([5.0, 6.0]))
                np.testing.assert_array_equal(made.run(w), [5, 6])
                np.testing.assert_array_equal(made.run("twice:0"), [10, 12])
            meta = v1.train.export_meta_graph()


def test_without_references_nothing_changes():
    made = Nodes()
    made.constant("a", 1.0)
    assert reference_variables.rewritten(made.graph_def) is made.graph_def


def test_what_cannot_be_rewritten_is_named(nodes):
    nodes.add("chosen", "RefChoice", "w", T=tf.float32)
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"Node 'chosen'.*RefChoice"):
        tf.import_graph_def(nodes.graph_def)


def test_a_value_is_no_reference(nodes):
    nodes.constant("rate", 0.5)
    nodes.add("m", "ApplyMomentum", "w", "one", "rate", "one", "rate", T=tf.float32)
    with (
        tf.Graph().as_default(),
        pytest.raises(ValueError, match=r"Input 1 of node 'm'.*no reference"),
    ):
        tf.import_graph_def(nodes.graph_def)

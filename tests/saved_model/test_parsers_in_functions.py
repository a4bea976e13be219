"""Examples and records parsed in SavedModels: TensorFlow's nodes, and they run again."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos

v1 = tf.compat.v1
PARSERS = runpy.run_path(str(Path(__file__).with_name("parsers.py")))


def test_saved_and_loaded(tmp_path):
    module = PARSERS["make"](tf)
    assert PARSERS["look_at"](tf, module) == PARSERS["EXPECTED"]
    tf.saved_model.save(module, tmp_path / "once")
    message = protos.SavedModel.FromString((tmp_path / "once" / "saved_model.pb").read_bytes())
    library = message.meta_graphs[0].graph_def.library
    written = {node.op for function in library.function for node in function.node_def}
    assert written >= {"ParseExampleV2", "ParseSequenceExampleV2", "DecodeCSV", "DecodeProtoV2", "EncodeProto"}
    loaded = tf.saved_model.load(tmp_path / "once")
    assert PARSERS["look_at"](tf, loaded) == PARSERS["EXPECTED"]
    tf.saved_model.save(loaded, tmp_path / "again")
    assert PARSERS["look_at"](tf, tf.saved_model.load(tmp_path / "again")) == PARSERS["EXPECTED"]


def test_errors_are_those_of_the_rows(tmp_path):
    module = tf.Module()
    feature = {"a": tf.io.FixedLenFeature([3], tf.float32)}
    module.f = tf.function(
        lambda x: tf.io.parse_example(x, feature), input_signature=[tf.TensorSpec([None], tf.string)]
    )
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    for given, words in ((PARSERS["examples"](tf), "values != expected"), ([b""], "is required"), ([b"\xff"], "parse")):
        for f in (module.f, loaded.f):
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                f(tf.constant(given))


def test_a_serving_signature_of_1_x(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        given = v1.placeholder(tf.string, [None])
        parsed = v1.parse_example(given, {"a": tf.io.FixedLenFeature([2], tf.float32)})
        y = tf.reduce_sum(parsed["a"], 1)
        v1.saved_model.simple_save(session, str(tmp_path), {"x": given}, {"y": y})
    serve = tf.saved_model.load(tmp_path).signatures["serving_default"]
    assert serve(tf.constant(PARSERS["examples"](tf)))["y"].numpy().tolist() == [3, 7]


def test_a_context_that_tensorflow_cannot_read_is_refused():
    graph = tf.Graph()
    with graph.as_default():
        feature = tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)
        tf.io.parse_sequence_example(v1.placeholder(tf.string, [None]), {"n": feature})
    with pytest.raises(TypeError, match="TensorFlow has no node for that"):
        graph.as_graph_def()


def imported(kind, inputs, attrs, outputs):
    """What a node of a GraphDef gives."""
    message = protos.GraphDef()
    with tf.Graph().as_default() as graph:
        tensors = [tf.constant(value) for value in inputs]
        message.CopyFrom(graph.as_graph_def())
    node = message.node.add(name="node", op=kind, input=[x.op.name for x in tensors])
    for name, value in attrs.items():
        if isinstance(value, int):
            node.attr[name].i = value
            continue
        node.attr[name].list.SetInParent()
        for each in value:
            if isinstance(each, tf.DType):
                node.attr[name].list.type.append(each.as_datatype_enum)
            elif isinstance(each, bytes):
                node.attr[name].list.s.append(each)
            else:
                shape = node.attr[name].list.shape.add()
                for size in each:
                    shape.dim.add(size=size)
    with tf.Graph().as_default(), v1.Session() as session:
        found = v1.import_graph_def(message, return_elements=[f"node:{i}" for i in range(outputs)])
        return [y.tolist() for y in session.run(found)]


EMPTY = np.zeros(0, np.float32)
TYPES = {"sparse_types": [tf.int64], "Tdense": [tf.float32], "dense_shapes": [[2]]}


def test_nodes_of_tensorflow():
    both = PARSERS["examples"](tf)
    inputs = [both, [b"n", b"m"], b"c", b"a", EMPTY]
    found = imported("ParseExample", inputs, {"Nsparse": 1, "Ndense": 1, **TYPES}, 4)
    want = [[0, 0], [0, 1], [0, 2], [1, 0]], [7, 8, 9, 5], [2, 3], [[1, 2], [3, 4]]
    assert found == list(want)
    attrs = {"num_sparse": 1, "sparse_keys": [b"c"], "dense_keys": [b"a"], **TYPES}
    found = imported("ParseSingleExample", [both[0], EMPTY], attrs, 4)
    assert found == [[[0], [1], [2]], [7, 8, 9], [3], [1, 2]]


def test_nodes_with_other_numbers_of_keys_are_refused():
    attrs = {"num_sparse": 1, "sparse_keys": [b"c", b"d"], "dense_keys": [b"a"], **TYPES}
    with pytest.raises(tf.errors.InvalidArgumentError, match="sparse_keys"):
        imported("ParseSingleExample", [b"", EMPTY], attrs, 4)

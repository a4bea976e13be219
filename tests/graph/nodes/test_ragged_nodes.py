"""TensorFlow's node that makes a dense tensor of a ragged one, imported."""

import pytest

import tapeflow as tf
from tapeflow import protos

v1 = tf.compat.v1


def imported(kinds, parts, values, shape=-1, default=0):
    graph_def = protos.GraphDef()
    with tf.Graph().as_default() as graph:
        tensors = [tf.constant(shape, tf.int64), tf.constant(values), tf.constant(default)]
        tensors += [tf.constant(part, tf.int64) for part in parts]
        graph_def.CopyFrom(graph.as_graph_def())
    node = graph_def.node.add(name="dense", op="RaggedTensorToTensor", input=[x.op.name for x in tensors])
    node.attr["T"].type = tf.int32.as_datatype_enum
    node.attr["Tindex"].type = node.attr["Tshape"].type = tf.int64.as_datatype_enum
    node.attr["num_row_partition_tensors"].i = len(parts)
    node.attr["row_partition_types"].list.s.extend(kind.encode() for kind in kinds)
    with tf.Graph().as_default(), v1.Session() as session:
        (dense,) = v1.import_graph_def(graph_def, return_elements=["dense:0"])
        return session.run(dense).tolist()


def test_partitions_of_either_kind():
    want = [[[1, 2], [3, 0]], [[0, 0], [0, 0]], [[4, 5], [0, 0]]]
    assert imported(["ROW_SPLITS"] * 2, [[0, 2, 2, 3], [0, 2, 3, 5]], [1, 2, 3, 4, 5]) == want
    rowids = ["FIRST_DIM_SIZE", "VALUE_ROWIDS", "VALUE_ROWIDS"]
    assert imported(rowids, [3, [0, 0, 2], [0, 0, 1, 2, 2]], [1, 2, 3, 4, 5]) == want


def test_shape_and_default():
    assert imported(["ROW_SPLITS"], [[0, 1, 3]], [1, 2, 3], [-1, 1], 9) == [[1], [2]]
    assert imported(["ROW_SPLITS"], [[0, 1, 1]], [1], [3, 2], 9) == [[1, 9], [9, 9], [9, 9]]


def test_partitions_that_are_none():
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not form a valid"):
        imported(["ROW_SPLITS"], [[0, 7]], [1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unsupported row partition type: ODD"):
        imported(["ODD"], [[0, 2]], [1, 2])

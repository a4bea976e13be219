"""Rows that TensorFlow has no op for are written as ops that it has: what is written here can be loaded there."""

from pathlib import Path

import pytest

import tapeflow as tf
from tapeflow.graph.interchange.written_as import composition, is_composed
from tapeflow.graph.nodes.from_node_def import load_all_rows
from tapeflow.graph.op_defs.op_lists import ops_used_by_graph_def
from tapeflow.ops.table import REGISTRY

v1 = tf.compat.v1
load_all_rows()
THEIRS = set(Path(__file__).with_name("tensorflow_ops.txt").read_text().split())
OURS = sorted(REGISTRY.keys() - THEIRS)


@pytest.mark.parametrize("name", OURS)
def test_is_written_as_ops_of_tensorflow_or_listed(name):
    row = REGISTRY[name]
    ways = [row.spelling is not None, is_composed(row), bool(row.only_here)]
    assert ways.count(True) == 1, f"say at the row of {name} how GraphDefs hold it"
    if is_composed(row):
        assert callable(composition(row))
    if row.spelling is not None:
        assert row.spelling[0] in THEIRS


def test_rows_that_tensorflow_knows_are_written_as_they_are():
    theirs = (REGISTRY[name] for name in REGISTRY.keys() & THEIRS)
    assert not [row.name for row in theirs if row.spelling or is_composed(row) or row.only_here]


def test_gradients_of_some_rows_in_a_graph_of_1_x():
    """The slots decay in all rows: no op of TensorFlow does that at once. The graph trains when it is read again."""

    def trained(graph, prepare):
        with graph.as_default(), v1.Session() as session:
            run, weights, chosen = prepare()
            session.run(v1.global_variables_initializer())
            for rows in ([0, 2, 0], [1]):
                session.run(run, {chosen: rows})
            return session.run(weights).tolist()

    def built():
        weights = v1.get_variable("w", initializer=[[1.0], [2.0], [3.0]], use_resource=True)
        chosen = v1.placeholder(tf.int32, [None], name="chosen")
        loss = tf.reduce_sum(tf.gather(weights, chosen) ** 2)
        return v1.train.AdamOptimizer(0.1).minimize(loss, name="train"), weights, chosen

    first = tf.Graph()
    want = trained(first, built)
    with first.as_default():
        message = v1.train.export_meta_graph()
    used = ops_used_by_graph_def(message.graph_def)
    assert used <= THEIRS
    assert "ResourceApplyAdam" in used

    def read():
        v1.train.import_meta_graph(message)
        graph = v1.get_default_graph()
        return graph.get_operation_by_name("train"), v1.global_variables()[0], graph.get_tensor_by_name("chosen:0")

    assert trained(tf.Graph(), read) == want

"""Statistics of ops by functions that programs register."""

import pytest

import tapeflow as tf
from tapeflow.alias import op_statistics


def test_statistics_of_a_graphs_nodes_add_up():
    @op_statistics.RegisterStatistics("MatMul", "test_statistic")
    def elements(graph, node):
        shape = graph.get_operation_by_name(node.name).outputs[0].shape
        return op_statistics.OpStats("test_statistic", shape.num_elements())

    with tf.Graph().as_default() as graph:
        tf.ones([2, 3]) @ tf.ones([3, 4])
        tf.ones([1, 3]) @ tf.ones([3, 5])
    total = op_statistics.OpStats("test_statistic")
    assert total.value is None
    for node in graph.as_graph_def().node:
        total += op_statistics.get_stats_for_node_def(graph, node, "test_statistic")
    assert total.value == 2 * 4 + 5
    with pytest.raises(KeyError, match="MatMul"):
        op_statistics.RegisterStatistics("MatMul", "test_statistic")(elements)


def test_other_statistics_are_not_added():
    total = op_statistics.OpStats("a", 1)
    with pytest.raises(ValueError, match="type b"):
        total += op_statistics.OpStats("b", 1)
    with pytest.raises(TypeError, match="number"):
        total.value = "1"
    with pytest.raises(TypeError):
        op_statistics.RegisterStatistics("A,B", "flops")

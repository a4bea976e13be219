"""`tf.test.assert_equal_graph_def`: what makes two graphs different, and what does not."""

import pytest

import tapeflow as tf

v1 = tf.compat.v1


def graph(build):
    with tf.Graph().as_default() as made:
        build()
    return made.as_graph_def()


def both():
    x = tf.constant(1.0, name="x")
    with tf.control_dependencies([tf.constant(2.0, name="y"), tf.constant(3.0, name="z")]):
        tf.add(x, x, name="sum")


def test_order_and_versions_do_not_count():
    one, other = graph(both), graph(both)
    nodes = list(other.node)[::-1]
    del other.node[:]
    other.node.extend(nodes)
    other.versions.producer = 3
    (total,) = (node for node in other.node if node.name == "sum")
    total.input[2:] = list(total.input)[2:][::-1]
    total.attr["_mark"].i = 3
    tf.test.assert_equal_graph_def(one, other)
    v1.test.assert_equal_graph_def(one, other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda node: setattr(node, "op", "Sub"), "has op"),
        (lambda node: setattr(node, "device", "/cpu:0"), "has device"),
        (lambda node: node.input.__setitem__(1, "y"), "has inputs"),
        (lambda node: node.input.pop(), "has control inputs"),
        (lambda node: setattr(node.attr["T"], "type", tf.float64.as_datatype_enum), "has attr T"),
        (lambda node: setattr(node, "name", "other"), "Found unexpected node 'other'"),
    ],
)
def test_differences(change, message):
    one, other = graph(both), graph(both)
    change(next(node for node in other.node if node.name == "sum"))
    with pytest.raises(AssertionError, match=message):
        tf.test.assert_equal_graph_def(one, other)


def test_a_missing_node():
    one, other = graph(both), graph(both)
    del other.node[-1]
    with pytest.raises(AssertionError, match="Did not find expected node 'sum'"):
        tf.test.assert_equal_graph_def(one, other)
    with pytest.raises(AssertionError, match="Found unexpected node 'sum'"):
        v1.test.assert_equal_graph_def(one, other)


def test_names_that_are_drawn():
    def table(name):
        return graph(lambda: tf.raw_ops.HashTableV2(key_dtype=tf.int64, value_dtype=tf.int64, shared_name=name))

    one, other = table("hash_table_1a"), table("hash_table_2b")
    tf.test.assert_equal_graph_def(one, other)
    v1.test.assert_equal_graph_def(one, other, hash_table_shared_name=True)
    with pytest.raises(AssertionError, match="shared_name"):
        v1.test.assert_equal_graph_def(one, other)


def test_what_is_no_graph():
    with pytest.raises(TypeError, match=r"Expected tf\.GraphDef for actual, got int"):
        tf.test.assert_equal_graph_def(graph(both), 3)
    with pytest.raises(TypeError, match=r"Expected tf\.GraphDef for expected, got str"):
        tf.test.assert_equal_graph_def("graph", graph(both))

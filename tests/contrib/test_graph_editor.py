"""`tf.contrib.graph_editor`: what is selected, copied and connected anew computes what it should."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf

ge = tf.contrib.graph_editor


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def chain(scope="net"):
    with tf.name_scope(scope):
        x = tf.placeholder(tf.float32, [2], name="x")
        y = tf.multiply(x, 3.0, name="y")
        z = tf.add(y, 1.0, name="z")
    return x, y, z


def test_selecting(graph):
    x, y, z = chain()
    other = tf.constant(1.0, name="other")
    assert ge.select_ops("^net/[yz]$", graph=graph) == [y.op, z.op]
    assert ge.select_ts("(?#ts)z:0", y, graph=graph) == [z, y]
    assert ge.select_ops_and_ts(x.op, y, "(?#ts)other", graph=graph) == ([x.op], [y, other])
    assert set(ge.get_name_scope_ops(graph, "net/")) == set(graph.get_operations()) - {other.op}
    assert ge.get_tensors(graph) == [t for op in graph.get_operations() for t in op.outputs]
    with pytest.raises(ValueError, match="Use the keyword argument 'graph'"):
        ge.select_ops("y")
    with pytest.raises(TypeError, match="Expected a type"):
        ge.make_list_of_op(x)
    assert ge.get_consuming_ops([x, y]) == [y.op, z.op]


def test_walks():
    x, y, z = chain()
    assert ge.get_forward_walk_ops(x.op) == [x.op, y.op, z.op]
    assert ge.get_forward_walk_ops(x.op, inclusive=False, stop_at_ts=[y]) == [y.op]
    assert set(ge.get_backward_walk_ops(y)) == {x.op, y.op, y.op.inputs[1].op}
    assert ge.get_walks_intersection_ops([x.op], [y.op]) == [x.op, y.op]
    union = ge.get_walks_union_ops([y.op], [y.op])
    assert set(union) == {y.op, z.op, x.op, y.op.inputs[1].op}
    everything = x.graph.get_operations()
    assert ge.get_within_boundary_ops(everything, [x.op], [y.op], inclusive=False) == [x.op]


def test_control_edges_count_where_wanted():
    x, y, z = chain()
    with tf.control_dependencies([y]):
        after = tf.constant(1.0)
    outputs = ge.ControlOutputs(x.graph)
    assert after.op in ge.get_forward_walk_ops(x.op, control_outputs=outputs)
    assert after.op not in ge.get_forward_walk_ops(x.op)
    ge.remove_control_inputs(after.op, y.op)
    assert outputs.update().get(y.op) == ()
    ge.add_control_inputs(after.op, z.op)
    assert outputs.update().get(z.op) == [after.op]
    with pytest.raises(ValueError, match="already a control_input"):
        ge.add_control_inputs(after.op, z.op)


def test_views():
    x, y, z = chain()
    view = ge.sgv(y.op, z.op)
    three, one = y.op.inputs[1], z.op.inputs[1]
    assert view.inputs == [x, three, one]
    assert view.outputs == [z]
    assert view.remap_inputs([2, 0]).inputs == [one, x]
    assert view.remap_outputs([0, 0]).outputs == [z, z]
    assert view.remap_outputs([0, 0]).remap_outputs_make_unique().outputs == [z]
    assert view.find_op_by_name("net/y") is y.op
    assert ge.SubGraphView([y.op], [z]).is_passthrough(z)
    assert not ge.SubGraphView()
    with pytest.raises(ValueError, match="repetition"):
        view.remap_inputs([0, 0])
    assert "net/z" in str(view)


@pytest.mark.parametrize("swap", [True, False])
def test_uses_of_tensors(swap):
    a, b = tf.constant(1.0), tf.constant(2.0)
    of_a, of_b = a * 10.0, b * 10.0
    assert (ge.swap_ts if swap else ge.reroute_ts)([a], [b]) == 1 + swap
    assert run([of_a, of_b]) == ([20.0, 10.0] if swap else [10.0, 10.0])
    with pytest.raises(ValueError, match="not compatible"):
        ge.reroute_ts(a, tf.constant(1))


def test_connect_and_bypass():
    a, c = tf.constant([1.0, 2.0]), tf.constant([5.0, 6.0])
    double, negative = a * 2.0, -c
    result = negative + 0.0
    ge.connect(ge.sgv(double.op), ge.sgv(negative.op).remap_inputs([0]))
    np.testing.assert_array_equal(run(result), [-2, -4])
    ge.bypass(ge.sgv(negative.op))
    np.testing.assert_array_equal(run(result), [2, 4])


def test_detach():
    _, y, z = chain()
    _, before, after = ge.detach(ge.sgv(y.op).remap_inputs([0]))
    np.testing.assert_array_equal(run(y, {before[0]: [1, 2]}), [3, 6])
    np.testing.assert_array_equal(run(z, {after[0]: [1, 2]}), [2, 3])


def test_copy_to_another_graph():
    x, y, z = chain()
    tf.add_to_collection("mine", y)
    with tf.Graph().as_default() as other:
        view, info = ge.copy(ge.sgv(y.op, z.op).remap_inputs([0, 1, 2]), other, "copied", reuse_dst_scope=True)
        assert all(op.name.startswith("copied/") for op in other.get_operations())
        made = info.transformed(z)
        assert made.name == "copied/net/z:0"
        assert info.original(made) is z
        assert info.transformed(x) is None
        feeds = dict(zip([op.outputs[0] for op in other.get_operations() if op.type == "Placeholder"],
                         [[1, 2], 10.0, 100.0], strict=True))  # fmt: skip
        np.testing.assert_array_equal(run(made, feeds), [110, 120])
        assert view.outputs == [made]


def test_copy_with_replacements_in_the_graph():
    x, y, z = chain()
    view = ge.sgv(y.op, z.op)
    made, info = ge.copy_with_input_replacements(view, {x: tf.constant([5.0, 7.0])}, dst_scope="again")
    np.testing.assert_array_equal(run(info.transformed([y, {"z": z}])[1]["z"]), [16, 22])
    assert info.transformed(z).name == "again/net/z:0"
    assert made.outputs == [info.transformed(z)]


def test_graph_replace_leaves_the_rest():
    w = tf.get_variable("w", initializer=2.0)
    x = tf.constant(3.0)
    hidden = tf.square(x)
    out, other = hidden * w, x + 1.0
    got = ge.graph_replace({"out": out, "other": other}, {hidden: tf.constant(10.0)})
    assert got["other"] is other
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([out, got["out"]]) == [18.0, 20.0]
    with pytest.raises(ValueError, match="not connected"):
        ge.graph_replace(hidden, {out: out})


def test_replacing_what_a_function_takes():
    x = tf.constant(3.0)
    y = tf.cond(x > 2.0, lambda: x * 2.0, lambda: x)
    assert run(ge.graph_replace(y, {x: tf.constant(1.0)})) == 1.0
    assert run(y) == 6.0


def test_unrolled_steps_by_replacement():
    """As unrolled GANs do it: the updates of an optimizer, put in the place of the variables, some steps on."""
    w = tf.get_variable("w", initializer=4.0)
    value = tf.convert_to_tensor(w)
    step = value - 0.1 * tf.gradients(tf.square(value), value)[0]
    current = step
    for _ in range(3):
        current = ge.graph_replace(step, {value: current})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(current) == pytest.approx(4.0 * 0.8**4, rel=1e-5)


def test_corresponding():
    x, y, _ = chain()
    with tf.Graph().as_default() as other:
        tf.import_graph_def(x.graph.as_graph_def(), name="in")
    found = ge.find_corresponding([x, y.op], other, "in")
    assert [each.name for each in found] == ["in/net/x:0", "in/net/y"]

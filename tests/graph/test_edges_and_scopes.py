"""Edges that are changed by hand, and the scopes around operations."""

import pytest

import tapeflow as tf

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_consumers_count_each_use(graph):
    x, y = tf.constant(1), tf.constant(2)
    z = x + y
    z.op._update_input(0, y)
    assert x.consumers() == []
    assert y.consumers() == [z.op, z.op]
    assert v1.Session().run(z) == 4


def test_control_inputs_can_be_removed(graph):
    x = tf.constant(1)
    with tf.control_dependencies([x]):
        y = tf.constant(2)
    y.op._remove_all_control_inputs()
    assert y.op.control_inputs == []


def test_a_changed_input_must_fit(graph):
    x, y = tf.zeros([3, 1]), tf.zeros([2, 2])
    z = x + x
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"incompatible shapes: \[2,2\] and \[3,1\]"
    ):
        z.op._update_input(0, y)


def test_an_input_of_a_wrong_dtype_is_told_when_it_runs(graph):
    x, y = tf.constant(""), tf.constant(1)
    z = y + y
    z.op._update_input(0, x)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Input 0 of node add was passed string from Const:0"
    ):
        v1.Session().run(z)


def test_a_cycle_counts_its_nodes(graph):
    x, y = tf.constant(1), tf.constant(2)
    x.op._add_control_input(y.op)
    y.op._add_control_input(x.op)
    with pytest.raises(tf.errors.InvalidArgumentError, match="contains a cycle with 2 nodes"):
        v1.Session().run(x)


def test_name_scopes_that_are_only_slashes(graph):
    with graph.name_scope("a"), graph.name_scope("/") as scope:
        assert scope == "/"
    with graph.name_scope("") as scope:
        assert scope == ""


def test_values_of_a_name_scope_are_of_one_graph(graph):
    x = tf.constant(1)
    with tf.Graph().as_default():
        y = tf.constant(1)
    with (
        pytest.raises(ValueError, match="must be from the same graph"),
        v1.name_scope("a", values=[x, y]),
    ):
        pass
    with pytest.raises(TypeError, match="default_name"):
        v1.name_scope("a", [x])


def test_device_scopes_are_left_in_order(graph):
    outer = graph.device("/device:CPU:0")
    outer.__enter__()
    with graph.device("/device:CPU:1"), pytest.raises(RuntimeError, match="proper scope nesting"):
        outer.__exit__(None, None, None)


def test_init_scope_lifts_control_dependencies_but_not_names(graph):
    x = tf.constant(1)
    with tf.control_dependencies([x]), graph.name_scope("a"), tf.init_scope():
        y = tf.constant(2, name="y")
    assert y.op.control_inputs == []
    assert y.op.name == "a/y"


def test_a_group_over_devices_is_where_it_was_made(graph):
    with graph.device("/task:0"):
        x = tf.constant(1)
    with graph.device("/task:1"):
        y = tf.constant(1)
    with graph.device("/task:2"):
        both = tf.group(x, y, name="both")
    assert both.device == "/task:2"
    assert sorted(op.device for op in both.control_inputs) == ["/task:0", "/task:1"]


def test_collections_of_a_function_are_its_own_but_for_variables(graph):
    v1.add_to_collection("things", 1)

    @tf.function
    def f():
        v1.add_to_collection("things", 2)
        return tf.constant(len(v1.get_collection("things")))

    assert v1.Session().run(f()) == 2
    assert v1.get_collection("things") == [1]


def test_a_function_of_devices_may_look_at_nodes(graph):
    seen = []

    def choose(op):
        seen.append((op.node_def.op, op.node_def.name))
        return "/cpu:0"

    x = v1.placeholder(tf.float32, [None, 3], name="x")
    with graph.device(choose):
        y = x[1:3] * 2.0
        v1.get_variable("v", initializer=[1.0])
        tf.split(x, 3, 1)
    assert ("StridedSlice", "strided_slice") in seen
    assert {"Const", "Mul", "VarHandleOp", "Split"} <= {kind for kind, _ in seen}
    assert y.op.device == "/device:CPU:0"


def test_containers():
    graph = tf.Graph()
    with graph.container("shelf"):
        assert graph._container == "shelf"  # as programs of 1.x ask for it
    assert graph._container == ""

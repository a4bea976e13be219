"""Which side effects of branches, loops and called functions run in a session."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1


@pytest.fixture
def session():
    with tf.Graph().as_default(), v1.Session() as made:
        yield made


def test_a_branch_runs_what_its_results_need(session):
    a, b = (v1.Variable(0, name=name) for name in "ab")
    result = tf.cond(
        tf.constant(1) < 2,
        lambda: [a.assign(1).op, b.assign(2).op],
        lambda: [tf.no_op(), tf.no_op()],
    )
    session.run(v1.global_variables_initializer())
    assert session.run(result[1])
    assert session.run([a, b]) == [0, 2]


def test_a_loop_waits_for_operations_around_it(session):
    v = v1.Variable(0.0)
    added = v.assign_add(1.0).read_value()

    def body(i):
        with tf.control_dependencies([added]):
            return i + 1

    result = tf.while_loop(lambda i: i < 3, body, [tf.constant(0)])
    session.run(v.initializer)
    assert session.run(result)[0] == 3
    assert session.run(v) == 1.0


def test_an_assignment_outside_comes_before_the_loop_that_reads_it(session):
    a, b = (v1.Variable(0, name=name) for name in "ab")
    session.run(v1.global_variables_initializer())
    added = a.assign_add(1)

    def body(i):
        with tf.control_dependencies([b.assign_add(added)]):
            return i + 1

    session.run(tf.while_loop(lambda i: i < 10, body, [tf.constant(0)]))
    assert session.run([a, b]) == [1, 10]


def test_scatters_in_a_loop_are_waited_for(session):
    v = v1.Variable([3.0, 4.0, 5.0])

    def body(j):
        with tf.control_dependencies([tf.group(v1.scatter_update(v, j, 10.0))]):
            return j + 1

    result = tf.while_loop(lambda j: j < 3, body, [tf.constant(0)])
    session.run(v.initializer)
    session.run(result)
    np.testing.assert_array_equal(session.run(v), [10, 10, 10])


def test_a_function_runs_its_side_effects_with_its_results(session):
    v = v1.Variable(0)

    @tf.function
    def f():
        v.assign_add(5)
        return tf.constant(1)

    result = f()
    session.run(v.initializer)
    assert session.run(v) == 0
    assert session.run(result) == 1
    assert session.run(v) == 5


def test_an_assertion_in_a_function(session):
    @tf.function
    def f(x):
        tf.debugging.Assert(x > 0, ["not positive"])
        return x + 1

    with pytest.raises(tf.errors.InvalidArgumentError, match="not positive"):
        session.run(f(tf.constant(-1)))


def test_wrapped_functions_run_what_their_results_need():
    v = tf.Variable(5.0)

    def f(x):
        v.assign_add(100.0)
        with tf.control_dependencies([v.assign_sub(x)]):
            return v.read_value()

    assert float(v1.wrap_function(f, [tf.TensorSpec([], tf.float32)])(1.0)) == 4.0

    def twice(x):
        once = v.assign_add(x)
        return once.assign_add(x).read_value()

    assert float(v1.wrap_function(twice, [tf.TensorSpec([], tf.float32)])(1.0)) == 6.0


def test_no_gradient_through_a_loop_without_backprop(session):
    v = tf.constant(2.0)
    r = v1.while_loop(lambda v: v < 100.0, tf.square, [v], back_prop=False)
    assert session.run(v1.gradients(r + v, v)[0]) == 1.0


def test_an_endless_loop_ends_at_the_deadline(session):
    r = tf.while_loop(lambda x: True, lambda x: x + 1, [tf.constant(0)])
    with pytest.raises(tf.errors.DeadlineExceededError, match="Timed out"):
        session.run(r, options=v1.RunOptions(timeout_in_ms=5))
    config = v1.ConfigProto(operation_timeout_in_ms=5)
    with (
        v1.Session(graph=session.graph, config=config) as other,
        pytest.raises(tf.errors.DeadlineExceededError),
    ):
        other.run(r)
    short = tf.while_loop(lambda x: x < 3, lambda x: x + 1, [tf.constant(0)])
    assert session.run(short)[0] == 3


def test_map_over_known_shapes_of_one_x(session):
    v1.disable_v2_tensorshape()
    try:
        x = tf.constant([1.0, 2.0, 3.0])
        np.testing.assert_array_equal(session.run(tf.map_fn(lambda z: z * 2.0, x)), [2, 4, 6])
    finally:
        v1.enable_v2_tensorshape()


def test_variables_through_their_definitions(session):
    v = v1.Variable(1.0, trainable=False, name="v")
    definition = v.to_proto()
    assert tf.Variable.from_proto(definition) is v
    twin = v1.Variable(variable_def=definition)
    session.run(v.initializer)
    session.run(v.assign(3.0))
    assert session.run(twin) == 3.0
    assert not twin.trainable
    assert v.to_proto(export_scope="elsewhere") is None
    with pytest.raises(ValueError, match="mutually exclusive"):
        v1.Variable(1.0, variable_def=definition)


def test_initial_values_are_placed_with_their_variable(session):
    v = v1.Variable(lambda: tf.zeros([2]), name="v")
    assert v.initial_value.op.colocation_groups() == [b"loc:@v"]


def test_slices_and_tensors_do_not_meet(session):
    x = tf.constant([1.0])
    with pytest.raises(TypeError, match="Cannot reconcile"):
        tf.cond(tf.constant(1) < 2, lambda: tf.IndexedSlices(x, tf.constant([0])), lambda: x)


def test_counting_to_a_limit(session):
    v = v1.Variable(0)
    count = v1.count_up_to(v, 2)
    session.run(v.initializer)
    assert [session.run(count), session.run(count)] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 2"):
        session.run(count)


def test_a_variable_that_is_colocated_stays_where_it_was_put(session):
    a = v1.Variable([2.0], name="a")
    with v1.colocate_with(a.op):
        b = v1.Variable([3.0], name="b")
    assert b.op.colocation_groups() == [b"loc:@a"]
    assert b.initial_value.op.colocation_groups() == [b"loc:@a"]


def test_no_hessian_of_what_is_linear(session):
    x = v1.placeholder(tf.float32, [2])
    with pytest.raises(ValueError, match="no Hessian"):
        v1.hessians(x, x)


def test_parts_of_a_wrapped_function_are_named_by_infos():
    v = tf.Variable(0)

    def f():
        v.assign(1, read_value=False, name="assign_to_v")

    wrapped = v1.wrap_function(f, [])
    wrapped()
    assert int(v) == 0
    wrapped.prune(
        [], v1.MetaGraphDef().signature_def["a"].inputs["b"].__class__(name="assign_to_v")
    )()
    assert int(v) == 1

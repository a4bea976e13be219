"""`tf.function`: traces, arguments, captures, variables, effects and gradients."""

import collections
import functools
import gc
import threading
import weakref

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import context


def counted(function, **options):
    """The function, traced, and the list that grows with each trace."""
    traces = []

    @functools.wraps(function)
    def body(*args, **kwargs):
        traces.append(1)
        return function(*args, **kwargs)

    return tf.function(body, **options), traces


def test_one_trace_for_each_dtype_shape_and_python_value():
    f, traces = counted(lambda x, n=1: x * n)
    for x in (1.0, 2.0, tf.constant(1.0), tf.constant(3.0), tf.constant([1.0]), tf.constant(1)):
        f(x)
    assert len(traces) == 5  # 1.0 and 2.0 are two Python values
    f(tf.constant(1.0), 2)
    f(tf.constant(1.0), n=2)
    assert len(traces) == 6
    assert f.experimental_get_tracing_count() == 6


def test_arrays_are_tensors():
    f, traces = counted(lambda x: x + 1)
    np.testing.assert_array_equal(f(np.array([1, 2])), [2, 3])
    np.testing.assert_array_equal(f(np.array([5, 6])), [6, 7])
    assert len(traces) == 1


def test_an_input_signature_makes_one_trace():
    f, traces = counted(
        lambda x: tf.shape(x)[0], input_signature=[tf.TensorSpec([None, 2], tf.float32)]
    )
    assert [int(f(tf.zeros([n, 2]))) for n in (1, 5, 0)] == [1, 5, 0]
    assert len(traces) == 1
    with pytest.raises(TypeError, match="Can not cast"):
        f(tf.zeros([2, 3]))
    with pytest.raises(TypeError, match="Can not cast"):
        f(tf.zeros([2, 2], tf.int32))
    with pytest.raises(TypeError):
        f()


def test_shapes_are_relaxed_on_request():
    f, traces = counted(lambda x: x * 2, reduce_retracing=True)
    for n in (1, 2, 3, 4, 5):
        f(tf.zeros([n, 2]))
    assert len(traces) == 2
    assert f.all_traces()[-1].inputs[0].shape.as_list() == [None, 2]


def test_many_traces_are_explained():
    f, _ = counted(lambda x: x)
    f(tf.zeros([1]))
    f(tf.zeros([2]))
    assert "shape (1,)" in f.why_retraced()
    assert "shape (2,)" in f.why_retraced()


Point = collections.namedtuple("Point", "x y")


def test_structures_go_in_and_out():
    f, traces = counted(lambda a: {"sum": a["p"].x + a["p"].y, "all": [a["p"], None, (a["n"],)]})
    for k in (1.0, 2.0):
        got = f({"p": Point(tf.constant(k), tf.constant(2.0)), "n": 7})
        assert float(got["sum"]) == k + 2
        assert isinstance(got["all"][0], Point)
        assert got["all"][1] is None
        assert int(got["all"][2][0]) == 7
    assert len(traces) == 1


def test_slices_go_in_and_out():
    @tf.function
    def f(s):
        return tf.IndexedSlices(s.values * 2, s.indices, s.dense_shape)

    got = f(tf.IndexedSlices(tf.ones([2, 3]), tf.constant([1, 4]), tf.constant([5, 3])))
    assert isinstance(got, tf.IndexedSlices)
    np.testing.assert_array_equal(got.values, 2 * np.ones([2, 3]))


def test_captured_tensors_and_variables():
    t, v = tf.constant([1.0, 2.0]), tf.Variable(3.0)

    @tf.function
    def f(x):
        return x * t + v

    np.testing.assert_array_equal(f(2.0), [5, 7])
    v.assign(0.0)
    np.testing.assert_array_equal(f(2.0), [2, 4])
    assert [id(x) for x in f.get_concrete_function(2.0).variables] == [id(v)]


def test_variables_are_created_on_the_first_call_only():
    class Model(tf.Module):
        w = None

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(tf.random.normal([2, 2]) * 0 + 2.0)
            return x @ self.w

    m = Model()
    np.testing.assert_array_equal(m(tf.ones([1, 2])), [[4, 4]])
    np.testing.assert_array_equal(m(tf.ones([3, 2])), np.full([3, 2], 4))
    assert isinstance(m.w, tf.Variable)
    assert len(m.variables) == 1


def test_a_first_value_may_depend_on_the_argument():
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(x * 2))
        return made[0] + 0.0

    assert float(f(tf.constant(3.0))) == 6.0
    assert float(f(tf.constant(10.0))) == 6.0


def test_variables_created_on_every_call_are_refused():
    kept = []

    @tf.function
    def f(x):
        kept.append(tf.Variable(1.0))
        return kept[-1] * x

    with pytest.raises(ValueError, match=r"singleton tf\.Variables created on the first call"):
        f(tf.constant(1.0))


def test_methods_have_traces_of_their_own_and_do_not_keep_their_object():
    class Counter:
        def __init__(self, step):
            self.step = step

        @tf.function
        def __call__(self, x):
            return x + self.step

    a, b = Counter(1.0), Counter(10.0)
    assert float(a(tf.constant(0.0))) == 1.0
    assert float(b(tf.constant(0.0))) == 10.0
    gone = weakref.ref(a)
    del a
    gc.collect()
    assert gone() is None


def test_effects_run_in_program_order(capfd):
    v = tf.Variable(0.0)

    @tf.function
    def f():
        v.assign_add(1.0)
        a = v.read_value()
        tf.print("a", a)
        v.assign(a * 10.0)
        b = v.read_value()
        tf.print("b", b)
        v.assign_add(1.0)

    f()
    f()
    assert float(v) == 121.0
    assert capfd.readouterr().err.split("\n")[:4] == ["a 1", "b 10", "a 12", "b 120"]


def test_assertions_run_though_nobody_looks():
    @tf.function
    def f(x):
        tf.debugging.assert_positive(x, message="not this")
        return x

    assert float(f(tf.constant(1.0))) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="not this"):
        f(tf.constant(-1.0))


def test_random_numbers_are_new_with_each_call():
    @tf.function
    def f():
        return tf.random.uniform([]), tf.random.uniform([])

    numbers = {float(x) for _ in range(5) for x in f()}
    assert len(numbers) == 10


def test_nested_functions():
    inner = tf.function(lambda x: x * x)
    outer = tf.function(lambda x: inner(x) + inner(x + 1.0))
    assert float(outer(tf.constant(2.0))) == 13.0


def test_a_function_that_calls_itself_for_ever_ends_in_an_error():
    @tf.function
    def f(x):
        return f(x)

    with pytest.raises(RecursionError):
        f(tf.constant(1.0))


def test_errors_name_the_node_and_the_line():
    @tf.function
    def f(i):
        return tf.gather([1, 2, 3], i)  # the line

    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"indices = 7 is not in \[0, 3\)"
    ) as caught:
        f(tf.constant(7))
    assert __file__ in str(caught.value)
    assert caught.value.op.type == "Gather" or caught.value.op.type == "GatherV2"


def test_tensors_do_not_leak():
    leaked = []

    @tf.function
    def f(x):
        leaked.append(x * 2)
        return x

    f(tf.constant(1.0))
    with pytest.raises(TypeError, match="out of scope"):
        leaked[0] + 1.0


def test_concrete_functions():
    @tf.function
    def f(x, y=2.0, flag=True):
        return (x * y if flag else x), {"n": tf.shape(x)}

    c = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    np.testing.assert_array_equal(c(tf.constant([1.0, 2.0]))[0], [2, 4])
    np.testing.assert_array_equal(c(x=tf.constant([1.0]))[1]["n"], [1])
    assert [x.name for x in c.inputs] == ["x:0"]
    assert c.output_dtypes == (tf.float32, {"n": tf.int32})
    assert "  x (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(None,), dtype=tf.float32" in str(c)
    with pytest.raises(TypeError):
        c()
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        c(tf.constant([1, 2]))


def test_functions_run_eagerly_on_request():
    seen = []

    @tf.function
    def f(x):
        seen.append(tf.executing_eagerly())
        return x

    f(tf.constant(1.0))
    f(tf.constant(1.0))
    tf.config.run_functions_eagerly(True)
    try:
        f(tf.constant(1.0))
    finally:
        tf.config.run_functions_eagerly(False)
    f(tf.constant(1.0))
    assert seen == [False, True]


def test_init_scope_lifts_out():
    seen = []

    @tf.function
    def f(x):
        with tf.init_scope():
            seen.append(tf.executing_eagerly())
        seen.append(tf.executing_eagerly())
        return x

    f(tf.constant(1.0))
    assert seen == [True, False]
    assert not context.inside_graph()


def test_threads_share_a_function():
    @tf.function
    def f(x):
        return tf.reduce_sum(tf.tanh(x) @ x)

    wrong = []

    def work(k):
        x = tf.random.stateless_uniform([8, 8], [k, 0])
        want = float(tf.reduce_sum(tf.tanh(x) @ x))
        for _ in range(200):
            if abs(float(f(x)) - want) > 1e-4:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


# Gradients.


def cube(x):
    return x * x * x


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_gradients_of_three_orders(wrap):
    f = wrap(cube)
    x = tf.constant(2.0)
    with tf.GradientTape() as t3:
        t3.watch(x)
        with tf.GradientTape() as t2:
            t2.watch(x)
            with tf.GradientTape() as t1:
                t1.watch(x)
                y = f(x)
            d1 = t1.gradient(y, x)
        d2 = t2.gradient(d1, x)
    d3 = t3.gradient(d2, x)
    assert [float(v) for v in (y, d1, d2, d3)] == [8.0, 12.0, 12.0, 6.0]


def test_tapes_inside_of_functions():
    w = tf.Variable(3.0)

    @tf.function
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            with tape.stop_recording():
                hidden = x * 5.0
            y = w * x * x + hidden
        return tape.gradient(y, [x, w])

    assert [float(v) for v in f(tf.constant(2.0))] == [12.0, 4.0]


def test_what_a_tape_did_not_see_has_no_gradient():
    @tf.function
    def f(x):
        y = x * x
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = y * 2.0
        return tape.gradient(z, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)

    assert float(f(tf.constant(3.0))) == 0.0


def test_gradients_of_gathers_stay_sparse():
    table = tf.Variable(tf.ones([100, 2]))

    @tf.function
    def f(i):
        return tf.reduce_sum(tf.gather(table, i))

    with tf.GradientTape() as tape:
        y = f(tf.constant([3, 5]))
    gradient = tape.gradient(y, table)
    assert isinstance(gradient, tf.IndexedSlices)
    np.testing.assert_array_equal(gradient.indices, [3, 5])


def test_custom_gradients_inside_of_functions():
    @tf.custom_gradient
    def f(x):
        return x * x, lambda dy: dy * 100.0

    g = tf.function(lambda x: f(x) + x)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = g(x)
    assert float(tape.gradient(y, x)) == 101.0


@pytest.mark.parametrize("n", [0, 1, 5])
def test_gradients_of_loops_and_branches_of_two_orders(n):
    @tf.function
    def f(x, n):
        y = x
        for _ in tf.range(n):
            if y > 1.0:
                y = y * x
            else:
                y = tf.sin(y) + x
        return y

    def eager(x, n):
        y = x
        for _ in range(int(n)):
            y = y * x if y > 1.0 else tf.sin(y) + x
        return y

    for start in (0.3, 1.5):
        got = []
        for run in (f, eager):
            x = tf.constant(start)
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = run(x, tf.constant(n))
                d1 = inner.gradient(y, x)
            got.append([float(y), float(d1), float(outer.gradient(d1, x) or 0.0)])
        np.testing.assert_allclose(*got, rtol=1e-5)


def test_gradients_through_variables_in_loops():
    w = tf.Variable(0.5)

    @tf.function
    def f(x):
        for _ in tf.range(3):
            x = x * w
        return x

    with tf.GradientTape() as tape:
        y = f(tf.constant(2.0))
    np.testing.assert_allclose(tape.gradient(y, w), 3 * 0.25 * 2.0)


def test_peak_memory_is_the_live_set():
    from tapeflow import _native

    @tf.function
    def f(x):
        for k in range(20):
            x = tf.sin(x + float(k))
        return tf.reduce_sum(x)

    x = tf.zeros([1 << 20])
    f(x)
    _native.allocator_reset_peak()
    before = _native.allocator_stats()["live"]
    f(x)
    assert _native.allocator_stats()["peak"] - before <= 1.1 * 2 * x.shape[0] * 4


def test_a_variable_has_no_value_while_tracing():
    v = tf.Variable(1.0)

    @tf.function
    def f():
        return v.numpy()

    with pytest.raises(NotImplementedError, match="only available when eager execution is enabled"):
        f()


@pytest.mark.parametrize("autograph", [True, False])
def test_parameters_with_names_that_no_node_can_have(autograph):
    def f(_, _a, *, __b=1.0):
        return _ + _a * __b

    traced = tf.function(f, autograph=autograph)
    one, two, three = map(tf.constant, (1.0, 2.0, 3.0))
    assert traced(one, two, __b=three).numpy() == 7.0
    assert tf.function(lambda _: _ + 1)(one).numpy() == 2.0
    names = [x.op.name for x in traced.get_concrete_function(one, two, __b=three).inputs]
    assert len(set(names)) == 3


def test_a_first_value_may_depend_on_that_of_another_variable():
    state = []

    @tf.function
    def f(x):
        if not state:
            state.append(tf.Variable(2.0 * x))
            state.append(tf.Variable(state[0] * 3.0))
            state.append(tf.Variable(state[1] + 1.0))
        return state[0] + x + state[1] + state[2]

    assert [float(f(tf.constant(x))) for x in (1.0, 3.0)] == [2.0 + 1.0 + 6.0 + 7.0, 2.0 + 3.0 + 6.0 + 7.0]


def test_functions_within_functions_share_their_traces():
    traced = []

    @tf.function
    def inner(x, training=True):
        traced.append(training)
        return x * 2.0

    @tf.function
    def outer(x):
        return inner(x)

    @tf.function
    def other(x):
        return inner(x, training=True) + inner(x, False)

    assert float(outer(tf.constant(1.0))) == 2.0
    assert float(inner(tf.constant(2.0))) == 4.0
    assert float(other(tf.constant(3.0))) == 12.0
    assert traced == [True, False]
    assert inner.experimental_get_tracing_count() == 2


def test_a_trace_that_reads_what_is_around_it_is_not_shared():
    functions = []

    @tf.function
    def outer(x):
        inside = x + 1.0
        if not functions:
            functions.append(tf.function(lambda y: y * inside))
        return functions[0](x)

    assert float(outer(tf.constant(2.0))) == 6.0
    with pytest.raises((TypeError, ValueError)):
        functions[0](tf.constant(2.0))


def test_variables_that_a_nested_call_creates_keep_their_values():
    made = []

    @tf.function
    def inner(x):
        if not made:
            made.append(tf.Variable(x))
        return made[0].assign_add(1.0)

    @tf.function
    def outer(x):
        return inner(x)

    assert [float(outer(tf.constant(x))) for x in (5.0, 7.0, 9.0)] == [6.0, 7.0, 8.0]


@pytest.mark.parametrize("make", [
    lambda n: tf.ragged.constant([[1] * n, []]),
    lambda n: tf.SparseTensor([[0, i] for i in range(n)], [1] * n, [2, 9]),
], ids=["ragged", "sparse"])  # fmt: skip
def test_composites_with_other_numbers_of_values_share_a_trace(make):
    function = tf.function(lambda x: tf.reduce_sum(x.values))
    assert [int(function(make(n))) for n in (1, 2, 5)] == [1, 2, 5]
    assert function.experimental_get_tracing_count() == 1


def _sparse(rows, *places):
    return tf.SparseTensor(list(places), [float(i) for i in range(len(places))], [rows, 3])


def test_traces_of_sparse_tensors_know_the_dense_shape_and_serve_any_number_of_elements():
    seen = []

    def noted(s):
        seen.append((s.shape.as_list(), s.values.shape.as_list()))
        return tf.sparse.to_dense(s)

    calls = [_sparse(3, [0, 0], [1, 2]), _sparse(1, [0, 0]), _sparse(1, [0, 0], [0, 1]), _sparse(3, [0, 0])]
    exact, reduced = tf.function(noted), tf.function(noted, reduce_retracing=True)
    for s in calls:
        np.testing.assert_array_equal(exact(s), tf.sparse.to_dense(s))
    assert seen == [([3, 3], [None]), ([1, 3], [None])]
    seen.clear()
    for s in calls:
        np.testing.assert_array_equal(reduced(s), tf.sparse.to_dense(s))
    assert seen == [([3, 3], [None]), ([None, 3], [None])]
    seen.clear()
    declared = tf.function(noted, input_signature=[tf.SparseTensorSpec([None, 3])])
    for s in calls:
        np.testing.assert_array_equal(declared(s), tf.sparse.to_dense(s))
    assert seen == [([None, 3], [None])]
    concrete = tf.function(noted).get_concrete_function(tf.SparseTensorSpec([None, 3]))
    assert concrete.structured_input_signature[0] == (tf.SparseTensorSpec([None, 3]),)


def test_traces_of_ragged_tensors_serve_any_number_of_elements():
    seen = []

    @tf.function
    def noted(r):
        seen.append((r.shape.as_list(), r.values.shape.as_list(), r.row_splits.shape.as_list()))
        return r + 1

    for rows in ([[1, 2], [3]], [[1], [3]], [[], []]):
        r = tf.ragged.constant(rows, tf.int32)
        assert noted(r).to_list() == (r + 1).to_list()
    assert seen == [([2, None], [None], [3])]


def test_sparse_elements_of_datasets_keep_their_shape_in_functions():
    dataset = tf.data.Dataset.from_tensor_slices(_sparse(3, [0, 0], [1, 2])).batch(2)

    @tf.function
    def first(iterator):
        element = next(iterator)
        assert element.shape.as_list() == [None, 3]
        return tf.sparse.to_dense(element)

    np.testing.assert_array_equal(first(iter(dataset)), [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])

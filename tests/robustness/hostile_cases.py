"""Programs that native code once did not survive, and others like them; see hostile_objects.py."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading

import numpy as np

import tapeflow as tf
from tapeflow import _native
from tapeflow.ops.table import REGISTRY

KIB = 1024


def in_thread(function, stack):
    """What `function` returns in a thread with so small a stack, or the exception."""
    results = []

    def work():
        try:
            results.append(function())
        except Exception as e:
            results.append(e)

    before = threading.stack_size(stack)
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    return results[0]


def look_around():
    """Touches every item. (Not in the middle of tuple(iterator): the interpreter's own tuple is unfinished then.)"""
    for o in gc.get_objects():
        if type(o) in (tuple, list):
            for item in o:
                item.__class__  # noqa: B018


def raises(kinds, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except kinds:
        return
    raise AssertionError(f"{function} returned")


# -- conversion --------------------------------------------------------------------------------------


def case_length_grows_the_rows_before():
    class Row(list):
        def __len__(self):
            for row in rows[:4]:
                row.extend([1.0] * 5000)
            return 4

    rows = [[1.0] * 4 for _ in range(4)]
    rows.append(Row([1.0] * 4))
    raises(ValueError, tf.constant, rows)


def case_float_grows_the_next_row():
    class Number(float):
        def __float__(self):
            rows[1].extend([1.0] * 100_000)
            return 1.0

    rows = [[Number(1.0)], [1.0]]
    raises(ValueError, tf.constant, rows, tf.float16)


def case_float_turns_rows_into_numbers():
    class Number(float):
        def __float__(self):
            rows[1] = 1.0
            gc.collect()
            return 1.0

    rows = [[Number(1.0)], [1.0]]
    raises(ValueError, tf.constant, rows, tf.float16)


def case_array_that_holds_itself():
    a = np.empty((), object)
    a[()] = a
    raises(RecursionError, tf.constant, a, tf.float32)


def case_arrays_in_arrays():
    a = np.float32(1)
    for _ in range(2000):
        b = np.empty((), object)
        b[()] = a
        a = b
    with contextlib.suppress(RecursionError):
        tf.constant(a, tf.float32)


def case_list_of_inputs_grows():
    class Part:
        def __array__(self, dtype=None, copy=None):
            parts.append(self)
            return np.ones([1], np.float32)

    parts = [Part(), Part()]
    raises(ValueError, REGISTRY["ConcatV2"], parts, 0)


def case_conversion_to_another_dtype():
    class Wrong:
        def __tf_tensor__(self, dtype=None, name=None):
            return tf.zeros([1], tf.float32)

    raises(RuntimeError, tf.add, tf.zeros([1000], tf.float64), Wrong())


def case_conversion_to_a_symbolic_tensor():
    symbolic = []

    class Wrong:
        def __tf_tensor__(self, dtype=None, name=None):
            return symbolic[0]

    tf.function(lambda: symbolic.append(tf.identity(1.0)))()
    raises(TypeError, tf.add, tf.zeros([1000]), Wrong())
    raises(TypeError, tf.concat, [tf.zeros([1000]), Wrong()], 0)


def case_strings_are_not_changed_through_their_array():
    t = tf.constant([b"a", b"b"])
    a = np.asarray(t)
    a[0] = 5
    a.resize(1000, refcheck=False)
    assert t.numpy().tolist() == [b"a", b"b"]


def case_choice_that_calls_itself_otherwise():
    class Name(str):
        __slots__ = ()

        def __str__(self):
            return "SAME"

    x, k = tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1])
    raises(
        (tf.errors.InvalidArgumentError, ValueError),
        tf.raw_ops.Conv2D, input=x, filter=k, strides=[1, 1, 1, 1], padding=Name("evil"),
    )  # fmt: skip


def case_bool_that_raises():
    def fail(self):
        raise KeyError

    kind = type("numpy.bool_", (), {"__bool__": fail})
    a = tf.ones([2, 2])
    raises(KeyError, tf.raw_ops.MatMul, a=a, b=a, transpose_a=kind())


def case_interrupt_inside_an_attr():
    class Index:
        def __index__(self):
            raise KeyboardInterrupt

    try:
        tf.raw_ops.Squeeze(input=tf.ones([1]), axis=[Index()])
    except KeyboardInterrupt:
        return
    raise AssertionError("the interrupt was lost")


def case_rank_beyond_all_numbers():
    class Index:
        ndim = 2**100

        def __index__(self):
            return 0

    with contextlib.suppress(TypeError, IndexError):
        tf.ones([3])[Index()]


def case_dtypes_that_do_not_exist():
    for number in (26, 27, 28, 31, 32, -1, 2**31):
        with contextlib.suppress(Exception):
            _native._rebuild(np.zeros(2), number)


# -- tapes -------------------------------------------------------------------------------------------


def case_more_inputs_than_16_bits():
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.stack([x] * 70_000)
    assert float(tape.gradient(y, x)) == 70_000


def case_collector_looks_at_the_tape():
    x = tf.constant([[1.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cumsum(x, reverse=True)
        y = tf.matmul(y, x, transpose_a=True)
    look_around()
    assert float(tape.gradient(y, x)[0, 0]) == 2.0


def case_gradients_that_change_while_they_are_read():
    class Gradient:
        @property
        def __array_interface__(self):
            gradients[1:] = []
            gc.collect()
            [object() for _ in range(1000)]
            return np.float32(1).__array_interface__

    gradients = [Gradient(), Gradient()]

    @tf.custom_gradient
    def f(a, b):
        return a * b, lambda dy: gradients

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, x)
    with contextlib.suppress(ValueError, TypeError):
        tape.gradient(y, x)


def case_sources_and_seeds_that_change():
    class Seed:
        def __array__(self, dtype=None, copy=None):
            seeds.clear()
            targets.clear()
            sources.extend([5] * 1000)
            gc.collect()
            return np.array(1.0, np.float32)

    x = tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.exp(x)
        z = tf.exp(y)
    seeds, targets, sources = [Seed(), Seed()], [y, z], [x]
    assert len(tape._gradient(targets, sources, seeds, False)) == 1


def case_gradient_function_stops_and_clears_the_tape():
    @tf.custom_gradient
    def f(a):
        def gradient(dy):
            with contextlib.suppress(RuntimeError, ValueError):
                tape.reset()
            with contextlib.suppress(RuntimeError, ValueError):
                tape._release()
            with contextlib.suppress(RuntimeError, ValueError):
                tape.gradient(y, x)
            with contextlib.suppress(RuntimeError, ValueError):
                tape.__enter__()
            tape.__init__()
            return dy

        return a * 2, gradient

    x = tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(f(x) * 3)
    assert float(tape.gradient(y, x)) == 3.0


def case_variable_changes_while_its_gradient_is_read():
    class Seed:
        def __array__(self, dtype=None, copy=None):
            v.assign(tf.zeros([100]))
            gc.collect()
            return np.ones(100, np.float32)

    v = tf.Variable(tf.ones([100]))
    with tf.GradientTape() as tape:
        y = v * 2
    assert tape.gradient([y, v], [v], output_gradients=[Seed(), Seed()])[0].shape == [100]


def case_recorded_call_asked_for_a_number():
    row = REGISTRY["Exp"]
    seen = []

    def gradient(call, dy):
        for ask in (call.__getitem__, call.shape, call.dtype, call.static_shape, call.wants):
            with contextlib.suppress(TypeError, AttributeError):
                seen.append(ask(5))
        return dy

    x = tf.constant(1.0)
    old = row._gradient
    try:
        row._set_gradient(gradient)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.exp(x)
        tape.gradient(y, x)
    finally:
        row._set_gradient(old)
    assert not seen


def case_gradient_function_replaces_itself():
    row = REGISTRY["Exp"]
    old = row._gradient

    class Gradient:
        def __call__(self, call, dy):
            row._set_gradient(old)
            gc.collect()
            self.used = dy
            return dy * 3

    x = tf.constant(1.0)
    row._set_gradient(Gradient())
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.exp(x)
    assert float(tape.gradient(y, x)) == 3.0


def case_name_that_is_no_text():
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.identity(x)
        _native.record_custom("\udc80", [y], [x], lambda dy: [dy, dy, dy])
    tape._entries()
    raises(ValueError, tape.gradient, y, x)


def case_tape_left_open_inside_a_function():
    tapes = []

    def enter(a):
        tapes.append(tf.GradientTape())
        tapes[-1].__enter__()
        return a

    with tf.GradientTape() as tape:
        f = tf.function(lambda a: tf.numpy_function(enter, [a], tf.float32))
        for _ in range(70):
            f(tf.constant(1.0))
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert float(tape.gradient(y, x)) == 6.0
    for t in tapes:
        with contextlib.suppress(ValueError):
            t.__exit__(None, None, None)


# -- kernels in Python and plans ---------------------------------------------------------------------


def case_error_code_that_is_an_object():
    class Error(Exception):
        @property
        def error_code(self):
            return object()

    def fail(x):
        raise Error("text")

    raises(Exception, tf.numpy_function, fail, [tf.ones([2])], tf.float32)


def case_results_that_change_while_they_are_read():
    class Result:
        def __array__(self, dtype=None, copy=None):
            results[1:] = []
            gc.collect()
            return np.ones(3, np.float32)

    results = [Result(), Result(), Result()]
    with contextlib.suppress(Exception):
        tf.numpy_function(lambda a: results, [tf.ones([3])], [tf.float32] * 3)


def case_collector_looks_inside_a_plan():
    def look(x):
        look_around()
        return x, x

    f = tf.function(lambda a: tf.numpy_function(look, [a], [tf.float32, tf.float32]))
    for _ in range(3):
        f(tf.constant(1.0))


def case_instructions_that_change_while_they_are_read():
    class Register:
        def __index__(self):
            instructions.clear()
            gc.collect()
            [("call", i) for i in range(1000)]
            return 1

    def same(x):
        return (x,)

    instructions = [("python", same, [Register()], [2], None), ("python", same, [0], [3], None)]
    with contextlib.suppress(ValueError, TypeError):
        _native.Plan("p", 4, [0, 1], [], instructions, [2])


def case_plan_is_found_before_it_is_whole():
    class Register:
        def __index__(self):
            found.extend(o for o in gc.get_objects() if type(o) is _native.Plan and o.name == "unfinished")
            for plan in found:
                plan(tf.constant(1.0))
            return 1

    found = []
    _native.Plan("unfinished", 3, [0], [], [("python", lambda x: (x,), [0], [Register()], None)], [1])
    assert not found


def chain_of_plans(n):
    plan = _native.Plan("p", 1, [0], [], [], [0])
    for _ in range(n):
        plan = _native.Plan("p", 2, [0], [], [("call", plan, [0], [1], None)], [1])
    return plan


def case_plans_in_plans_are_freed():
    chain_of_plans(150_000)


def case_plans_in_plans_run():
    plan = chain_of_plans(3000)
    for stack in (64 * KIB, 256 * KIB, 8 * KIB * KIB):
        assert isinstance(in_thread(lambda: plan(tf.constant(1.0)), stack), RecursionError)


def case_dispatchers_in_dispatchers():
    d = _native.Dispatcher(lambda: 1)
    for _ in range(200_000):
        d = _native.Dispatcher(d)
    raises(RecursionError, d)
    del d


def case_public_functions_in_public_functions():
    f = _native.PublicFunction(lambda: 1)
    for _ in range(20_000):
        f = _native.PublicFunction(f)
    with contextlib.suppress(RecursionError):
        in_thread(f, 256 * KIB)


def case_tuples_in_tuples_are_no_values():
    deep = ()
    for _ in range(200_000):
        deep = (deep,)
    d = _native.Dispatcher(lambda *a: 1)
    plan = _native.Plan("p", 0, [], [], [], [])
    try:
        d.add([("value", deep)], plan, "none")
    except (ValueError, RecursionError):
        return
    raise AssertionError("taken")


# -- small stacks ------------------------------------------------------------------------------------


def case_ops_in_threads_with_small_stacks():
    def work():
        a = tf.ones([3, 3])
        tf.matmul(a, a)
        tf.constant([[1.0]] * 3)
        tf.nn.conv2d(tf.ones([1, 8, 8, 3]), tf.ones([3, 3, 3, 4]), 1, "SAME")
        tf.tanh(tf.ones([100_000])) + tf.ones([100_000, 1])[:1]
        tf.constant([[1.0, 2.0, 3.0]]) * tf.ones([1000, 1]) + tf.ones([1000, 3])
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = tf.reduce_sum(tf.exp(a) * a)
        tape.gradient(y, a)
        return tf.linalg.inv(tf.eye(3)).shape

    result = in_thread(work, 128 * KIB)
    assert result == [3, 3] or isinstance(result, RecursionError), result


def with_attribute(make):
    def link(before):
        o = make()
        o.before = before
        return o

    return link


class Listening(_native.Tape):
    """A tape with attributes."""


# How an object of each type that the garbage collector knows holds another object.
LINKS = {
    "Dispatcher": lambda before: _native.Dispatcher(before or (lambda: 1)),
    "PublicFunction": lambda before: _native.PublicFunction(before or (lambda: 1)),
    "Tape": with_attribute(Listening),
    "Tensor": with_attribute(lambda: tf.constant(1.0)),
    "Variable": with_attribute(lambda: tf.Variable(1.0)),
}


def case_long_chains_are_freed_in_threads_with_small_stacks():
    for name, link in LINKS.items():
        chain = [None]
        try:
            for _ in range(20_000):
                chain[0] = link(chain[0])
        except TypeError as e:
            raise AssertionError(f"{name}: {e}") from e
        assert in_thread(chain.clear, 64 * KIB) is None, name


def case_nested_conditions_in_a_thread_with_a_small_stack():
    def build(n):
        if n == 0:
            return lambda x: x + 1
        inner = build(n - 1)
        return lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: inner(x), lambda: x)

    f = tf.function(build(40))
    assert f(tf.ones([2])).numpy().tolist() == [2, 2]
    for stack in (64 * KIB, 128 * KIB, 256 * KIB):
        result = in_thread(lambda: f(tf.ones([2])), stack)
        assert isinstance(result, (RecursionError, tf.Tensor)), result


def case_loops_in_a_thread_with_a_small_stack():
    def body(i, x):
        return i + 1, tf.while_loop(lambda j, y: j < 3, lambda j, y: (j + 1, tf.tanh(y) * 2 + 1), (0, x))[1]

    f = tf.function(lambda x: tf.while_loop(lambda i, x: i < 3, body, (0, x))[1])
    want = f(tf.ones([5000]))
    for stack in (64 * KIB, 128 * KIB, 256 * KIB):
        result = in_thread(lambda: f(tf.ones([5000])), stack)
        assert isinstance(result, RecursionError) or np.array_equal(result, want), result


def case_fused_steps_in_a_thread_with_a_small_stack():
    f = tf.function(lambda x: tf.tanh(x * 2 + 1) * tf.exp(-x) + tf.sqrt(tf.abs(x)))
    x = tf.linspace(0.0, 1.0, 20_000)
    want = f(x)
    for stack in (64 * KIB, 128 * KIB, 256 * KIB):
        result = in_thread(lambda: f(x), stack)
        assert isinstance(result, RecursionError) or np.allclose(result, want), result


def case_function_that_calls_itself():
    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def f(n):
        return tf.py_function(lambda n: f(n + 1), [n], tf.int32)

    def work():
        return f(tf.constant(0))

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(4000)
    try:
        for stack in (2 * KIB * KIB, 8 * KIB * KIB):
            assert isinstance(in_thread(work, stack), Exception)
    finally:
        sys.setrecursionlimit(before)


def case_deep_lists():
    deep = 1.0
    for _ in range(100_000):
        deep = [deep]
    raises(Exception, tf.constant, deep)
    nested = tf.constant(1.0)
    for _ in range(240):
        nested = [nested]
    with contextlib.suppress(Exception):
        tf.constant(nested)
    assert isinstance(in_thread(lambda: tf.constant(nested), 256 * KIB), (tf.Tensor, Exception))


# -- memory of others --------------------------------------------------------------------------------


def case_capsule_consumed_twice():
    capsule = tf.ones([3]).__dlpack__()
    tf.experimental.dlpack.from_dlpack(capsule)
    raises(ValueError, tf.experimental.dlpack.from_dlpack, capsule)


def case_chain_of_tensors_is_freed():
    t = tf.constant(0.0)
    for _ in range(200_000):
        n = tf.constant(1.0)
        n.before = t
        t = n
    del t, n


def case_finalizers_use_what_dies():
    class Last:
        def __init__(self, f):
            self.f = f

        def __del__(self):
            self.f()

    x = tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.exp(x)
        y.last = Last(lambda: tape._entries())
        z = tf.exp(y)
        y.again = Last(lambda: tf.exp(x))
    del y
    tape.gradient(z, x)
    tape.reset()
    z.last = Last(lambda: gc.collect())
    del z


def case_traceback_that_a_finalizer_cuts():
    errors = []

    class Cut:
        def __del__(self):
            if errors:
                errors[0].__traceback__ = None
                gc.collect()

    def fail(x):
        cut = Cut()  # noqa: F841
        errors.clear()
        error = ValueError("text")
        errors.append(error)
        raise error

    for _ in range(3):
        raises(Exception, tf.map_fn, fail, tf.ones([3]))
        errors.clear()

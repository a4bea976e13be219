"""Functions called for the first time by several threads at once: one traces, the others share the trace."""

# ruff: noqa: B023 - functions that are made in a loop are used in that turn only
import ast
import gc
import importlib.util
import pathlib
import sys
import threading
import time

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.function.autograph.templates import parse

_spec = importlib.util.spec_from_file_location("together", pathlib.Path(__file__).with_name("together.py"))
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
together = _module.together
THREADS = 8


def test_one_trace_for_all():
    for _ in range(20):
        traced = []

        @tf.function
        def f(x):
            traced.append(threading.get_ident())
            time.sleep(0.001)
            return x * 2

        results = together(THREADS, lambda k: float(f(tf.constant(float(k)))))
        assert results == [2.0 * k for k in range(THREADS)]
        assert len(traced) == 1
        assert f.experimental_get_tracing_count() == 1


def test_one_trace_for_each_signature():
    shapes = [(1,), (2,), (3,), (2, 2)]
    traced = []

    @tf.function
    def f(x, scale):
        traced.append((x.shape.as_list(), scale))
        return tf.reduce_sum(x) * scale

    def work(k):
        return [float(f(tf.ones(shapes[(k + i) % 4]), (k + i) % 2)) for i in range(8)]

    results = together(THREADS, work)
    assert results == [
        [np.prod(shapes[(k + i) % 4]) * ((k + i) % 2) for i in range(8)] for k in range(THREADS)
    ]
    assert len(traced) == len({(tuple(shape), scale) for shape, scale in traced}) == 4


def test_one_trace_for_an_input_signature():
    traced = []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        traced.append(x)
        return tf.reduce_sum(x)

    assert together(THREADS, lambda k: float(f(tf.ones(k)))) == list(map(float, range(THREADS)))
    assert len(traced) == 1


def test_relaxed_traces_serve_all():
    @tf.function(reduce_retracing=True)
    def f(x):
        return tf.reduce_sum(x)

    together(THREADS, lambda k: [float(f(tf.ones(i))) for i in range(1, 20)])
    assert f.experimental_get_tracing_count() == 2


def test_variables_are_created_once():
    for _ in range(20):
        created = []

        @tf.function
        def f(x):
            if not created:
                time.sleep(0.001)
                created.append(tf.Variable(0.0))
            created[0].assign_add(x)
            return created[0].read_value()

        results = together(THREADS, lambda _, f=f: float(f(tf.constant(1.0))))
        assert len(created) == 1
        # The first trace runs the body once more where TensorFlow does.
        assert sorted(results) == [float(k + 1) for k in range(THREADS)]


def test_first_values_of_variables_that_depend_on_arguments():
    for _ in range(20):
        created = []

        @tf.function
        def f(x):
            if not created:
                created.append(tf.Variable(x * 10))
            return created[0] + 0

        assert together(THREADS, lambda _, f=f: float(f(tf.constant(3.0)))) == [30.0] * THREADS


def test_a_method_is_bound_once():
    for _ in range(20):
        class Model:
            variable = None
            traces = 0

            @tf.function
            def __call__(self, x):
                self.traces += 1
                time.sleep(0.001)
                if self.variable is None:
                    self.variable = tf.Variable(2.0)
                return self.variable * x

        model = Model()
        assert together(THREADS, lambda k, model=model: float(model(tf.constant(float(k))))) == [
            2.0 * k for k in range(THREADS)
        ]
        # The trace that created the variable, and the one that calls run.
        assert model.traces <= 2


def test_a_function_that_calls_itself():
    @tf.function
    def f(x, depth):
        return x if depth == 0 else f(x, depth - 1) + 1

    assert together(THREADS, lambda k: float(f(tf.constant(0.0), 5 + k % 2))) == [
        5.0 + k % 2 for k in range(THREADS)
    ]


@pytest.mark.parametrize("size", [2, 3, 5])
def test_functions_that_call_each_other_in_a_circle(size):
    for _ in range(10):
        functions = []
        inside = threading.Barrier(size)

        def make(i, functions=functions, inside=inside):
            @tf.function
            def f(x, depth):
                if depth == 2:
                    inside.wait(30)  # all are being traced now
                return x + i if depth == 0 else functions[(i + 1) % size](x, depth - 1) + i

            return f

        functions += [make(i) for i in range(size)]
        results = together(size, lambda k, functions=functions: float(functions[k](tf.constant(0.0), 2)))
        assert results == [float(k + (k + 1) % size + (k + 2) % size) for k in range(size)]


def test_traces_are_listed_while_others_are_made():
    @tf.function
    def f(x, scale):
        return x * scale

    x = tf.constant(1.0)
    f(x, 0)
    done = threading.Event()

    def work(k):
        if k == 0:
            try:
                for i in range(1, 200):
                    f(x, i)
            finally:
                done.set()
            return
        while not done.is_set():
            f._list_all_concrete_functions()
            f.why_retraced()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        together(3, work)
    finally:
        sys.setswitchinterval(interval)
    assert len(f._list_all_concrete_functions()) == 200


def test_graphs_and_name_scopes_do_not_mix():
    inside = threading.Barrier(THREADS)
    functions = []

    def make(k):
        @tf.function
        def f(x):
            inside.wait(30)
            for i in range(20):
                with tf.name_scope(f"scope{k}"):
                    x = tf.add(x, float(k), name=f"op{i}")
            return x

        return f

    functions = [make(k) for k in range(THREADS)]
    results = together(THREADS, lambda k: float(functions[k](tf.constant(0.0))))
    assert results == [20.0 * k for k in range(THREADS)]
    for k, f in enumerate(functions):
        graph = f.get_concrete_function(tf.TensorSpec((), tf.float32)).graph
        names = [op.name for op in graph.get_operations() if "scope" in op.name and "/op" in op.name]
        wanted = [f"scope{k}/op0"] + [f"scope{k}_{i}/op{i}" for i in range(1, 20)]
        assert [name for name in names if not name.endswith("/y")] == wanted


def test_an_error_while_tracing_lets_the_next_try():
    attempts = []

    @tf.function
    def f(x):
        attempts.append(1)
        if len(attempts) < 3:
            raise ValueError("not yet")
        return x

    def work(_):
        while True:
            try:
                return float(f(tf.constant(1.0)))
            except ValueError:
                continue

    assert together(THREADS, work) == [1.0] * THREADS
    assert len(attempts) == 3


def test_gradients_of_one_function():
    for _ in range(10):
        @tf.function
        def f(x):
            y = tf.cond(x > 0, lambda: x * x, lambda: x)
            for _ in tf.range(3):
                y = y * x
            return y

        def gradients(k, f=f):
            x = tf.constant(float(k + 1))
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = f(x)
                dy = tape.gradient(y, x)
            return float(dy), float(outer.gradient(dy, x))

        wanted = [(5.0 * (k + 1) ** 4, 20.0 * (k + 1) ** 3) for k in range(4)]
        assert together(4, gradients) == wanted


def test_a_trace_that_waits_for_another_thread():
    """A thread started while a function is traced may call that function: neither waits for ever."""

    @tf.function
    def f(x, depth):
        if depth:
            thread = threading.Thread(target=lambda: f(tf.constant(1.0), 0))
            thread.start()
            thread.join(0.2)
        return x

    assert together(2, lambda _: float(f(tf.constant(1.0), 1))) == [1.0, 1.0]


def test_threads_read_source_at_a_time():
    """Collections let another thread in while a tree is made, and each thread is at another depth of calls."""
    text = "".join(f"x = (x + {i}) * (y[{i}] - g(x))\n" for i in range(20))
    wanted = ast.dump(ast.parse(text))

    def read(depth):
        return read(depth - 1) if depth else [ast.dump(parse(text)) for _ in range(100)]

    def wait(phase, info):
        time.sleep(1e-5)

    before = gc.get_threshold()
    gc.callbacks.append(wait)
    gc.set_threshold(50)
    try:
        results = together(THREADS, read)
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(wait)
    assert results == [[wanted] * 100] * THREADS

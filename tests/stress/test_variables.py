"""Threads that read, update, assign, resize and delete variables: exact results, values that never change, no crash.

The oracle needs no knowledge of the rows: a call is a function f of the variables, so that n calls, from however many
threads, must give f(f(...f(start))), and whoever reads in between sees one of these values.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import random
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import _native

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from in_place_rows import Case, found
from together import together as run_together

THREADS, CALLS = 4, 6
MODES = ("eager", "plan", "Python kernel")


@pytest.fixture(autouse=True)
def eager_to_switch():
    """Kernels let go of the GIL however small their work is."""
    thresholds = _native.set_work_thresholds(1, 2**62)
    yield
    _native.set_work_thresholds(*thresholds)


def together(*tasks: Callable[[], Any]) -> None:
    """Runs the tasks in threads that start at once; raises what one of them raised."""
    run_together(len(tasks), lambda k: tasks[k](), 120)


class Readers:
    """Threads that read variables until the block ends; what they assert is raised there."""

    def __init__(self, read: Callable[[], Any], n: int = 1):
        self._done = threading.Event()
        self._read, self._failures = read, list[BaseException]()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(n)]

    def _run(self):
        try:
            while not self._done.is_set():
                self._read()
        except BaseException as error:
            self._failures.append(error)

    def __enter__(self):
        for thread in self._threads:
            thread.start()

    def __exit__(self, *error):
        self._done.set()
        for thread in self._threads:
            thread.join(120)
            assert not thread.is_alive(), "a reader waits for ever"
        if self._failures:
            raise self._failures[0]


def caller(case: Case, variables: Sequence[Any], mode: str) -> Callable[[], Any]:
    if mode == "Python kernel":
        return lambda: case.call(variables, case.row.call_python)
    if mode == "plan":
        return tf.function(lambda: case.call(variables))
    return lambda: case.call(variables)


def states(case: Case, mode: str, n: int) -> list[list[bytes]]:
    """For each variable its elements after 0, 1, ... n calls."""
    variables = case.variables()
    call = caller(case, variables, mode)
    seen = [[v.numpy().tobytes()] for v in variables]
    for _ in range(n):
        call()
        for all_of, v in zip(seen, variables, strict=True):
            all_of.append(v.numpy().tobytes())
    return seen


def updates_are_exact(case: Case, mode: str, calls: int = CALLS) -> None:
    """Whatever the interleaving, the last value is that of as many calls, and readers see one on the way."""
    allowed = states(case, mode, THREADS * calls)
    variables = case.variables()
    update = caller(case, variables, mode)
    if mode == "plan":  # one trace, before the threads start
        update.get_concrete_function()
    kept: list[tuple[Any, bytes]] = []

    def write():
        for _ in range(calls):
            update()

    def read():
        for i, v in enumerate(variables):
            value = v.read_value()
            elements = value.numpy().tobytes()
            assert elements in allowed[i], "a value that no number of calls gives"
            if len(kept) < 50:
                kept.append((value, elements))

    with Readers(read):
        together(*[write] * THREADS)
    assert [v.numpy().tobytes() for v in variables] == [s[-1] for s in allowed]
    for value, elements in kept:
        assert value.numpy().tobytes() == elements, "a value changed after it was read"


def survives(case: Case, mode: str, calls: int = CALLS) -> None:
    """Calls while others assign, resize and delete: values that are possible, and errors that say what happened."""
    start = case.starts[0]
    smaller = start[: len(start) // 2] if start.ndim else start
    variables = case.variables()
    handles = [v.handle for v in variables]
    expected = (tf.errors.InvalidArgumentError, tf.errors.FailedPreconditionError)
    # Of a variable that is updated with others there are too many values.
    possible = set[bytes]()
    for x in (start, smaller) if len(case.starts) == 1 else ():
        possible.add(x.tobytes())
        with contextlib.suppress(*expected, ValueError):  # which traces raise for shapes that cannot be right
            possible.update(*states(case._replace(starts=(x,)), mode, THREADS * calls))

    def write():
        for _ in range(calls):
            with contextlib.suppress(*expected):
                case.call(handles, case.row.call_python if mode == "Python kernel" else None)

    def assign():
        for value in [start, smaller] * calls:
            with contextlib.suppress(*expected):
                tf.raw_ops.AssignVariableOp(resource=handles[0], value=tf.constant(value), validate_shape=False)

    def read():
        with contextlib.suppress(*expected):
            value = tf.raw_ops.ReadVariableOp(resource=handles[0], dtype=start.dtype)
            elements = value.numpy().tobytes()
            assert len(case.starts) > 1 or elements in possible, "a value that no order of the calls gives"
            time.sleep(1e-5)
            assert value.numpy().tobytes() == elements, "a value changed after it was read"

    def delete():
        time.sleep(0.002)
        while variables:
            variables.pop()

    with Readers(read):
        together(*[write] * THREADS, assign, assign, delete)


CASES = found("float32")


def test_rows_that_write_were_found():
    """All that take a variable and have no output, but for those that only take other resources."""
    assert len(CASES) > 70
    assert {"AssignAddVariableOp", "ResourceScatterNdAdd", "ResourceApplyAdam"} <= CASES.keys()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES)
def test_updates_are_exact(name, mode):
    updates_are_exact(CASES[name], mode)


@pytest.mark.parametrize("mode", ["eager", "Python kernel"])
@pytest.mark.parametrize("name", CASES)
def test_assigned_resized_and_deleted_meanwhile(name, mode):
    survives(CASES[name], mode)


@pytest.mark.parametrize("name", found("int64"))
@pytest.mark.parametrize("mode", ["eager", "Python kernel"])
def test_updates_of_whole_numbers(name, mode):
    updates_are_exact(found("int64")[name], mode)


ADDED = ["float32", "float64", "float16", "bfloat16", "int8", "uint16", "int32", "int64", "complex64"]


@pytest.mark.parametrize("kind", ADDED)
@pytest.mark.parametrize("mode", ["eager", "function"])
def test_no_addition_is_lost(kind, mode):
    v = tf.Variable(tf.zeros([60_000], kind))
    one = tf.ones([60_000], kind)
    add = (lambda: v.assign_add(one)) if mode == "eager" else tf.function(lambda: v.assign_add(one))
    if mode == "function":
        add.get_concrete_function()

    def write():
        for _ in range(25):
            add()

    together(*[write] * THREADS)
    assert np.unique(tf.cast(v, tf.complex64).numpy()).tolist() == [100]


def test_no_large_addition_is_lost():
    v = tf.Variable(tf.zeros([1_000_000]))
    one = tf.ones([1_000_000])
    together(*[lambda: [v.assign_add(one) for _ in range(60)]] * 4)
    assert np.unique(v.numpy()).tolist() == [240]


UPDATES = {
    "assign_add": lambda v: tf.compat.v1.assign_add(v, tf.ones(v.shape), use_locking=True),
    "assign_sub": lambda v: tf.compat.v1.assign_sub(v, -tf.ones(v.shape), use_locking=True),
    "scatter_add": lambda v: tf.compat.v1.scatter_add(v, list(range(300)), tf.ones(v.shape), use_locking=True),
    "optimizer": lambda v: tf.compat.v1.train.GradientDescentOptimizer(1.0, use_locking=True).apply_gradients(
        [(-tf.ones(v.shape), v)]
    ),
    "momentum": lambda v: tf.compat.v1.train.MomentumOptimizer(1.0, 0.0, use_locking=True).apply_gradients(
        [(-tf.ones(v.shape), v)]
    ),
}


@pytest.mark.parametrize("resource", [True, False])
@pytest.mark.parametrize("update", UPDATES)
def test_sessions_lose_no_update(update, resource):
    with tf.Graph().as_default():
        v = tf.compat.v1.get_variable("v", initializer=tf.zeros([300, 200]), use_resource=resource)
        change = UPDATES[update](v)
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            session.run(change.op if hasattr(change, "op") else change)
            together(*[lambda: [session.run(getattr(change, "op", change)) for _ in range(25)]] * THREADS)
            assert np.unique(session.run(v)).tolist() == [101]


def test_slices_lose_no_assignment():
    v = tf.Variable(tf.zeros([THREADS, 50_000]))

    def write(i):
        for n in range(20):
            v[i].assign(tf.fill([50_000], float(n)))

    together(*[lambda i=i: write(i) for i in range(THREADS)])
    assert np.unique(v.numpy()).tolist() == [19]


PARTS = {
    "scatter_nd": lambda v, n: v.scatter_nd_update(np.arange(n)[:, None], tf.fill([n, 500], -1.0)),
    "scatter": lambda v, n: v.scatter_update(tf.IndexedSlices(tf.fill([n, 500], -1.0), np.arange(n))),
    "slice": lambda v, n: v[: n - 1, 1:].assign(tf.fill([n - 1, 499], -1.0)),
}


@pytest.mark.parametrize("part", PARTS)
def test_nothing_else_is_overwritten(part):
    """The memory of a value that is assigned to meanwhile goes to nobody before the update of it ends."""
    n, done = 2000, threading.Event()
    v, zeros = tf.Variable(tf.zeros([n, 500])), np.zeros([n, 500], np.float32)

    def write():
        while not done.is_set():
            PARTS[part](v, n)

    def assign():
        try:
            for _ in range(15):
                v.assign(tf.constant(zeros))
                others = [tf.constant(zeros) for _ in range(3)]
                time.sleep(0.001)
                assert not any(x.numpy().any() for x in others)
        finally:
            done.set()

    together(write, write, assign)


def test_variables_taken_in_two_orders():
    """Two updates that take the same two variables the other way round never wait for each other in a circle."""
    a, b = tf.Variable(tf.ones([5000])), tf.Variable(tf.ones([5000]))
    row = CASES["ResourceApplyMomentum"].row
    zero = np.zeros(5000, np.float32)

    def write(var, slot):
        for _ in range(300):
            row(var, slot, 0.0, zero, 1.0)

    together(*[lambda: write(a, b), lambda: write(b, a)] * 2)
    assert np.unique([a.numpy(), b.numpy()]).tolist() == [1]


@pytest.mark.stress
def test_for_some_minutes():
    """All rows, modes and dtypes in random order; TAPEFLOW_STRESS_MINUTES says how long."""
    numbers = random.Random(os.getpid())
    cases = [*CASES.values(), *found("int64").values(), *found("float64").values()]
    end = time.monotonic() + 60 * float(os.environ.get("TAPEFLOW_STRESS_MINUTES", "10"))
    while time.monotonic() < end:
        case, mode = numbers.choice(cases), numbers.choice(MODES)
        check = numbers.choice([updates_are_exact, survives])
        check(case, mode, numbers.randrange(1, 20))

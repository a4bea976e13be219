"""Loops over scalars that run without tensors, against the ordinary loop, which a timeline runs."""

import signal
import threading
import time

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import _native
from tapeflow.ops.indexing import selection  # noqa: F401  (their rows)
from tapeflow.ops.math import arithmetic, casting, comparison, elementwise  # noqa: F401
from tapeflow.ops.table import REGISTRY

Plan = _native.Plan
INT, LONG, FLOAT, BOOL = tf.int32, tf.int64, tf.float32, tf.bool
NUMBERS = (INT, LONG, FLOAT)
WITHOUT_ERRORS = ("AddV2", "Sub", "Mul", "Maximum")
ARITHMETIC = (*WITHOUT_ERRORS, "FloorDiv", "FloorMod", "TruncateDiv")
COMPARISONS = ("Less", "GreaterEqual", "Equal")


class Block:
    """A plan of random ops on scalars, with values by dtype."""

    def __init__(self, rng, dtypes, depth, numeric=ARITHMETIC):
        self.rng, self.depth, self.n_in, self.numeric = rng, depth, len(dtypes), numeric
        self.dtypes = list(dtypes)
        self.constants, self.lines = [], []

    def add(self, dtype):
        self.dtypes.append(dtype)
        return len(self.dtypes) - 1

    def constant(self, value, dtype):
        r = self.add(dtype)
        self.constants.append((r, tf.constant(value, dtype)))
        return r

    def pick(self, dtype):
        known = [r for r, d in enumerate(self.dtypes) if d == dtype]
        if known and self.rng.random() < 0.9:
            return int(self.rng.choice(known))
        return self.constant(bool(self.rng.integers(2)) if dtype == BOOL else int(self.rng.integers(-4, 9)), dtype)

    def op(self, name, dtype, *inputs, **attrs):
        r = self.add(dtype)
        self.lines.append(("op", (REGISTRY[name], attrs, None), list(inputs), [r], None))
        return r

    def nested(self, kind, dtypes):
        """An "if", "call" or "while" of the same dtypes."""
        inputs = [self.pick(d) for d in dtypes]
        if kind == "while":
            counter = self.constant(0, INT)
            inputs.append(counter)
            condition = Block(self.rng, [*dtypes, INT], 0)
            more = condition.op("Less", BOOL, len(dtypes), condition.constant(3, INT))
            body = Block(self.rng, [*dtypes, INT], self.depth - 1, self.numeric)
            body.fill(4)
            after = body.op("AddV2", INT, len(dtypes), body.constant(1, INT))
            results = [body.pick(d) for d in dtypes] + [after]
            payload = (condition.plan([more]), body.plan(results), len(inputs))
            outputs = [self.add(d) for d in [*dtypes, INT]]
        else:
            branches = []
            for _ in range(2 if kind == "if" else 1):
                branch = Block(self.rng, dtypes, self.depth - 1, self.numeric)
                branch.fill(3)
                branches.append(branch.plan([branch.pick(d) for d in dtypes]))
            payload = branches if kind == "if" else branches[0]
            if kind == "if":
                inputs = [self.pick(BOOL), *inputs]
            outputs = [self.add(d) for d in dtypes]
        self.lines.append((kind, payload, inputs, outputs, None))

    def fill(self, n):
        for _ in range(n):
            dtype = NUMBERS[self.rng.integers(3)]
            kind = self.rng.integers(8)
            if kind < 4:
                name = self.numeric[self.rng.integers(len(self.numeric))]
                self.op(name, dtype, self.pick(dtype), self.pick(dtype))
            elif kind == 4:
                self.op(COMPARISONS[self.rng.integers(3)], BOOL, self.pick(dtype), self.pick(dtype))
            elif kind == 5:
                self.op("SelectV2", dtype, self.pick(BOOL), self.pick(dtype), self.pick(dtype))
            elif kind == 6:
                to = NUMBERS[self.rng.integers(3)]
                self.op("Cast", to, self.pick(dtype), DstT=to)
            elif self.depth:
                kind = ("if", "call", "while")[self.rng.integers(3)]
                self.nested(kind, [INT, FLOAT, BOOL][: self.rng.integers(1, 4)])

    def plan(self, results):
        return Plan("block", len(self.dtypes), list(range(self.n_in)), self.constants, self.lines, results)


def loop(condition, body, n_vars, n_in):
    outputs = list(range(n_in, n_in + n_vars))
    line = ("while", (condition, body, n_vars), list(range(n_in)), outputs, None)
    return Plan("loop", n_in + n_vars, list(range(n_in)), [], [line], outputs)


def random_loop(rng, numeric):
    dtypes = [INT, INT, LONG, FLOAT, BOOL, INT]  # the first counts; the last is not a variable
    condition = Block(rng, dtypes, 0)
    more = condition.op("Less", BOOL, 0, condition.constant(6, INT))
    body = Block(rng, dtypes, 2, numeric)
    body.fill(8)
    results = [body.op("AddV2", INT, 0, body.constant(1, INT)), *[body.pick(d) for d in dtypes[1:5]]]
    return loop(condition.plan([more]), body.plan(results), 5, 6)


def outcome(run, *inputs):
    try:
        return [(r.dtype, r.shape, r.numpy().tobytes()) for r in run(*inputs)]
    except tf.errors.OpError as e:
        return type(e), str(e)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("numeric", [ARITHMETIC, WITHOUT_ERRORS], ids=["all", "without errors"])
def test_random_loops(seed, numeric):
    rng = np.random.default_rng(seed)
    plan = random_loop(rng, numeric)
    for _ in range(3):
        values = [0, *rng.integers(-5, 9, 3), rng.integers(2), rng.integers(-3, 9)]
        inputs = [tf.constant(v, d) for v, d in zip(values, [INT, INT, LONG, FLOAT, BOOL, INT], strict=True)]
        assert outcome(plan, *inputs) == outcome(lambda *x: plan.timeline(*x)[0], *inputs)


@pytest.mark.parametrize("seed", range(60))
def test_variables_that_become_each_other(seed):
    """Each variable becomes one of the variables, as they were or changed."""
    rng = np.random.default_rng(seed)
    dtypes = [INT] * 5
    condition, body = Block(None, dtypes, 0), Block(rng, dtypes, 0)
    more = condition.op("Less", BOOL, 0, condition.constant(7, INT))
    one = body.constant(1, INT)
    results = [body.op("AddV2", INT, 0, one)]
    for _ in range(4):
        known = [*range(5), *results]
        results.append(known[rng.integers(len(known))])
        if rng.random() < 0.5:
            name = ("AddV2", "Sub", "FloorDiv")[rng.integers(3)]
            results[-1] = body.op(name, INT, results[-1], known[rng.integers(len(known))])
    plan = loop(condition.plan([more]), body.plan(results), 5, 5)
    for first in ([0, 1, 2, 3, 4], [0, 5, 0, -3, 1]):
        inputs = [tf.constant(v) for v in first]
        assert outcome(plan, *inputs) == outcome(lambda *x: plan.timeline(*x)[0], *inputs)


def counting(limit, dtype=INT):
    condition, body = Block(None, [dtype, dtype], 0), Block(None, [dtype, dtype], 0)
    more = condition.op("Less", BOOL, 0, condition.constant(limit, dtype))
    one = body.constant(1, dtype)
    results = [body.op("AddV2", dtype, 0, one), body.op("AddV2", dtype, 1, 0)]
    return loop(condition.plan([more]), body.plan(results), 2, 2)


def test_turns_make_no_tensors():
    zero = tf.constant(0)
    before = tf.constant(0)._id
    results = counting(1000)(zero, zero)
    assert [int(r) for r in results] == [1000, 499500]
    assert tf.constant(0)._id - before < 20
    assert int(zero) == 0


def test_other_dtypes_and_shapes_after_the_first_run():
    condition, body = Block(None, [INT, FLOAT], 0), Block(None, [INT, FLOAT], 0)
    more = condition.op("Less", BOOL, 0, condition.constant(3, INT))
    results = [body.op("AddV2", INT, 0, body.constant(1, INT)), body.op("AddV2", FLOAT, 1, 1)]
    plan = loop(condition.plan([more]), body.plan(results), 2, 2)
    for x in (tf.constant(1.5), tf.constant([1.0, 2.0]), tf.constant(2, LONG), tf.constant(2.5)):
        np.testing.assert_array_equal(plan(tf.constant(0), x)[1].numpy(), 8 * x.numpy())


def test_an_error_after_many_turns():
    condition, body = Block(None, [INT, INT], 0), Block(None, [INT, INT], 0)
    more = condition.op("Less", BOOL, 0, condition.constant(100, INT))
    left = body.op("Sub", INT, body.constant(50, INT), 0)
    results = [body.op("AddV2", INT, 0, body.constant(1, INT)), body.op("FloorDiv", INT, 1, left)]
    plan = loop(condition.plan([more]), body.plan(results), 2, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        plan(tf.constant(0), tf.constant(7))


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals")
def test_an_endless_loop_hears_signals():
    condition, body = Block(None, [INT], 0), Block(None, [INT], 0)
    more = condition.op("GreaterEqual", BOOL, 0, condition.constant(0, INT))
    plan = loop(condition.plan([more]), body.plan([body.op("Maximum", INT, 0, body.constant(3, INT))]), 1, 1)

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        begin = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            plan(tf.constant(1))
        assert time.monotonic() - begin < 10
    finally:
        signal.signal(signal.SIGALRM, before)


def test_functions_with_loops_and_branches():
    @tf.function
    def collatz(n):
        turns = tf.constant(0)
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            turns += 1
        return turns

    assert int(collatz(tf.constant(27))) == 111
    assert int(collatz(tf.constant(1))) == 0

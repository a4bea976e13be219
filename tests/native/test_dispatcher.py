"""The dispatcher: which calls take the fast path, and what the others get."""

import gc
import sys
import threading
import weakref

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import _native
from tapeflow.ops.table import REGISTRY

FLOAT, INT = int(tf.float32), int(tf.int32)


def plan_of(*rows, n_in=1):
    """x -> (Row(x), ...)"""
    outputs = list(range(n_in, n_in + len(rows)))
    steps = [
        ("op", (REGISTRY[row], {}, None), [0], [k], None)
        for row, k in zip(rows, outputs, strict=True)
    ]
    return _native.Plan("f", n_in + len(rows), list(range(n_in)), [], steps, outputs)


@pytest.fixture
def calls():
    return []


@pytest.fixture
def dispatcher(calls):
    def slow(*args, **kwargs):
        calls.append((args, kwargs))
        return "slow"

    return _native.Dispatcher(slow)


def test_shapes_and_dtypes(dispatcher):
    dispatcher.add([("tensor", FLOAT, (-1, 2))], plan_of("Neg"), "single")
    x = tf.constant([[1.0, 2.0]])
    assert dispatcher(x).numpy().tolist() == [[-1.0, -2.0]]
    assert dispatcher(tf.ones((5, 2))).shape == (5, 2)
    others = [
        tf.ones((2,)),
        tf.ones((1, 3)),
        tf.ones((1, 2), tf.int32),
        [[1.0, 2.0]],
        np.ones((1, 2)),
        tf.Variable(x),
    ]
    for other in others:
        assert dispatcher(other) == "slow"
    assert dispatcher() == "slow"
    assert dispatcher(x, x) == "slow"
    assert dispatcher(x=x) == "slow"


def test_any_rank(dispatcher):
    dispatcher.add([("tensor", FLOAT, None)], plan_of("Neg"), "single")
    assert dispatcher(tf.constant(1.0)).numpy() == -1
    assert dispatcher(tf.ones((1, 2, 3))).shape == (1, 2, 3)


def test_slow_gets_everything(dispatcher, calls):
    dispatcher(1, "a", key=2)
    assert calls == [((1, "a"), {"key": 2})]


@pytest.mark.parametrize(
    ("value", "same", "others"),
    [
        (None, None, [0, False, ()]),
        (True, True, [1, 1.0, False]),
        (1, 1, [True, 1.0, 2]),
        (10**30, 10**30, [10**30 + 1]),
        (0.0, 0.0, [-0.0, 0, False]),
        (float("nan"), float("nan"), [1.0]),
        ("ab", "a" + "b", ["abc", b"ab"]),
        (b"x", b"x", ["x"]),
        (1j, 1j, [2j, 1]),
        ((1, ("a", None)), (1, ("a", None)), [(1.0, ("a", None)), (1, ("a",)), [1, ("a", None)]]),
        ((), (), [None]),
    ],
)
def test_values(dispatcher, value, same, others):
    dispatcher.add([("value", value)], plan_of(n_in=0), "none")
    assert dispatcher(same) is None
    for other in others:
        assert dispatcher(other) == "slow"


def test_identity(dispatcher):
    variable, other = tf.Variable(1.0), tf.Variable(1.0)
    dispatcher.add([("is", variable), ("tensor", FLOAT, ())], plan_of("Neg"), "single")
    assert dispatcher(variable, tf.constant(1.0)).numpy() == -1
    assert dispatcher(other, tf.constant(1.0)) == "slow"


def test_results(dispatcher):
    x = tf.constant(2)
    for result, expected in [
        ("tuple", (-2, 4)), ("none", None), (lambda ys: {"a": ys[0], "b": ys[1]}, {"a": -2, "b": 4}),
    ]:  # fmt: skip
        dispatcher.clear()
        dispatcher.add([("tensor", INT, ())], plan_of("Neg", "Square"), result)
        assert (
            tf.nest.map_structure(lambda t: t if t is None else int(t), dispatcher(x)) == expected
        )


def test_several_entries(dispatcher):
    for dtype, row in ((FLOAT, "Neg"), (INT, "Square")):
        dispatcher.add([("tensor", dtype, ())], plan_of(row), "single")
    for _ in range(3):
        assert dispatcher(tf.constant(3.0)).numpy() == -3
        assert dispatcher(tf.constant(3)).numpy() == 9
    assert len(dispatcher) == 2
    dispatcher.clear()
    assert dispatcher(tf.constant(3)) == "slow"
    assert dispatcher


def test_many_entries(dispatcher, calls):
    """Exact shapes, any sizes, values and objects among many entries: each call finds its own."""
    own = object()
    for size in range(20):
        dispatcher.add([("tensor", FLOAT, (size,))], plan_of("Neg"), "single")
        dispatcher.add([("tensor", FLOAT, (size,)), ("value", size)], plan_of("Square"), "single")
        dispatcher.add([("is", own), ("tensor", FLOAT, (size, 1))], plan_of("Square"), "single")
    held = tf.ones([3])
    dispatcher.add([("tensor", FLOAT, (2, -1, 2))], plan_of("Neg"), "single")
    dispatcher.add([("is", held), ("tensor", FLOAT, (7,))], plan_of("Neg"), "single")
    for size in (19, 0, 7, 7, 12):
        x = tf.fill([size], 3.0)
        assert dispatcher(x).numpy().tolist() == [-3.0] * size
        assert dispatcher(x, size).numpy().tolist() == [9.0] * size
        assert dispatcher(own, x[:, None]).shape == (size, 1)
    assert dispatcher(tf.ones([2, 9, 2])).shape == (2, 9, 2)
    assert dispatcher(held, tf.ones([7])).numpy().tolist() == [-1.0] * 7
    assert not calls
    for args in [(tf.ones([20]),), (tf.ones([3]), 4), (object(), tf.ones([3, 1])), (tf.ones([3]), tf.ones([7])), ()]:
        assert dispatcher(*args) == "slow"


def test_modes_that_are_slow(dispatcher):
    x = tf.constant(1.0)
    dispatcher.add([("tensor", FLOAT, ())], plan_of("Neg"), "single")
    with tf.GradientTape():
        assert dispatcher(x) == "slow"
    with tf.Graph().as_default():
        assert dispatcher(x) == "slow"
    _native.set_functions_fast(False)
    try:
        assert not _native.functions_fast()
        assert dispatcher(x) == "slow"
    finally:
        _native.set_functions_fast(True)
    assert dispatcher(x).numpy() == -1


def test_errors_of_the_plan(dispatcher):
    add = _native.Plan(
        "f", 3, [0, 1], [], [("op", (REGISTRY["AddV2"], {}, None), [0, 1], [2], None)], [2]
    )
    dispatcher.add([("tensor", FLOAT, None)] * 2, add, "single")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        dispatcher(tf.ones(2), tf.ones(3))


@pytest.mark.parametrize(
    ("specs", "result"),
    [
        ([], "single"),
        ([("tensor", FLOAT, ())] * 2, "single"),
        ([("tensor", FLOAT, ())], "nonsense"),
        ([("tensor", FLOAT, ())], 3),
        ([("tensor", 0, ())], "single"),
        ([("tensor", 99, ())], "single"),
        ([("tensor", FLOAT, [1])], "single"),
        ([("nonsense", 1)], "single"),
        ([("tensor", FLOAT, ()), ("value", [1])], "single"),
        ([("tensor", FLOAT, ()), ("value", object())], "single"),
        ([1], "single"),
    ],
)
def test_wrong_entries(dispatcher, specs, result):
    with pytest.raises(ValueError):
        dispatcher.add(specs, plan_of("Neg"), result)
    assert len(dispatcher) == 0


def test_a_single_result_is_one():
    with pytest.raises(ValueError):
        _native.Dispatcher(print).add([("tensor", FLOAT, ())], plan_of("Neg", "Neg"), "single")
    with pytest.raises(TypeError):
        _native.Dispatcher(3)


def test_it_is_an_object_like_a_function(dispatcher):
    dispatcher.__name__ = "f"
    dispatcher.__doc__ = "text"
    dispatcher.__wrapped__ = print
    assert (dispatcher.__name__, dispatcher.__doc__, dispatcher.__wrapped__) == ("f", "text", print)
    assert dispatcher.__dict__["__name__"] == "f"
    assert callable(dispatcher)


def test_the_cycle_through_its_slow_path_is_collected():
    class Function:
        def __init__(self):
            self.dispatcher = _native.Dispatcher(self.slow)
            self.dispatcher.add([("is", self)], plan_of(n_in=0), self.slow)

        def slow(self, *args):
            return None

    function = Function()
    alive = weakref.ref(function), weakref.ref(function.dispatcher)
    del function
    gc.collect()
    assert [r() for r in alive] == [None, None]


def test_references_are_balanced(dispatcher):
    x, thing = tf.constant(1.0), object()
    dispatcher.add([("tensor", FLOAT, ()), ("is", thing)], plan_of("Neg"), lambda ys: ys)
    before = sys.getrefcount(x), sys.getrefcount(thing)
    for _ in range(100):
        dispatcher(x, thing)
        dispatcher(thing, x)
    dispatcher.clear()
    assert (sys.getrefcount(x), sys.getrefcount(thing)) == (before[0] + 100, before[1] + 99)


def test_entries_come_and_go_while_other_threads_call(dispatcher):
    x, stop, bad = tf.constant(1.0), threading.Event(), []

    def call():
        while not stop.is_set():
            y = dispatcher(x)
            if not isinstance(y, str) and y.numpy() != -1:  # a tensor does not compare with a string
                bad.append(y)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for t in threads:
        t.start()
    for _ in range(300):
        dispatcher.add(
            [("tensor", FLOAT, ())], plan_of("Neg"), lambda ys: dispatcher.clear() or ys[0]
        )
    stop.set()
    for t in threads:
        t.join()
    assert not bad

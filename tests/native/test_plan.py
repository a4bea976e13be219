"""The native plan: every kind of instruction, lifetimes of registers, memory reused in place, errors."""

import gc
import signal
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import _native
from tapeflow.graph.run import errors_at
from tapeflow.ops.state import training  # noqa: F401  (their rows)
from tapeflow.ops.string import regex  # noqa: F401  (their rows)
from tapeflow.ops.table import REGISTRY

Plan = _native.Plan


def op(name, inputs, outputs, attrs=None, sizes=None, label=None):
    """An "op" instruction."""
    return ("op", (REGISTRY[name], attrs or {}, sizes), inputs, outputs, label)


def unary_plan(name):
    return Plan(name, 2, [0], [], [op(name, [0], [1])], [1])


def floats(*shape):
    return tf.constant(np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape))


def values(results):
    return [np.asarray(r.numpy()).tolist() for r in results]


# -- kinds -------------------------------------------------------------------------------------------


def test_op():
    plan = Plan("f", 4, [0, 1], [], [op("AddV2", [0, 1], [2]), op("Mul", [2, 2], [3])], [3])
    assert values(plan(tf.constant(2.0), tf.constant(3.0))) == [25.0]


def test_op_of_several_outputs_and_lists():
    plan = Plan(
        "f",
        6,
        [0],
        [(1, tf.constant(0))],
        [
            op("Split", [1, 0], [2, -1, 3], {"num_split": 3}),
            op("ConcatV2", [3, 2, 1], [4], sizes=[2]),
        ],
        [4],
    )
    assert values(plan(tf.constant([1, 2, 3]))) == [[3, 1]]


def test_op_with_attrs():
    plan = Plan("f", 3, [0, 1], [], [op("MatMul", [0, 1], [2], {"transpose_b": True})], [2])
    assert values(plan(floats(1, 2), floats(1, 2))) == [[[5.0]]]


def test_python_kernel():
    plan = Plan("f", 2, [0], [], [op("StringLower", [0], [1])], [1])
    assert plan(tf.constant(["AB", "c"]))[0].numpy().tolist() == [b"ab", b"c"]


def test_dtypes_may_change_from_run_to_run():
    plan = unary_plan("Square")
    assert plan(tf.constant(3.0))[0].dtype == tf.float32
    assert values(plan(tf.constant(3))) == [9]
    assert plan(tf.constant(3.0, tf.float16))[0].dtype == tf.float16
    assert values(plan(tf.constant(3.0))) == [9.0]


def test_call():
    inner = unary_plan("Square")
    plan = Plan(
        "f", 3, [0], [], [("call", inner, [0], [1], None), ("call", inner, [1], [2], None)], [2, 1]
    )
    assert values(plan(tf.constant(3))) == [81, 9]


@pytest.mark.parametrize(
    ("condition", "result"), [(True, 16), (False, -4), (3, 16), (0, -4), ("x", 16), ("", -4)]
)
def test_if(condition, result):
    plan = Plan(
        "f",
        3,
        [0, 1],
        [],
        [("if", (unary_plan("Square"), unary_plan("Neg")), [0, 1], [2], None)],
        [2],
    )
    assert values(plan(tf.constant(condition), tf.constant(4))) == [result]


@pytest.mark.parametrize(("index", "result"), [(0, 16), (1, -4), (2, 4), (3, 4), (-1, 4)])
def test_case(index, result):
    branches = [unary_plan("Square"), unary_plan("Neg"), unary_plan("Abs")]
    plan = Plan("f", 3, [0, 1], [], [("case", branches, [0, 1], [2], None)], [2])
    assert values(plan(tf.constant(index), tf.constant(4))) == [result]


def counting(limit):
    """A loop (i, x) -> while i < limit: (i + 1, x + i)."""
    condition = Plan("cond", 4, [0, 1], [(2, tf.constant(limit))], [op("Less", [0, 2], [3])], [3])
    body = Plan(
        "body",
        5,
        [0, 1],
        [(2, tf.constant(1))],
        [op("AddV2", [1, 0], [3]), op("AddV2", [0, 2], [4])],
        [4, 3],
    )
    return Plan(
        "loop", 4, [0, 1], [], [("while", (condition, body, 2), [0, 1], [2, 3], None)], [2, 3]
    )


@pytest.mark.parametrize("limit", [0, 1, 1000])
def test_while(limit):
    zero = tf.constant(0)
    assert values(counting(limit)(zero, zero)) == [limit, sum(range(limit))]
    assert zero.numpy() == 0


def test_while_with_invariants():
    condition = Plan("cond", 4, [0, 1, 2], [], [op("Less", [0, 2], [3])], [3])
    body = Plan("body", 4, [0, 1, 2], [], [op("AddV2", [0, 1], [3])], [3])
    plan = Plan("f", 4, [0, 1, 2], [], [("while", (condition, body, 1), [0, 1, 2], [3], None)], [3])
    assert values(plan(tf.constant(0), tf.constant(3), tf.constant(10))) == [12]


def test_while_whose_body_swaps_its_variables():
    condition = Plan("cond", 5, [0, 1, 2], [(3, tf.constant(3))], [op("Less", [0, 3], [4])], [4])
    body = Plan("body", 5, [0, 1, 2], [(3, tf.constant(1))], [op("AddV2", [0, 3], [4])], [4, 2, 1])
    plan = Plan(
        "f", 6, [0, 1, 2], [], [("while", (condition, body, 3), [0, 1, 2], [3, 4, 5], None)], [4, 5]
    )
    assert values(plan(tf.constant(0), tf.constant("a"), tf.constant("b"))) == [b"b", b"a"]


def test_python():
    plan = Plan("f", 3, [0], [], [("python", lambda x: [x + 1, x * 2], [0], [1, 2], None)], [2, 1])
    assert values(plan(tf.constant(4))) == [8, 5]


def test_constants_inputs_and_repeats_as_outputs():
    plan = Plan("f", 2, [0], [(1, tf.constant(7))], [], [1, 0, 0, 1])
    assert values(plan(tf.constant(4))) == [7, 4, 4, 7]


def test_no_outputs():
    assert Plan("f", 1, [0], [], [], [])(tf.constant(1)) == ()


def test_many_registers():
    chain = [op("AddV2", [k, k], [k + 1]) for k in range(60)]
    assert values(Plan("f", 61, [0], [], chain, [60])(tf.constant(1, tf.int64))) == [2**60]
    wide = [op("Neg", [0], [k + 1]) for k in range(300)] + [
        op("AddN", list(range(1, 301)), [301], sizes=[300])
    ]
    assert values(Plan("f", 302, [0], [], wide, [301])(tf.constant(1))) == [-300]


# -- lifetimes and memory ----------------------------------------------------------------------------


def test_instructions_say_what_is_freed():
    plan = Plan(
        "f",
        5,
        [0, 3],
        [(1, tf.constant(1))],
        [op("AddV2", [0, 1], [2]), op("Mul", [2, 2], [4])],
        [4],
    )
    assert plan.instructions == [("op", "AddV2", [0, 1], [2], [0]), ("op", "Mul", [2, 2], [4], [2])]
    assert (plan.name, plan.n_inputs, plan.n_outputs) == ("f", 2, 1)


def test_memory_is_given_back_at_the_last_use():
    n = 1 << 20
    chain = [op("MatMul", [k, 1], [k + 1]) for k in range(2, 12)]
    plan = Plan("f", 13, [2], [(1, tf.eye(512))], chain, [12])
    x = tf.ones((512, 512))
    plan(x)
    _native.allocator_reset_peak()
    before = _native.allocator_stats()["live"]
    y = plan(x)
    assert _native.allocator_stats()["peak"] - before <= 2.1 * n
    del y
    assert _native.allocator_stats()["live"] == before


def test_elementwise_chains_run_in_place():
    chain = [op(("Neg", "Square", "Exp", "Tanh")[k % 4], [k], [k + 1]) for k in range(8)]
    plan = Plan("f", 9, [0], [], chain, [8])
    x = tf.ones((1000, 1000))
    expected = x.numpy()
    for k in range(8):
        expected = (np.negative, np.square, np.exp, np.tanh)[k % 4](expected)
    before = _native.allocator_stats()["live"]
    _native.allocator_reset_peak()
    (y,) = plan(x)
    assert _native.allocator_stats()["peak"] - before < 6_000_000
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5)
    assert (x.numpy() == 1).all()


@pytest.mark.parametrize("name", ["Neg", "Exp", "Relu"])
def test_arguments_are_never_overwritten(name):
    for x in (floats(3), floats(100, 100)):
        before = x.numpy().copy()
        unary_plan(name)(x)
        np.testing.assert_array_equal(x.numpy(), before)
    # Not even one that only the call holds, or that two instructions read.
    plan = Plan("f", 3, [0], [], [op(name, [0], [1]), op("Neg", [0], [2])], [1, 2])
    np.testing.assert_array_equal(plan(tf.constant([1.0, 2.0]))[1].numpy(), [-1, -2])


def test_a_constant_is_never_overwritten():
    constant = tf.constant([1.0, 2.0])
    plan = Plan("f", 2, [], [(0, constant)], [op("Neg", [0], [1])], [1])
    del constant
    assert values(plan()) == values(plan()) == [[-1.0, -2.0]]


def test_values_seen_through_two_registers_are_not_overwritten():
    # The reshaped tensor shares the memory of %1, which is read again.
    plan = Plan(
        "f",
        6,
        [0],
        [(5, tf.constant([-1]))],
        [
            op("Square", [0], [1]),
            op("Reshape", [1, 5], [2]),
            op("Neg", [2], [3]),
            op("AddV2", [1, 3], [4]),
        ],
        [4, 3],
    )
    assert values(plan(floats(4))) == [[0.0] * 4, [-1.0, -4.0, -9.0, -16.0]]


def test_one_register_twice_in_one_instruction():
    plan = Plan(
        "f",
        4,
        [0],
        [],
        [op("Neg", [0], [1]), op("Mul", [1, 1], [2]), op("AddN", [2, 2, 2], [3], sizes=[3])],
        [3],
    )
    assert values(plan(floats(3))) == [[3.0, 12.0, 27.0]]


def test_sums_in_the_memory_of_a_summand():
    ins = [
        op("Neg", [0], [1]),
        op("Square", [0], [2]),
        op("Neg", [2], [3]),
        op("AddN", [1, 2, 3], [4], sizes=[3]),
    ]
    plan = Plan("f", 5, [0], [], ins, [4])
    np.testing.assert_array_equal(plan(floats(3000))[0].numpy(), -floats(3000).numpy())


def test_broadcast_in_the_memory_of_the_larger_input():
    plan = Plan(
        "f", 5, [0, 1], [], [op("Neg", [0], [2]), op("Neg", [1], [3]), op("Sub", [2, 3], [4])], [4]
    )
    for shapes in (
        ((40, 3), (3,)),
        ((3,), (40, 3)),
        ((40, 3), (40, 1)),
        ((40, 1), (1, 50)),
        ((2, 300), (300,)),
    ):
        x, y = floats(*shapes[0]), floats(*shapes[1])
        np.testing.assert_array_equal(plan(x, y)[0].numpy(), y.numpy() - x.numpy())


def test_results_of_another_size_take_memory_of_their_own():
    plan = Plan("f", 4, [0, 1], [], [op("Neg", [0], [2]), op("Less", [2, 1], [3])], [3])
    assert values(plan(floats(3), floats(3))) == [[True, True, True]]


def test_tensors_with_attributes_are_kept():
    seen = []

    def note(x):
        x.mark = "here"
        seen.append(weakref.ref(x))
        return [x]

    plan = Plan(
        "f",
        4,
        [0],
        [],
        [op("Neg", [0], [1]), ("python", note, [1], [2], None), op("Exp", [2], [3])],
        [3],
    )
    (y,) = plan(floats(2))
    assert not hasattr(y, "mark")
    assert seen[0]() is None


def test_loop_variables_are_moved_so_that_they_change_in_place():
    condition = Plan("cond", 4, [0, 1], [(2, tf.constant(50))], [op("Less", [0, 2], [3])], [3])
    body = Plan(
        "body",
        5,
        [0, 1],
        [(2, tf.constant(1))],
        [op("AddV2", [0, 2], [3]), op("Neg", [1], [4])],
        [3, 4],
    )
    plan = Plan(
        "f",
        5,
        [0, 1],
        [],
        [op("Neg", [1], [2]), ("while", (condition, body, 2), [0, 2], [3, 4], None)],
        [4],
    )
    x = tf.ones((500, 500))
    before = _native.allocator_stats()["live"]
    _native.allocator_reset_peak()
    (y,) = plan(tf.constant(0), x)
    assert _native.allocator_stats()["peak"] - before < 1.3e6
    assert (y.numpy() == -1).all()


def test_references_are_balanced():
    plan = Plan(
        "f",
        6,
        [0, 1],
        [(2, tf.constant(2.0))],
        [
            op("AddV2", [0, 2], [3]),
            ("call", unary_plan("Neg"), [3], [4], None),
            op("Mul", [4, 1], [-1]),
            op("Neg", [4], [5]),
        ],
        [5, 0],
    )
    x, y = tf.constant(1.0), tf.constant(2.0)
    before = sys.getrefcount(x), sys.getrefcount(y), _native.allocator_stats()["live"]
    for _ in range(100):
        plan(x, y)
    assert (sys.getrefcount(x), sys.getrefcount(y), _native.allocator_stats()["live"]) == before


def test_references_are_balanced_after_errors():
    fail = Plan(
        "fail",
        3,
        [0, 1],
        [],
        [op("Neg", [0], [2]), ("python", lambda x: 1 / 0, [2], [-1], None)],
        [0],
    )
    plans = [
        fail,
        Plan("f", 3, [0, 1], [], [("call", fail, [0, 1], [2], None)], [2]),
        Plan(
            "f",
            3,
            [0, 1],
            [],
            [
                ("if", (unary_plan("Neg"), unary_plan("Neg")), [1, 0], [2], None),
                ("call", fail, [2, 0], [-1], None),
            ],
            [2],
        ),
    ]
    condition = Plan("cond", 3, [0, 1], [(2, tf.constant(True))], [], [2])
    body = Plan("body", 3, [0, 1], [], [("call", fail, [0, 1], [2], None)], [2, 0])
    plans.append(
        Plan("f", 4, [0, 1], [], [("while", (condition, body, 2), [0, 1], [2, 3], None)], [2])
    )
    x, y = tf.constant(1.0), tf.constant(True)
    before = sys.getrefcount(x), sys.getrefcount(y), _native.allocator_stats()["live"]
    for plan in plans:
        for _ in range(10):
            with pytest.raises(ZeroDivisionError):
                plan(x, y)
    assert (sys.getrefcount(x), sys.getrefcount(y), _native.allocator_stats()["live"]) == before


def test_plans_are_collected():
    class Label:
        pass

    label = Label()
    plan = Plan("f", 2, [0], [], [op("Neg", [0], [1], label=label)], [1])
    label.plan = plan
    alive = weakref.ref(plan)
    del plan, label
    gc.collect()
    assert alive() is None


# -- variables ---------------------------------------------------------------------------------------


def test_variables():
    v = tf.Variable([1.0, 2.0])
    read = op("ReadVariableOp", [1], [2], {"dtype": tf.float32})
    plan = Plan(
        "f",
        4,
        [0],
        [(1, v.handle)],
        [
            read,
            op("AssignAddVariableOp", [1, 0], []),
            op("ReadVariableOp", [1], [3], {"dtype": tf.float32}),
        ],
        [2, 3],
    )
    assert values(plan(tf.constant([1.0, 1.0]))) == [[1.0, 2.0], [2.0, 3.0]]
    assert v.numpy().tolist() == [2.0, 3.0]


def test_a_dying_read_does_not_change_the_variable():
    v = tf.Variable([1.0, 2.0])
    plan = Plan(
        "f",
        3,
        [],
        [(0, v.handle)],
        [op("ReadVariableOp", [0], [1], {"dtype": tf.float32}), op("Neg", [1], [2])],
        [2],
    )
    assert values(plan()) == values(plan()) == [[-1.0, -2.0]]
    assert v.numpy().tolist() == [1.0, 2.0]


def test_an_update_after_the_last_use_of_the_old_value_is_in_place():
    v = tf.Variable(tf.ones((1000, 1000)))
    ins = [
        op("ReadVariableOp", [1], [3], {"dtype": tf.float32}),
        op("Mul", [3, 0], [4]),
        op("ResourceApplyGradientDescent", [1, 2, 4], []),
    ]
    plan = Plan("f", 5, [0, 2], [(1, v.handle)], ins, [])
    plan(tf.ones((1000, 1000)), tf.constant(0.5))
    before = _native.allocator_stats()["live"]
    _native.allocator_reset_peak()
    plan(tf.ones((1000, 1000)), tf.constant(0.5))
    assert _native.allocator_stats()["peak"] - before < 2.5 * 4_200_000
    assert (v.numpy() == 0.25).all()


def test_assigning():
    v = tf.Variable([1.0, 2.0])
    plan = Plan(
        "f",
        3,
        [0],
        [(1, v.handle)],
        [op("Neg", [0], [2]), op("AssignVariableOp", [1, 2], [], {"validate_shape": True}), op("Neg", [0], [-1])],
        [],
    )
    plan(tf.constant([3.0, 4.0]))
    assert v.numpy().tolist() == [-3.0, -4.0]
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        plan(tf.constant([3.0, 4.0, 5.0]))
    assert v.numpy().tolist() == [-3.0, -4.0]


# -- errors ------------------------------------------------------------------------------------------


@pytest.fixture
def node_errors():
    """A list of the errors that the hook receives; label "another" makes it raise a KeyError instead."""
    seen = []

    def note(error, label):
        seen.append((type(error).__name__, label))
        return KeyError(label) if label == "another" else error

    _native.set_hook("node_error", note)
    yield seen
    _native.set_hook("node_error", errors_at.amend)


def test_errors_name_their_op_and_tell_the_hook_once(node_errors):
    bad = Plan(
        "bad", 3, [0], [(1, tf.constant([1, 2, 3]))], [op("AddV2", [0, 1], [2], label="inner")], [2]
    )
    outer = Plan("outer", 2, [0], [], [("call", bad, [0], [1], "outer")], [1])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs\. \[3\].*\[Op:AddV2\]"
    ):
        outer(tf.constant([1, 2]))
    assert node_errors == [("InvalidArgumentError", "inner")]


def test_the_hook_may_replace_the_exception(node_errors):
    plan = Plan("f", 1, [], [], [("python", lambda: 1 / 0, [], [0], "another")], [0])
    with pytest.raises(KeyError, match="another"):
        plan()


def test_python_kernels_raise_as_eagerly(node_errors):
    plan = Plan("f", 2, [0], [], [op("DecodeBase64", [0], [1], label="node")], [1])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[Op:DecodeBase64\]"):
        plan(tf.constant("?"))
    assert node_errors == [("InvalidArgumentError", "node")]


def test_wrong_dtypes():
    plan = Plan("f", 3, [0, 1], [], [op("AddV2", [0, 1], [2])], [2])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="expected to be a float tensor but is a int32 tensor"
    ):
        plan(tf.constant(1.0), tf.constant(1))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="is not in the list of allowed values"
    ):
        unary_plan("Neg")(tf.constant("text"))


@pytest.mark.parametrize("result", [None, [1], [], 3, [np.ones(2)]])
def test_python_instructions_return_tensors(result):
    plan = Plan("f", 1, [], [], [("python", lambda: result, [], [0], None)], [0])
    with pytest.raises(TypeError):
        plan()


def test_arguments():
    plan = unary_plan("Neg")
    for args in ((), (tf.constant(1), tf.constant(2)), (1,), (np.ones(2),), (tf.Variable(1.0),)):
        with pytest.raises(TypeError):
            plan(*args)
    with pytest.raises(TypeError):
        plan(x=tf.constant(1))


NEG = ("Neg", [0], [1])


@pytest.mark.parametrize(
    "arguments",
    [
        ("f", -1, [], [], [], []),
        ("f", 1 << 40, [], [], [], []),
        ("f", 1, [1], [], [], []),
        ("f", 1, [-1], [], [], []),
        ("f", 1, [0, 0], [], [], []),
        ("f", 1, [], [(3, tf.constant(1))], [], []),
        ("f", 1, [0], [(0, tf.constant(1))], [], []),
        ("f", 1, [], [], [], [0]),
        ("f", 2, [0], [], [], [2]),
        ("f", 2, [], [], [op(*NEG)], [1]),
        ("f", 2, [0], [], [op("Neg", [0], [2])], [1]),
        ("f", 2, [0], [], [op("Neg", [0], [0])], [0]),
        ("f", 2, [0], [], [op("Neg", [1], [1])], [1]),
        ("f", 3, [0], [], [op("Neg", [0, 0], [1])], [1]),
        ("f", 3, [0], [], [op("Neg", [0], [1, 2])], [1]),
        ("f", 3, [0], [], [op("Neg", [0], [1], {"nonsense": 1})], [1]),
        ("f", 3, [0], [], [op("Cast", [0], [1])], [1]),
        ("f", 3, [0], [], [op("AddN", [0, 0], [1])], [1]),
        ("f", 3, [0], [], [op("AddN", [0, 0], [1], sizes=[3])], [1]),
        ("f", 3, [0], [], [op("AddN", [0, 0], [1], sizes=[-1])], [1]),
        ("f", 3, [0], [], [("nonsense", None, [], [], None)], []),
        ("f", 3, [0], [], [("op", None, [], [], None)], []),
        ("f", 3, [0], [], ["op"], []),
        ("f", 3, [0], [], [("op", (1, {}, None), [], [], None)], []),
        ("f", 3, [0], [], [("call", 1, [], [], None)], []),
        ("f", 3, [0], [], [("call", unary_plan("Neg"), [], [1], None)], []),
        ("f", 3, [0], [], [("call", unary_plan("Neg"), [0], [], None)], []),
        ("f", 3, [0], [], [("if", (unary_plan("Neg"),), [0, 0], [1], None)], []),
        ("f", 3, [0], [], [("if", (unary_plan("Neg"), unary_plan("Neg")), [0], [1], None)], []),
        ("f", 3, [0], [], [("case", [], [0], [1], None)], []),
        (
            "f",
            3,
            [0],
            [],
            [("while", (unary_plan("Neg"), unary_plan("Neg"), 2), [0], [1, 2], None)],
            [],
        ),
        (
            "f",
            3,
            [0],
            [],
            [("while", (unary_plan("Neg"), unary_plan("Neg"), 1), [0, 0], [1], None)],
            [],
        ),
        (
            "f",
            3,
            [0],
            [],
            [("while", (unary_plan("Neg"), unary_plan("Neg"), -1), [0], [1], None)],
            [],
        ),
        ("f", 3, [0], [], [("python", 3, [], [], None)], []),
        ("f", 3, [0], [], [("fused", 3, [], [], None)], []),
    ],
)
def test_wrong_plans(arguments):
    with pytest.raises(ValueError):
        Plan(*arguments)


def test_constants_are_tensors():
    with pytest.raises(TypeError):
        Plan("f", 1, [], [(0, 3)], [], [0])


# -- surroundings ------------------------------------------------------------------------------------


def test_no_tape_records_inside():
    x = tf.constant(2.0)
    plan = Plan("f", 2, [0], [], [("python", lambda x: [x * x], [0], [1], None)], [1])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = plan(x)[0]
        z = x * x
    assert tape.gradient([y, z], x).numpy() == 4.0


def test_tapes_inside_a_python_instruction():
    def slope(x):
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x
        return [inner.gradient(y, x)]

    plan = Plan("f", 2, [0], [], [("python", slope, [0], [1], None)], [1])
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        (y,) = plan(x)
        z = x * x
    assert y.numpy() == 6.0
    assert tape.gradient(z, x).numpy() == 6.0


def test_a_plan_may_run_itself():
    holder = []

    def again(n):
        return holder[0](n - 1) if n.numpy() > 0 else [n]

    holder.append(Plan("f", 2, [0], [], [("python", again, [0], [1], None)], [1]))
    assert values(holder[0](tf.constant(50))) == [0]
    with pytest.raises(RecursionError):
        holder[0](tf.constant(100_000))
    assert values(holder[0](tf.constant(50))) == [0]


def test_threads():
    loop, results = counting(2000), []

    def work():
        zero = tf.constant(0)
        for _ in range(20):
            results.append(loop(zero, zero)[1].numpy())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [sum(range(2000))] * 80


def endless():
    forever = Plan("cond", 2, [0], [(1, tf.constant(True))], [], [1])
    return Plan("f", 2, [0], [], [("while", (forever, unary_plan("Neg"), 1), [0], [1], None)], [1])


def test_an_endless_loop_lets_other_threads_run_and_hears_a_signal():
    ticks = []

    def interrupt(*_):
        raise KeyboardInterrupt

    def other():
        for _ in range(3):
            ticks.append(time.perf_counter())
        signal.raise_signal(signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        timer = threading.Timer(0.05, other)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            endless()(tf.constant(1.0))
        timer.join()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert len(ticks) == 3


def test_timeline():
    loop = counting(2)
    results, events = loop.timeline(tf.constant(0), tf.constant(0))
    assert values(results) == [2, 1]
    assert [(name, depth) for name, _, _, _, depth in events] == [
        ("Less", 1),
        ("AddV2", 1),
        ("AddV2", 1),
        ("Less", 1),
        ("AddV2", 1),
        ("AddV2", 1),
        ("Less", 1),
        ("cond", 0),
    ]
    outer = events[-1]
    assert all(
        outer[2] <= start and start + duration <= outer[2] + outer[3]
        for _, _, start, duration, _ in events
    )

"""Assertions, prints and methods of variables in functions."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.graph

d, v1 = tf.debugging, tf.compat.v1
X, Y = [1.0, 2.0], [1.0, 3.0]


def function(python_function, specs=None):
    def run(*args):
        result = python_function(*args)
        return result if isinstance(result, tf.Tensor) else None

    return tf.function(run, autograph=False, input_signature=specs)


# What holds, and what does not, of the same check.
CHECKS = {
    "equal": (d.assert_equal, (X, X), (X, Y)),
    "none_equal": (d.assert_none_equal, ([0.0, 5.0], X), (X, Y)),
    "less": (d.assert_less, (X, [2.0, 3.0]), (X, Y)),
    "less_equal": (d.assert_less_equal, (X, Y), (Y, X)),
    "greater": (d.assert_greater, ([2.0, 3.0], X), (Y, X)),
    "greater_equal": (d.assert_greater_equal, (Y, X), (X, Y)),
    "near": (d.assert_near, (X, X), (X, Y)),
    "positive": (d.assert_positive, (X,), ([-1.0],)),
    "negative": (d.assert_negative, ([-1.0],), (X,)),
    "non_negative": (d.assert_non_negative, (X,), ([-1.0],)),
    "non_positive": (d.assert_non_positive, ([-1.0],), (X,)),
    "v1 equal": (lambda x, y: v1.assert_equal(x, y, data=[x, "beside", y]), (X, X), (X, Y)),
    "v1 positive": (lambda x: v1.assert_positive(x, data=["text", x]), (X,), ([-1.0],)),
    "Assert": (lambda x: d.Assert(x[0] > 0, [x, "text"]), (X,), ([-1.0],)),
    "rank": (lambda x: d.assert_rank(x, 1), (X,), ([X],)),
    "rank_at_least": (lambda x: d.assert_rank_at_least(x, 2), ([X],), (X,)),
    "rank_in": (lambda x: d.assert_rank_in(x, [0, 2]), ([X],), (X,)),
    "shapes": (lambda x, y: d.assert_shapes([(x, ("N",)), (y, ("N",))]), (X, Y), (X, [1.0])),
    "numerics": (lambda x: d.check_numerics(x, "text"), (X,), ([np.nan],)),
    "all_finite": (lambda x: d.assert_all_finite(x, "text"), (X,), ([np.inf],)),
}


# The beginnings of what TensorFlow says of the same checks when a function runs.
TEXTS = {
    **{
        name: f"assertion failed: [Condition x {relation} y did not hold element-wise:] [x (x:0) = ] ["
        for name, relation in (("equal", "=="), ("none_equal", "!="), ("less", "<"), ("less_equal", "<="),
                               ("greater", ">"), ("greater_equal", ">="))
    },
    **{
        name: f"assertion failed: [] [Condition x {relation} 0 did not hold element-wise:] [x (x:0) = ] ["
        for name, relation in (("positive", ">"), ("negative", "<"), ("non_negative", ">="), ("non_positive", "<="))
    },
    "v1 equal": "assertion failed: [1 2] [beside] [1 3]",
    "v1 positive": "assertion failed: [text] [-1]",
    "near": "assertion failed: [] [x and y not equal to tolerance rtol = Tensor(",
    "Assert": "assertion failed: [-1] [text]",
    "shapes": "assertion failed: [] [Specified by tensor x:0 dimension 0] [Tensor y:0 dimension] [0] [must have "
    "size] [2] [Received shape: ] [1]",
    "rank": "assertion failed: [] [Tensor x:0 must have rank] [1] [Received shape: ] [1 2]",
    "rank_at_least": "assertion failed: [] [Tensor x:0 must have rank at least] [2] [Received shape: ] [2]",
    "rank_in": "assertion failed: [] [Tensor x:0 must have rank in] [0] [2] [Received shape: ] [2]",
}  # fmt: skip


@pytest.mark.parametrize("label", CHECKS)
def test_checks_fail_when_the_function_runs(label):
    check, good, bad = CHECKS[label]
    good, bad = ([tf.constant(x) for x in args] for args in (good, bad))
    check(*good)
    f = function(check, [tf.TensorSpec(None, tf.float32) for _ in good])
    f(*good)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)) as eager:
        check(*bad)
    with pytest.raises(tf.errors.InvalidArgumentError) as staged:
        f(*bad)
    text = eager.value.message if hasattr(eager.value, "message") else str(eager.value)
    wanted = TEXTS.get(label, text.partition(" [Op:")[0])
    assert str(staged.value).replace("args_0:0", "x:0").replace("args_1:0", "y:0").startswith(wanted)
    f(*good)


def test_checks_of_constants_fail_while_the_graph_is_built():
    for check in (lambda: d.assert_equal([1, 2], [1, 3]), lambda: d.assert_positive([-1.0])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            function(check).get_concrete_function()


def test_checks_of_what_is_known_fail_while_the_graph_is_built():
    vector = [tf.TensorSpec([None], tf.float32)]
    for check, error in (
        (lambda x: d.assert_rank(x, 2), ValueError),
        (lambda x: d.assert_scalar(x), ValueError),
        (lambda x: d.assert_shapes([(x, (1, 2))]), ValueError),
        (lambda x: d.assert_integer(x), TypeError),
        (lambda x: d.assert_type(x, tf.int32), TypeError),
    ):
        with pytest.raises(error):
            function(check, vector).get_concrete_function()


def test_prints_show_values_of_the_run(capsys):
    f = function(lambda x: tf.print("x =", x, {"k": x}, end="!\n"))
    for value in (1, 2):
        f(tf.constant(value))
    assert capsys.readouterr().err == "x = 1 {'k': 1}!\nx = 2 {'k': 2}!\n"
    g = function(lambda x: v1.Print(x, [x], "seen ", first_n=2))
    for value in (1, 2, 3):
        assert int(g(tf.constant(value))) == value
    assert capsys.readouterr().err == "seen [1]\nseen [2]\n"


A = np.arange(12.0, dtype=np.float32).reshape(4, 3)
rows, places = np.array([3, 1], np.int32), np.array([[3, 1], [0, 2]], np.int32)
METHODS = {
    "assign": (lambda v, x: v.assign(x), A + 1),
    "assign_add": (lambda v, x: v.assign_add(x), A),
    "assign_sub": (lambda v, x: v.assign_sub(x), A),
    **{
        name: (lambda v, x, i, name=name: getattr(v, name)(tf.IndexedSlices(x, i)), A[:2] + 1, rows)
        for name in (
            "scatter_add",
            "scatter_sub",
            "scatter_mul",
            "scatter_div",
            "scatter_max",
            "scatter_min",
            "scatter_update",
        )
    },
    **{
        name: (lambda v, i, x, name=name: getattr(v, name)(i, x), places, A[0, 1:])
        for name in ("scatter_nd_add", "scatter_nd_sub", "scatter_nd_update", "scatter_nd_max")
    },
    "batch_scatter_update": (
        lambda v, i, x: v.batch_scatter_update(
            tf.IndexedSlices(x, tf.ensure_shape(i, [None, None]))
        ),
        np.array([[0, 1], [2, 1], [0, 1], [0, 2]], np.int32),
        np.ones((4, 2), np.float32),
    ),
    "sparse_read": (lambda v, i: v.sparse_read(i), rows),
    "gather_nd": (lambda v, i: v.gather_nd(i), places),
    "part": (lambda v, i: v[i], np.int32(2)),
    "assign part": (lambda v, x, i: v[1:3, i].assign(x), A[0, :2], np.int32(1)),
    "assign rows from": (lambda v, x, i: v[i:].assign(x), A[0], np.int32(1)),
    "assign where": (lambda v, x: v[tf.ensure_shape(v[:, 0] > 2, [None])].assign(x), A[0] + 5),
    "is_initialized": (lambda v: v.is_initialized(),),
    "gather": (lambda v, i: tf.gather(v, i), rows),
    "operators": (lambda v, x: -v * x / 2 + v**2 - x // (v + 1), A),
    "writes in order": (lambda v, x: [v.assign(x), v.assign_add(x), v * 2][-1], A),
    "v1 scatter": (lambda v, i, x: v1.scatter_update(v, i, x), rows, A[:2] + 1),
}


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("label", METHODS)
def test_methods_of_variables(label, known):
    method, *arguments = METHODS[label]
    arguments = [tf.constant(x) for x in arguments]
    eager, staged = tf.Variable(A), tf.Variable(A)
    want = method(eager, *arguments)
    specs = [tf.TensorSpec(x.shape if known else None, x.dtype) for x in arguments]
    got = tf.function(lambda *args: method(staged, *args), autograph=False, input_signature=specs)(
        *arguments
    )
    np.testing.assert_allclose(staged, eager)
    if got is not None and want is not None:
        np.testing.assert_allclose(got.numpy(), want.numpy())


def test_counting():
    v = tf.Variable(0)
    f = function(lambda: v.count_up_to(2))
    assert [int(f()), int(f())] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 2"):
        f()
    assert int(v) == 2


def test_shapes_that_contradict_each_other_are_named():
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, 2])
        with pytest.raises(ValueError, match="Shapes must be equal rank, but are 2 and 1"):
            x.set_shape([0])
        with pytest.raises(ValueError, match=r"Dimension 1 in both .* are 2 and 1. Shapes are \[\?,2\] and \[2,1\]"):
            x.set_shape([2, 1])
        x.set_shape([3, None])
        assert x.shape.as_list() == [3, 2]

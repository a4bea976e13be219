"""Names of nodes are TensorFlow's: those of operators, of the constants they take, and of what `name=` names."""

import pytest

import tapeflow as tf

v1 = tf.compat.v1


def names(build):
    with tf.Graph().as_default() as graph:
        build(v1.placeholder(tf.float32, [2], name="x"))
        return [op.name for op in graph.get_operations()][1:]


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x: (x * 2.0, x * 2.0), ["mul/y", "mul", "mul_1/y", "mul_1"]),
        (lambda x: x + 1, ["add/y", "add"]),
        (lambda x: 1 - x, ["sub/x", "sub"]),
        (lambda x: x / 2.0, ["truediv/y", "truediv"]),
        (lambda x: x**2, ["pow/y", "pow"]),
        (lambda x: x // 2, ["floordiv/y", "floordiv"]),
        (lambda x: x % 2, ["mod/y", "mod"]),
        (lambda x: (-x, abs(x)), ["Neg", "Abs"]),
        (lambda x: x < 1, ["Less/y", "Less"]),
        (lambda x: (x + x, tf.add(x, x)), ["add", "Add_1"]),
        (lambda x: tf.multiply(x, 2.0), ["Mul/y", "Mul"]),
    ],
)
def test_operators(build, expected):
    assert names(build) == expected


def test_constants_are_below_their_node_in_a_scope():
    def build(x):
        with tf.name_scope("outer"):
            x * 2.0

    assert names(build) == ["outer/mul/y", "outer/mul"]


@pytest.mark.parametrize("reduce", ["reduce_sum", "reduce_mean", "reduce_max", "reduce_any"])
def test_reductions_of_1x_take_their_name(reduce):
    assert names(lambda x: getattr(v1, reduce)(x > 0 if reduce == "reduce_any" else x, name="b"))[-1] == "b"

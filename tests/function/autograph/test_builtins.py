"""Builtins, comparisons, `and`, `or`, `not` and `assert` on tensors."""

import numpy as np
import pytest

import tapeflow as tf


def listed(x):
    return np.asarray(x).tolist()


def run(f, *args):
    return listed(tf.function(f)(*map(tf.constant, args)))


VECTOR = [3, -1, 2]


@pytest.mark.parametrize(
    ("f", "argument", "expected"),
    [
        (lambda x: abs(x), VECTOR, [3, 1, 2]),
        (lambda x: len(x), VECTOR, 3),
        (lambda x: int(x), 2.7, 2),
        (lambda x: int(x), "12", 12),
        (lambda x: float(x), 2, 2.0),
        (lambda x: float(x), "1.5", 1.5),
        (lambda x: max(x), VECTOR, 3),
        (lambda x: min(x), VECTOR, -1),
        (lambda x: max(x, 5), 3, 5),
        (lambda x: min(x, 5, 4), 3, 3),
        (lambda x: sum(x), VECTOR, 4),
        (lambda x: sorted(x), VECTOR, [-1, 2, 3]),
        (lambda x: sorted(x, reverse=True), VECTOR, [3, 2, -1]),
        (lambda x: sorted(x, key=lambda v: -v), VECTOR, [3, 2, -1]),
        (lambda x: any(x), [False, True], True),
        (lambda x: all(x), [False, True], False),
    ],
)
def test_builtins_of_tensors(f, argument, expected):
    assert run(f, argument) == expected


def test_length_that_is_only_known_when_the_graph_runs():
    f = tf.function(lambda x: len(x), input_signature=[tf.TensorSpec([None, 2])])
    assert listed(f(tf.zeros([5, 2]))) == 5
    g = tf.function(lambda x: len(x), input_signature=[tf.TensorSpec(None)])
    assert listed(g(tf.zeros([4]))) == 4
    with pytest.raises(tf.errors.InvalidArgumentError, match="len requires non-zero rank"):
        g(tf.zeros([]))


def test_builtins_of_python_values():
    def f(x):
        values = [
            *map(abs, [-1, 2]),
            *filter(None, [0, 3]),
            *sorted([2, 1]),
            max(1, 2),
            min([4, 3]),
            sum([1, 2]),
        ]
        values += [
            len("abc"),
            int("7"),
            int("ff", 16),
            float("2"),
            next(iter([9])),
            next(iter([]), 8),
        ]
        values += [any([0, 1]), all([0, 1]), *(i + j for i, j in zip(range(2), range(2)))]
        return x, values

    assert tf.autograph.to_graph(f)(1) == f(1)


def test_logical_operators():
    def f(a, b):
        return a and b, a or b, not a

    flags = [False, True]
    g = tf.function(f)
    for a in flags:
        for b in flags:
            assert [listed(v) for v in g(tf.constant(a), tf.constant(b))] == list(f(a, b))
            assert [listed(v) for v in g(a, tf.constant(b))] == list(f(a, b))


def test_second_operand_is_only_evaluated_if_needed():
    calls = tf.Variable(0)

    def counted():
        calls.assign_add(1)
        return tf.constant(True)

    @tf.function
    def f(a):
        return a and counted()

    f(tf.constant(False))
    assert int(calls) == 0
    f(tf.constant(True))
    assert int(calls) == 1


def test_chained_comparison():
    f = tf.function(lambda x, y: 1 < x <= y < 10)
    cases = [(0, 5), (3, 5), (3, 2), (3, 11)]
    assert [listed(f(tf.constant(x), tf.constant(y))) for x, y in cases] == [
        False,
        True,
        False,
        False,
    ]


def test_middle_of_a_chain_is_evaluated_once():
    seen = []

    def middle(x):
        seen.append(1)
        return x

    assert run(lambda x: 1 if 0 < middle(x) < 3 else 2, 1) == 1
    assert seen == [1]


def test_equality():
    def f(x, y):
        if x == y:
            return 1
        if x != 3:
            return 2
        return 3

    cases = [(1, 1), (2, 1), (3, 1)]
    g = tf.function(f)
    assert [listed(g(tf.constant(x), tf.constant(y))) for x, y in cases] == [1, 2, 3]
    feature = tf.autograph.experimental.Feature.EQUALITY_OPERATORS
    g = tf.function(f, experimental_autograph_options=feature)
    assert [listed(g(tf.constant(x), tf.constant(y))) for x, y in cases] == [1, 2, 3]


def test_identity_and_membership_stay_python():
    def f(x, y=None):
        if y is None and "a" in {"a": 1}:
            return x + 1
        return x

    assert run(f, 1) == 2


def test_assert():
    def f(x):
        assert x > 0, ("too small", x)
        return x

    assert run(f, 3) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="too small"):
        run(f, -3)


def test_assert_on_python_values():
    def f(x, flag):
        assert flag, "the message"
        return x

    with pytest.raises(AssertionError, match="the message"):
        tf.function(f)(tf.constant(1), False)


def test_print_shows_the_symbolic_tensor(capsys):
    @tf.function
    def f(x):
        print("tracing", x)
        return x

    f(tf.constant(1))
    f(tf.constant(2))
    assert capsys.readouterr().out == 'tracing Tensor("x:0", shape=(), dtype=int32)\n'

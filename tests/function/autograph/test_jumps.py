"""`break`, `continue` and `return` that depend on tensors."""

import numpy as np

import tapeflow as tf


def agree(f, *cases):
    """`f` staged gives what it gives in Python."""
    g = tf.function(f)
    for case in cases:
        arguments = [tf.constant(x) for x in case]
        assert np.asarray(g(*arguments)).tolist() == f(*case), case


def test_early_return():
    def f(x):
        if x > 3:
            return 1
        return 2

    agree(f, [5], [1])


def test_return_in_one_of_two_nested_branches():
    def f(x, y):
        if x > 0:
            if y > 0:
                return 1
            x = x - 1
        return x

    agree(f, [3, 1], [3, -1], [-3, 1])


def test_return_in_while():
    def f(x):
        i = 0
        while i < 10:
            if i * i > x:
                return i
            i += 1
        return -1

    agree(f, [20], [1000])


def test_return_in_nested_for():
    def f(n):
        total = 0
        for i in range(n):
            for j in range(i):
                total += 1
                if i * j > 5:
                    return total * 100
        return total

    agree(f, [2], [3], [8])


def test_return_from_while_true():
    def f(x):
        while True:
            x = x - 3
            if x < 0:
                return x

    agree(f, [10], [-1])


def test_break():
    def f(n):
        x = 0
        for i in range(n):
            if i == 4:
                break
            x += i
        return x

    agree(f, [3], [10])


def test_break_from_while_true_on_a_tensor():
    def f(n):
        i = 0
        while True:
            i += 1
            if n < i:
                break
        return i

    agree(f, [3], [0])


def test_break_from_a_python_loop_on_a_tensor():
    def f(n):
        x = 0
        for i in [3, 5, 7]:
            if n < i:
                break
            x += i
        return x

    agree(f, [0], [4], [10])


def test_continue():
    def f(n):
        x = 0
        for i in range(n):
            if i % 2 == 0:
                continue
            x += i
        return x

    agree(f, [9])


def test_continue_in_while():
    def f(n):
        x = i = 0
        while i < n:
            i += 1
            if i % 3 == 0:
                continue
            x += i
        return x

    agree(f, [9], [0])


def test_else_of_loops():
    def f(n):
        x = 0
        for i in range(n):
            if i == 3:
                break
            x += i
        else:
            x += 100
        while x > 50:
            x -= 7
            if x == 60:
                break
        else:
            x += 1000
        return x

    agree(f, [2], [6])


def test_break_of_inner_loop_only():
    def f(n):
        x = 0
        for i in range(n):
            for j in range(10):
                if j > i:
                    break
                x += 1
            x += 10
        return x

    agree(f, [4])


def test_jumps_in_try_and_with():
    def f(n):
        x = 0
        for i in range(n):
            try:
                if i == 2:
                    continue
                if i == 5:
                    break
            finally:
                x += 100
            with tf.name_scope("loop"):
                x += i
        return x

    agree(f, [2], [8])


def test_return_in_except():
    def f(x):
        try:
            raise ValueError
        except ValueError:
            if x > 0:
                return x
        return -1

    agree(f, [4], [-4])


def test_returning_a_structure():
    @tf.function
    def f(x):
        if x > 0:
            return x, {"k": x + 1}
        return -x, {"k": x}

    first, second = f(tf.constant(-2))
    assert (int(first), int(second["k"])) == (2, -2)


def test_returning_none_everywhere():
    v = tf.Variable(0)

    @tf.function
    def f(x):
        if x > 0:
            v.assign(1)
            return
        v.assign(2)
        return

    assert f(tf.constant(1)) is None
    assert int(v) == 1


def test_return_without_flags_needs_no_outputs():
    @tf.function
    def f(x):
        if x > 0:
            return x
        return -x

    graph = f.get_concrete_function(tf.TensorSpec([], tf.int32)).graph
    nodes = [op for op in graph.get_operations() if op.type in ("If", "StatelessIf")]
    assert [len(op.outputs) for op in nodes] == [1]

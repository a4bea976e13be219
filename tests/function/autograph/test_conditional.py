"""`if` statements and conditional expressions on tensors."""

import numpy as np
import pytest

import tapeflow as tf


class Box:
    """Something with attributes."""


def both(f, *others):
    """What `f` gives for a true and for a false tensor."""
    g = tf.function(f)
    return [g(tf.constant(v), *others) for v in (True, False)]


def numbers(values):
    return [np.asarray(v).tolist() for v in values]


def test_both_branches_assign():
    def f(t):
        if t:
            x = 1
        else:
            x = 2
        return x

    assert numbers(both(f)) == [1, 2]


def test_only_one_branch_assigns():
    def f(t):
        x = 5
        if t:
            x = x + 1
        return x

    assert numbers(both(f)) == [6, 5]


def test_elif():
    @tf.function
    def f(x):
        if x < 0:
            y = -1
        elif x == 0:
            y = 0
        elif x < 10:
            y = 1
        else:
            y = 2
        return y

    assert numbers(f(tf.constant(x)) for x in (-4, 0, 3, 20)) == [-1, 0, 1, 2]


def test_python_condition_runs_one_branch():
    seen = []

    @tf.function
    def f(x, flag):
        if flag:
            seen.append("main")
            x += 1
        else:
            seen.append("else")
        return x

    assert int(f(tf.constant(1), True)) == 2
    assert seen == ["main"]


def test_tensor_condition_traces_both_branches():
    seen = []

    def f(t):
        if t:
            seen.append("main")
        else:
            seen.append("else")

    both(f)
    assert seen == ["main", "else"]


def test_name_only_used_in_a_branch_needs_no_value_in_the_other():
    def f(t):
        y = 0
        if t:
            temporary = 3
            y = temporary * 2
        return y

    assert numbers(both(f)) == [6, 0]


def test_dead_name_may_have_different_dtypes():
    def f(t):
        if t:
            x = 1
        else:
            x = "text"
        del x
        return 3

    def g(t):
        x = 1
        if t:
            x = "text"
        x = 2.0
        return x + 0.0

    assert numbers(both(g)) == [2.0, 2.0]
    with pytest.raises(TypeError, match="'x' has dtype int32 in the main branch"):
        both(f)


def test_structures():
    def f(t, x):
        if t:
            pair, named = (x, x + 1), {"a": x}
        else:
            pair, named = (x * 2, x * 3), {"a": x * 4}
        return pair, named

    first, second = both(f, tf.constant(5))
    assert numbers([*first[0], first[1]["a"]]) == [5, 6, 5]
    assert numbers([*second[0], second[1]["a"]]) == [10, 15, 20]


def test_attributes_and_items():
    def f(t, x):
        box, d = Box(), {}
        box.value = x
        d["k"] = x
        if t:
            box.value = x + 1
        else:
            d["k"] = x + 2
        return box.value, d["k"]

    assert numbers(x for pair in both(f, tf.constant(1)) for x in pair) == [2, 1, 1, 3]


def test_attribute_created_in_both_branches():
    def f(t, x):
        box = Box()
        if t:
            box.value = x
        else:
            box.value = -x
        return box.value

    assert numbers(both(f, tf.constant(1))) == [1, -1]


def test_unchanged_python_values_stay_python():
    kept = object()
    seen = []

    def f(t):
        x, n, y = kept, None, 0
        if t:
            x = x
            y = 1
        seen.append((x is kept, n is None))
        return y

    assert numbers(both(f)) == [1, 0]
    assert seen == [(True, True)]


def test_branches_in_branches():
    @tf.function
    def f(a, b):
        x = 0
        if a:
            if b:
                x = 3
            else:
                x = 2
        elif b:
            x = 1
        return x

    flags = tf.constant(True), tf.constant(False)
    assert numbers(f(a, b) for a in flags for b in flags) == [3, 2, 1, 0]


def test_global_name():
    global _counter
    _counter = 0

    def f(t):
        global _counter
        _counter = 1
        if t:
            _counter = 5
        result = _counter
        _counter = 0
        return result

    assert numbers(both(f)) == [5, 1]


_counter = 0


def test_nonlocal_name():
    def f(t):
        x = 1

        def change():
            nonlocal x
            if t:
                x = 10

        change()
        return x

    assert numbers(both(f)) == [10, 1]


def test_variables_are_assigned_in_the_branch_that_runs():
    v = tf.Variable(0)

    @tf.function
    def f(t):
        if t:
            v.assign_add(1)
        else:
            v.assign_sub(10)

    f(tf.constant(True))
    f(tf.constant(True))
    f(tf.constant(False))
    assert int(v) == -8


def test_variable_as_condition():
    v = tf.Variable(True)

    @tf.function
    def f():
        if v:
            return 1
        return 2

    assert int(f()) == 1
    v.assign(False)
    assert int(f()) == 2


def test_gradient_goes_through_the_branch():
    @tf.function
    def f(x):
        if x > 0:
            y = x * x
        else:
            y = -x
        return y

    for value, slope in ((3.0, 6.0), (-2.0, -1.0)):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert float(tape.gradient(y, x)) == slope


def test_conditional_expression():
    assert numbers(both(lambda t: 1 if t else 2)) == [1, 2]
    assert numbers(tf.function(lambda t: 1 if t else 2)(flag) for flag in (True, False)) == [1, 2]


def test_in_a_comprehension():
    @tf.function
    def f(x):
        return [x if x > limit else -x for limit in (0, 5)]

    assert numbers(f(tf.constant(3))) == [3, -3]


def test_inside_try_and_with():
    def f(t):
        x = 0
        try:
            with tf.name_scope("scope"):
                if t:
                    x = 1
        finally:
            x = x + 10
        return x

    assert numbers(both(f)) == [11, 10]


def test_match_statement():
    @tf.function
    def f(kind, x):
        match kind:
            case "double":
                if x > 0:
                    return x * 2
                return x
            case ("add", n):
                return x + n
        return -x

    x = tf.constant(4)
    assert numbers([f("double", x), f(("add", 3), x), f("other", x)]) == [8, 7, -4]

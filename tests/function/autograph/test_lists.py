"""Lists that loops of the graph append to."""

import numpy as np
import pytest

import tapeflow as tf


def listed(x):
    return np.asarray(x).tolist()


def test_append_and_stack():
    @tf.function
    def f(n):
        values = []
        for i in tf.range(n):
            values.append(i * i)
        return tf.stack(values), len(values), values[-1], values[1]

    assert [listed(v) for v in f(tf.constant(4))] == [[0, 1, 4, 9], 4, 9, 1]


def test_stack_along_another_axis_and_concat():
    @tf.function
    def f(n):
        rows = []
        while n > 0:
            rows.append(tf.stack([n, n * 10]))
            n -= 1
        return tf.stack(rows, axis=1), tf.stack(rows, axis=-1), tf.concat(rows, 0)

    stacked, same, joined = f(tf.constant(3))
    assert listed(stacked) == listed(same) == [[3, 2, 1], [30, 20, 10]]
    assert listed(joined) == [3, 30, 2, 20, 1, 10]


def test_elements_from_before_the_loop_and_after_it():
    @tf.function
    def f(n):
        values = [tf.constant(7)]
        for i in tf.range(n):
            values.append(i)
        values.append(n)
        return tf.stack(values)

    assert listed(f(tf.constant(2))) == [7, 0, 1, 2]


def test_append_in_a_branch_of_the_loop():
    @tf.function
    def f(n):
        values = []
        for i in tf.range(n):
            if i % 2 == 0:
                continue
            values.append(i)
        return tf.stack(values)

    assert listed(f(tf.constant(6))) == [1, 3, 5]


def test_append_in_nested_loops():
    @tf.function
    def f(n):
        values = []
        for i in tf.range(n):
            for j in tf.range(i):
                values.append(i * 10 + j)
        return tf.stack(values)

    assert listed(f(tf.constant(4))) == [10, 20, 21, 30, 31, 32]


def test_reading_and_looping():
    @tf.function
    def f(n):
        values = [tf.constant(1), tf.constant(1)]
        for _ in tf.range(n):
            values.append(values[-1] + values[-2])
        total = 0
        for v in values:
            total += v
        return total

    assert listed(f(tf.constant(4))) == 1 + 1 + 2 + 3 + 5 + 8


def test_result_is_a_python_list():
    @tf.function
    def f(n):
        values = []
        for i in tf.range(n):
            values.append(i)
        return values

    result = f(tf.constant(3))
    assert isinstance(result, list)
    assert [listed(v) for v in result] == [0, 1, 2]


def test_gradient():
    @tf.function
    def f(x):
        values = []
        for v in x:
            values.append(v * v)
        return tf.reduce_sum(tf.stack(values))

    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert listed(tape.gradient(y, x)) == [2.0, 4.0, 6.0]


def test_python_loops_keep_python_lists():
    @tf.function
    def f(x):
        values = []
        for i in range(3):
            if i != 1:
                values.append(x * i)
        assert isinstance(values, list)
        return values

    assert [listed(v) for v in f(tf.constant(2))] == [0, 4]


def test_append_in_both_branches():
    @tf.function
    def f(t):
        values = [tf.constant(0)]
        if t:
            values.append(1)
        else:
            values.append(2)
        return tf.stack(values)

    assert [listed(f(tf.constant(t))) for t in (True, False)] == [[0, 1], [0, 2]]


def test_append_in_one_branch():
    @tf.function
    def f(t):
        values = [tf.constant(0)]
        if t:
            values.append(1)
        return tf.stack(values)

    with pytest.raises(
        TypeError,
        match="'values' must have the same nested structure in the main and else branches",
    ):
        f(tf.constant(True))


def test_elements_of_different_dtypes():
    @tf.function
    def f(n):
        values = [1.5]
        for i in tf.range(n):
            values.append(i)
        return tf.stack(values)

    with pytest.raises(
        TypeError, match="must have the same dtype, but there are float32 and int32"
    ):
        f(tf.constant(3))


def test_elements_of_different_shapes():
    @tf.function
    def f(n):
        values = []
        for i in tf.range(n):
            values.append(tf.zeros([2, i]))
        return tf.shape(values[2]), tf.concat(
            [tf.reshape(v, [-1]) for v in (values[1], values[2])], 0
        )

    shape, joined = f(tf.constant(3))
    assert (listed(shape), listed(joined)) == ([2, 2], [0.0] * 6)


def test_lists_of_the_caller_are_appended_once_per_trace():
    seen = []

    @tf.function
    def f(n):
        for i in tf.range(n):
            seen.append(i.dtype)
        return n

    f(tf.constant(3))
    assert seen == [tf.int32]

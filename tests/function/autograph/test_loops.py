"""Loops over tensors, ranges and what else can be counted."""

import numpy as np
import pytest

import tapeflow as tf


def listed(x):
    return np.asarray(x).tolist()


def loop_nodes(f, *specs):
    graph = f.get_concrete_function(*specs).graph
    return [op for op in graph.get_operations() if op.type in ("While", "StatelessWhile")]


SCALAR = tf.TensorSpec([], tf.int32)


def test_while():
    @tf.function
    def f(x):
        n = 0
        while x > 1:
            x = x // 2
            n += 1
        return n

    assert listed(f(tf.constant(40))) == 5


def test_while_on_python_values_runs_in_python():
    @tf.function
    def f(x):
        i = 0
        while i < 3:
            i += 1
            x = x * 2
        return x

    assert listed(f(tf.constant(1))) == 8
    assert loop_nodes(f, SCALAR) == []


def test_range_counts_without_making_the_tensor():
    @tf.function
    def f(n):
        x = 0
        for i in tf.range(n):
            x += i
        return x

    assert listed(f(tf.constant(1000))) == 499500
    (node,) = loop_nodes(f, SCALAR)
    assert len(node.outputs) == 2  # the counter and x
    body = node.attrs["body"]
    kinds = [op.type for op in body.graph.get_operations()]
    assert (kinds.count("AddV2"), kinds.count("GatherV2")) == (2, 0)


@pytest.mark.parametrize("arguments", [(7,), (2, 9), (1, 10, 3), (10, 0, -3), (5, 5), (6, 2)])
def test_ranges(arguments):
    @tf.function
    def f(*limits):
        x = 0
        for i in tf.range(*limits):
            x = x * 10 + i
        return x

    expected = 0
    for i in range(*arguments):
        expected = expected * 10 + i
    assert listed(f(*map(tf.constant, arguments))) == expected


def test_what_the_body_only_reads_is_not_carried():
    @tf.function
    def f(n, a, b):
        x = 0
        for _ in tf.range(n):
            temporary = a * b
            x += temporary
        return x

    assert listed(f(tf.constant(3), tf.constant(2), tf.constant(5))) == 30
    (node,) = loop_nodes(f, SCALAR, SCALAR, SCALAR)
    assert len(node.attrs["body"].outputs) == 2


def test_target_after_the_loop():
    @tf.function
    def f(n):
        for i in tf.range(n):
            x = i
        return i * 1 + x * 0

    assert listed(f(tf.constant(4))) == 3


def test_over_a_tensor():
    @tf.function
    def f(rows):
        x = tf.zeros([2])
        for row in rows:
            x = x * 2 + row
        return x

    assert listed(f(tf.constant([[1.0, 2.0], [3.0, 4.0]]))) == [5.0, 8.0]
    assert len(loop_nodes(f, tf.TensorSpec([None, 2]))) == 1


def test_over_an_eager_tensor_from_outside():
    values = tf.constant([1, 2, 3])

    @tf.function
    def f():
        x = 0
        for v in values:
            x += v
        return x

    assert listed(f()) == 6
    assert len(loop_nodes(f)) == 1


def test_gradient_of_a_loop_over_a_tensor():
    @tf.function
    def f(x):
        y = 1.0
        for v in x:
            y = y * v
        return y

    x = tf.constant([2.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert listed(tape.gradient(y, x)) == [12.0, 8.0, 6.0]


def test_enumerate_and_zip():
    @tf.function
    def f(a, b):
        x = 0
        for i, (p, q) in enumerate(zip(a, b), 10):
            x += i * p * q
        return x

    assert listed(f(tf.constant([1, 2, 3]), tf.constant([4, 5]))) == 10 * 4 + 11 * 10


def test_over_a_tensor_array():
    @tf.function
    def f(x):
        array = tf.TensorArray(tf.int32, 3).unstack(x)
        y = 0
        for v in array:
            y = y * 10 + v
        return y

    assert listed(f(tf.constant([1, 2, 3]))) == 123


def test_writing_a_tensor_array():
    @tf.function
    def f(n):
        array = tf.TensorArray(tf.int32, n)
        for i in tf.range(n):
            array = array.write(i, i * i)
        return array.stack()

    assert listed(f(tf.constant(4))) == [0, 1, 4, 9]


def test_structures_are_carried():
    @tf.function
    def f(n):
        state = {"a": 0, "b": (1, 1)}
        for _ in tf.range(n):
            state = {"a": state["a"] + 1, "b": (state["b"][1], state["b"][0] + state["b"][1])}
        return state

    result = f(tf.constant(5))
    assert (int(result["a"]), int(result["b"][0])) == (5, 8)


def test_attributes_are_carried():
    class Counter:
        def __init__(self):
            self.n = 0

        @tf.function
        def count(self, limit):
            self.n = 0
            while self.n < limit:
                self.n += 2
            result, self.n = self.n, 0
            return result

    assert listed(Counter().count(tf.constant(5))) == 6


def test_value_first_given_in_the_loop():
    @tf.function
    def f(n):
        while n > 0:
            n -= 1
            x = n * 2
        return x

    assert listed(f(tf.constant(3))) == 0
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="loop must iterate at least once to initialize x"
    ):
        f(tf.constant(0))


def test_none_before_the_loop():
    @tf.function
    def f(n):
        best = None
        for i in tf.range(n):
            best = i if i > 2 else -1
        return best

    assert listed(f(tf.constant(5))) == 4


def test_none_that_only_the_first_iteration_reads():
    def f(values):
        product = None
        for v in values:
            if product is None:
                product = v
            else:
                product = product * v
        return product

    staged = tf.function(f, input_signature=[tf.TensorSpec([None], tf.int32)])
    for values in ([3], [3, 5, 7]):
        assert listed(staged(tf.constant(values))) == f(values)
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least once to initialize product"):
        staged(tf.constant([], tf.int32))


def test_none_that_the_condition_reads():
    @tf.function
    def f(n):
        last, i = None, 0
        while i < n or last is None:
            last = i * 2
            i += 1
        return last

    assert listed(f(tf.constant(4))) == 6


def test_shape_invariants():
    @tf.function
    def f(n):
        x = tf.zeros([1], tf.int32)
        for i in tf.range(n):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None]))]
            )
            x = tf.concat([x, [i]], 0)
        return x

    assert listed(f(tf.constant(3))) == [0, 0, 1, 2]


def test_maximum_iterations():
    @tf.function
    def f():
        x = tf.constant(0)
        while x >= 0:
            tf.autograph.experimental.set_loop_options(maximum_iterations=7, parallel_iterations=1)
            x += 1
        return x

    assert listed(f()) == 7


def test_options_outside_of_a_loop_do_nothing():
    assert tf.autograph.experimental.set_loop_options(maximum_iterations=3) is None


def test_random_condition_is_evaluated_once_per_iteration():
    calls = tf.Variable(0)

    def test():
        return calls.assign_add(1) < 4

    @tf.function
    def f():
        n = 0
        while test():
            n += 1
        return n

    assert (listed(f()), int(calls)) == (3, 4)


def test_walrus_in_the_condition():
    @tf.function
    def f(x):
        total = 0
        while (y := x - 1) > 0:
            total += y
            x = y
        return total

    assert listed(f(tf.constant(4))) == 6


def test_variables_change_in_the_loop():
    v = tf.Variable(1.0)

    @tf.function
    def f(n):
        for _ in tf.range(n):
            v.assign(v * 2)

    f(tf.constant(5))
    assert float(v) == 32.0


def test_closures_made_in_the_loop():
    @tf.function
    def f(n):
        x = 0
        for i in tf.range(n):

            def twice(y, i=i):
                return y * 2 + i

            x = twice(x)
        return x

    assert listed(f(tf.constant(3))) == (0 * 2 + 1) * 2 + 2


def test_nested_loops():
    @tf.function
    def f(n):
        x = 0
        for i in tf.range(n):
            for j in tf.range(i):
                x += j
            while x > 100:
                x -= 7
        return x

    def plain(n):
        x = 0
        for i in range(n):
            x += sum(range(i))
            while x > 100:
                x -= 7
        return x

    assert listed(f(tf.constant(12))) == plain(12)


def test_eager_loops_stay_python():
    converted = tf.autograph.to_graph(_total)
    assert listed(converted(tf.constant([1, 2, 3]))) == 6


def _total(values):
    x = 0
    for v in values:
        if v > 0:
            x += v
    return x


def test_training_loop():
    w = tf.Variable([0.0])

    @tf.function
    def train(steps, x, y):
        loss = 0.0
        for _ in tf.range(steps):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((x * w - y) ** 2)
            w.assign_sub(0.1 * tape.gradient(loss, [w])[0])
        return loss

    loss = train(tf.constant(50), tf.constant([1.0, 2.0]), tf.constant([3.0, 6.0]))
    assert float(loss) < 1e-6

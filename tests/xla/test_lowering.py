"""Graphs compiled by XLA against the same functions run by plans."""

from __future__ import annotations

import json
import pathlib
import threading

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops.state import scatter_rows, training

jax = pytest.importorskip("jax")
pytestmark = pytest.mark.xla

VECTORS = json.loads(
    (pathlib.Path(__file__).parent.parent / "ops" / "training_vectors.json").read_text()
)


def same(function, *arguments):
    """The result of both ways to run a function, which have to agree."""
    want = tf.function(function)(*arguments)
    got = tf.function(function, jit_compile=True)(*arguments)
    tf.nest.assert_same_structure(want, got)
    for a, b in zip(tf.nest.flatten(got), tf.nest.flatten(want), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)
    return got


def same_gradient(function, x):
    def gradient(jit):
        compiled = tf.function(function, jit_compile=jit)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(compiled(x))
        return tape.gradient(y, x).numpy()

    got = gradient(True)
    np.testing.assert_allclose(got, gradient(False), rtol=1e-5, atol=1e-6)
    return got


X = tf.constant([0.5, 1.0, -2.0])


def counted(x):
    y = x
    for _ in tf.range(5):
        y = tf.sin(y) * 1.5 + x
    return y


def branch_in_loop(x):
    y = x
    i = tf.constant(0)
    while i < 3:
        if tf.reduce_sum(y) > 0:
            y = y * y
        else:
            y = y - 1.0
        i += 1
    return y


def grown_array(x):
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for i in tf.range(4):
        array = array.write(i, x * tf.cast(i, tf.float32) ** 2)
    return array.stack()


def until_large(x):
    y = x
    while tf.reduce_sum(tf.abs(y)) < 100.0:
        y = y * 2.0
    return y


def sized_by_shape(x):
    n = tf.shape(x)[0]
    return tf.reshape(x, [n, 1]) * tf.ones([n, 2])


def case(x):
    return tf.switch_case(
        tf.cast(x[1], tf.int32), [lambda: x * 1, lambda: x * 2, lambda: x * 3]
    )


def mapped(x):
    return tf.map_fn(lambda a: a * a, x)


def element(x):
    for i in tf.range(2):
        x = x + x[i] * 2.0
    return x


def part_of_matrix(x):
    matrix = tf.reshape(tf.range(12.0), [3, 4]) * x[0]
    total = tf.zeros([2])
    for i in tf.range(2):
        total = total + matrix[i, 1:3] + matrix[1:3, i] + matrix[-1, i]
    return total


def moving_slice(x):
    total = x * 0.0
    for i in tf.range(2):
        total = total + tf.slice(tf.concat([x, x], 0), [i], [3])
    return total


def moving_window(x):
    total = tf.zeros([2])
    for i in tf.range(2):
        total = total + x[i : i + 2]
    return total


def recurrent(x):
    weights = tf.reshape(tf.range(6.0), [3, 2]) * 0.1
    inputs, state = tf.stack([x, x * 2.0, x * 3.0]), tf.zeros([3])
    for t in tf.range(tf.shape(inputs)[0]):
        gates = tf.concat([inputs[t][:, None], state[:, None]], 1) @ tf.transpose(weights)
        state = tf.tanh(state * 0.5 + tf.reduce_sum(gates, 1))
    return state


FUNCTIONS = [
    counted, branch_in_loop, grown_array, until_large, sized_by_shape, case, mapped, element, part_of_matrix,
    moving_slice, moving_window, recurrent,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_result_is_the_plans(function):
    same(function, X)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradient_is_the_plans(function):
    same_gradient(function, X)


def test_many_ops():
    def function(x):
        return tf.nn.softmax(x), tf.argmax(x), tf.sort(x), tf.cumsum(x), tf.linalg.diag(x), tf.one_hot(2, 4)

    same(function, X)


def test_each_shape_is_compiled():
    function = tf.function(lambda x: tf.reduce_sum(x * 2.0), jit_compile=True)
    assert float(function(tf.ones([3]))) == 6.0
    assert float(function(tf.ones([2, 2]))) == 8.0


def test_variables_are_written_after_the_run():
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)

    @tf.function(jit_compile=True)
    def step(x):
        v.assign_add(x * w)
        before = v * 2.0
        v.assign_sub([1.0, 1.0])
        return before

    np.testing.assert_allclose(step(tf.constant([1.0, 1.0])).numpy(), [8.0, 10.0])
    np.testing.assert_allclose(v.numpy(), [3.0, 4.0])
    assert float(w) == 3.0


def test_variables_change_in_branches_and_loops():
    v = tf.Variable(1.0)

    @tf.function(jit_compile=True)
    def step(x):
        if x > 0:
            v.assign(v * 2.0)
        else:
            v.assign(v + 1.0)
        for _ in tf.range(3):
            v.assign_add(x)
        return v.read_value()

    assert float(step(tf.constant(1.0))) == 5.0
    assert float(v) == 5.0
    assert float(step(tf.constant(-1.0))) == 3.0


def test_gradients_of_variables():
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    x = tf.constant([[1.0, -1.0]])

    def gradient(jit):
        function = tf.function(lambda x: tf.tanh(x @ w), jit_compile=jit)
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(function(x))
        return tape.gradient(y, w).numpy()

    np.testing.assert_allclose(gradient(True), gradient(False), rtol=1e-5)


def test_second_order():
    def second(jit):
        function = tf.function(lambda x: tf.exp(x) * x, jit_compile=jit)
        with tf.GradientTape() as outer:
            outer.watch(X)
            with tf.GradientTape() as inner:
                inner.watch(X)
                y = tf.reduce_sum(function(X))
            slope = tf.reduce_sum(inner.gradient(y, X))
        return outer.gradient(slope, X).numpy()

    np.testing.assert_allclose(second(True), second(False), rtol=1e-5)


RANDOM = {
    "normal": lambda: tf.random.normal([5], seed=3),
    "uniform": lambda: tf.random.uniform([5], seed=3),
    "integers": lambda: tf.random.uniform([5], 0, 100, tf.int32, seed=3),
    "truncated": lambda: tf.random.truncated_normal([5], seed=3),
    "shuffle": lambda: tf.random.shuffle(tf.range(6), seed=3),
    "categorical": lambda: tf.random.categorical([[0.1, 0.5, 0.4]], 6, seed=3),
    "dropout": lambda: tf.nn.dropout(tf.ones([8]), 0.5, seed=3),
    "stateless": lambda: tf.random.stateless_normal([4], [1, 2]),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers_are_the_plans(name):
    def drawn(jit):
        tf.random.set_seed(1)
        function = tf.function(RANDOM[name], jit_compile=jit)
        return [function().numpy() for _ in range(3)]

    for a, b in zip(drawn(True), drawn(False), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_random_numbers_in_a_loop_differ():
    def function():
        total = tf.TensorArray(tf.float32, 4)
        for i in tf.range(4):
            total = total.write(i, tf.random.uniform([], seed=5))
        return total.stack()

    def drawn(jit):
        tf.random.set_seed(1)
        return tf.function(function, jit_compile=jit)().numpy()

    got = drawn(True)
    assert len(set(got.tolist())) == 4
    np.testing.assert_allclose(got, drawn(False), rtol=1e-6)


@pytest.mark.parametrize("case", VECTORS, ids=lambda c: "-".join([c["op"], c["dtype"], *c["attrs"]]))
def test_updates_of_optimizers(case):
    dtype = case["dtype"]
    variables = {name: tf.Variable(value, dtype=dtype) for name, value in case["variables"].items()}
    own = {"indices": np.int32, "global_step": np.int64}
    inputs = [tf.constant(np.array(value, own.get(name, dtype))) for name, value in case["inputs"]]
    row = getattr(training, case["op"])

    @tf.function(jit_compile=True)
    def step(*values):
        row(*variables.values(), *values, **case["attrs"])

    step(*inputs)
    tolerance = 4e-6 if dtype == "float32" else 1e-8
    for name, variable in variables.items():
        want = np.reshape(case["expected"][name], variable.shape)
        np.testing.assert_allclose(variable.numpy(), want, rtol=tolerance, atol=tolerance / 10)


@pytest.mark.parametrize("name", ["Update", "Add", "Sub", "Mul", "Div", "Min", "Max"])
def test_scatters_into_variables(name):
    start, rows, new = np.arange(12.0).reshape(4, 3), np.array([3, 0]), np.full((2, 3), 2.0)

    def scattered(jit):
        v = tf.Variable(start)
        row = getattr(scatter_rows, f"ResourceScatter{name}")

        @tf.function(jit_compile=jit)
        def scatter(new):
            row(v, rows, new)

        scatter(tf.constant(new))
        return v.numpy()

    np.testing.assert_allclose(scattered(True), scattered(False))


def test_slices_of_variables():
    v = tf.Variable(np.arange(12.0).reshape(4, 3))

    @tf.function(jit_compile=True)
    def step(x):
        v[1:3, 0].assign(x)
        return tf.gather(v, [1, 3])

    np.testing.assert_allclose(step(tf.constant([-1.0, -2.0], tf.float64)).numpy(), [[-1, 4, 5], [9, 10, 11]])
    np.testing.assert_allclose(v.numpy()[2], [-2, 7, 8])


def test_what_cannot_be_compiled_names_the_line():
    @tf.function(jit_compile=True)
    def function(x):
        return tf.where(x > 0)

    with pytest.raises(tf.errors.UnimplementedError, match=r"Where cannot be compiled.*test_lowering.py:\d+"):
        function(X)


def test_lists_in_loops_of_unknown_length_are_refused():
    @tf.function(jit_compile=True)
    def function(x):
        y = x
        while tf.reduce_sum(tf.abs(y)) < 100.0:
            y = tf.sin(y) * 3.0 + y * y
        return y

    with tf.GradientTape() as tape:
        tape.watch(X)
        with pytest.raises(tf.errors.UnimplementedError, match="number of iterations"):
            function(X)


def test_sizes_that_depend_on_data_are_refused():
    @tf.function(jit_compile=True)
    def function(n):
        return tf.zeros([n])

    with pytest.raises(tf.errors.UnimplementedError, match="has to be known"):
        function(tf.constant(3))


def test_strings_are_refused():
    function = tf.function(lambda s: tf.strings.length(s), jit_compile=True)
    with pytest.raises(tf.errors.UnimplementedError, match=r"[Ss]trings"):
        function(tf.constant("abc"))


def test_jax_stays_as_the_user_configured_it():
    before = jax.config.jax_enable_x64
    same(lambda x: tf.cast(x, tf.float64) * 2, X)
    assert jax.config.jax_enable_x64 == before
    assert jax.numpy.ones(2).dtype == np.float32


def test_no_update_of_another_thread_is_lost():
    v = tf.Variable(tf.zeros([100_000]))
    add = tf.function(lambda: v.assign_add(tf.ones([100_000])), jit_compile=True)
    add()
    threads = [threading.Thread(target=lambda: [add() for _ in range(20)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.unique(v.numpy()).tolist() == [81]

"""The fusion pass: what it joins, what it leaves, and that the results stay."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.graph import passes
from tapeflow.graph.build import tracing
from tapeflow.graph.run import planning


def compiled(function, *inputs, shapes=None):
    """(plan with fusion, plan without)"""
    graph = tracing.body("f", function, inputs, shapes=shapes)
    fused = planning.compile_program(planning.function_program(graph))
    before = passes.PASSES[:]
    passes.PASSES[:] = [p for p in before if p[0] != "fusion"]
    try:
        return fused, planning.compile_program(planning.function_program(graph))
    finally:
        passes.PASSES[:] = before


def kinds(plan):
    return [name for _, name, *_ in plan.instructions]


def check(function, *inputs, shapes=None):
    fused, plain = compiled(function, *inputs, shapes=shapes)
    for a, b in zip(fused(*inputs), plain(*inputs), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5)
    return kinds(fused)


@pytest.fixture
def x(rng):
    return tf.constant(rng.normal(size=(40, 50)).astype(np.float32))


def test_a_chain_and_its_sum_are_one(x):
    assert check(lambda x: tf.reduce_sum(tf.tanh(x * 2 + 1) * tf.exp(-x * x)), x) == ["fused"]


def test_shapes_that_are_known_in_part(x):
    def f(x):
        return tf.nn.relu(x * 2.0) + 1.0

    assert check(f, x, shapes=[(None, 50)]) == ["fused"]
    assert check(f, x, shapes=[(None, None)]) == ["fused"]
    assert "fused" not in check(f, x, shapes=[None])


def test_values_used_elsewhere_are_outputs(x):
    names = check(
        lambda x: (
            tf.exp(x),
            tf.matmul(tf.exp(x) + 1, x, transpose_b=True),
            tf.reduce_max(tf.exp(x) + 1),
        ),
        x,
    )
    assert names.count("fused") == 1


def test_what_lies_between_is_not_jumped_over(x):
    def f(x):
        a = tf.exp(x)
        b = tf.matmul(a, x, transpose_b=True)  # reads the first group, and is read by the second
        return tf.tanh(a[:, :40] * b) + 1

    names = check(f, x)
    assert names.index("MatMul") < names.index("fused")


def test_groups_that_meet_become_one(x):
    assert check(lambda x: tf.exp(x * 2) + tf.tanh(x + 1), x) == ["fused"]


def test_biases_and_columns(x, rng):
    row = tf.constant(rng.normal(size=50).astype(np.float32))
    column = tf.constant(rng.normal(size=(40, 1)).astype(np.float32))
    assert check(lambda x, r, c: tf.nn.relu(tf.nn.bias_add(x, r)) * c, x, row, column) == ["fused"]


def test_sums_of_many(x):
    assert check(lambda x: tf.add_n([x, tf.exp(x), tf.tanh(x)]) * 2, x) == ["fused"]


def test_small_groups_of_few_elements_stay_apart():
    small = tf.constant([1.0, 2.0])
    assert check(lambda x: tf.exp(x) + 1, small) == ["Exp", "AddV2"]
    assert check(lambda x: tf.tanh(tf.exp(tf.exp(x) + 1) * 2), small) == ["fused"]


def test_reductions_of_some_axes_stay_apart(x):
    assert check(lambda x: tf.reduce_sum(tf.exp(x) + 1, 0), x) == ["fused", "Sum"]
    assert check(lambda x: tf.reduce_sum(tf.exp(x) + 1, keepdims=True), x) == ["fused", "Sum"]


def test_broadcasts_that_loops_do_not_know_stay_apart(rng):
    a = tf.constant(rng.normal(size=(8, 9, 10)).astype(np.float32))
    b = tf.constant(rng.normal(size=(8, 1, 10)).astype(np.float32))
    assert "AddV2" in check(lambda a, b: tf.exp(tf.tanh(a) + b) * 2, a, b)
    assert "AddV2" in check(lambda a, b: tf.exp(a[:, :1] + b[:1]) * 2, a, b)


def test_choices_and_casts(x):
    def f(x):
        return tf.where(x > 0.5, x, tf.cast(x < 0, tf.float32)) * tf.cast(
            tf.cast(x, tf.int32), tf.float32
        )

    assert check(f, x) == ["fused"]


def test_long_chains_are_cut(x):
    def f(x):
        for _ in range(120):
            x = tf.tanh(x) * 1.5
        return x

    names = check(f, x)
    assert set(names) == {"fused"}
    assert 3 <= len(names) <= 8


def test_errors_name_the_op():
    a, b = tf.ones((300, 2)), tf.ones((300, 3))
    fused, _ = compiled(lambda a, b: tf.exp(a + b) * 2, a, b, shapes=[(None, None), (None, None)])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"(?s)Incompatible shapes.*\[Op:AddV2\]"
    ):
        fused(a, b)


def test_gradients(x):
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.tanh(x * 2 + 1) * tf.exp(-x * x))
        return tape.gradient(y, x)

    assert "fused" in check(f, x)


def test_integers_and_booleans():
    n = tf.range(4000)
    y = tf.cast(n, tf.float32) - 1000.0
    assert check(lambda x: (x * 3 + 7) // 5 % 11, n) == ["fused"]
    assert check(
        lambda x, y: tf.reduce_sum(tf.cast((x > 0) & (y < 0) | ~(x < y), tf.int32)), -y, y
    ) == ["fused"]
    assert check(lambda x, d: x * 2 // d + 1, n, n + 1) == ["fused"]


def test_divisors_that_are_computed_stay_apart():
    names = check(lambda x: x * 2 // (x + 1) + 1, tf.range(4000))
    assert "FloorDiv" in names


@pytest.mark.parametrize("size", [1, 63, 64, 65, 64 * 255, 64 * 255 + 1, 100_003])
@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_truth_values_are_counted(rng, size, dtype):
    x = tf.constant(rng.normal(size=size).astype(np.float32))

    def counted(x):
        return tf.reduce_sum(tf.cast((x > 0) | (x < -1), dtype))

    def both(x):
        ones = tf.cast(x > 0, dtype)
        return tf.reduce_sum(ones), ones * 2, tf.reduce_max(ones), tf.reduce_sum(tf.cast(x > 0, tf.float32))

    for function in (counted, both):
        check(function, x)
    fused, _ = compiled(counted, tf.ones([size]))
    assert fused(tf.ones([size]))[0].numpy() == size

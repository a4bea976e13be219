"""Random numbers in graphs: the streams that TensorFlow's seeds give its functions and sessions."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.graph

# What TensorFlow 2.21 draws from [0, 1) with graph seed 5 and the first op seeds, call by call.
FIRST = [0.18286, 0.68999], [0.93639, 0.65133], [0.06604, 0.48455]
SECOND = [0.38752, 0.74855], [0.96470, 0.26856]


def function(python_function):
    return tf.function(python_function, autograph=False)


def near(tensor, want):
    np.testing.assert_allclose(tensor.numpy(), want, atol=1e-5)


def draw(**kwargs):
    return tf.random.uniform([2], **kwargs)


def test_calls_continue_and_functions_start_alike():
    tf.random.set_seed(5)
    f, g = function(lambda: draw()), function(lambda: draw())
    for want in FIRST[:2]:
        near(f(), want)
    near(g(), FIRST[0])
    near(f(), FIRST[2])
    tf.random.set_seed(5)
    near(f(), FIRST[0])


def test_each_op_has_a_stream_of_its_own():
    tf.random.set_seed(5)
    f = function(lambda: (draw(), draw(), draw(seed=3), draw(seed=3)))
    for i in range(2):
        a, b, c, d = f()
        near(a, FIRST[i])
        near(b, SECOND[i])
        np.testing.assert_array_equal(c, d)
    near(c, [0.50561, 0.73339])


def test_calls_of_a_function_in_another_have_streams_of_their_own():
    tf.random.set_seed(5)
    inner = function(lambda: draw())
    outer = function(lambda: (draw(), inner(), inner(), draw()))
    for i in range(2):
        a, b, c, d = outer()
        for x in (a, b, c):
            near(x, FIRST[i])
        near(d, SECOND[i])


def test_seed_set_inside_of_a_function():
    tf.random.set_seed(5)

    @function
    def f():
        a = draw()
        tf.random.set_seed(9)
        return a, draw(), draw(seed=1)

    for want in (0.99037, 0.94187), (0.51269, 0.37447):
        _, b, c = f()
        near(b, want)
        near(c, want)


def test_eager_draws_do_not_disturb_functions():
    tf.random.set_seed(5)
    near(draw(), [0.62639, 0.52984])
    near(function(lambda: draw())(), FIRST[0])
    near(draw(), [0.70171, 0.04337])


def test_other_distributions():
    tf.random.set_seed(5)

    @function
    def f(x):
        return (
            tf.random.shuffle(x), tf.random.gamma([2], 2.0), tf.random.categorical([[0.0, 1.0]], 4),
            tf.random.poisson([3], 4.0), tf.random.truncated_normal([2]),
            tf.random.uniform([3], 0, 10, tf.int32), tf.nn.dropout(tf.ones([6]), 0.5),
        )  # fmt: skip

    wanted = (
        ([2, 1, 3, 0, 4], [0.31479, 2.24352], [[0, 0, 0, 1]], [8, 5, 1], [-0.13512, 0.57511],
         [6, 5, 6], [2, 0, 2, 2, 0, 2]),
        ([0, 3, 2, 4, 1], [0.91103, 1.16968], [[0, 0, 0, 1]], [2, 4, 2], [-0.70344, 1.28033],
         [9, 1, 1], [2, 0, 0, 0, 0, 2]),
    )  # fmt: skip
    for want in wanted:
        for x, y in zip(f(tf.range(5)), want, strict=True):
            near(x, y)


def test_sessions_start_anew():
    graph = tf.Graph()
    with graph.as_default():
        tf.compat.v1.set_random_seed(5)
        ys = [draw(), draw(), draw(seed=4)]
        assert [y.op.get_attr("seed2") for y in ys] == [0, 1, 4]
        for _ in range(2):
            with tf.compat.v1.Session() as session:
                for i in range(2):
                    a, b, _ = session.run(ys)
                    np.testing.assert_allclose(a, FIRST[i], atol=1e-5)
                    np.testing.assert_allclose(b, SECOND[i], atol=1e-5)


def test_without_seeds_numbers_differ():
    f = function(lambda g: g.uniform([4]))
    g = tf.random.Generator.from_non_deterministic_state()
    assert not np.allclose(f(g), f(g))


def sizes(*dims):
    return tf.constant(dims, tf.int32)


CALLS = {
    "uniform": lambda s, p: tf.random.uniform(s, p, p + 1),
    "uniform of integers": lambda s, p: tf.random.uniform(s, 0, tf.cast(p, tf.int32) + 5, tf.int32),
    "uniform, sizes apart": lambda s, p: tf.random.uniform([s[0], 3]),
    "normal": lambda s, p: tf.random.normal(s, p, p),
    "truncated": lambda s, p: tf.random.truncated_normal(s, p, p),
    "shuffle": lambda s, p: tf.random.shuffle(tf.zeros(s)),
    "categorical": lambda s, p: tf.random.categorical(tf.zeros(s), s[0]),
    "multinomial": lambda s, p: tf.compat.v1.multinomial(tf.zeros(s), s[0]),
    "gamma": lambda s, p: tf.random.gamma(s, p, p * 2),
    "poisson": lambda s, p: tf.random.poisson(s, p),
    "crop": lambda s, p: tf.compat.v1.random_crop(tf.zeros(s), s - 1),
    "dropout": lambda s, p: tf.nn.dropout(tf.ones(s), p / 10),
    "dropout, noise shape": lambda s, p: tf.nn.dropout(tf.ones(s), p / 10, noise_shape=[s[0], 1]),
    "dropout, partial noise": lambda s, p: tf.nn.dropout(tf.ones(s), 0.3, noise_shape=[None, 1]),
}


@pytest.mark.parametrize("label", CALLS)
@pytest.mark.parametrize("known", [True, False])
def test_arguments_that_are_tensors(label, known):
    arguments = sizes(3, 4), tf.constant(2.0)
    specs = [tf.TensorSpec(x.shape if known else None, x.dtype) for x in arguments]
    if label == "dropout, partial noise" and not known:
        specs[0] = tf.TensorSpec([2], tf.int32)
    want = CALLS[label](*arguments)
    got = tf.function(CALLS[label], autograph=False, input_signature=specs)(*arguments)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)


GENERATOR_CALLS = {
    "normal": lambda g, s: g.normal(s, 1.0, 2.0),
    "uniform": lambda g, s: g.uniform(s, 0, 5, tf.int32),
    "uniform, floats": lambda g, s: g.uniform([s[0], 2]),
    "full": lambda g, s: g.uniform_full_int(s),
    "truncated": lambda g, s: g.truncated_normal(s),
    "seeds": lambda g, s: g.make_seeds(2),
    "skip": lambda g, s: g.skip(s[0]),
    "reset": lambda g, s: [g.reset_from_seed(7), g.normal(s)][1],
    "reset, seed of the graph": lambda g, s: [g.reset_from_seed(s), g.normal(s)][1],
    "reset, state": lambda g, s: [g.reset(tf.cast(tf.concat([s, [1]], 0), tf.int64)), g.normal(s)][
        1
    ],
    "key": lambda g, s: [g.reset_from_key_counter(s[0], tf.cast(s, tf.int64)), g.normal(s)][1],
}


@pytest.mark.parametrize("label", GENERATOR_CALLS)
def test_generators_draw_the_same_in_functions(label):
    eager, staged = (tf.random.Generator.from_seed(3) for _ in range(2))
    f = function(lambda s: GENERATOR_CALLS[label](staged, s))
    for _ in range(2):
        want, got = GENERATOR_CALLS[label](eager, sizes(3, 2)), f(sizes(3, 2))
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(staged.state, eager.state)

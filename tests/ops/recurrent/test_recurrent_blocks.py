"""Layers of LSTM cells as one op: gradients, steps after the longest sequence, graphs."""

import numpy as np
import pytest

import tapeflow as tf

OPS = [tf.raw_ops.BlockLSTM, tf.raw_ops.BlockLSTMV2]


def inputs():
    draw = np.random.default_rng(3)
    state = {"x": (3, 2, 3), "cs_prev": (2, 2), "h_prev": (2, 2), "w": (5, 8), "wci": (2,), "wcf": (2,), "wco": (2,)}
    return {k: tf.constant(draw.normal(size=s), tf.float32) for k, s in {**state, "b": (8,)}.items()}


def check_slopes(loss, given, slopes):
    """Compares slopes with differences of the loss, along a random direction of each input."""
    for key, slope in slopes.items():
        direction = np.random.default_rng(4).normal(size=given[key].shape).astype(np.float32)
        ends = [float(loss(**{**given, key: given[key] + step * direction})) for step in (1e-2, -1e-2)]
        np.testing.assert_allclose((ends[0] - ends[1]) / 2e-2, np.sum(slope.numpy() * direction), rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("graph", [False, True])
def test_gradient_of_the_last_output_is_the_numeric_one(op, graph):
    given = inputs()

    def loss(**arguments):
        out = op(seq_len_max=3, **arguments, cell_clip=0.0, use_peephole=True)
        return tf.reduce_sum(tf.sin(out.h)) + tf.reduce_sum(out.cs * 0.5)

    run = tf.function(loss) if graph else loss
    with tf.GradientTape() as tape:
        tape.watch(list(given.values()))
        y = run(**given)
    check_slopes(loss, given, tape.gradient(y, given))


@pytest.mark.parametrize("op", OPS)
def test_steps_after_the_longest_sequence_are_zero(op):
    given = inputs()
    shorter, longer = (op(seq_len_max=n, **given) for n in (2, 3))
    for short, long in zip(shorter, longer, strict=True):
        np.testing.assert_array_equal(short[:2], long[:2])
        np.testing.assert_array_equal(short[2], 0)


def test_gradient_of_another_shape_is_refused():
    given = inputs()
    out = tf.raw_ops.BlockLSTM(seq_len_max=3, **given)
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        tf.raw_ops.BlockLSTMGrad(
            seq_len_max=3, **given, **out._asdict(), cs_grad=out.cs, h_grad=out.h[1:], use_peephole=False
        )


@pytest.mark.parametrize("graph", [False, True])
def test_gradient_of_a_gru_cell_is_the_numeric_one(graph):
    draw = np.random.default_rng(3)
    sizes = {"x": (2, 3), "h_prev": (2, 2), "w_ru": (5, 4), "w_c": (5, 2), "b_ru": (4,), "b_c": (2,)}
    given = {key: tf.constant(draw.normal(size=size), tf.float32) for key, size in sizes.items()}

    def loss(**arguments):
        return tf.reduce_sum(tf.sin(tf.raw_ops.GRUBlockCell(**arguments).h))

    run = tf.function(loss) if graph else loss
    with tf.GradientTape() as tape:
        tape.watch(list(given.values()))
        y = run(**given)
    check_slopes(loss, given, tape.gradient(y, given))

"""Stacks with one vector of parameters, against loops over cells with the same matrices."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import cudnn_rnn

UNITS, DEPTH, TIME, BATCH = 3, 2, 4, 2


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step(mode, weights, biases, x, h, c):
    """A step in NumPy: matrices of the inputs, then of the state, and as many biases."""
    n = len(weights) // 2
    a = [x @ w.T + b for w, b in zip(weights[:n], biases[:n], strict=True)]
    r = [h @ w.T + b for w, b in zip(weights[n:], biases[n:], strict=True)]
    if mode == "lstm":
        i, f, g, o = (p + q for p, q in zip(a, r, strict=True))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    if mode == "gru":
        reset, update = sigmoid(a[0] + r[0]), sigmoid(a[1] + r[1])
        return (1 - update) * np.tanh(a[2] + reset * r[2]) + update * h, c
    return (np.tanh if mode == "rnn_tanh" else lambda v: np.maximum(v, 0))(a[0] + r[0]), c


def stacked(layer, parameters, x, lengths):
    at, weights, biases = 0, [], []
    for shape in (*layer.canonical_weight_shapes, *layer.canonical_bias_shapes):
        count = int(np.prod(shape))
        (weights if len(shape) == 2 else biases).append(parameters[at : at + count].reshape(shape))
        at += count
    assert at == len(parameters)
    per, states = len(weights) // (layer.num_layers * layer.num_dirs), []
    for _ in range(layer.num_layers):
        sides = []
        for direction in range(layer.num_dirs):
            own, weights, own_biases, biases = weights[:per], weights[per:], biases[:per], biases[per:]
            out, last = np.zeros((*x.shape[:2], UNITS)), np.zeros((2, x.shape[1], UNITS))
            for b, n in enumerate(lengths):
                h = c = np.zeros(UNITS)
                for t in reversed(range(n)) if direction else range(n):
                    h, c = step(layer.rnn_mode, own, own_biases, x[t, b], h, c)
                    out[t, b] = h
                last[:, b] = h, c
            sides.append(out)
            states.append(last)
        x = np.concatenate(sides, -1)
    return x, np.stack(states, 1)


@pytest.mark.parametrize("direction", ["unidirectional", "bidirectional"])
@pytest.mark.parametrize("lengths", [None, [4, 2]])
@pytest.mark.parametrize("kind", ["CudnnLSTM", "CudnnGRU", "CudnnRNNTanh", "CudnnRNNRelu"])
def test_a_stack_is_the_loop_over_its_matrices(kind, direction, lengths):
    x = np.random.default_rng(0).normal(size=(TIME, BATCH, DEPTH)).astype("f")
    layer = getattr(cudnn_rnn, kind)(
        2, UNITS, direction=direction, bias_initializer=tf.random_uniform_initializer(-1, 1, seed=1)
    )
    outputs, states = layer(tf.constant(x), sequence_lengths=lengths)
    assert [v.name.split("/")[-1] for v in layer.trainable_variables] == ["opaque_kernel:0"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, last, kernel = session.run([outputs, states, layer.kernel])
    want, want_states = stacked(layer, kernel, x, lengths or [TIME] * BATCH)
    np.testing.assert_allclose(found, want, atol=1e-5)
    for each, expected in zip(last, want_states, strict=False):
        np.testing.assert_allclose(each, expected, atol=1e-5)


def test_batch_major_and_an_initial_state():
    x = np.random.default_rng(1).normal(size=(TIME, BATCH, DEPTH)).astype("f")
    h, c = np.random.default_rng(2).normal(size=(2, 1, BATCH, UNITS)).astype("f")
    layer = cudnn_rnn.CudnnLSTM(1, UNITS)
    one = layer(tf.constant(x), initial_state=(h, c))
    swapped = layer(
        tf.constant(x.swapaxes(0, 1)), initial_state=(h.swapaxes(0, 1), c.swapaxes(0, 1)), time_major=False
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        (outputs, states), (outputs2, states2) = session.run([one, swapped])
    np.testing.assert_allclose(outputs2.swapaxes(0, 1), outputs, atol=1e-6)
    np.testing.assert_allclose(states2[1].swapaxes(0, 1), states[1], atol=1e-6)
    with pytest.raises(TypeError, match="expecting tuple"):
        layer(tf.constant(x), initial_state=[h, c])


def test_dropout_acts_between_layers_in_training_only():
    layer = cudnn_rnn.CudnnGRU(2, 32, dropout=0.5, seed=3)
    x = tf.ones([2, 4, 8])
    train, test = layer(x, training=True)[0], layer(x, training=False)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first, second, plain, again = session.run([train, layer(x, training=True)[0], test, test])
        assert np.abs(first - plain).max() > 1e-3
        np.testing.assert_array_equal(plain, again)
        assert first.shape == second.shape == (2, 4, 32)


@pytest.mark.parametrize("change", [{"direction": "backward"}, {"input_mode": "none"}, {"dtype": tf.int32}])
def test_wrong_arguments_raise(change):
    with pytest.raises(ValueError, match=r"direction|input mode|float16"):
        cudnn_rnn.CudnnLSTM(1, 2, **change)


def test_compatible_cells_compute_what_a_layer_does():
    x = np.random.default_rng(4).normal(size=(TIME, BATCH, DEPTH)).astype("f")
    gru, lstm = cudnn_rnn.CudnnCompatibleGRUCell(UNITS), cudnn_rnn.CudnnCompatibleLSTMCell(UNITS)
    outputs = [tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, time_major=True)[0] for cell in (gru, lstm)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        (found_gru, found_lstm), values = session.run([outputs, {v.name: v for v in tf.global_variables()}])
    g = {name.split("cell/")[1]: value for name, value in values.items() if "gru" in name}
    gates, bias = np.split(g["gates/kernel:0"], 2, 1), np.split(g["gates/bias:0"], 2)
    projected = [g[f"candidate/{side}_projection/kernel:0"].T for side in ("input", "hidden")]
    weights = [*(m[:DEPTH].T for m in gates), projected[0], *(m[DEPTH:].T for m in gates), projected[1]]
    biases = [*bias, g["candidate/input_projection/bias:0"], *np.zeros((2, UNITS))]
    biases.append(g["candidate/hidden_projection/bias:0"])
    lstm_kernel = next(v for name, v in values.items() if "lstm_cell/kernel" in name)
    i, j, f, o = np.split(lstm_kernel, 4, 1)
    lstm_weights = [m[:DEPTH].T for m in (i, f, j, o)] + [m[DEPTH:].T for m in (i, f, j, o)]
    for mode, found, w, b in (
        ("gru", found_gru, weights, biases), ("lstm", found_lstm, lstm_weights, np.zeros((8, UNITS)))
    ):  # fmt: skip
        h = c = np.zeros((BATCH, UNITS))
        for t in range(TIME):
            h, c = step(mode, w, b, x[t], h, c)
            np.testing.assert_allclose(found[t], h, atol=1e-5)

"""Sequences as lists of tensors: decoders, losses, buckets."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import legacy_seq2seq as legacy


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def symbols():
    return [tf.constant([1, 2])] * 3, [tf.constant([0, 1])] * 4


def test_rnn_decoder_feeds_what_the_loop_gives():
    cell = tf.nn.rnn_cell.GRUCell(3)
    seen = []

    def loop(previous, step):
        seen.append(step)
        return previous

    outputs, state = legacy.rnn_decoder([tf.ones([2, 3])] * 4, tf.zeros([2, 3]), cell, loop)
    assert seen == [1, 2, 3]
    assert len(tf.global_variables()) == 4
    found = run([outputs, state])
    np.testing.assert_array_equal(found[0][-1], found[1])


@pytest.mark.parametrize("kind", ["basic", "tied"])
def test_two_sequences(kind):
    cell = tf.nn.rnn_cell.BasicRNNCell(3)
    inputs = [tf.ones([2, 3])] * 4
    make = legacy.basic_rnn_seq2seq if kind == "basic" else legacy.tied_rnn_seq2seq
    outputs, _ = make(inputs, inputs, cell)
    assert [x.shape for x in outputs] == [(2, 3)] * 4
    assert len(tf.global_variables()) == (4 if kind == "basic" else 2)


@pytest.mark.parametrize("feeds", [True, False])
def test_embeddings_and_a_condition(feeds):
    encoded, decoded = symbols()
    condition = tf.placeholder_with_default(feeds, [])
    with tf.variable_scope("s", initializer=tf.random_uniform_initializer(seed=1)):
        both, state = legacy.embedding_rnn_seq2seq(
            encoded, decoded, tf.nn.rnn_cell.GRUCell(5), 7, 6, 3, feed_previous=condition
        )
    count = len(tf.global_variables())
    with tf.variable_scope("s", reuse=True):
        one, _ = legacy.embedding_rnn_seq2seq(
            encoded, decoded, tf.nn.rnn_cell.GRUCell(5), 7, 6, 3, feed_previous=feeds
        )
    assert len(tf.global_variables()) == count
    assert state.shape == (2, 5)
    found, expected = run([both, one])
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_losses():
    logits = [tf.constant([[1.0, 2, 3], [0, 0, 0]])] * 2
    targets = [tf.constant([0, 1]), tf.constant([2, 2])]
    weights = [tf.constant([1.0, 1.0]), tf.constant([1.0, 0.0])]
    first = np.log(np.exp([1.0, 2, 3]).sum()) - 2  # the mean of -log p(0) and -log p(2)
    found = run(
        [
            legacy.sequence_loss_by_example(logits, targets, weights),
            legacy.sequence_loss(logits, targets, weights),
        ]
    )
    np.testing.assert_allclose(found[0], [first, np.log(3)], rtol=1e-6)
    np.testing.assert_allclose(found[1], (first + np.log(3)) / 2, rtol=1e-6)
    with pytest.raises(ValueError, match="must be the same 2, 1, 2"):
        legacy.sequence_loss_by_example(logits, targets, weights[:1])


def test_buckets():
    encoded, decoded = symbols()

    def model(source, target):
        return legacy.embedding_rnn_seq2seq(source, target, tf.nn.rnn_cell.GRUCell(5), 7, 6, 3)

    weights = [tf.ones([2])] * 4
    outputs, losses = legacy.model_with_buckets(
        encoded, decoded, decoded, weights, [(2, 2), (3, 4)], model
    )
    assert [len(x) for x in outputs] == [2, 4]
    assert all(np.isfinite(run(losses)))
    with pytest.raises(ValueError, match=r"Length of encoder_inputs \(1\)"):
        legacy.model_with_buckets(encoded[:1], decoded, decoded, weights, [(2, 2)], model)


def test_devices_of_a_session():
    with tf.Session() as session:
        (host, *_) = session.list_devices()
    assert host.name == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert host.device_type == "CPU"
    assert host.memory_limit_bytes > 0
    assert repr(host).startswith("_DeviceAttributes(/job:localhost/replica:0/task:0/device:CPU:0, CPU, ")


def test_attention_decoder_projects_what_it_reads_from_a_memory_of_one_row():
    cell = tf.nn.rnn_cell.GRUCell(2)
    memory = tf.constant([[[1.0, 2.0, 3.0]]])
    outputs, state = legacy.attention_decoder([tf.ones([1, 2])] * 3, tf.zeros([1, 2]), memory, cell, output_size=4)
    names = {v.name.removeprefix("attention_decoder/"): v for v in tf.global_variables()}
    assert set(names) == {
        "AttnW_0:0", "AttnV_0:0", "kernel:0", "bias:0", "gru_cell/gates/kernel:0", "gru_cell/gates/bias:0",
        "gru_cell/candidate/kernel:0", "gru_cell/candidate/bias:0", "Attention_0/kernel:0", "Attention_0/bias:0",
        "AttnOutputProjection/kernel:0", "AttnOutputProjection/bias:0",
    }  # fmt: skip
    found, last, weights, bias = run(
        [outputs, state, names["AttnOutputProjection/kernel:0"], names["AttnOutputProjection/bias:0"]]
    )
    assert len(found) == 3
    read = np.concatenate([last, [[1, 2, 3]]], 1)
    terms = np.abs(read) @ np.abs(weights) + np.abs(bias)  # where they cancel, their rounding stays
    np.testing.assert_array_less(np.abs(found[-1] - (read @ weights + bias)), 4 * np.finfo(np.float32).eps * terms)
    for change in ({"num_heads": 0}, {"decoder_inputs": []}):
        given = {"decoder_inputs": outputs, "initial_state": state, "attention_states": memory, "cell": cell}
        with pytest.raises(ValueError, match=r"heads|at least 1 input"):
            legacy.attention_decoder(**{**given, **change})


@pytest.mark.parametrize(
    "model", ["embedding_attention_seq2seq", "embedding_tied_rnn_seq2seq", "embedding_rnn_seq2seq"]
)
def test_a_tensor_decides_whether_the_last_symbol_is_fed(model):
    encoded, decoded = symbols()
    feeds = tf.placeholder(tf.bool)
    counts = [5, 6] if "tied" not in model else [6]

    def made(feed_previous):
        cell = tf.nn.rnn_cell.LSTMCell(3)
        return getattr(legacy, model)(encoded, decoded, cell, *counts, 2, feed_previous=feed_previous)[0]

    with tf.variable_scope("all"):
        chosen = made(feeds)
    with tf.variable_scope("all", reuse=True):
        given, fed = made(False), made(True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for feed, want in ((False, given), (True, fed)):
            found, expected = session.run([chosen, want], {feeds: feed})
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_one_encoder_feeds_several_decoders():
    encoded, decoded = symbols()
    cells = {"a": tf.nn.rnn_cell.GRUCell(3), "b": tf.nn.rnn_cell.GRUCell(3)}
    inputs = {"a": decoded, "b": decoded[:2]}
    outputs, states = legacy.one2many_rnn_seq2seq(
        encoded, inputs, tf.nn.rnn_cell.GRUCell(3), cells, 5, {"a": 6, "b": 7}, 2
    )
    assert [x.shape.as_list() for x in outputs["a"]] == [[2, 6]] * 4
    assert [x.shape.as_list() for x in outputs["b"]] == [[2, 7]] * 2
    assert {name: x.shape.as_list() for name, x in states.items()} == {"a": [2, 3], "b": [2, 3]}
    with pytest.raises(ValueError, match="keys"):
        legacy.one2many_rnn_seq2seq(encoded, inputs, tf.nn.rnn_cell.GRUCell(3), {"a": cells["a"]}, 5, {}, 2)

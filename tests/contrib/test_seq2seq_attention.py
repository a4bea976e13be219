"""Mechanisms of attention, against NumPy, and those that programs write themselves."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import seq2seq
from tapeflow.contrib.seq2seq import _BaseAttentionMechanism

RNG = np.random.default_rng(0)
MEMORY = RNG.normal(size=(2, 4, 3)).astype("f")
LENGTHS = [4, 2]
QUERY = RNG.normal(size=(2, 3)).astype("f")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def softmax(scores, lengths=LENGTHS):
    weights = np.exp(scores) * (np.arange(scores.shape[1]) < np.array(lengths)[:, None])
    return weights / weights.sum(1, keepdims=True)


def probabilities(mechanism):
    alignments, state = mechanism(tf.constant(QUERY), mechanism.initial_state(2, tf.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, kept, values = session.run([alignments, state, {v.name: v for v in tf.global_variables()}])
    np.testing.assert_array_equal(found, kept)
    return found, {name.split("/", 1)[-1].removesuffix(":0"): value for name, value in values.items()}


def test_luong():
    mechanism = seq2seq.LuongAttention(3, MEMORY, LENGTHS, scale=True)
    found, values = probabilities(mechanism)
    keys = MEMORY @ values["kernel"]
    np.testing.assert_allclose(found, softmax(np.einsum("btd,bd->bt", keys, QUERY) * values["attention_g"]), atol=1e-6)
    assert mechanism.alignments_size == 4


@pytest.mark.parametrize("normalize", [False, True])
def test_bahdanau(normalize):
    mechanism = seq2seq.BahdanauAttention(5, MEMORY, LENGTHS, normalize=normalize)
    alignments, _ = mechanism(tf.constant(QUERY), mechanism.initial_state(2, tf.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, query, keys = session.run([alignments, mechanism.query_layer(tf.constant(QUERY)), mechanism.keys])
        values = session.run({v.op.name.split("/")[-1]: v for v in tf.global_variables()})
    v = values["attention_v"]
    if normalize:
        v = v / np.linalg.norm(v) * values["attention_g"]
    hidden = np.tanh(keys + query[:, None] + values.get("attention_b", 0))
    np.testing.assert_allclose(found, softmax((v * hidden).sum(-1)), atol=1e-6)


class Dot(_BaseAttentionMechanism):
    """As programs write them: on the base's attributes."""

    def __init__(self, units, memory, lengths):
        super().__init__(
            query_layer=None, memory=memory, probability_fn=lambda score, _: tf.nn.softmax(score),
            memory_sequence_length=lengths, memory_layer=tf.layers.Dense(units, use_bias=False), name="Dot",
        )  # fmt: skip

    def __call__(self, query, state):
        score = tf.reduce_sum(self._keys * tf.expand_dims(query, 1), 2)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def test_a_mechanism_of_a_program_reads_in_the_wrapper():
    mechanism = Dot(3, MEMORY, LENGTHS)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), mechanism, alignment_history=True)
    output, state = cell(tf.constant(QUERY), cell.zero_state(2, tf.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, inner, weights, keys, values = session.run(
            [output, state.cell_state, state.alignments, mechanism.keys, mechanism.values]
        )
    np.testing.assert_allclose(weights, softmax(np.einsum("btd,bd->bt", keys, inner)), atol=1e-6)
    np.testing.assert_allclose(found, np.einsum("bt,btd->bd", weights, values), atol=1e-6)


@pytest.mark.parametrize(("change", "error", "match"), [
    ({"query_layer": 1}, TypeError, "query_layer is not a Layer: int"),
    ({"memory_layer": len}, TypeError, "memory_layer is not a Layer"),
    ({"probability_fn": 1}, TypeError, "must be callable"),
    ({"memory": "unknown"}, ValueError, "fully defined inner dims"),
])  # fmt: skip
def test_wrong_arguments_of_a_mechanism(change, error, match):
    if change.get("memory"):
        change = {"memory": tf.placeholder(tf.float32, [2, 4, None])}
    given = {"query_layer": None, "memory": MEMORY, "probability_fn": tf.nn.softmax, **change}
    with pytest.raises(error, match=match):
        _BaseAttentionMechanism(**given)

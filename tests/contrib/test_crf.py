"""tf.contrib.crf, against all sequences of tags counted one by one."""

import itertools

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import crf

RNG = np.random.default_rng(5)
TAGS = 3


def every(length):
    return [np.array(tags, int) for tags in itertools.product(range(TAGS), repeat=length)]


def score_of(inputs, tags, transitions):
    return inputs[np.arange(len(tags)), tags].sum() + transitions[tags[:-1], tags[1:]].sum()


def run(*fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("lengths", [[4, 2, 1, 0], [1, 1, 0, 1], [3, 3, 3, 3]])
def test_scores(lengths, dtype):
    longest = max(lengths)
    inputs = RNG.normal(size=(4, longest, TAGS)).astype(np.float32)
    transitions = RNG.normal(size=(TAGS, TAGS)).astype(np.float32)
    tags = RNG.integers(0, TAGS, (4, longest)).astype(dtype)
    allowed = RNG.uniform(size=inputs.shape) < 0.7
    allowed[..., 0] = True
    given = [tf.constant(lengths, dtype), tf.constant(transitions)]
    likelihood, _ = crf.crf_log_likelihood(inputs, tags, *given)
    got = run(
        crf.crf_sequence_score(inputs, tags, *given), crf.crf_log_norm(inputs, *given), likelihood,
        crf.crf_multitag_sequence_score(inputs, allowed, *given), *crf.crf_decode(inputs, given[1], given[0]),
    )  # fmt: skip
    for i, n in enumerate(lengths):
        if not n:
            assert got[0][i] == got[1][i] == got[2][i] == 0
            continue
        scores = {tuple(t): score_of(inputs[i, :n], t, transitions) for t in every(n)}
        total = np.logaddexp.reduce(list(scores.values()))
        own = scores[tuple(tags[i, :n])]
        np.testing.assert_allclose([got[0][i], got[1][i], got[2][i]], [own, total, own - total], rtol=1e-4, atol=1e-5)
        some = [s for t, s in scores.items() if allowed[i, np.arange(n), list(t)].all()]
        np.testing.assert_allclose(got[3][i], np.logaddexp.reduce(some), rtol=1e-4, atol=1e-5)
        best = max(scores, key=scores.get)
        assert tuple(got[4][i, :n]) == best
        np.testing.assert_allclose(got[5][i], scores[best], rtol=1e-4)
        by_numpy = crf.viterbi_decode(inputs[i, :n], transitions)
        assert tuple(by_numpy[0]) == best
        np.testing.assert_allclose(by_numpy[1], scores[best], rtol=1e-4)


def test_transitions_are_a_variable():
    inputs = tf.constant(RNG.normal(size=(2, 3, TAGS)).astype(np.float32))
    likelihood, transitions = crf.crf_log_likelihood(inputs, tf.zeros([2, 3], tf.int32), [3, 2])
    assert [v.name for v in tf.global_variables()] == ["transitions:0"]
    assert transitions.shape == (TAGS, TAGS)
    gradient = tf.gradients(likelihood, transitions)[0]
    assert np.isfinite(run(gradient)[0]).all()


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("time_major", [True, False])
def test_rnn_of_no_steps(known, time_major):
    shape = [0, 2, 5] if time_major else [2, 0, 5]
    inputs = tf.placeholder(tf.float32, shape if known else [None, None, 5])
    cell = tf.nn.rnn_cell.BasicRNNCell(4)
    outputs, state = tf.nn.dynamic_rnn(cell, inputs, initial_state=tf.ones([2, 4]), time_major=time_major)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        outputs, state = session.run([outputs, state], {inputs: np.zeros(shape)})
    assert outputs.shape == ((0, 2, 4) if time_major else (2, 0, 4))
    np.testing.assert_array_equal(state, np.ones([2, 4]))

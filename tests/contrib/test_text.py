"""tf.contrib.text: which pairs of tokens there are, and how often."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import lookup, text

from .contrib_values import BOTH, value

WORDS = np.array([b"the", b"quick", b"brown", b"fox", b"jumps"])


def pairs(words, skips, emit_self=False):
    return [
        (a, b)
        for i, a in enumerate(words)
        for j, b in enumerate(words)
        if abs(i - j) <= skips and (emit_self or i != j)
    ]


@BOTH
@pytest.mark.parametrize("emit_self", [False, True])
@pytest.mark.parametrize("skips", [0, 1, 2, 9])
def test_windows_of_one_width(how, emit_self, skips):
    tokens, labels = value(how, text.skip_gram_sample, WORDS, skips, skips, emit_self_as_target=emit_self)
    assert list(zip(tokens.tolist(), labels.tolist(), strict=True)) == pairs(WORDS.tolist(), skips, emit_self)


@BOTH
def test_part_of_a_text_of_numbers(how):
    tokens, labels = value(how, text.skip_gram_sample, np.arange(10), 1, 1, start=3, limit=4)
    assert tokens.dtype == np.int64
    assert list(zip(tokens.tolist(), labels.tolist(), strict=True)) == pairs([3, 4, 5, 6], 1)


def test_windows_have_all_widths_equally_often():
    tokens, _ = text.skip_gram_sample(np.arange(6000), 1, 3, seed=5)
    widths = np.bincount(tokens.numpy())[10:-10] // 2
    assert set(widths) == {1, 2, 3}
    np.testing.assert_allclose(np.bincount(widths)[1:] / len(widths), [1 / 3] * 3, atol=0.03)


@BOTH
def test_bounds(how):
    for bad in ((-1, 2), (3, 2)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="skips"):
            value(how, text.skip_gram_sample, WORDS, *bad)


def table(counts):
    keys, values = list(counts), list(counts.values())
    initializer = lookup.KeyValueTensorInitializer(keys, tf.constant(values, tf.float64))
    return lookup.HashTable(initializer, -1.0)


def with_tables(function):
    with tf.Graph().as_default(), tf.Session() as session:
        found = function()
        session.run(tf.tables_initializer())
        return session.run(found)


def test_rare_and_unknown_words_are_left_out():
    counts = {b"the": 30.0, b"quick": 9.0, b"brown": 10.0, b"jumps": 11.0}
    tokens, labels = with_tables(
        lambda: text.skip_gram_sample(WORDS, 1, 1, vocab_freq_table=table(counts), vocab_min_count=10)
    )
    assert list(zip(tokens.tolist(), labels.tolist(), strict=True)) == pairs([b"the", b"brown", b"jumps"], 1)


def test_frequent_words_are_thinned_out():
    words = np.array([b"often", b"rare"] * 4000)
    counts = {b"often": 9000.0, b"rare": 1.0}
    tokens, _ = with_tables(lambda: text.skip_gram_sample(
        words, 0, 0, emit_self_as_target=True, vocab_freq_table=table(counts), vocab_subsampling=0.01,
        corpus_size=9001))  # fmt: skip
    expected = (np.sqrt(9000 / 90.01) + 1) * 90.01 / 9000
    np.testing.assert_allclose(np.mean(tokens == b"often") * len(tokens) / 4000, expected, atol=0.02)
    assert (tokens == b"rare").sum() == 4000


def test_settings_of_a_vocabulary():
    with pytest.raises(ValueError, match="must be rank 1"):
        text.skip_gram_sample(WORDS[None])
    with pytest.raises(ValueError, match="useless without"):
        text.skip_gram_sample(WORDS, vocab_min_count=3)
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="both must be"):
            text.skip_gram_sample(WORDS, vocab_freq_table=table({b"the": 1.0}), corpus_size=3)
        with pytest.raises(ValueError, match="within range"):
            text.skip_gram_sample(WORDS, vocab_freq_table=table({b"the": 1.0}), vocab_subsampling=2, corpus_size=3)
        with pytest.raises(ValueError, match="instead of type"):
            text.skip_gram_sample(WORDS, vocab_freq_table=3)


def test_vocabulary_from_a_file(tmp_path):
    file = tmp_path / "words.csv"
    file.write_text("the,x,30\nquick,x,9\nfox,x,20\n")
    call = {"vocab_freq_file": str(file), "vocab_freq_index": 2, "min_skips": 1, "max_skips": 1}
    tokens, labels = with_tables(lambda: text.skip_gram_sample_with_text_vocab(WORDS, vocab_min_count=10, **call))
    assert list(zip(tokens.tolist(), labels.tolist(), strict=True)) == pairs([b"the", b"fox"], 1)
    for bad, match in (({"vocab_token_index": -1}, ">= 0"), ({"vocab_token_index": 2}, "different"),
                       ({"vocab_token_index": 5}, "out of bounds"), ({"corpus_size": 3}, "greater than")):  # fmt: skip
        with pytest.raises(ValueError, match=match):
            text.skip_gram_sample_with_text_vocab(WORDS, **call, **bad)
    file.write_text("the,x,-3\n")
    with pytest.raises(ValueError, match="negative frequency"):
        text.skip_gram_sample_with_text_vocab(WORDS, **call)


def test_batches():
    with tf.Graph().as_default(), tf.Session() as session:
        tokens, labels = text.skip_gram_sample(WORDS, 1, 1, batch_size=3)
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = session.run([tokens, labels])
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=5, ignore_live_threads=True)
    assert list(zip(*(f.tolist() for f in found), strict=True)) == pairs(WORDS.tolist(), 1)[:3]

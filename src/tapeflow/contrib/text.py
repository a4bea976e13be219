"""`tf.contrib.text`: pairs of words and of words near them, to train embeddings (Mikolov et al. 2013)."""

from __future__ import annotations

import csv

import numpy as np

import tapeflow.compat.v1 as tf
from tapeflow.contrib import lookup
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.dtypes import DType

__all__ = ["skip_gram_sample", "skip_gram_sample_with_text_vocab"]


def _pairs(least, most, start, limit, emit_self, draws):
    """The places [pairs, 2] of each token and of those at most so many places away as its number says."""
    if least < 0 or most < 0:
        raise tf.errors.InvalidArgumentError(None, None, "Both min_skips and max_skips must be >= 0.")
    if least > most:
        raise tf.errors.InvalidArgumentError(None, None, "min_skips must be <= max_skips.")
    end = len(draws) if limit < 0 else min(start + limit, len(draws))
    places: list[tuple[int, int]] = []
    for i in range(int(start), int(end)):
        skips = int(least) + int(draws[i] * (int(most) - int(least) + 1))
        near = range(max(start, i - skips), min(end, i + skips + 1))
        places.extend((i, j) for j in near if emit_self or j != i)
    return np.array(places, np.int64).reshape(-1, 2)


def _check_vocabulary(table, min_count, subsampling, corpus_size):
    if table is None and (min_count is not None or subsampling is not None or corpus_size is not None):
        raise ValueError(
            f"vocab_freq_table is not provided, but vocab_min_count={min_count}, vocab_subsampling={subsampling}, or "
            f"corpus_size={corpus_size} is not None. These settings are useless without a vocab_freq_table."
        )
    if (subsampling is None) != (corpus_size is None):
        raise ValueError(
            f"vocab_subsampling is {subsampling} while corpus_size is {corpus_size} - both must be provided in order "
            "for subsampling to work."
        )


def _filter_input(
    input_tensor: Tensor, vocab_freq_table, vocab_min_count, vocab_subsampling, corpus_size, seed: int | None
):
    """The tokens that the vocabulary has often enough, without some of those that it has too often."""
    if vocab_freq_table is None:
        return input_tensor
    if not hasattr(vocab_freq_table, "lookup"):
        raise ValueError(
            "vocab_freq_table must be a subclass of InitializableLookupTableBase (such as HashTable) instead of type "
            f"{type(vocab_freq_table)}."
        )
    counts = vocab_freq_table.lookup(input_tensor)
    kept = tf.not_equal(counts, vocab_freq_table.default_value)
    if vocab_min_count is not None:
        kept = tf.logical_and(kept, counts >= tf.cast(vocab_min_count, counts.dtype))
    tokens, counts = tf.boolean_mask(input_tensor, kept), tf.boolean_mask(counts, kept)
    if not vocab_subsampling:
        return tokens
    if not 0 <= vocab_subsampling <= 1:
        raise ValueError(f"Invalid vocab_subsampling={vocab_subsampling} - it should be within range [0, 1].")
    often = tf.cast(vocab_subsampling, tf.float64) * tf.cast(corpus_size, tf.float64)
    counts = tf.cast(counts, tf.float64)
    chance = (tf.sqrt(counts / often) + 1.0) * (often / counts)
    drawn = tf.random_uniform(tf.shape(counts), dtype=tf.float64, seed=seed)
    return tf.boolean_mask(tokens, drawn <= chance)


def skip_gram_sample(
    input_tensor: TensorLike, min_skips: int = 1, max_skips: int = 5, start: int = 0, limit=-1,
    emit_self_as_target: bool = False, vocab_freq_table=None, vocab_min_count=None, vocab_subsampling=None,
    corpus_size=None, batch_size: int | None = None, batch_capacity=None, seed: int | None = None,
    name: str | None = None,
):
    """(tokens, labels): every token of a text with each of its neighbours, in windows of random width.

    Args:
      input_tensor: [n] tokens, of string or integers.
      min_skips, max_skips: bounds of how far a window reaches in each direction, both possible.
      start: the token to begin with.
      limit: how many tokens to use; all if it is negative.
      emit_self_as_target: whether a token is a neighbour of itself.
      vocab_freq_table: a lookup table of how often each token occurs; others are left out.
      vocab_min_count: tokens that occur less often are left out.
      vocab_subsampling: tokens that are a larger part of all than this are left out by chance.
      corpus_size: the number of all tokens, for that.
      batch_size: results come in batches of so many, by a queue that runners fill.
      batch_capacity: of that queue; 100 batches by default.
      seed: of random numbers.

    Raises ValueError for another rank or settings of a vocabulary without one, InvalidArgumentError for bounds that are
    none.
    """
    _check_vocabulary(vocab_freq_table, vocab_min_count, vocab_subsampling, corpus_size)
    with tf.name_scope(name, "skip_gram_sample", [input_tensor, min_skips, max_skips, start, limit]):
        given = tf.convert_to_tensor(input_tensor)
        if given.shape.ndims not in (None, 1):
            raise ValueError(f"Shape must be rank 1 but is rank {given.shape.ndims}")
        tokens = _filter_input(
            given, vocab_freq_table, vocab_min_count, vocab_subsampling, corpus_size, seed
        )
        draws = tf.random_uniform(tf.shape(tokens), dtype=tf.float64, seed=seed)
        settings = [min_skips, max_skips, start, limit, emit_self_as_target, draws]
        places = tf.numpy_function(_pairs, settings, tf.int64)
        places.set_shape([None, 2])
        found = tuple(tf.gather(tokens, places[:, i]) for i in range(2))
        if batch_size is not None and batch_size > 0:
            room = batch_capacity if batch_capacity is not None and batch_capacity > 0 else 100 * batch_size
            return tf.train.batch(list(found), batch_size, capacity=room, enqueue_many=True)
        return found


def _counted(file, token_index, count_index, dtype: DType, delimiter):
    """(tokens in the file, how often they occur together)."""
    size, total = 0, 0.0
    with tf.gfile.GFile(file, mode="r") as lines:
        for row in csv.reader(lines, delimiter=delimiter):
            if max(token_index, count_index) >= len(row):
                raise ValueError(
                    f"Row in vocab file only has {len(row)} columns, so vocab_token_index={token_index} or "
                    f"vocab_freq_index={count_index} is out of bounds. Row content: {row}"
                )
            count = dtype.as_numpy_dtype(row[count_index])
            if count < 0:
                raise ValueError(f"Row in vocab file has negative frequency of {count}. Row content: {row}")
            size, total = size + 1, total + count
    return size, total


def skip_gram_sample_with_text_vocab(
    input_tensor: TensorLike, vocab_freq_file, vocab_token_index: int = 0, vocab_token_dtype=tf.string,
    vocab_freq_index: int = 1, vocab_freq_dtype=tf.float64, vocab_delimiter: str = ",", vocab_min_count: int = 0,
    vocab_subsampling=None, corpus_size=None, min_skips: int = 1, max_skips: int = 5, start: int = 0, limit=-1,
    emit_self_as_target: bool = False, batch_size: int | None = None, batch_capacity=None, seed: int | None = None,
    name: str | None = None,
):
    """`skip_gram_sample` with a vocabulary from a text file, whose lines hold a token and how often it occurs.

    Args:
      input_tensor: [n] tokens.
      vocab_freq_file: the path of the file.
      vocab_token_index, vocab_freq_index: the columns of tokens and of counts.
      vocab_token_dtype, vocab_freq_dtype: their dtypes.
      vocab_delimiter: what stands between columns.
      corpus_size: the number of all tokens; the sum of the counts by default.

    The others are those of `skip_gram_sample`. Raises ValueError for columns that are the same, negative or not there,
    for a negative count, and for a corpus smaller than the sum of the counts.
    """
    if vocab_token_index < 0 or vocab_freq_index < 0:
        raise ValueError(
            f"vocab_token_index={vocab_token_index} and vocab_freq_index={vocab_freq_index} must both be >= 0."
        )
    if vocab_token_index == vocab_freq_index:
        raise ValueError(
            f"vocab_token_index and vocab_freq_index should be different, but are both {vocab_token_index}."
        )
    size, total = _counted(
        vocab_freq_file, vocab_token_index, vocab_freq_index, tf.as_dtype(vocab_freq_dtype), vocab_delimiter
    )
    if not corpus_size:
        corpus_size = total
    elif total - corpus_size > 1e-6:
        raise ValueError(
            f"`corpus_size`={corpus_size} must be greater than or equal to the sum of all the frequency counts "
            f"({total}) of `vocab_freq_file` ({vocab_freq_file})."
        )
    source = lookup.TextFileInitializer(
        filename=vocab_freq_file, key_dtype=vocab_token_dtype, key_index=vocab_token_index,
        value_dtype=vocab_freq_dtype, value_index=vocab_freq_index, vocab_size=size, delimiter=vocab_delimiter,
    )  # fmt: skip
    return skip_gram_sample(
        input_tensor, min_skips, max_skips, start, limit, emit_self_as_target,
        vocab_freq_table=lookup.HashTable(source, default_value=-1), vocab_min_count=vocab_min_count,
        vocab_subsampling=vocab_subsampling, corpus_size=None if vocab_subsampling is None else corpus_size,
        batch_size=batch_size, batch_capacity=batch_capacity, seed=seed, name=name,
    )  # fmt: skip

"""Texts as lists of the numbers of their words, cut and marked as asked."""

import json

import numpy as np

from tapeflow.keras.utils.downloading import get_file

ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"


def word_index(path, name):
    """{word: number, the most frequent first}."""
    with open(get_file(path, origin=ORIGIN + name)) as file:
        return json.load(file)


def prepared(texts, labels, num_words, skip_top, maxlen, start_char, oov_char, index_from):
    """(texts, labels): marked at the start, those that are too long left out, rare words replaced.

    Raises ValueError where no text is left.
    """
    if start_char is not None:
        texts = [[start_char] + [word + index_from for word in text] for text in texts]
    elif index_from:
        texts = [[word + index_from for word in text] for text in texts]
    else:
        texts = [list(text) for text in texts]
    if maxlen:
        kept = [(text, label) for text, label in zip(texts, labels) if len(text) < maxlen]
        if not kept:
            raise ValueError(
                f"After filtering for sequences shorter than maxlen={maxlen}, no sequence was kept. "
                "Increase maxlen."
            )
        texts, labels = [text for text, _ in kept], [label for _, label in kept]
    if num_words is None:
        num_words = max((max(text) for text in texts if text), default=0) + 1

    def kept_words(text):
        if oov_char is None:
            return [word for word in text if skip_top <= word < num_words]
        return [word if skip_top <= word < num_words else oov_char for word in text]

    found = np.empty(len(texts), dtype=object)
    found[:] = [kept_words(text) for text in texts]
    return found, np.asarray(labels)

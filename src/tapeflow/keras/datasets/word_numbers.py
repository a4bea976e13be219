"""Texts as lists of numbers of words, by how often the words occur."""

from __future__ import annotations

from typing import Any

import numpy as np


def chosen(
    sequences, num_words: int | None, skip_top: int, start_char: int | None, oov_char: int | None,
    index_from: int | None,
):
    """The texts with a number at the start, and words that are too rare or too frequent replaced."""
    texts = [
        [*([] if start_char is None else [start_char]), *(word + index_from for word in text)]
        if start_char is not None or index_from else list(text)
        for text in sequences
    ]  # fmt: skip
    most = num_words or max((max(text) for text in texts if text), default=0) + 1
    if oov_char is not None:
        return [[w if skip_top <= w < most else oov_char for w in text] for text in texts]
    return [[w for w in text if skip_top <= w < most] for text in texts]


def as_array(texts):
    """Lists of numbers as an array of lists."""
    found = np.empty(len(texts), object)
    found[:] = texts
    return found


def short(texts, labels: Any, maxlen):
    """The texts shorter than maxlen, and their labels."""
    kept = [(t, y) for t, y in zip(texts, labels) if len(t) < maxlen]
    if not kept:
        raise ValueError(
            f"After filtering for sequences shorter than maxlen={maxlen}, no sequence was kept. "
            "Increase maxlen."
        )
    return [t for t, _ in kept], np.array([y for _, y in kept])

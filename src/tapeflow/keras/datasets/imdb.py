"""50,000 reviews of films, good and bad, as lists of numbers of words."""

from __future__ import annotations

import json

import numpy as np

from tapeflow.core.public import boundaries
from tapeflow.keras.datasets.boston_housing import _ORIGIN
from tapeflow.keras.datasets.word_numbers import as_array, chosen, short
from tapeflow.keras.utils.files import get_file


def load_data(
    path: str = "imdb.npz", num_words=None, skip_top: int = 0, maxlen=None, seed: int = 113, start_char: int = 1,
    oov_char: int = 2, index_from: int = 3, **kwargs,
):
    """Load reviews of films as lists of the numbers of words, and labels 0 and 1: downloaded unless they are there.

    The file is Keras' own, whose lists are pickled: its hash is checked before it is read.

    Args:
      path: the name of the file among those that were downloaded.
      num_words: numbers from here on become `oov_char`; None for all words.
      skip_top: numbers below this, after `index_from` is added, become `oov_char`.
      maxlen: longer lists are left out; None for none.
      seed: the seed of the order.
      start_char: the number that lists begin with; None for none.
      oov_char: the number for words that are left out; None to remove them.
      index_from: what is added to the numbers of words.
      **kwargs: `nb_words`, the old name of `num_words`.

    Returns:
      `(x_train, y_train), (x_test, y_test)`: arrays of lists, and labels.
    """
    if "nb_words" in kwargs:
        num_words = kwargs.pop("nb_words")
    if kwargs:
        raise TypeError(f"Unrecognized keyword arguments: {kwargs}.")
    file = get_file(
        path, _ORIGIN + "imdb.npz",
        file_hash="69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f",
    )  # fmt: skip
    with np.load(file, allow_pickle=True) as arrays:
        parts = [(arrays[f"x_{k}"], arrays[f"y_{k}"]) for k in ("train", "test")]
    found = []
    random = np.random.RandomState(seed)
    for x, y in parts:
        rows = np.arange(len(x))
        random.shuffle(rows)
        texts = chosen(x[rows], None, 0, start_char, None, index_from)
        labels = y[rows]
        if maxlen:
            texts, labels = short(texts, labels, maxlen)
        found.append((texts, labels))
    most = num_words or max(max(map(max, texts)) for texts, _ in found) + 1
    return tuple(
        (as_array(chosen(texts, most, skip_top, None, oov_char, 0)), np.array(labels))
        for texts, labels in found
    )


def get_word_index(path: str = "imdb_word_index.json"):
    """The numbers of words."""
    file = get_file(
        path, _ORIGIN + "imdb_word_index.json", file_hash="bfafd718b763782e994055a2d397834f"
    )
    with open(file) as words:
        return json.load(words)


boundaries(globals())

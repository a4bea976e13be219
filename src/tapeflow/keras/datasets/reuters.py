"""11,228 news of Reuters by 46 topics, as lists of numbers of words."""

from __future__ import annotations

import json

import numpy as np

from tapeflow.core.public import boundaries
from tapeflow.keras.datasets.boston_housing import _ORIGIN
from tapeflow.keras.datasets.word_numbers import as_array, chosen, short
from tapeflow.keras.utils.files import get_file

_LABELS = (
    "cocoa", "grain", "veg-oil", "earn", "acq", "wheat", "copper", "housing", "money-supply", "coffee",
    "sugar", "trade", "reserves", "ship", "cotton", "carcass", "crude", "nat-gas", "cpi", "money-fx",
    "interest", "gnp", "meal-feed", "alum", "oilseed", "gold", "tin", "strategic-metal", "livestock",
    "retail", "ipi", "iron-steel", "rubber", "heat", "jobs", "lei", "bop", "zinc", "orange", "pet-chem",
    "dlr", "gas", "silver", "wpi", "hog", "lead",
)  # fmt: skip


def load_data(
    path: str = "reuters.npz", num_words=None, skip_top: int = 0, maxlen=None, test_split: float = 0.2,
    seed: int = 113, start_char: int = 1, oov_char: int = 2, index_from: int = 3,
):
    """Load news as lists of the numbers of words, and their topics, of 46: downloaded unless they are there.

    The file is Keras' own, whose lists are pickled: its hash is checked before it is read.

    Args:
      path: the name of the file among those that were downloaded.
      num_words: numbers from here on become `oov_char`; None for all words.
      skip_top: numbers below this, after `index_from` is added, become `oov_char`.
      maxlen: longer lists are left out; None for none.
      test_split: the part for testing, from 0 to 1.
      seed: the seed of the order.
      start_char: the number that lists begin with; None for none.
      oov_char: the number for words that are left out; None to remove them.
      index_from: what is added to the numbers of words.

    Returns:
      `(x_train, y_train), (x_test, y_test)`: arrays of lists, and topics.
    """
    file = get_file(
        path, _ORIGIN + "reuters.npz",
        file_hash="d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916",
    )  # fmt: skip
    with np.load(file, allow_pickle=True) as arrays:
        x, labels = arrays["x"], arrays["y"]
    rows = np.arange(len(x))
    np.random.RandomState(seed).shuffle(rows)
    x, labels = x[rows], labels[rows]
    texts = chosen(x, None, 0, start_char, None, index_from)
    if maxlen:
        texts, labels = short(texts, labels, maxlen)
    texts = chosen(texts, num_words, skip_top, None, oov_char, 0)
    at = int(len(texts) * (1 - test_split))
    return (as_array(texts[:at]), labels[:at]), (as_array(texts[at:]), labels[at:])


def get_word_index(path: str = "reuters_word_index.json"):
    """The numbers of words."""
    file = get_file(
        path, _ORIGIN + "reuters_word_index.json", file_hash="4d44cc38712099c9e383dc6e5f11a921"
    )
    with open(file) as words:
        return json.load(words)


def get_label_names():
    """The names of the topics."""
    return _LABELS


boundaries(globals())

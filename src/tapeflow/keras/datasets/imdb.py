"""Film reviews, for or against."""

import numpy as np

from tapeflow.keras.datasets import word_sequences
from tapeflow.keras.utils.downloading import get_file


def load_data(
    path="imdb.npz", num_words=None, skip_top=0, maxlen=None, seed=113, start_char=1, oov_char=2,
    index_from=3, **kwargs,
):  # fmt: skip
    """`(x_train, y_train), (x_test, y_test)`: lists of the numbers of words, and 0 or 1; 25,000 each."""
    with np.load(get_file(path, origin=word_sequences.ORIGIN + "imdb.npz"), allow_pickle=True) as arrays:
        parts = [(arrays[f"x_{part}"], arrays[f"y_{part}"]) for part in ("train", "test")]
    rng = np.random.RandomState(seed)
    mixed = []
    for x, y in parts:
        order = np.arange(len(x))
        rng.shuffle(order)
        mixed.append((x[order], y[order]))
    texts = np.concatenate([x for x, _ in mixed])
    labels = np.concatenate([y for _, y in mixed])
    texts, labels = word_sequences.prepared(
        texts, labels, num_words, skip_top, maxlen, start_char, oov_char, index_from
    )
    n = len(mixed[0][0])
    return (texts[:n], labels[:n]), (texts[n:], labels[n:])


def get_word_index(path="imdb_word_index.json"):
    """{word: number}."""
    return word_sequences.word_index(path, "imdb_word_index.json")

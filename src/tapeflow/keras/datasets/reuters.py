"""News in 46 topics."""

import numpy as np

from tapeflow.keras.datasets import word_sequences
from tapeflow.keras.utils.downloading import get_file


def load_data(
    path="reuters.npz", num_words=None, skip_top=0, maxlen=None, test_split=0.2, seed=113, start_char=1,
    oov_char=2, index_from=3,
):  # fmt: skip
    """`(x_train, y_train), (x_test, y_test)`: lists of the numbers of words, and topics."""
    with np.load(get_file(path, origin=word_sequences.ORIGIN + "reuters.npz"), allow_pickle=True) as arrays:
        texts, labels = arrays["x"], arrays["y"]
    order = np.arange(len(texts))
    np.random.RandomState(seed).shuffle(order)
    texts, labels = word_sequences.prepared(
        texts[order], labels[order], num_words, skip_top, maxlen, start_char, oov_char, index_from
    )
    n = int(len(texts) * (1 - test_split))
    return (texts[:n], labels[:n]), (texts[n:], labels[n:])


def get_word_index(path="reuters_word_index.json"):
    """{word: number}."""
    return word_sequences.word_index(path, "reuters_word_index.json")

"""Prices of houses in Boston, by 13 figures."""

import numpy as np

from tapeflow.keras.datasets.word_sequences import ORIGIN
from tapeflow.keras.utils.downloading import get_file


def load_data(path="boston_housing.npz", test_split=0.2, seed=113):
    """`(x_train, y_train), (x_test, y_test)`: arrays (n, 13) and (n,). Raises ValueError for a bad test_split."""
    if not 0 <= test_split < 1:
        raise ValueError(f"test_split must be in [0, 1), got {test_split}")
    with np.load(get_file(path, origin=ORIGIN + "boston_housing.npz"), allow_pickle=True) as arrays:
        x, y = arrays["x"], arrays["y"]
    order = np.arange(len(x))
    np.random.RandomState(seed).shuffle(order)
    x, y = x[order], y[order]
    n = int(len(x) * (1 - test_split))
    return (x[:n], y[:n]), (x[n:], y[n:])

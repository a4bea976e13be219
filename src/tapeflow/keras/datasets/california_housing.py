"""Prices of houses in California, by eight figures."""

import numpy as np

from tapeflow.keras.datasets.word_sequences import ORIGIN
from tapeflow.keras.utils.downloading import get_file


def load_data(version="large", path="california_housing.npz", test_split=0.2, seed=113):
    """`(x_train, y_train), (x_test, y_test)`: arrays (n, 8) and (n,); version "small" has 600 of 20,640.

    Raises ValueError for another version.
    """
    if version not in ("small", "large"):
        raise ValueError(f"Argument `version` must be 'small' or 'large', got {version!r}")
    with np.load(get_file(path, origin=ORIGIN + "california_housing.npz"), allow_pickle=True) as arrays:
        x, y = arrays["x"], arrays["y"]
    if version == "small":
        x, y = x[:600], y[:600]
    order = np.arange(len(x))
    np.random.RandomState(seed).shuffle(order)
    x, y = x[order], y[order]
    n = int(len(x) * (1 - test_split))
    return (x[:n], y[:n]), (x[n:], y[n:])

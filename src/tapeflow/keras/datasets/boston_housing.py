"""Prices of houses in Boston by 13 numbers."""

from __future__ import annotations

import numpy as np

from tapeflow.core.files.numpy_files import damage_is_an_error
from tapeflow.core.public import boundaries
from tapeflow.keras.utils.files import get_file

_ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"


def load_data(path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113):
    """Load prices of houses in Boston, and 13 numbers about each: the file is downloaded unless it is there.

    Args:
      path: the name of the file among those that were downloaded.
      test_split: the part for testing, from 0 to 1.
      seed: the seed of the order.

    Returns:
      `(x_train, y_train), (x_test, y_test)`, arrays.

    Raises:
      ValueError: for a part outside [0, 1).
    """
    if not 0 <= test_split < 1:
        raise ValueError(f"test_split must be in [0, 1), got {test_split}")
    file = get_file(
        path, _ORIGIN + "boston_housing.npz",
        file_hash="f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5",
    )  # fmt: skip
    return split(file, test_split, seed)


def split(file, test_split, seed: int):
    """The arrays x and y of a file in a new order, in two parts."""
    why = f"{file} is no .npz file with the arrays x and y"
    with damage_is_an_error(why), np.load(file, allow_pickle=False) as arrays:
        x, y = arrays["x"], arrays["y"]
    rows = np.arange(len(x))
    np.random.RandomState(seed).shuffle(rows)
    x, y = x[rows], y[rows]
    at = int(len(x) * (1 - test_split))
    return (np.array(x[:at]), np.array(y[:at])), (np.array(x[at:]), np.array(y[at:]))


boundaries(globals())

"""70,000 small grey pictures of 10 kinds of clothes."""

import gzip

import numpy as np

from tapeflow.keras.datasets.boston_housing import _ORIGIN
from tapeflow.keras.utils.files import get_file


def load_data():
    """`(x_train, y_train), (x_test, y_test)`: uint8 images (n, 28, 28) and labels (n,)."""
    parts = []
    for kind in ("train", "t10k"):
        labels = _read(f"{kind}-labels-idx1-ubyte.gz", 8)
        images = _read(f"{kind}-images-idx3-ubyte.gz", 16)
        parts.append((images.reshape(len(labels), 28, 28), labels))
    return tuple(parts)


def _read(name, header):
    path = get_file(name, _ORIGIN + name, cache_subdir="datasets/fashion-mnist")
    with gzip.open(path, "rb") as file:
        return np.frombuffer(file.read(), np.uint8, offset=header)

"""Pictures of clothes in ten classes, of the shape of MNIST."""

import gzip

import numpy as np

from tapeflow.keras.utils.downloading import get_file

_ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"


def load_data():
    """`(x_train, y_train), (x_test, y_test)`: uint8 arrays (n, 28, 28) and (n,); 60,000 and 10,000."""

    def read(name, skip):
        path = get_file(name, origin=_ORIGIN + name, cache_subdir="datasets/fashion-mnist")
        with gzip.open(path, "rb") as file:
            return np.frombuffer(file.read(), np.uint8, offset=skip)

    parts = []
    for kind in ("train", "t10k"):
        labels = read(f"{kind}-labels-idx1-ubyte.gz", 8)
        parts.append((read(f"{kind}-images-idx3-ubyte.gz", 16).reshape(len(labels), 28, 28), labels))
    return tuple(parts)

"""Small pictures in ten classes."""

import numpy as np

from tapeflow.keras.datasets import cifar


def load_data():
    """`(x_train, y_train), (x_test, y_test)`: uint8 arrays (n, 32, 32, 3) and (n, 1); 50,000 and 10,000."""
    folder = cifar.folder_of(
        "cifar-10-batches-py", "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    )
    batches = [cifar.read_batch(folder / f"data_batch_{n}", "labels") for n in range(1, 6)]
    train = tuple(np.concatenate(part) for part in zip(*batches))
    return cifar.arranged(train, cifar.read_batch(folder / "test_batch", "labels"))

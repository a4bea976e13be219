"""60,000 small pictures of 10 classes."""

from tapeflow.core.public import boundaries
from tapeflow.keras.datasets.cifar import read
from tapeflow.keras.utils.files import get_file


def load_data():
    """`(x_train, y_train), (x_test, y_test)`: uint8 images (n, 32, 32, 3) and labels (n, 1)."""
    archive = get_file(
        "cifar-10-python.tar.gz", "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
        file_hash="6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
    )  # fmt: skip
    train = read(archive, [f"data_batch_{i}" for i in range(1, 6)], "labels")
    return train, read(archive, ["test_batch"], "labels")


boundaries(globals())

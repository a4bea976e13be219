"""Small pictures in a hundred classes."""

from tapeflow.keras.datasets import cifar


def load_data(label_mode="fine"):
    """`(x_train, y_train), (x_test, y_test)`: uint8 arrays (n, 32, 32, 3) and (n, 1); 50,000 and 10,000.

    Raises ValueError for a label_mode other than fine (100 classes) and coarse (20).
    """
    if label_mode not in ("fine", "coarse"):
        raise ValueError(
            f'`label_mode` must be one of `"fine"`, `"coarse"`. Received: label_mode={label_mode}.'
        )
    folder = cifar.folder_of(
        "cifar-100-python", "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    )
    train, test = (cifar.read_batch(folder / part, f"{label_mode}_labels") for part in ("train", "test"))
    return cifar.arranged(train, test)

"""60,000 small pictures of 100 classes."""

from __future__ import annotations

from tapeflow.core.public import boundaries
from tapeflow.keras.datasets.cifar import read
from tapeflow.keras.utils.files import get_file


def load_data(label_mode: str = "fine"):
    """`(x_train, y_train), (x_test, y_test)`; "coarse" labels are of 20 classes. Raises ValueError."""
    if label_mode not in ("fine", "coarse"):
        raise ValueError(
            f'`label_mode` must be one of `"fine"`, `"coarse"`. Received: label_mode={label_mode}.'
        )
    archive = get_file(
        "cifar-100-python.tar.gz", "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",
        file_hash="85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7",
    )  # fmt: skip
    key = f"{label_mode}_labels"
    return read(archive, ["train"], key), read(archive, ["test"], key)


boundaries(globals())

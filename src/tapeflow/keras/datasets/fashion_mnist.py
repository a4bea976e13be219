"""70,000 small grey pictures of 10 kinds of clothes."""

from __future__ import annotations

import gzip

import numpy as np

from tapeflow.core.public import boundaries
from tapeflow.keras.datasets.boston_housing import _ORIGIN
from tapeflow.keras.utils.files import get_file

# As the authors of the data publish them.
_MD5 = {
    "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
    "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
    "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
}


def load_data():
    """`(x_train, y_train), (x_test, y_test)`: uint8 images (n, 28, 28) and labels (n,)."""
    parts = []
    for kind in ("train", "t10k"):
        labels = _read(f"{kind}-labels-idx1-ubyte.gz", 8)
        images = _read(f"{kind}-images-idx3-ubyte.gz", 16)
        parts.append((images.reshape(len(labels), 28, 28), labels))
    return tuple(parts)


def _read(name: str, header: bool):
    path = get_file(name, _ORIGIN + name, cache_subdir="datasets/fashion-mnist", file_hash=_MD5[name])
    with gzip.open(path, "rb") as file:
        return np.frombuffer(file.read(), np.uint8, offset=header)


boundaries(globals())

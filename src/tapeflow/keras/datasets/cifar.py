"""The batches that the CIFAR sets come in."""

import os
import pickle
from pathlib import Path

import numpy as np

from tapeflow.keras.utils.downloading import get_file


def folder_of(name, origin):
    """The folder of an unpacked set."""
    found = Path(get_file(name, origin=origin, extract=True))
    inner = found / name
    return inner if inner.is_dir() else found


def read_batch(path, label_key):
    """(images (n, 3, 32, 32), labels) of one file."""
    with open(os.fspath(path), "rb") as file:
        parts = pickle.load(file, encoding="bytes")
    return parts[b"data"].reshape(-1, 3, 32, 32), parts[label_key.encode()]


def arranged(train, test):
    """Images with their channels last, labels in a column."""
    return tuple(
        (images.transpose(0, 2, 3, 1), np.reshape(np.asarray(labels, np.uint8), (-1, 1)))
        for images, labels in (train, test)
    )

"""NumPy arrays of classes and of vectors."""

from __future__ import annotations

import numpy as np

from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2


def to_categorical(y, num_classes=None, dtype=None):
    """Integers -> rows with a 1 at their place. Raises ValueError for numbers out of range.

    `dtype` is by default float64 in Keras 3, float32 in Keras 2.
    """
    if dtype is None:
        dtype = "float32" if keras_2() else "float64"
    y = np.array(y, dtype="int")
    shape = y.shape[:-1] if y.ndim > 1 and y.shape[-1] == 1 else y.shape
    y = y.ravel()
    count = int(np.max(y)) + 1 if num_classes is None else int(num_classes)
    if y.size and (y.min() < -count or y.max() >= count):
        raise ValueError(
            f"to_categorical: classes must be in [0, {count}), got values from {y.min()} to {y.max()}"
        )
    result = np.zeros((y.size, count), dtype=dtype)
    result[np.arange(y.size), y] = 1
    return result.reshape((*shape, count))


def normalize(x, axis=-1, order=2):
    """The array with vectors along `axis` scaled to length 1."""
    lengths = np.atleast_1d(np.linalg.norm(x, order, axis))
    lengths[lengths == 0] = 1
    return x / np.expand_dims(lengths, axis)

boundaries(globals())

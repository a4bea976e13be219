"""NumPy arrays of classes and of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2
from tapeflow.keras.old_names import takes_old_names


@takes_old_names(y="x")
def to_categorical(x: TensorLike, num_classes: int | None = None, dtype: DTypeLike | None = None):
    """Make rows of integers, with a 1 at their place and 0 elsewhere.

    Args:
      x: integers, an array of any shape; a last axis of 1 goes.
      num_classes: the length of the rows; None for the largest integer plus 1.
      dtype: the dtype of the array; None for float64, in Keras 2 float32.

    Returns:
      An array with a new last axis.

    Raises:
      ValueError: for numbers out of range.

    >>> print(tf.keras.utils.to_categorical([0, 2]))
    [[1. 0. 0.]
     [0. 0. 1.]]
    """
    if dtype is None:
        dtype = "float32" if keras_2() else "float64"
    y = np.array(x, dtype="int")
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


def normalize(x: Any, axis=-1, order=2):
    """Scale vectors of an array to length 1; vectors of zeros stay zeros.

    Args:
      x: an array.
      axis: the axis of the vectors.
      order: which norm is the length; 2 for the Euclidean one.

    Returns:
      An array.
    """
    lengths = np.atleast_1d(np.linalg.norm(x, order, axis))
    lengths[lengths == 0] = 1
    return x / np.expand_dims(lengths, axis)

boundaries(globals())

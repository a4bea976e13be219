"""Input functions of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.compat import v1
from tapeflow.core.annotations import TensorLike

_TYPES = {"f": np.float32, "i": np.int64, "u": np.int64, "b": np.int64}


def _array(values: np.ndarray):
    """An array of the dtypes that models take: float32 and int64."""
    array = np.asarray(values)
    kind = _TYPES.get(array.dtype.kind)
    return array if kind is None or array.dtype == np.float32 else array.astype(kind)


def _arrays(given: Any):
    return {key: _array(x) for key, x in given.items()} if isinstance(given, dict) else _array(given)


def input_fn_of(
    x: Any, y: TensorLike | None, input_fn: Callable[..., Any] | None, batch_size: int | None, shuffle: bool = False,
    epochs: int | None = 1,
):
    """An input function: the given one, or one of arrays. Raises ValueError for both or none."""
    if input_fn is not None:
        if x is not None or y is not None or batch_size is not None:
            raise ValueError("Can not provide both input_fn and x, y or batch_size.")
        return input_fn
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    features, labels = _arrays(x), None if y is None else _arrays(y)
    first = next(iter(features.values())) if isinstance(features, dict) else features
    count = len(first)

    def of_arrays():
        data = v1.data.Dataset.from_tensor_slices(features if labels is None else (features, labels))
        if shuffle:
            data = data.shuffle(count)
        return data.repeat(epochs).batch(batch_size or count)

    return of_arrays

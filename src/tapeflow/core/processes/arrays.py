"""Tensors as NumPy arrays for other processes, and back: strings are objects of bytes in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor


def as_tensor(array: np.ndarray) -> Any:
    """The tensor of an array, of just its dtype."""
    return convert_to_tensor(array, dtypes.string if array.dtype == object else dtypes.as_dtype(array.dtype))


def array_of(tensor: Any) -> np.ndarray:
    """The elements of a tensor as an array."""
    return np.asarray(tensor.numpy(), object if tensor.dtype == dtypes.string else None)

"""Between eager tensors and the values of compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.xla import lists
from tapeflow.xla.importing import jax

# Arrays of so many elements are lent to JAX; it would copy them, which is faster for small ones only.
_LARGE = 1 << 14
# Those that Python's buffers have.
SHARED = frozenset((dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64))


def array_of(tensor: Any) -> Any:
    """The elements of an eager tensor as an array; of a variant, the list that it holds."""
    if tensor.dtype in SHARED and tensor.shape.num_elements() >= _LARGE:
        return jax.dlpack.from_dlpack(tensor)
    value = tensor.numpy()
    if tensor.dtype is dtypes.variant:
        return lists.from_payload(value[()] if isinstance(value, np.ndarray) else value)
    if isinstance(value, np.ndarray):
        return value
    return np.array(value, object if tensor.dtype is dtypes.string else None)


def tensor_of(value: Any, dtype: Any) -> Any:
    """The eager tensor of an array; of a list, the variant that holds it."""
    if dtype is dtypes.variant:
        boxed = np.empty((), object)
        boxed[()] = value
        return _native.tensor_of(boxed, dtype)
    # The buffer is let go with the tensor; `np.asarray` would keep it as long as the array.
    return _native.tensor_of(memoryview(value) if dtype in SHARED else np.asarray(value), dtype)


def assign(variable: Any, tensor: Any) -> None:
    """Replace the value of a variable."""
    if _native.Variable._try_assign(variable, tensor) is None:
        variable.assign(tensor)

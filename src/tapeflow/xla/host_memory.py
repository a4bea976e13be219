"""Tensors of the host as arrays of XLA's device for CPUs: arrays that it computed are found again by their tensors.

A tensor of 1 KB and more shares the memory of its array, which nothing writes; a smaller one is a copy.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.xla import boundary
from tapeflow.xla.importing import jax

# By the id of a tensor: it, weakly, and its array; None where it was given to a call once, and may not come again.
arrays: dict[int, tuple[Any, Any]] = {}
# Larger arguments are lent to JAX, which takes longer to arrange than copying what is smaller.
_LENT = 1 << 20


def remember(tensor: Any, array: Any) -> None:
    """Know that a tensor has the elements of an array.

    An update in place of a variable copies a tensor that is known, as it does one that has other users.
    """
    key = id(tensor)
    arrays[key] = weakref.ref(tensor, lambda _: arrays.pop(key, None)), array


class HostMemory:
    """What makes arrays of tensors, and tensors of arrays."""

    single_device = True

    def __init__(self) -> None:
        self.device = None if jax.default_backend() == "cpu" else jax.devices("cpu")[0]

    def array_of(self, tensor: Any) -> Any:
        """The array of a tensor; NumPy's for one that comes first, which jax copies sooner than we make an array."""
        known = arrays.get(id(tensor))
        if known is not None and known[0]() is tensor:
            if known[1] is None:
                remember(tensor, self.constant(tensor))
                known = arrays[id(tensor)]
            return known[1]
        if tensor.dtype is dtypes.variant:
            return boundary.array_of(tensor)
        remember(tensor, None)
        if tensor.dtype not in boundary.SHARED:
            return tensor.numpy()
        view = np.asarray(memoryview(tensor))
        return view if view.nbytes < _LENT else jax.dlpack.from_dlpack(tensor)

    def constant(self, tensor: Any) -> Any:
        """The array of a tensor that programs get again and again."""
        array = boundary.array_of(tensor)
        if not isinstance(array, np.ndarray) or array.dtype == object:
            return array
        with jax.enable_x64(True):
            return jax.device_put(array, self.device)

    def tensor_of(self, value: Any, dtype: Any) -> Any:
        """The tensor of a result."""
        tensor = boundary.tensor_of(value, dtype)
        if dtype is not dtypes.variant:
            remember(tensor, value)
        return tensor

    def assign(self, variable: Any, value: Any) -> None:
        """Let a variable have a value; programs find it on the device."""
        boundary.assign(variable, boundary.tensor_of(value, variable.dtype))
        remember(_native.Variable.read_value(variable), value)

"""Tensors of the host as arrays of XLA's device for CPUs. A tensor remembers the array that it was made of, or made.

A tensor of 1 KB and more shares the memory of its array, which nothing writes; a smaller one is a copy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import device_calls, dtypes
from tapeflow.xla import boundary
from tapeflow.xla.importing import jax

# The attribute of a tensor that has its array; None where it was given to a call once, and may not come again. The core
# does not update a tensor in place that has attributes.
_ARRAY = "_xla_array"
# Larger arguments are lent to JAX, which takes longer to arrange than copying what is smaller.
_LENT = 1 << 20


class HostMemory:
    """What makes arrays of tensors, and tensors of arrays."""

    single_device = True

    def __init__(self) -> None:
        self.device = None if jax.default_backend() == "cpu" else jax.devices("cpu")[0]

    def array_of(self, tensor: Any) -> Any:
        """The array of a tensor; NumPy's for one that comes first, which jax copies sooner than we make an array."""
        known = getattr(tensor, _ARRAY, False)
        if known is not False:
            return self.own_array(tensor) if known is None else known
        if tensor.dtype is dtypes.variant:
            return boundary.array_of(tensor)
        if tensor.dtype.size == 8:  # jax would narrow NumPy's
            return self.own_array(tensor)
        setattr(tensor, _ARRAY, None)
        if tensor.dtype not in boundary.SHARED:
            return tensor.numpy()
        view = np.asarray(memoryview(tensor))
        return view if view.nbytes < _LENT else jax.dlpack.from_dlpack(tensor)

    def arrays_of(self, tensors: tuple[Any, ...]) -> list[Any]:
        """The arrays of tensors."""
        found: list[Any] | None = _native.arrays_of(tensors, _ARRAY)
        return [self.array_of(x) for x in tensors] if found is None else found

    def own_array(self, tensor: Any) -> Any:
        """The array of a tensor, which remembers it."""
        array = getattr(tensor, _ARRAY, None)
        if array is None:
            array = self.constant(tensor)
            setattr(tensor, _ARRAY, array)
        return array

    def constant(self, tensor: Any) -> Any:
        """The array of a tensor that programs get again and again."""
        with jax.enable_x64(True):
            # The array keeps the memory, not the tensor, which may keep the array.
            array = boundary.array_of(_native.fresh(tensor))
            if not isinstance(array, np.ndarray) or array.dtype == object:
                return array
            return jax.device_put(array, self.device)

    def holds(self, tensors: Sequence[Any]) -> bool:
        """Whether tensors are on the host."""
        return device_calls.driver is None or not any(_native.device_array(x)[0] for x in tensors)

    def tensor_of(self, value: Any, dtype: Any) -> Any:
        """The tensor of a result."""
        tensor = boundary.tensor_of(value, dtype)
        if dtype is not dtypes.variant:
            setattr(tensor, _ARRAY, value)
        return tensor

    def tensors_of(self, values: Sequence[Any], numbers: tuple[int, ...]) -> list[Any]:
        """The tensors of results of these dtypes, none of them a list."""
        made: list[Any] = _native.tensors_over(values, numbers, _ARRAY)
        return made

    def direct(self, program: Callable[..., Any], numbers: tuple[int, ...]) -> Any:
        """What calls a program with a tuple of tensors: it returns tensors, or None where some have no array."""
        return functools.partial(_native.call_over, program, numbers, _ARRAY)

    def assign(self, variable: Any, value: Any) -> None:
        """Let a variable have a value; programs find it on the device."""
        boundary.assign(variable, boundary.tensor_of(value, variable.dtype))
        setattr(_native.Variable.read_value(variable), _ARRAY, value)

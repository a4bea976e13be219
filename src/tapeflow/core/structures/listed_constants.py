"""Lists as constants of a graph, which NumPy makes arrays of: eager tensors of lists follow rules of their own.

`[np.float64(1), 2.0]` is float64 eagerly, where the first element decides, and float32 in a graph, where all elements
together do and Python's numbers have 32 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core.dtypes import DType

_SCALARS = (bool, int, float, complex, str, bytes, np.generic, np.ndarray)
_PYTHON = {int, float, str, bytes, complex, bool}


def constant_of_list(value: list[Any] | tuple[Any, ...], dtype: DType | None) -> Any:
    """The constant that a list is in a graph. Raises TypeError and ValueError as TensorFlow does there."""
    kinds = _kinds(value)
    if kinds is None or not all(issubclass(kind, _SCALARS) for kind in kinds):
        return _native.convert(value, dtype)  # tensors, and objects that become some
    if dtype is None and not (len(kinds) < 2 and kinds <= _PYTHON):
        return _as_array(value)
    try:
        return _native.convert(value, dtype)
    except ValueError as error:
        np.shape(value)  # raises ValueError for lists of several lengths
        raise TypeError(str(error)) from None


def _kinds(value: Any) -> set[type] | None:
    """The types of the leaves; None where lists or arrays with axes stand beside leaves."""
    found = set(map(type, value))
    if np.ndarray in found and any(isinstance(each, np.ndarray) and each.ndim for each in value):
        return None
    if not found & {list, tuple}:
        return found
    if not found <= {list, tuple}:
        return None
    leaves: set[type] = set()
    for each in value:
        kinds = _kinds(each)
        if kinds is None:
            return None
        leaves |= kinds
    return leaves


def _as_array(value: Any) -> Any:
    from tapeflow.core.files import tensor_proto  # start-up time

    proto = tensor_proto.make_tensor_proto(value)
    return _native.convert(tensor_proto.make_ndarray(proto), DType(proto.dtype))

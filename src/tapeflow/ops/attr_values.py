"""Values of attrs of nodes, checked by their kinds. Those of eager calls are checked by the native core."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.ops import signature
from tapeflow.ops.signature import Kind

_LABELS = {signature.integer.number: "int", signature.boolean.number: "bool", signature.string.number: "string"}


def attr_value(op: str, key: str, kind: Kind, value: Any) -> Any:
    """The value of an attr as kernels want it. Raises TypeError or ValueError for what cannot be one."""
    if value is None:
        return None
    if kind.number == signature.dtype.number:
        return dtypes.as_dtype(value)
    if kind.number == signature.shape.number:
        if hasattr(value, "as_list"):
            return None if value.rank is None else tuple(value.as_list())
        return tuple(value) if isinstance(value, list) else value
    if kind.number == signature.ints.number:
        return list(value) if isinstance(value, tuple) else value
    label = _LABELS.get(kind.number)
    if label is not None and not _is_of(kind.number, value):
        raise TypeError(f"Expected {label} for argument '{key}' not {value!r}.")
    if kind.choices and value not in kind.choices:
        text = value.decode(errors="replace") if isinstance(value, bytes) else value
        if text not in kind.choices:
            allowed = '", "'.join(kind.choices)
            raise ValueError(f"Attr '{key}' of '{op}' Op passed string '{value}' not in: \"{allowed}\".")
    return value


def _is_of(number: int, value: Any) -> bool:
    if number == signature.integer.number:
        return isinstance(value, (int, np.integer)) or hasattr(type(value), "__index__")
    return isinstance(value, (bool, np.bool_) if number == signature.boolean.number else (str, bytes))

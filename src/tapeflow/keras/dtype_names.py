"""What Keras takes for the name of a dtype."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.public import boundaries
from tapeflow.keras import settings

_PYTHON = {bool: "bool", int: "int64", "int": "int64", float: "float32", str: "string"}


def named_by_python(dtype: Any) -> Any:
    """The name of the dtype that a type of Python, or "int", stands for; anything else as it is."""
    return _PYTHON.get(dtype, dtype) if isinstance(dtype, (str, type)) else dtype


def standardize_dtype(dtype: DTypeLike) -> str:
    """Find the name of a dtype.

    Args:
      dtype: a dtype, a NumPy or Python type, a name, or None.

    Returns:
      The name; `keras.config.floatx()` for None.

    Raises:
      ValueError: for unknown ones.
    """
    if dtype is None:
        return settings.floatx()
    try:
        return dtypes.as_dtype(named_by_python(dtype)).name
    except TypeError:
        raise ValueError(f"Invalid dtype: {dtype}") from None


boundaries(globals())

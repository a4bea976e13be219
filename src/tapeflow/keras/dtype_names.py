"""What Keras takes for the name of a dtype, and which one several dtypes have together: the promotion of JAX."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.public import boundaries
from tapeflow.keras import settings

_PYTHON = {bool: "bool", int: "int64", "int": "int64", float: "float32", str: "string"}


# Each dtype, with the next higher ones; "int" and "float" are the types of Python's numbers.
_HIGHER = {
    "bool": ("int",),
    "int": ("uint8", "int8", "complex64"),
    "uint8": ("int16", "uint16"),
    "uint16": ("int32", "uint32"),
    "uint32": ("int64", "uint64"),
    "uint64": ("float",),
    "int8": ("int16",),
    "int16": ("int32",),
    "int32": ("int64",),
    "int64": ("float",),
    "float": ("bfloat16", "float16"),
    "bfloat16": ("float32",),
    "float16": ("float32",),
    "float32": ("float64", "complex64"),
    "float64": ("complex128",),
    "complex64": ("complex128",),
    "complex128": (),
}


def _reach(name: str):
    found = {name}
    for higher in _HIGHER[name]:
        found |= _reach(higher)
    return found


_REACH = {name: _reach(name) for name in _HIGHER}


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


def result_type(*types):
    """Return the name of the dtype to which types are promoted.

    Args:
      types: dtypes, names of dtypes, or Python's `bool`, `int` and `float`, which give way to dtypes of their kind.

    Raises:
      ValueError: if there is no such dtype.
    """
    if not types:
        return settings.floatx()
    names = {_name(each) for each in types}
    common = set.intersection(*(_REACH[name] for name in names))
    least = [name for name in common if common <= _REACH[name]]
    if len(least) != 1:
        raise ValueError(f"There is no dtype to which {', '.join(sorted(names))} are promoted; cast them.")
    if least[0] in ("int", "float"):
        return "int32" if least[0] == "int" else settings.floatx()
    # As in Keras, where these two are never the result of a promotion.
    return {"uint64": "uint32", "complex128": "complex64"}.get(least[0], least[0])


def _name(each: DTypeLike):
    if each is int or each is float:
        return each.__name__
    name = "bool" if each is bool else dtypes.as_dtype(settings.floatx() if each is None else each).name
    if name not in _HIGHER:
        raise ValueError(f"dtype={name!r} is not a valid dtype for Keras type promotion.")
    return name


boundaries(globals())

"""Checks of what columns are made from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import ShapeLike
from tapeflow.core.dtypes import DType
from tapeflow.core.structures import nest


def require_key(key: str) -> None:
    """Raises ValueError for the key of a feature that is no string."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def require_string_or_int(dtype, prefix: str) -> None:
    """Raises ValueError for a dtype that ids cannot come from."""
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype}.")


def require_same_kind(key: str, dtype, given: DType) -> None:
    """Raises ValueError for strings where a column has integers, and the other way round."""
    if dtype.is_integer != given.is_integer:
        raise ValueError(
            "Column dtype and SparseTensors dtype must be compatible. "
            f"key: {key}, column dtype: {dtype}, tensor dtype: {given}"
        )


def require_number(dtype, key: str) -> None:
    """Raises ValueError for a non-numeric dtype."""
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")


def require_function(normalizer_fn: Callable[..., Any] | None) -> None:
    """Raises TypeError for a normalizer that cannot be called."""
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")


def shape_of(shape: Any, key: str) -> tuple[int, ...]:
    """A number or numbers as a shape. Raises TypeError for other things, ValueError for sizes below one."""
    assert shape is not None
    sizes = tuple(shape) if nest.is_nested(shape) else (shape,)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError(f"shape dimensions must be integer. shape: {sizes}, key: {key}")
        if size < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {sizes}, key: {key}")
    return sizes


def default_of(shape: ShapeLike, default, dtype, key: str):
    """A default value as nested tuples of the given shape.

    Raises ValueError for another shape, TypeError for values that are not of the dtype.
    """
    if default is None:
        return None
    if isinstance(default, int) or (isinstance(default, float) and dtype.is_floating):
        return _filled(shape, default)
    if callable(getattr(default, "tolist", None)):
        default = default.tolist()
    if nest.is_nested(default):
        if not _has_shape(default, shape):
            raise ValueError(
                "The shape of default_value must be equal to given shape. "
                f"default_value: {default}, shape: {shape}, key: {key}"
            )
        values = nest.flatten(default)
        whole = all(isinstance(value, int) for value in values)
        if whole or (dtype.is_floating and any(isinstance(value, float) for value in values)):
            return _tuples(default)
    raise TypeError(
        f"default_value must be compatible with dtype. default_value: {default}, dtype: {dtype}, key: {key}"
    )


def _filled(shape: Any, value: float):
    return tuple(_filled(shape[1:], value) for _ in range(shape[0])) if shape else value


def _tuples(value):
    return tuple(_tuples(part) for part in value) if nest.is_nested(value) else value


def _has_shape(value, shape) -> bool:
    if not nest.is_nested(value) or not shape:
        return not nest.is_nested(value) and not shape
    return len(value) == shape[0] and all(_has_shape(part, shape[1:]) for part in value)


def require_embedding(
    dimension: int, initializer: Callable[..., Any] | int | None, ckpt_to_load_from: str | None, tensor_name_in_ckpt,
    about: str = "",
) -> None:
    """Raises ValueError for arguments of embeddings that are wrong, or do not fit each other."""
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified.{about}")

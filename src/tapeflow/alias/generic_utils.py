"""`tensorflow.python.keras.utils.generic_utils`: small helpers of Keras 2 that layers and models of libraries use."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tapeflow.core.structures import nest
from tapeflow.keras.registry import (
    get_registered_name,
    get_registered_object,
    register_keras_serializable,
)

__all__ = [
    "check_for_unexpected_keys", "default", "get_registered_name", "get_registered_object",
    "has_arg", "is_all_none", "is_default", "make_batches", "object_list_uid", "register_keras_serializable",
    "slice_arrays", "to_list", "to_snake_case", "transpose_shape", "unpack_singleton", "validate_kwargs",
]  # fmt: skip


def to_list(x: Any) -> list[Any]:
    """The list itself, or a list of the one item."""
    return x if isinstance(x, list) else [x]


def unpack_singleton(x: Any) -> Any:
    """The item of a list or tuple of one; anything else as it is."""
    return x[0] if isinstance(x, (list, tuple)) and len(x) == 1 else x


def object_list_uid(object_list: Any) -> str:
    """A text that is the same for the same objects."""
    return ", ".join(str(abs(id(x))) for x in nest.flatten(object_list))


def is_all_none(structure: Any) -> bool:
    """Whether all that a structure holds is None."""
    return all(leaf is None for leaf in nest.flatten(structure))


def to_snake_case(name: str) -> str:
    """A name such as `DenseLayer` as `dense_layer`; a private one begins with `private`."""
    words = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    found = re.sub("([a-z])([A-Z])", r"\1_\2", words).lower()
    return f"private{found}" if found[0] == "_" else found


def has_arg(fn: Callable[..., Any], name: str, accept_all: bool = False) -> bool:
    """Whether a function can be given an argument by name; with `accept_all` also one that is caught by `**kwargs`."""
    parameters = inspect.signature(fn).parameters.values()
    if accept_all and any(each.kind is each.VAR_KEYWORD for each in parameters):
        return True
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return any(each.name == name and each.kind in by_name for each in parameters)


def default(method: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator of a method that subclasses may replace; `is_default` tells whether they did."""
    vars(method)["_is_default"] = True
    return method


def is_default(method: Callable[..., Any]) -> bool:
    """Whether a method was decorated by `default`."""
    return getattr(method, "_is_default", False)


def make_batches(size: int, batch_size: int) -> list[tuple[int, int]]:
    """(start, end) of each batch of `size` samples."""
    return [(start, min(size, start + batch_size)) for start in range(0, size, batch_size)]


def slice_arrays(arrays: Any, start: Any = None, stop: int | None = None) -> Any:
    """The rows of an array, or of each in a list.

    Args:
      arrays: an array, a list of arrays of which some may be None, or None.
      start: the first row, or the numbers of the rows.
      stop: the row after the last; not with numbers of rows.
    """
    if arrays is None:
        return [None]
    rows: Any = slice(start, stop)
    if hasattr(start, "__len__"):
        if stop is not None:
            raise ValueError(f"The stop argument has to be None if the value of start is a list. Received: stop={stop}")
        rows = np.asarray(start)
    if isinstance(arrays, list):
        return [None if each is None else each[rows] for each in arrays]
    return arrays[rows] if hasattr(arrays, "__getitem__") else [None]


def transpose_shape(shape: Sequence[Any], target_format: str, spatial_axes: Iterable[int]) -> Any:
    """A shape whose channels are last, as one of another data format.

    Args:
      shape: a tuple or list, channels last.
      target_format: "channels_first" or "channels_last".
      spatial_axes: which axes are spatial.

    Raises:
      ValueError: the format is another.
    """
    if target_format == "channels_last":
        return shape
    if target_format != "channels_first":
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", "channels_last". '
            f"Received: {target_format}"
        )
    first = (*shape[: min(spatial_axes)], shape[-1])
    return type(shape)((*first, *(shape[axis] for axis in spatial_axes)))  # type: ignore[call-arg]


def check_for_unexpected_keys(name: str, input_dict: dict[Any, Any], expected_values: Iterable[Any]) -> None:
    """Raises ValueError where a dict has other keys than those expected."""
    unknown = set(input_dict).difference(expected_values)
    if unknown:
        raise ValueError(
            f"Unknown entries in {name} dictionary: {list(unknown)}. Only expected following keys: {expected_values}"
        )


def validate_kwargs(
    kwargs: dict[str, Any], allowed_kwargs: Iterable[str], error_message: str = "Keyword argument not understood:"
) -> None:
    """Raises TypeError where there are other keywords than those allowed."""
    for name in kwargs:
        if name not in allowed_kwargs:
            raise TypeError(error_message, name)

"""`type_spec_from_value`: the description of a value as functions and datasets see it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import context
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec

# The specs of values of classes that programs define, in the order of their registration.
_converters: list[tuple[type, Callable[[Any], Any], bool]] = []


def register_type_spec_from_value_converter(
    type_object: type, converter_fn: Callable[[Any], Any], allow_subclass: bool = False
) -> None:
    """Lets `converter_fn(value)` give the specs of values of a class, with `allow_subclass` of its subclasses too."""
    _converters.append((type_object, converter_fn, allow_subclass))


@api("type_spec_from_value")
@public
def type_spec_from_value(value):
    """The spec of a tensor, of something that `convert_to_tensor` takes, or of a composite tensor.

    Raises TypeError for other values, structures of tensors among them.
    """
    own = getattr(value, "_type_spec", None)
    if own is not None:
        return own
    for cls, convert, subclasses in _converters:
        if isinstance(value, cls) if subclasses else type(value) is cls:
            return convert(value)
    if isinstance(value, _native.Tensor):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, (bool, int, float, complex, str, bytes, np.ndarray, np.generic, list)):
        # An array says its dtype in a graph as well, which needs no constant for it.
        scope = context.eager_mode() if isinstance(value, (np.ndarray, np.generic)) else contextlib.nullcontext()
        try:
            with scope:
                tensor = convert_to_tensor(value)
        except (TypeError, ValueError):
            pass
        else:
            return TensorSpec(tensor.shape, tensor.dtype)
    raise TypeError(f"Could not build a TypeSpec for {value} of unsupported type {type(value)}.")


__all__ = ["TypeSpec", "type_spec_from_value"]

"""`type_spec_from_value`: the description of a value as functions and datasets see it."""

from __future__ import annotations

import numpy as np

from tapeflow import _native
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public
from tapeflow.core.tensor_spec import TensorSpec, TypeSpec


@public
def type_spec_from_value(value):
    """The spec of a tensor, of something that `convert_to_tensor` takes, or of a composite tensor.

    Raises TypeError for other values, structures of tensors among them.
    """
    own = getattr(value, "_type_spec", None)
    if own is not None:
        return own
    if isinstance(value, _native.Tensor):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, (bool, int, float, complex, str, bytes, np.ndarray, np.generic, list)):
        try:
            tensor = convert_to_tensor(value)
        except (TypeError, ValueError):
            pass
        else:
            return TensorSpec(tensor.shape, tensor.dtype)
    raise TypeError(f"Could not build a TypeSpec for {value} of unsupported type {type(value)}.")


__all__ = ["TypeSpec", "type_spec_from_value"]

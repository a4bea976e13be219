"""Results of steps as arrays and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core.annotations import TensorLike
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.structures import nest
from tapeflow.keras.engine.fitting.epochs import Epochs
from tapeflow.ops.array.joining import concat
from tapeflow.ops.sparse.shaping import concat as sparse_concat
from tapeflow.ops.state.variable import Variable


def joined(outputs: Any):
    """The outputs of several batches, one after another."""
    if len(outputs) == 1:
        return outputs[0]

    def join(*parts):
        if isinstance(parts[0], np.ndarray):
            return np.concatenate(parts)
        if isinstance(parts[0], SparseTensor):
            return sparse_concat(0, list(parts))
        return concat(list(parts), 0)

    return nest.map_structure(join, *outputs)


def up_to(iterator: Epochs, count: int):
    for _ in range(count):
        try:
            yield next(iterator)
        except StopIteration:
            return


def array_of(value: TensorLike):
    return value.numpy() if isinstance(value, Tensor) else value


def inputs_of(x):
    """A list of arrays as several inputs, a list of numbers as one."""
    if isinstance(x, list) and x and (hasattr(x[0], "shape") or isinstance(x[0], Variable)):
        return tuple(x)
    return np.asarray(x) if hasattr(x, "__array__") and not isinstance(x, (Tensor, Variable)) else x


def numbers_of(logs):
    """The logs as floats; what is no scalar, as arrays."""
    found = {}
    for name, value in logs.items():
        if isinstance(value, dict):
            found |= numbers_of(value)
        else:
            found[name] = number_of(value)
    return found


def number_of(value):
    if hasattr(value, "numpy"):
        value = value.numpy()
    return float(value) if getattr(value, "ndim", 0) == 0 else value

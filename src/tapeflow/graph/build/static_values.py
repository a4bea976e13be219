"""Values that follow from constants alone: `constant_of` computes them while the graph is built.

Shapes, axes and sizes are mostly made of a few operations on small tensors; these run eagerly here, so that shape
inference sees through them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import context

# Larger results are not worth the time while a graph is built.
_MOST_ELEMENTS = 4096


def constant_of(tensor: Any) -> np.ndarray | None:
    """The value of a tensor of a graph as an array, None if it is not known before the graph runs."""
    op = tensor.op
    row = op.row
    if op.type == "Const":
        value = op.attrs["value"]
        return np.asarray(value) if value.dtype.is_numpy_compatible else None
    if row is None:
        return None
    if row.of_shape is not None:
        return _of_shape(op, tensor)
    if not row.foldable or tensor.shape_tuple is None:
        return None
    size = 1
    for d in tensor.shape_tuple:
        if d is None:
            return None
        size *= d
    if size > _MOST_ELEMENTS or any(x.constant_value() is None for x in op.inputs):
        return None
    results = run(op)
    return None if results is None else np.asarray(results[tensor.value_index].numpy())


def _of_shape(op: Any, tensor: Any) -> np.ndarray | None:
    shape = op.inputs[tensor.value_index].shape_tuple
    found = None if shape is None else op.row.of_shape(shape)
    if found is None or np.max(found, initial=0) > tensor.dtype.max:  # too large: an error when the graph runs
        return None
    return np.array(found, tensor.dtype.as_numpy_dtype)


def run(op: Any) -> list[Any] | None:
    """The outputs of an operation whose inputs are constants, as eager tensors; None where it fails."""
    values: list[Any] = []
    with context.eager_mode(), context.pause_recording():
        try:
            flat = [_native.tensor_of(_array(x), x.dtype) for x in op.inputs]
            at = 0
            for size in op.input_sizes:
                values.append(flat[at] if size is None else flat[at : at + size])
                at += 1 if size is None else size
            result = op.row(*values, **op.attrs)
        except Exception:  # the error belongs to the run of the graph, if it ever runs this
            return None
    if isinstance(result, tuple):
        return [y for part in result for y in (part if isinstance(part, list) else [part])]
    return result if isinstance(result, list) else [result]


def _array(tensor: Any) -> Any:
    return tensor.constant_value()

"""What is known of an integer vector that a graph computes: `tf.stack([tf.shape(x)[0], -1])` has a known -1.

Shapes are computed with a few ops (Shape, Pack, ConcatV2, StridedSlice, Cast ...); here those are followed back
from the tensor, so that what is static in the source of a shape stays static behind a reshape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# Longer vectors spell no shape; deeper chains are not worth the time.
_MOST_ELEMENTS = 256
_DEEPEST = 16

Elements = list[int | None]


def as_shape(tensor: Any) -> tuple[int | None, ...] | None:
    """The shape that an integer vector spells, None where an element is -1 or unknown; None if no length is known."""
    value = tensor.constant_value()
    if value is not None:
        return tuple([None if d < 0 else int(d) for d in value.ravel()])
    found = elements(tensor)
    if found is None:
        return None
    return tuple([None if d is None or d < 0 else d for d in found])


def elements(tensor: Any, depth: int = 0) -> Elements | None:
    """The elements of an integer scalar or vector, None for each unknown one; None if no length is known."""
    value = tensor.constant_value()
    if value is not None:
        return [int(d) for d in np.ravel(value)] if value.dtype.kind in "iu" else None
    operation = getattr(tensor, "op", None)
    if operation is not None and depth < _DEEPEST:
        follow = _FOLLOW.get(operation.type)
        found = follow(operation, depth + 1) if follow else None
        if found is not None and len(operation.outputs) > 1:
            found = [found[tensor.value_index]]
        if found is not None:
            return found
    shape = tensor.shape_tuple
    if shape is None or len(shape) > 1:
        return None
    if not shape:
        return [None]
    return None if shape[0] is None or shape[0] > _MOST_ELEMENTS else [None] * shape[0]


def _shape(operation: Any, depth: int) -> Elements | None:
    shape = operation.inputs[0].shape_tuple
    return None if shape is None else list(shape)


def _captured(operation: Any, depth: int) -> Elements | None:
    """What is known of the tensor from outside of a function, branch or loop for which a placeholder stands."""
    graph = operation.graph
    outer = graph.captured_by(operation.outputs[0]) if graph.building_function else None
    return None if outer is None else elements(outer, depth)


def _first(operation: Any, depth: int) -> Elements | None:
    return elements(operation.inputs[0], depth)


def _cast(operation: Any, depth: int) -> Elements | None:
    return elements(operation.inputs[0], depth) if operation.inputs[0].dtype.is_integer else None


def _pack(operation: Any, depth: int) -> Elements | None:
    result: Elements = []
    if len(operation.outputs[0].shape_tuple or ()) != 1:
        return None
    for scalar in operation.inputs:
        found = elements(scalar, depth)
        result += [None] if found is None else found
    return result


def _concat(operation: Any, depth: int) -> Elements | None:
    result: Elements = []
    for vector in operation.inputs[:-1]:
        found = elements(vector, depth)
        if found is None or len(vector.shape_tuple or ()) != 1:
            return None
        result += found
    return result


def _strided_slice(operation: Any, depth: int) -> Elements | None:
    attrs = operation.attrs
    if attrs.get("ellipsis_mask") or attrs.get("new_axis_mask"):
        return None
    bounds = [x.constant_value() for x in operation.inputs[1:4]]
    if any(b is None or np.size(b) != 1 for b in bounds):
        return None
    source = operation.inputs[0]
    found = elements(source, depth)
    if found is None or len(source.shape_tuple or ()) != 1:
        return None
    begin, end, stride = (int(np.ravel(b)[0]) for b in bounds)
    if attrs.get("shrink_axis_mask"):
        return [found[begin]] if -len(found) <= begin < len(found) else None
    first = None if attrs.get("begin_mask") else begin
    last = None if attrs.get("end_mask") else end
    return found[first:last:stride] if stride else None


def _unpack(operation: Any, depth: int) -> Elements | None:
    """The elements of the vector, of which each is an output of its own."""
    source = operation.inputs[0]
    return elements(source, depth) if len(source.shape_tuple or ()) == 1 else None


def _arithmetic(function: Callable[[int, int], int]) -> Callable[[Any, int], Elements | None]:
    def follow(operation: Any, depth: int) -> Elements | None:
        a, b = (elements(x, depth) for x in operation.inputs)
        if a is None or b is None:
            return None
        size = max(len(a), len(b))
        if {len(a), len(b)} - {1, size}:
            return None
        a, b = a * (size // max(len(a), 1)), b * (size // max(len(b), 1))
        return [None if x is None or y is None else function(x, y) for x, y in zip(a, b, strict=True)]

    return follow


def _product(operation: Any, depth: int) -> Elements | None:
    found = elements(operation.inputs[0], depth)
    if found is None or None in found or operation.attrs.get("keep_dims"):
        return None
    shape = operation.inputs[0].shape_tuple
    if operation.inputs[1].constant_value() is None or len(shape or ()) != 1:
        return None
    return [int(np.prod(found, dtype=np.int64))]  # type: ignore[arg-type]


_FOLLOW: dict[str, Callable[[Any, int], Elements | None]] = {
    "Placeholder": _captured,
    "Shape": _shape,
    "Pack": _pack,
    "Unpack": _unpack,
    "ConcatV2": _concat,
    "StridedSlice": _strided_slice,
    "Cast": _cast,
    "Identity": _first,
    "StopGradient": _first,
    "Squeeze": _first,
    "Add": _arithmetic(lambda x, y: x + y),
    "AddV2": _arithmetic(lambda x, y: x + y),
    "Sub": _arithmetic(lambda x, y: x - y),
    "Mul": _arithmetic(lambda x, y: x * y),
    "Maximum": _arithmetic(max),
    "Minimum": _arithmetic(min),
    "Prod": _product,
}

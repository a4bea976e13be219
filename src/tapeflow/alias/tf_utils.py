"""`tensorflow.python.keras.utils.tf_utils`: shapes as tuples, and what a graph computes from some of its tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.utils.tensors import is_symbolic_tensor, register_symbolic_tensor_type
from tapeflow.ops.control.smart_cond import smart_cond

__all__ = [
    "convert_shapes", "get_reachable_from_inputs", "is_symbolic_tensor", "register_symbolic_tensor_type",
    "shape_type_conversion", "smart_cond",
]  # fmt: skip


def convert_shapes(input_shape: Any, to_tuples: bool = True) -> Any:
    """Return a shape, or a structure of shapes, as tuples or as `TensorShape`s."""
    if isinstance(input_shape, TensorShape) or input_shape is None:
        return tuple(input_shape.as_list()) if to_tuples and input_shape is not None else input_shape
    if isinstance(input_shape, Mapping):
        return {key: convert_shapes(shape, to_tuples) for key, shape in input_shape.items()}
    if all(size is None or hasattr(size, "__index__") for size in input_shape):
        return tuple(input_shape) if to_tuples else TensorShape(input_shape)
    return type(input_shape)(convert_shapes(shape, to_tuples) for shape in input_shape)


def shape_type_conversion(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method that takes an input shape get it as tuples; what it returns becomes `TensorShape`s."""

    @functools.wraps(fn)
    def method(instance: Any, input_shape: Any) -> Any:
        given = None if input_shape is None else convert_shapes(input_shape)
        result = fn(instance, given)
        return None if result is None else convert_shapes(result, to_tuples=False)

    return method


def get_reachable_from_inputs(inputs: Iterable[Any], targets: Iterable[Any] | None = None) -> set[Any]:
    """Return the tensors and operations of a graph that depend on some of its tensors or operations.

    Args:
      inputs: tensors, variables or operations of a graph.
      targets: where all of these are found, the search ends.
    """
    wanted = set() if targets is None else set(targets)
    todo = [getattr(each, "op", each) if hasattr(each, "handle") else each for each in inputs]
    found: set[Any] = set()
    while todo:
        each = todo.pop()
        if each in found:
            continue
        found.add(each)
        wanted.discard(each)
        if targets is not None and not wanted:
            break
        todo += each.outputs if hasattr(each, "outputs") else each.consumers()
    return found

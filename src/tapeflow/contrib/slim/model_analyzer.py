"""`tf.contrib.slim.model_analyzer`: how large the operations and the variables of a graph are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph

__all__ = ["analyze_ops", "analyze_vars", "tensor_description"]


def tensor_description(var: Any) -> str:
    """The dtype and the shape of a tensor or a variable, as `(float32 3x5)`."""
    return f"({var.dtype.name} {'x'.join(str(size) for size in var.shape)})"


def analyze_ops(graph: Graph, print_info: bool = False) -> int:
    """The number of elements of all results of a graph whose shapes are known; `print_info` prints each operation's."""
    if print_info:
        print("---------", "Operations: name -> (type shapes) [size]", "---------", sep="\n")
    total = 0
    for op in graph.get_operations():
        size = sum(output.shape.num_elements() or 0 for output in op.outputs)
        if print_info:
            shapes = ", ".join(tensor_description(output) for output in op.outputs if output.shape)
            print(op.name, "\t->", shapes, f"[{size}]")
        total += size
    return total


def analyze_vars(variables: Iterable[Any], print_info: bool = False) -> tuple[int, int]:
    """(number of elements, bytes) of all variables; `print_info` prints each one's."""
    if print_info:
        print("---------", "Variables: name (type shape) [size]", "---------", sep="\n")
    total, total_bytes = 0, 0
    for var in variables:
        size = var.shape.num_elements() or 0
        total, total_bytes = total + size, total_bytes + size * var.dtype.size
        if print_info:
            print(var.name, tensor_description(var), f"[{size}, bytes: {size * var.dtype.size}]")
    if print_info:
        print(f"Total size of variables: {total}")
        print(f"Total bytes of variables: {total_bytes}")
    return total, total_bytes

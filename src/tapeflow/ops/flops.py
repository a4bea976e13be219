"""How many operations on floats a node makes: the formulas by which TensorFlow's profiler counts.

Each takes an operation of a graph and gives the number. They raise `UnknownShape` where it depends on a size that is
not known, and ValueError for images that have their channels first, which TensorFlow does not count.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


class UnknownShape(ValueError):
    """A shape that the number depends on is not known."""


def _shape(tensor: Any) -> list[int]:
    shape = tensor.shape
    if not shape.is_fully_defined():
        raise UnknownShape(f"The shape of {tensor.name} is not known.")
    return shape.as_list()


def _input(operation: Any, index: int = 0) -> int:
    return math.prod(_shape(operation.inputs[index]))


def _output(operation: Any) -> int:
    return math.prod(_shape(operation.outputs[0]))


def each_input(count: int = 1) -> Callable[[Any], int]:
    """`count` for each element of the first input."""
    return lambda operation: count * _input(operation)


def each_output(count: int = 1) -> Callable[[Any], int]:
    """`count` for each element of the output."""
    return lambda operation: count * _output(operation)


def reduction(operation: Any) -> int:
    """Of n elements that become one, n - 1."""
    return _input(operation) - _output(operation)


def sum_of_all(operation: Any) -> int:
    """One for each element of each input but one."""
    return _input(operation) * (len(operation.inputs) - 1)


def squares_summed(operation: Any) -> int:
    """A square, a sum and half of it."""
    return 3 * _input(operation) - 1


def matrix_product(operation: Any) -> int:
    """A product and a sum for each element of the output and of what is summed over."""
    return _product(operation, -2 if operation.get_attr("transpose_a") else -1)


def stacked_products(operation: Any) -> int:
    """That of stacks of matrices; TensorFlow does not look whether one is taken by its adjoint."""
    return _product(operation, -1)


def _product(operation: Any, axis: int) -> int:
    return 2 * _shape(operation.inputs[0])[axis] * _output(operation)


def convolution(axes: int) -> Callable[[Any], int]:
    """Each output is a sum over the first `axes` axes of the filter."""
    return lambda operation: 2 * _output(operation) * math.prod(_shape(operation.inputs[1])[:axes])


def _channels_last(operation: Any) -> None:
    if operation.get_attr("data_format") != "NHWC":
        raise ValueError("Only NHWC format is supported in flops computations")


def _by_stride(operation: Any, image: list[int], filters: list[int]) -> float:
    _channels_last(operation)
    strides = operation.get_attr("strides")
    return 2 * math.prod(image) * math.prod(filters) / (image[-1] * strides[1] * strides[2])


def convolution_to_input(operation: Any) -> float:
    """The gradient of a convolution by its image."""
    return _by_stride(operation, _shape(operation.outputs[0]), _shape(operation.inputs[1]))


def convolution_to_filter(operation: Any) -> float:
    """The gradient of a convolution by its filter."""
    return _by_stride(operation, _shape(operation.inputs[0]), _shape(operation.outputs[0]))


def _window(operation: Any) -> int:
    _channels_last(operation)
    return math.prod(operation.get_attr("ksize"))


def pooling(operation: Any) -> int:
    """One for each element of each window."""
    return _window(operation) * _output(operation)


def average_pooling_gradient(operation: Any) -> int:
    """Two for each element of each window."""
    return 2 * _window(operation) * _input(operation, 1)


def max_pooling_gradient(operation: Any) -> int:
    """One for each element of each window, and one to hand the gradient on."""
    return (_window(operation) + 1) * _input(operation, 1)

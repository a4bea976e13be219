"""How many operations on floats a node makes, by TensorFlow's formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tapeflow.graph.operation import Operation
from tapeflow.ops.convolution import depthwise, morphology, pooling, rows, rows_3d
from tapeflow.ops.linalg import matmul
from tapeflow.ops.math import (
    accumulate,
    argmax,
    arithmetic,
    comparison,
    division,
    elementwise,
    reduction,
)
from tapeflow.ops.nn import bias, l2_loss, softmax


class UnknownShape(ValueError):
    """A shape that the number depends on is not known."""


def float_operations(operation: Operation) -> int | None:
    """The number for an operation of a graph; None where TensorFlow counts none for its type.

    Args:
      operation: the operation.

    Raises:
      UnknownShape: where the number depends on an unknown size.
    """
    formula = _FORMULAS.get(operation.type)
    return None if formula is None else int(formula(operation))


def _shape(tensor: Any) -> list[int]:
    shape = tensor.shape
    if not shape.is_fully_defined():
        raise UnknownShape(f"The shape of {tensor.name} is not known.")
    return shape.as_list()


def _input(operation: Operation, index: int = 0) -> int:
    return math.prod(_shape(operation.inputs[index]))


def _output(operation: Operation) -> int:
    return math.prod(_shape(operation.outputs[0]))


def _each_input(count: int) -> Callable[[Operation], int]:
    return lambda operation: count * _input(operation)


def _each_output(count: int) -> Callable[[Operation], int]:
    return lambda operation: count * _output(operation)


def _reduced(operation: Operation) -> int:
    return _input(operation) - _output(operation)


def _product(operation: Operation) -> int:
    left = _shape(operation.inputs[0])
    # The adjoint of a stack of matrices does not count here, as it does not in TensorFlow.
    flipped = operation.type == matmul.MatMul.name and operation.get_attr("transpose_a")
    return 2 * left[-2 if flipped else -1] * _output(operation)


def _by_window(axes: int) -> Callable[[Operation], int]:
    """Of convolutions: each output is a sum over the first axes of the filter."""
    return lambda operation: 2 * _output(operation) * math.prod(_shape(operation.inputs[1])[:axes])


def _channels_last(operation: Operation) -> None:
    if operation.get_attr("data_format") != "NHWC":
        raise ValueError("Only NHWC format is supported in flops computations")


def _strides(operation: Operation) -> int:
    _channels_last(operation)
    strides = operation.get_attr("strides")
    return strides[1] * strides[2]


def _to_input(operation: Operation) -> float:
    image, filters = _shape(operation.outputs[0]), _shape(operation.inputs[1])
    return 2 * math.prod(image) * math.prod(filters) / (image[-1] * _strides(operation))


def _to_filter(operation: Operation) -> float:
    image, filters = _shape(operation.inputs[0]), _shape(operation.outputs[0])
    return 2 * math.prod(image) * math.prod(filters) / (image[-1] * _strides(operation))


def _window(operation: Operation) -> int:
    _channels_last(operation)
    return math.prod(operation.get_attr("ksize"))


_ONE_OF_INPUT = [elementwise.Reciprocal, elementwise.Square, elementwise.Log, elementwise.Neg, bias.BiasAdd]
_ONE_OF_OUTPUT = [
    arithmetic.Add, arithmetic.AddV2, arithmetic.Sub, arithmetic.Mul, division.RealDiv, arithmetic.Maximum,
    arithmetic.Minimum, arithmetic.Pow, comparison.GreaterEqual, comparison.Greater, comparison.LessEqual,
    comparison.Less, comparison.Equal, comparison.NotEqual,
]  # fmt: skip
_FORMULAS: dict[str, Callable[[Operation], float]] = {
    **{row.name: _each_input(1) for row in _ONE_OF_INPUT},
    **{row.name: _each_output(1) for row in _ONE_OF_OUTPUT},
    **{row.name: _reduced for row in (reduction.Sum, argmax.ArgMax, argmax.ArgMin, bias.BiasAddGrad)},
    **{row.name: _product for row in (matmul.MatMul, matmul.BatchMatMul, matmul.BatchMatMulV2, matmul.BatchMatMulV3)},
    elementwise.Rsqrt.name: _each_input(2),
    softmax.Softmax.name: _each_input(5),
    elementwise.RsqrtGrad.name: _each_output(4),
    arithmetic.SquaredDifference.name: _each_output(2),
    reduction.Mean.name: _each_input(1),
    l2_loss.L2Loss.name: lambda operation: 3 * _input(operation) - 1,
    accumulate.AddN.name: lambda operation: _input(operation) * (len(operation.inputs) - 1),
    rows.Conv2D.name: _by_window(3),
    rows_3d.Conv3D.name: _by_window(4),
    depthwise.DepthwiseConv2dNative.name: _by_window(2),
    morphology.Dilation2D.name: _by_window(2),
    rows.Conv2DBackpropInput.name: _to_input,
    rows.Conv2DBackpropFilter.name: _to_filter,
    **{
        row.name: lambda operation: _window(operation) * _output(operation)
        for row in (pooling.AvgPool, pooling.MaxPool)
    },
    pooling.AvgPoolGrad.name: lambda operation: 2 * _window(operation) * _input(operation, 1),
    pooling.MaxPoolGrad.name: lambda operation: (_window(operation) + 1) * _input(operation, 1),
}

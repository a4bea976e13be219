"""Variables of masks, their assignment, and blocks of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.compat import v1
from tapeflow.core.annotations import Tensor

__all__ = [
    "determine_partitioned_axis", "expand_tensor", "factorized_pool", "kronecker_product",
    "partitioned_variable_assign", "variable_assign", "weight_mask_variable", "weight_threshold_variable",
]  # fmt: skip


def weight_mask_variable(var: Any, scope: Any):
    """The variable `mask` of a weight, ones of its shape."""
    with v1.variable_scope(scope):
        return v1.get_variable(
            "mask", var.get_shape(), initializer=v1.ones_initializer(), trainable=False, dtype=var.dtype
        )


def weight_threshold_variable(var: Any, scope: Any):
    """The variable `threshold` of a weight, 0."""
    with v1.variable_scope(scope):
        return v1.get_variable(
            "threshold", [], initializer=v1.zeros_initializer(), trainable=False, dtype=var.dtype
        )


def kronecker_product(mat1: Any, mat2: Any):
    """The Kronecker product of matrices: each number of the first times the second matrix."""
    (m1, n1), (m2, n2) = mat1.get_shape().as_list(), mat2.get_shape().as_list()
    product = v1.reshape(mat1, [m1, 1, n1, 1]) * v1.reshape(mat2, [1, m2, 1, n2])
    return v1.reshape(product, [m1 * m2, n1 * n2])


def expand_tensor(tensor: Tensor, block_dims: Sequence[int]):
    """A matrix in which each number of `tensor` is a block of that size. Raises ValueError for what is no matrix."""
    if tensor.get_shape().ndims != 2:
        raise ValueError("Input tensor must be rank 2")
    if len(block_dims) != 2:
        raise ValueError("block_dims must have 2 elements")
    height, width = block_dims
    return v1.repeat(v1.repeat(tensor, height, axis=0), width, axis=1)


def factorized_pool(
    input_tensor: Tensor, window_shape: Sequence[int], pooling_type: str, strides: Sequence[int], padding: str,
    name: str | None = None,
):  # fmt: skip
    """Windows of a matrix, pooled along the one axis after the other. Raises ValueError for what is no matrix."""
    if input_tensor.get_shape().ndims != 2:
        raise ValueError("factorized_pool() accepts tensors of rank 2 only")
    with v1.name_scope(name, "factorized_pool"):
        pooled = v1.convert_to_tensor(input_tensor)[v1.newaxis, v1.newaxis]
        for size, stride in zip(window_shape, strides, strict=True):
            # The rows are pooled as channels' neighbours: the axis to be pooled is the last but one.
            pooled = v1.nn.pool(pooled, [1, size], pooling_type, padding=padding, strides=[1, stride])
            pooled = v1.transpose(pooled, [0, 1, 3, 2])
    return v1.squeeze(pooled, [0, 1])


def determine_partitioned_axis(partitioned_variable: Any) -> int:
    """The axis along which a variable has parts. Raises ValueError where that is not one axis."""
    whole, axis = partitioned_variable.get_shape(), 0
    for part in partitioned_variable:
        smaller = np.less(part.get_shape().as_list(), whole.as_list())
        if np.count_nonzero(smaller) != 1:
            raise ValueError(f"Number of partitioned axes {np.count_nonzero(smaller)} not equal to 1")
        axis = int(np.argmax(smaller))
    return axis


def variable_assign(var: Any, new_value: Any):
    """The assignment of a variable."""
    return v1.assign(var, new_value, name=f"{var.op.name}_assign")


def partitioned_variable_assign(partitioned_var: Any, new_value: Any):
    """The assignment of all parts of a variable."""
    parts = list(partitioned_var)
    axis = determine_partitioned_axis(partitioned_var) if len(parts) > 1 else 0
    sizes = [part.get_shape().as_list()[axis] for part in parts]
    values = v1.split(new_value, sizes, axis=axis)
    assigned = [variable_assign(part, value) for part, value in zip(parts, values, strict=True)]
    return v1.group(*assigned, name=f"{partitioned_var.name}_group_assign")

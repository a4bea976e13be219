"""Checks and conversions of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import shape, size
from tapeflow.ops.control.assert_op import Assert
from tapeflow.ops.control.flow import case, cond
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.math.accumulate import add_n
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.math.reductions import reduce_all, reduce_sum
from tapeflow.ops.static import get_static_value

__all__ = [
    "assert_scalar_int", "convert_to_tensor_or_sparse_tensor", "reduce_sum_n", "smart_case", "smart_cond",
    "with_same_shape", "with_shape",
]  # fmt: skip


def convert_to_tensor_or_sparse_tensor(value: TensorLike, dtype: DTypeLike | None = None, name: str | None = None):
    """A sparse tensor as it is, anything else as a tensor. Raises RuntimeError for another dtype."""
    if isinstance(value, SparseTensor):
        if dtype is not None and not value.dtype.is_compatible_with(dtype):
            raise RuntimeError(f"Sparse dtype: requested = {dtype}, actual = {value.dtype.name}")
        return value
    return convert_to_tensor(value, dtype, name=name)


def assert_scalar_int(tensor: TensorLike, name: str | None = None):
    """The tensor. Raises ValueError for anything but one whole number."""
    tensor = convert_to_tensor(tensor)
    if not tensor.dtype.is_integer:
        raise ValueError(f"Expected integer type for {tensor.name}, received type: {tensor.dtype}.")
    if tensor.shape.rank not in (0, None):
        raise ValueError(f"Expected scalar, got shape {tensor.shape} for {tensor.name}.")
    return tensor


def reduce_sum_n(tensors: Tensor, name: str | None = None):
    """The sum of the sums of tensors, a scalar. Raises ValueError for none."""
    if not tensors:
        raise ValueError("No tensors provided.")
    sums = [reduce_sum(tensor) if tensor.shape.rank != 0 else tensor for tensor in tensors]
    return sums[0] if len(sums) == 1 else add_n(sums, name=name)


def with_shape(expected_shape, tensor: TensorLike):
    """The tensor, which has (or is checked to have) the shape: a list, or an int32 tensor that the run reads.

    Raises ValueError where it is known not to, and for shapes of another rank or dtype; InvalidArgumentError when the
    graph runs.
    """
    tensor = convert_to_tensor(tensor)
    later = is_tensor(expected_shape)
    if not later and not isinstance(expected_shape, TensorShape):
        expected_shape = np.asarray(expected_shape if len(expected_shape) else np.zeros(0, np.int32))
        if expected_shape.ndim > 1:
            raise ValueError(_invalid("rank", expected_shape.ndim, expected_shape, tensor))
        if expected_shape.dtype == np.int64:
            expected_shape = expected_shape.astype(np.int32)
    if not isinstance(expected_shape, TensorShape) and expected_shape.dtype != dtypes.int32:
        raise ValueError(_invalid("dtype", expected_shape.dtype, expected_shape, tensor))
    if not later and tensor.shape.is_fully_defined():
        if not tensor.shape.is_compatible_with(expected_shape):
            raise ValueError(f"Invalid shape for tensor {tensor.name}, expected {expected_shape}, got {tensor.shape}.")
        return tensor
    wanted = convert_to_tensor(expected_shape)
    actual = shape(tensor)
    same = logical_and(equal(size(wanted), size(actual)), reduce_all(equal(wanted, actual)))
    right = Assert(same, [f"Wrong shape for {tensor.name} [expected] [actual].", wanted, actual])
    with control_dependencies([right]):
        checked = identity(tensor)
    if not later:
        checked.set_shape(expected_shape)
    return checked


def _invalid(what: str, found: Any, wanted: Any, tensor: Tensor) -> str:
    return f"Invalid {what} {found} for shape {wanted} expected of tensor {tensor.name}."


def with_same_shape(expected_tensor, tensor: TensorLike):
    """The tensor, which has (or is checked to have) the shape of another."""
    expected = convert_to_tensor(expected_tensor)
    if expected.shape.is_fully_defined():
        return with_shape(expected.shape.as_list(), tensor)
    return with_shape(shape(expected), tensor)


def smart_cond(pred, fn1=None, fn2=None, name: str | None = None):
    """One of two functions; chosen at once where the condition is known."""
    known = pred if isinstance(pred, (bool, int)) else get_static_value(pred)
    if known is None:
        return cond(pred, fn1, fn2, name=name)
    return fn1() if known else fn2()


def smart_case(pred_fn_pairs, default=None, exclusive: bool = False, name: str = "smart_case"):
    """The first function whose condition holds; chosen at once where the conditions are known."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    known = [p if isinstance(p, (bool, int)) else get_static_value(p) for p, _ in pairs]
    if any(p is None for p in known):
        return case(pairs, default, exclusive, name=name)
    return next((fn for p, (_, fn) in zip(known, pairs) if p), default)()

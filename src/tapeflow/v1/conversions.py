"""Conversions of 1.x that leave sparse values as they are."""

from __future__ import annotations

from typing import Any

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import public
from tapeflow.core.sparse_tensor import SparseTensor, SparseTensorValue


def _check_dtype(value, dtype: DTypeLike | None):
    if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for Tensor with dtype "
            f"{value.dtype.name}: {value!r}"
        )
    return value


@api(v1="convert_to_tensor_or_indexed_slices")
@public
def convert_to_tensor_or_indexed_slices(
    value: TensorLike, dtype: DTypeLike | None = None, name: str | None = None
):
    """`value` as a tensor; IndexedSlices and sparse tensors as they are. Raises ValueError for another dtype.

    Args:
      value: a tensor, or what becomes one.
      dtype: the dtype that it must have; None: any.
      name: a name for the operation (optional).
    """
    if isinstance(value, (IndexedSlices, SparseTensor)):
        return _check_dtype(value, dtype)
    return convert_to_tensor(value, dtype, name)


@api(v1="convert_to_tensor_or_sparse_tensor")
@public
def convert_to_tensor_or_sparse_tensor(value: Any, dtype: DTypeLike | None = None, name: str | None = None):
    """`value` as a tensor; a sparse tensor or the value of one as a sparse tensor.

    Raises RuntimeError for a sparse tensor of another dtype.

    Args:
      value: a tensor, or what becomes one.
      dtype: the dtype that it must have; None: any.
      name: a name for the operation (optional).
    """
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, SparseTensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise RuntimeError(
                f"Sparse dtype mismatch. Requested: {dtypes.as_dtype(dtype).name},  Actual: {value.dtype.name}"
            )
        return value
    return convert_to_tensor(value, dtype, name)

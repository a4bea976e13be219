"""`keras.backend`: what kind of tensor it is, by dtype and by how its elements are kept."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.public import boundaries, computes_tensors
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.keras.dtype_names import standardize_dtype
from tapeflow.ops.sparse.functions import to_dense as dense


def is_sparse(tensor: Any):
    """Whether a tensor is sparse."""
    return isinstance(tensor, SparseTensor)


@computes_tensors
def to_dense(tensor: TensorLike):
    """A sparse tensor as a dense one; others as they are."""
    if isinstance(tensor, SparseTensor):
        return dense(tensor)
    return tensor


def is_float_dtype(dtype: DTypeLike):
    """Whether a dtype is one of floating numbers."""
    return standardize_dtype(dtype).startswith(("float", "bfloat"))


def is_int_dtype(dtype: DTypeLike):
    """Whether a dtype is one of integers."""
    return standardize_dtype(dtype).startswith(("int", "uint"))


boundaries(globals())

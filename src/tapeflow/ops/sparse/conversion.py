"""Values as sparse tensors."""

from __future__ import annotations

from tapeflow.core.sparse_tensor import SparseTensor, SparseTensorValue


def as_sparse(value) -> SparseTensor:
    """A sparse tensor. Raises TypeError for what is none."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor. Received: {value}")
    return value


def parts_of(sparse: SparseTensor):
    return sparse.indices, sparse.values, sparse.dense_shape


def is_sparse(value) -> bool:
    """Whether `value` is a sparse tensor or the value of one."""
    return isinstance(value, (SparseTensor, SparseTensorValue))


def sparse_like(sparse: SparseTensor, made: SparseTensor):
    made.set_shape(sparse.shape)
    return made

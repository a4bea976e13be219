"""Tensors brought to the rank that a network wants: [batch, n], or [batch, time, n]."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_prod
from tapeflow.ops.sparse import shaping


def inner_flattened(inputs: Tensor | SparseTensor, rank: int):
    """A tensor, sparse or dense, whose innermost axes are one, so that it has that rank.

    Raises ValueError for a lower rank.
    """
    if not isinstance(inputs, SparseTensor):
        inputs = convert_to_tensor(inputs)
    known = inputs.shape.rank
    if known is not None and known < rank:
        raise ValueError(
            f"Inputs has rank less than new_rank. {inputs} must have rank at least {rank}."
        )
    if known == rank:
        return inputs
    if isinstance(inputs, SparseTensor):
        sizes = cast(inputs.dense_shape, dtypes.int64)
        inner = reduce_prod(sizes[rank - 1 :], keepdims=True)
        return shaping.reshape(inputs, concat([sizes[: rank - 1], inner], 0))
    flat = reshape(inputs, concat([shape_of(inputs)[: rank - 1], [-1]], 0))
    if known is not None:
        flat.set_shape([*inputs.shape[: rank - 1], inputs.shape[rank - 1 :].num_elements()])
    return flat


def with_rank(tensor, rank: int, name: str):
    """A tensor with one more axis of size one, or with the innermost axes as one, so that it has that rank.

    Raises ValueError for a rank that is lower by two or more; `name` is the column's.
    """
    known = tensor.shape.rank
    if known is not None and rank > known + 1:
        raise ValueError(
            f"Error while processing column {name}. Rank of input Tensor ({known}) should be the same as output_rank "
            f"({rank}). For example, sequence data should typically be 3 dimensional (rank 3) while non-sequence data "
            "is typically 2 dimensional (rank 2)."
        )
    if known is None or rank != known + 1:
        return inner_flattened(tensor, rank)
    if isinstance(tensor, SparseTensor):
        return shaping.reshape(tensor, concat([tensor.dense_shape, [1]], 0))
    return expand_dims(tensor, -1)

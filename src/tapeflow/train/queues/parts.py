"""What queues of batches hold: lists of tensors, sparse ones among them, and their shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.queue import queues as queues
from tapeflow.ops.sparse.serialization import (
    deserialize_many_sparse,
    serialize_many_sparse,
    serialize_sparse,
)


def as_list(tensors):
    """The values of a list, or of a dict by its sorted keys."""
    if isinstance(tensors, dict):
        tensors = [tensors[key] for key in sorted(tensors, key=str)]
    return [x if isinstance(x, SparseTensor) else convert_to_tensor(x) for x in tensors]


def as_stored(values: Any, many: bool):
    """The values as tensors that queues can hold, sparse ones serialized."""
    found = []
    for x in values:
        if isinstance(x, SparseTensor):
            x = serialize_many_sparse(x) if many else serialize_sparse(x)
            x.set_shape([None, 3] if many else [3])
        found.append(x)
    return found


def as_given(tensors: TensorLike, values: Sequence[Any], many: bool):
    """What a queue gave, with sparse tensors in the places of those in `values`."""
    listed = tensors if isinstance(tensors, list) else [tensors]
    found = []
    for x, value in zip(listed, values, strict=True):
        if isinstance(value, SparseTensor):
            rank = value.dense_shape.shape.as_list()[0] if value.dense_shape.shape.rank else None
            element = rank if rank is None else rank - many
            x = deserialize_many_sparse(x, value.dtype, element)
            if element is not None:
                x.indices.set_shape([None, element + 1])
                x.dense_shape.set_shape([element + 1])
        found.append(x)
    return found if isinstance(tensors, list) else found[0]


def in_structure_of(original: Sequence[Any] | dict[str, Any], tensors: TensorLike | SparseTensor):
    """The tensors, as a dict where `original` is one."""
    if not isinstance(original, dict):
        return tensors
    keys = sorted(original, key=str)
    return dict(zip(keys, tensors if isinstance(tensors, list) else [tensors], strict=True))


def common_shapes(lists: Sequence[Any], shapes, many: bool):
    """The shapes of elements that all lists have in common."""
    if shapes is not None:
        return [TensorShape(s) for s in shapes]
    found = []
    for column in zip(*lists, strict=True):
        known = [x.shape for x in column]
        for x in column:
            if x.shape.rank is None:
                raise ValueError(f"Cannot infer Tensor's rank: {x}")
        if many:
            known = [s.with_rank_at_least(1)[1:] for s in known]
        common = known[0]
        for other in known[1:]:
            common = queues.common(common, other)
        found.append(common)
    return found


def checked_keep(keep_input: Tensor | bool, many: bool):
    """A bool scalar, or with `many` a vector. Raises ValueError for other shapes."""
    keep_input = convert_to_tensor(keep_input)
    rank = keep_input.shape.rank
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not many and rank == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep_input

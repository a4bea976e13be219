"""Embeddings: rows of a table, or of a table kept in several parts, by their number."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import FloatLike, Tensor, TensorLike, Variable
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.indexing.partition import DynamicPartition, ParallelDynamicStitch
from tapeflow.ops.math import arithmetic, casting, clip
from tapeflow.ops.math.choice import where
from tapeflow.ops.static import as_shape, joined, rank_of, size_of, sizes_of


@api(v2="nn.embedding_lookup")
@tensor_function
@graph_scope("embedding_lookup")
def embedding_lookup(params: Variable, ids: TensorLike, max_norm: FloatLike | None = None, name: str | None = None):
    """Look rows up in a table of embeddings.

    Args:
      params: a tensor or variable `[rows, ...]`, or a list of those, over which the rows are spread in contiguous
        blocks.
      ids: the numbers of the rows, an int32 or int64 tensor.
      max_norm: embeddings whose 2-norm is larger are scaled down to it (optional).
      name: a name for the operation (optional).

    Returns:
      A tensor of shape `ids.shape + params.shape[1:]`. The gradient by `params` is a `tf.IndexedSlices`.

    Raises:
      InvalidArgumentError: for an id that is not a row.

    >>> tf.nn.embedding_lookup([[1.0, 2.0], [3.0, 4.0]], [1, 0, 1])
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([2., 1., 2.], dtype=float32)>
    """
    return _lookup(params, ids, "div", max_norm)


@api(v1="nn.embedding_lookup")
@tensor_function
@graph_scope("embedding_lookup")
def embedding_lookup_v1(
    params: TensorLike, ids: TensorLike, partition_strategy: str = "mod", name: str | None = None,
    validate_indices: bool = True, max_norm: FloatLike | None = None,
):
    """`embedding_lookup` of 1.x, where row i of several parts is by default in part i mod their number."""
    return _lookup(params, ids, partition_strategy, max_norm)


def _lookup(params: TensorLike, ids: TensorLike, strategy: str, max_norm):
    if params is None:
        raise ValueError("params must be specified")
    if getattr(params, "is_sharded_variable", False):
        parts, strategy = list(params), "div"  # type: ignore[arg-type]
    else:
        parts = list(params) if isinstance(params, (list, tuple)) else [params]
    if not parts:
        raise ValueError(f"Length of params is currently {len(parts)}. Need at least one param.")
    ids = convert_to_tensor(ids)
    if len(parts) == 1:
        return _clipped(gather(parts[0], ids), ids, max_norm)
    plain = [isinstance(p, np.ndarray) or not hasattr(p, "dtype") for p in parts]
    made = [convert_to_tensor(p) if q else p for p, q in zip(parts, plain, strict=True)]
    return _lookup_parts(made, ids, strategy, max_norm)


def _lookup_parts(parts: Any, ids: Tensor, strategy: str, max_norm: float | None):
    count = len(parts)
    flat = Reshape(ids, [-1])
    if strategy == "mod":
        owner, row = flat % count, flat // count
    elif strategy == "div":
        rows = sum(size_of(p, 0) for p in parts)
        each, extra = rows // count, rows % count
        if isinstance(rows, int):
            least = max(each, 1)
        else:
            each, extra = casting.cast(each, flat.dtype), casting.cast(extra, flat.dtype)
            least = arithmetic.maximum(each, 1)
        # The first `extra` parts have one row more.
        owner = arithmetic.maximum(flat // (each + 1), (flat - extra) // least)
        row = where(owner < extra, flat % (each + 1), (flat - extra) % least)
    else:
        raise ValueError(
            f"Only 'mod' and 'div' partition strategies are supported. Got: {strategy}"
        )
    owner = casting.cast(owner, dtypes.int32)
    wanted = DynamicPartition(row, owner, count)
    places = DynamicPartition(range_(0, size_of(flat, 0)), owner, count)
    found = [gather(part, rows) for part, rows in zip(parts, wanted, strict=True)]
    out = ParallelDynamicStitch(list(places), found)
    if ids.shape.rank is None or found[0].shape.rank is None:
        out = Reshape(out, joined(Shape(ids), Shape(found[0])[1:]))
    else:
        out = Reshape(out, as_shape([*sizes_of(ids), *sizes_of(found[0])[1:]]))
    return _clipped(out, ids, max_norm)


def _clipped(rows: Tensor, ids: Tensor, max_norm: float | None):
    if max_norm is None:
        return rows
    if ids.shape.rank is None or rows.shape.rank is None:
        axes = range_(rank_of(ids), rank_of(rows))
    else:
        axes = np.arange(ids.shape.rank, rows.shape.rank, dtype=np.int32)
    return clip.clip_by_norm(rows, max_norm, axes=axes)

"""Embeddings of sets of ids: the sum or mean of the rows that each line of a sparse or ragged matrix names."""

from __future__ import annotations

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import FloatLike, Tensor, TensorLike, Variable
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.indexing.unique import unique
from tapeflow.ops.math import choice, comparison
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.division_no_nan import DivNoNan
from tapeflow.ops.math.elementwise import Sqrt
from tapeflow.ops.math.reductions import reduce_prod
from tapeflow.ops.math.segment_functions import segment_sum
from tapeflow.ops.nn.embedding import embedding_lookup_v1
from tapeflow.ops.ragged.tensor import RaggedTensor
from tapeflow.ops.sparse import shaping
from tapeflow.ops.sparse.segment import (
    sparse_segment_mean,
    sparse_segment_sqrt_n,
    sparse_segment_sum,
)
from tapeflow.ops.static import size_of

_COMBINERS = {
    "sum": sparse_segment_sum,
    "mean": sparse_segment_mean,
    "sqrtn": sparse_segment_sqrt_n,
}
_SETS = (SparseTensor, RaggedTensor)


def _combiner(combiner: str | None) -> str:
    combiner = "mean" if combiner is None else combiner
    if combiner not in _COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    return combiner


def _same_structure(ids: SparseTensor | RaggedTensor, weights: SparseTensor | RaggedTensor | None) -> None:
    if weights is None:
        return
    if type(weights) is not type(ids):
        raise TypeError(
            f"sp_weights must be either None or {type(ids).__name__}, got {type(weights).__name__}"
        )
    if isinstance(ids, SparseTensor):
        for part in ("values", "indices", "dense_shape"):
            getattr(ids, part).shape.assert_is_compatible_with(getattr(weights, part).shape)
    else:
        ids.values.shape.assert_is_compatible_with(weights.values.shape)


@api(v1="nn.embedding_lookup_sparse")
@tensor_function
@graph_scope("embedding_lookup_sparse")
def embedding_lookup_sparse_v1(
    params: TensorLike, sp_ids: SparseTensor | RaggedTensor, sp_weights: SparseTensor | RaggedTensor | None,
    partition_strategy: str = "mod", name: str | None = None, combiner: str | None = None,
    max_norm: FloatLike | None = None, allow_fast_lookup: bool = False,
):
    """`embedding_lookup_sparse` of 1.x, where row i of several parts is by default in part i mod their number."""
    combiner = _combiner(combiner)
    if not isinstance(sp_ids, _SETS):
        raise TypeError(f"sp_ids must be SparseTensor or RaggedTensor, got {type(sp_ids).__name__}")
    _same_structure(sp_ids, sp_weights)
    if isinstance(sp_ids, SparseTensor):
        segments = sp_ids.indices[:, 0]
    else:
        segments = sp_ids.value_rowids()
    ids, places = unique(sp_ids.values)
    rows = embedding_lookup_v1(params, ids, partition_strategy, max_norm=max_norm)
    if sp_weights is None:
        return _COMBINERS[combiner](rows, places, segments)
    kind = rows.dtype
    rows = gather(rows, places)
    if kind in (dtypes.float16, dtypes.bfloat16):
        rows = cast(rows, dtypes.float32)
    weights = cast(sp_weights.values, rows.dtype)
    weights = reshape(weights, [-1] + [1] * (rows.shape.rank - 1))
    total = segment_sum(rows * weights, segments)
    if combiner == "mean":
        total = DivNoNan(total, segment_sum(weights, segments))
    elif combiner == "sqrtn":
        total = DivNoNan(total, Sqrt(segment_sum(weights * weights, segments)))
    return cast(total, kind)


@api(v2="nn.embedding_lookup_sparse")
@tensor_function
@graph_scope("embedding_lookup_sparse")
def embedding_lookup_sparse(
    params: Variable, sp_ids: SparseTensor | RaggedTensor, sp_weights: SparseTensor | RaggedTensor | None,
    combiner: str | None = None, max_norm: FloatLike | None = None, name: str | None = None,
    allow_fast_lookup: bool = False,
):
    """Look several rows up for each example, and combine them.

    Args:
      params: a tensor or variable `[rows, ...]`, or a list of those, over which the rows are spread in contiguous
        blocks.
      sp_ids: the numbers of the rows, a `tf.SparseTensor` `[batch, most ids]` or `tf.RaggedTensor`; each example
        needs one.
      sp_weights: what each row counts, of the structure of `sp_ids`; None: 1.
      combiner: "sum"; "mean" (the default), divided by the sum of the weights; "sqrtn", by the root of the sum of
        their squares.
      max_norm: embeddings whose 2-norm is larger are scaled down to it before they are combined (optional).
      name: a name for the operation (optional).
      allow_fast_lookup: whether ids may be taken as they are, without finding the distinct ones first.

    Returns:
      A tensor `[batch, ...]`.

    Raises:
      TypeError: for other `sp_ids` and `sp_weights`.
      ValueError: for another combiner.
      InvalidArgumentError: for an id that is not a row.
    """
    return embedding_lookup_sparse_v1(
        params, sp_ids, sp_weights, "div", name, combiner, max_norm, allow_fast_lookup
    )


def _tables(weights, kind) -> list:
    if weights is None:
        raise ValueError(f"Missing embedding_weights {weights}.")
    parts = list(weights) if isinstance(weights, (list, tuple)) or hasattr(weights, "as_tensor") else [weights]
    if not parts:
        raise ValueError(f"Missing embedding_weights {weights}.")
    return [
        w if hasattr(w, "assign") and kind in (None, w.dtype) else convert_to_tensor(w, dtype=kind)
        for w in parts
    ]


@api(v1="nn.safe_embedding_lookup_sparse")
@tensor_function
def safe_embedding_lookup_sparse_v1(
    embedding_weights: TensorLike, sparse_ids, sparse_weights=None, combiner: str = "mean",
    default_id: TensorLike | None = None, name: str | None = None, partition_strategy: str = "div",
    max_norm: FloatLike | None = None, allow_fast_lookup: bool = False,
):
    """`safe_embedding_lookup_sparse` of 1.x, which also says how rows are spread over several parts."""
    tables = _tables(embedding_weights, None if sparse_weights is None else sparse_weights.dtype)
    ragged = isinstance(sparse_ids, RaggedTensor)
    if ragged:
        _same_structure(sparse_ids, sparse_weights)
        sparse_ids = sparse_ids.to_sparse()
        sparse_weights = None if sparse_weights is None else sparse_weights.to_sparse()
    sizes = sparse_ids.dense_shape
    rank = size_of(sizes, 0)
    flat = stack([reduce_prod(sizes[: rank - 1]), sizes[rank - 1]])
    ids = shaping.reshape(sparse_ids, flat)
    weights = None
    if sparse_weights is not None:
        weights = SparseTensor(ids.indices, sparse_weights.values, ids.dense_shape)
    ids, weights = _retained(ids, weights, comparison.greater_equal(ids.values, 0))
    if weights is not None and combiner != "sum":
        ids, weights = _retained(ids, weights, comparison.greater(weights.values, 0))
    ids, empty = shaping.fill_empty_rows(ids, default_id or 0)
    if weights is not None:
        weights, _ = shaping.fill_empty_rows(weights, 1.0)
    out = embedding_lookup_sparse_v1(
        tables, ids, weights, partition_strategy, name, combiner, max_norm, allow_fast_lookup
    )
    if default_id is None:
        out = choice.where(reshape(empty, [-1, 1]), zeros_like(out), out)
    outer = cast(sizes[: rank - 1], dtypes.int32)
    out_shape = concat([outer, shape_of(out)[1:]], 0)
    shaped = reshape(out, out_shape)
    if isinstance(rank, int):
        shaped.set_shape([None] * (rank - 1) + out.shape.as_list()[1:])
    return shaped


def _retained(ids: SparseTensor, weights: SparseTensor | None, valid: Tensor):
    if weights is not None:
        weights = shaping.retain(weights, valid)
    return shaping.retain(ids, valid), weights


@api(v2="nn.safe_embedding_lookup_sparse")
@tensor_function
def safe_embedding_lookup_sparse(
    embedding_weights: TensorLike, sparse_ids: SparseTensor, sparse_weights: SparseTensor | None = None,
    combiner: str = "mean", default_id: TensorLike | None = None, max_norm: FloatLike | None = None,
    name: str | None = None, allow_fast_lookup: bool = False,
):
    """Look several rows up for each example, and combine them; what is not valid is left out.

    Negative ids, and unless the combiner is "sum" weights that are not positive, do not count.

    Args:
      embedding_weights: a tensor or variable `[rows, dim]`, or a list of those.
      sparse_ids: the numbers of the rows, a `tf.SparseTensor` `[d0, ..., dn]` or `tf.RaggedTensor`.
      sparse_weights: what each row counts, of the structure of `sparse_ids`; None: 1.
      combiner: "sum", "mean" or "sqrtn", see `tf.nn.embedding_lookup_sparse`.
      default_id: the row for examples without ids; None: these get zeros.
      max_norm: embeddings whose 2-norm is larger are scaled down to it (optional).
      name: a name for the operation (optional).
      allow_fast_lookup: as of `tf.nn.embedding_lookup_sparse`.

    Returns:
      A tensor `[d0, ..., d(n-1), dim]`.

    Raises:
      ValueError: where `embedding_weights` is missing.
    """
    return safe_embedding_lookup_sparse_v1(
        embedding_weights,
        sparse_ids,
        sparse_weights,
        combiner,
        default_id,
        name,
        "div",
        max_norm,
        allow_fast_lookup,
    )

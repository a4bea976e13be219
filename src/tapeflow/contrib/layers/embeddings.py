"""Embeddings whose numbers lie in one vector, each at the hash of a value and of its place in the value's vector."""

from __future__ import annotations

from tapeflow.compat.v1.nn import embedding_lookup
from tapeflow.contrib.layers.crossing import sparse_feature_cross
from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike, Variable
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.tiling import tile
from tapeflow.ops.indexing.unique import unique
from tapeflow.ops.math.casting import cast
from tapeflow.ops.sparse import functions as sparse
from tapeflow.ops.sparse import segment as sparse_segment
from tapeflow.ops.sparse import shaping

_COMBINED = {
    "sum": sparse_segment.sparse_segment_sum,
    "mean": sparse_segment.sparse_segment_mean,
    "sqrtn": sparse_segment.sparse_segment_sqrt_n,
}


def _parts(params):
    return list(params) if isinstance(params, list) or hasattr(params, "as_tensor") else [params]


def scattered_embedding_lookup(
    params, values: TensorLike, dimension: int, name: str | None = None, hash_key: int | None = None
):
    """Vectors of the values, [*shape of values, dimension], out of `params`, a vector or its parts.

    Raises ValueError without a dimension, and for parts of sizes that no partitioner makes.
    """
    if dimension is None:
        raise ValueError("You must specify dimension.")
    if dimension <= 0:
        raise ValueError(f"Dimension must be >0. Given is {dimension}")
    params = _parts(params)
    sizes = [part.shape.as_list()[0] for part in params]
    for i, size in enumerate(sizes):
        expected = (sum(sizes) - i - 1) // len(sizes) + 1
        if size != expected:
            raise ValueError(f"Tensor {i} in params has size {size}, expected {expected}.")
    values = convert_to_tensor(values)
    flat = reshape(values, [-1, 1])
    places = tile(expand_dims(range_(0, dimension), 0), shape_of(flat))
    ids = sparse_feature_cross(
        [places, flat], hashed_output=True, num_buckets=sum(sizes), hash_key=hash_key
    )
    found = embedding_lookup(params, sparse.to_dense(ids), partition_strategy="div")
    return reshape(found, concat([shape_of(values), [dimension]], 0), name=name)


def scattered_embedding_lookup_sparse(
    params: Variable, sparse_values: SparseTensor, dimension: int, combiner: str | None = None,
    default_value: TensorLike | None = None, name: str | None = None, hash_key: int | None = None,
):
    """`scattered_embedding_lookup` of the values of each row, combined: [rows, dimension].

    Rows without values have `default_value`. Raises TypeError for values that are not sparse, ValueError for another
    combiner than "mean", "sum" and "sqrtn".
    """
    if not isinstance(sparse_values, SparseTensor):
        raise TypeError("sparse_values must be SparseTensor")
    combiner = combiner or "mean"
    if combiner not in _COMBINED:
        raise ValueError("Combiner must be one of 'mean', 'sqrtn' or 'sum'.")
    if default_value is None:
        # TensorFlow's, on which the numbers of rows without values depend.
        default_value = "6ZxWzWOHxZ" if sparse_values.dtype == dtypes.string else 1288896567
    filled, _ = shaping.fill_empty_rows(sparse_values, default_value)
    once, places = unique(filled.values)[:2]
    found = scattered_embedding_lookup(params, once, dimension, hash_key=hash_key)
    return _COMBINED[combiner](found, places, cast(filled.indices[:, 0], dtypes.int32), name=name)

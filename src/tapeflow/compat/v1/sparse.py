"""tf.compat.v1.sparse: `tf.sparse` with the names and signatures of 1.x."""

from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops.math.counting import sparse_bincount as bincount
from tapeflow.ops.queue.accumulator import SparseConditionalAccumulator
from tapeflow.ops.ragged.cross import sparse_cross as cross
from tapeflow.ops.ragged.cross import sparse_cross_hashed as cross_hashed
from tapeflow.ops.sparse.functions import add_v1 as add
from tapeflow.ops.sparse.functions import concat_v1 as concat
from tapeflow.ops.sparse.functions import (
    expand_dims,
    eye,
    fill_empty_rows,
    from_dense,
    mask,
    maximum,
    minimum,
    reduce_max_sparse,
    reduce_sum_sparse,
    reorder,
    reset_shape,
    reshape,
    retain,
    softmax,
    sparse_dense_matmul,
    to_dense,
    to_indicator,
    transpose,
)
from tapeflow.ops.sparse.functions import reduce_max_v1 as reduce_max
from tapeflow.ops.sparse.functions import reduce_sum_v1 as reduce_sum
from tapeflow.ops.sparse.functions import slice_ as slice
from tapeflow.ops.sparse.functions import sparse_dense_matmul as matmul
from tapeflow.ops.sparse.functions import sparse_merge as merge
from tapeflow.ops.sparse.functions import split_v1 as split
from tapeflow.ops.sparse.segment import sparse_segment_mean_v1 as segment_mean
from tapeflow.ops.sparse.segment import sparse_segment_sqrt_n_v1 as segment_sqrt_n
from tapeflow.ops.sparse.segment import sparse_segment_sum_v1 as segment_sum
from tapeflow.v1.sparse_names import sparse_placeholder as placeholder

__all__ = [
    "SparseConditionalAccumulator", "SparseTensor", "add", "bincount", "concat", "cross", "cross_hashed",
    "expand_dims", "eye", "fill_empty_rows", "from_dense", "mask",
    "matmul", "maximum", "merge", "minimum", "placeholder", "reduce_max", "reduce_max_sparse",
    "reduce_sum", "reduce_sum_sparse", "reorder", "reset_shape", "reshape", "retain",
    "segment_mean", "segment_sqrt_n", "segment_sum", "slice", "softmax", "sparse_dense_matmul",
    "split", "to_dense", "to_indicator", "transpose",
]  # fmt: skip

"""tf.sparse: tensors of which only the elements that are not zero are kept."""

from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops.math.counting import sparse_bincount as bincount
from tapeflow.ops.ragged.cross import sparse_cross as cross
from tapeflow.ops.ragged.cross import sparse_cross_hashed as cross_hashed
from tapeflow.ops.sparse.functions import (
    add,
    concat,
    expand_dims,
    eye,
    fill_empty_rows,
    from_dense,
    map_values,
    mask,
    maximum,
    minimum,
    reduce_max,
    reduce_sum,
    reorder,
    reset_shape,
    reshape,
    retain,
    softmax,
    sparse_dense_matmul,
    split,
    to_dense,
    to_indicator,
    transpose,
)
from tapeflow.ops.sparse.functions import slice_ as slice
from tapeflow.ops.sparse.sampled import sampled_addmm
from tapeflow.ops.sparse.segment import sparse_segment_mean as segment_mean
from tapeflow.ops.sparse.segment import sparse_segment_sqrt_n as segment_sqrt_n
from tapeflow.ops.sparse.segment import sparse_segment_sum as segment_sum

__all__ = [
    "SparseTensor", "add", "bincount", "concat", "cross", "cross_hashed", "expand_dims", "eye",
    "fill_empty_rows", "from_dense",
    "map_values", "mask", "maximum", "minimum", "reduce_max", "reduce_sum", "reorder",
    "reset_shape", "reshape", "retain", "sampled_addmm", "segment_mean", "segment_sqrt_n", "segment_sum", "slice",
    "softmax", "sparse_dense_matmul", "split", "to_dense", "to_indicator", "transpose",
]  # fmt: skip

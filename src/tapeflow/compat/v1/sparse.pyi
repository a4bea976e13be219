# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.core.sparse_tensor import SparseTensor as SparseTensor
from tapeflow.ops.math.counting import sparse_bincount as bincount
from tapeflow.ops.queue.accumulator import SparseConditionalAccumulator as SparseConditionalAccumulator
from tapeflow.ops.ragged.cross import sparse_cross as cross
from tapeflow.ops.ragged.cross import sparse_cross_hashed as cross_hashed
from tapeflow.ops.sparse.arithmetic import add_v1 as add
from tapeflow.ops.sparse.arithmetic import maximum as maximum
from tapeflow.ops.sparse.arithmetic import minimum as minimum
from tapeflow.ops.sparse.arithmetic import reduce_max_sparse as reduce_max_sparse
from tapeflow.ops.sparse.arithmetic import reduce_max_v1 as reduce_max
from tapeflow.ops.sparse.arithmetic import reduce_sum_sparse as reduce_sum_sparse
from tapeflow.ops.sparse.arithmetic import reduce_sum_v1 as reduce_sum
from tapeflow.ops.sparse.arithmetic import softmax as softmax
from tapeflow.ops.sparse.arithmetic import sparse_dense_matmul as matmul
from tapeflow.ops.sparse.arithmetic import sparse_dense_matmul as sparse_dense_matmul
from tapeflow.ops.sparse.functions import eye as eye
from tapeflow.ops.sparse.functions import from_dense as from_dense
from tapeflow.ops.sparse.functions import mask as mask
from tapeflow.ops.sparse.functions import sparse_merge as merge
from tapeflow.ops.sparse.functions import to_dense as to_dense
from tapeflow.ops.sparse.functions import to_indicator as to_indicator
from tapeflow.ops.sparse.segment import sparse_segment_mean_v1 as segment_mean
from tapeflow.ops.sparse.segment import sparse_segment_sqrt_n_v1 as segment_sqrt_n
from tapeflow.ops.sparse.segment import sparse_segment_sum_v1 as segment_sum
from tapeflow.ops.sparse.shaping import concat_v1 as concat
from tapeflow.ops.sparse.shaping import expand_dims as expand_dims
from tapeflow.ops.sparse.shaping import fill_empty_rows as fill_empty_rows
from tapeflow.ops.sparse.shaping import reorder as reorder
from tapeflow.ops.sparse.shaping import reset_shape as reset_shape
from tapeflow.ops.sparse.shaping import reshape as reshape
from tapeflow.ops.sparse.shaping import retain as retain
from tapeflow.ops.sparse.shaping import slice_ as slice
from tapeflow.ops.sparse.shaping import split_v1 as split
from tapeflow.ops.sparse.shaping import transpose as transpose
from tapeflow.v1.sparse_names import sparse_placeholder as placeholder
__all__ = [
    "SparseConditionalAccumulator",
    "SparseTensor",
    "add",
    "bincount",
    "concat",
    "cross",
    "cross_hashed",
    "expand_dims",
    "eye",
    "fill_empty_rows",
    "from_dense",
    "mask",
    "matmul",
    "maximum",
    "merge",
    "minimum",
    "placeholder",
    "reduce_max",
    "reduce_max_sparse",
    "reduce_sum",
    "reduce_sum_sparse",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "segment_mean",
    "segment_sqrt_n",
    "segment_sum",
    "slice",
    "softmax",
    "sparse_dense_matmul",
    "split",
    "to_dense",
    "to_indicator",
    "transpose",
]

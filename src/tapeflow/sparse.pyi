# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.core.sparse_tensor import SparseTensor as SparseTensor
from tapeflow.ops.math.counting import sparse_bincount as bincount
from tapeflow.ops.ragged.cross import sparse_cross as cross
from tapeflow.ops.ragged.cross import sparse_cross_hashed as cross_hashed
from tapeflow.ops.sparse.arithmetic import add as add
from tapeflow.ops.sparse.arithmetic import maximum as maximum
from tapeflow.ops.sparse.arithmetic import minimum as minimum
from tapeflow.ops.sparse.arithmetic import reduce_max as reduce_max
from tapeflow.ops.sparse.arithmetic import reduce_sum as reduce_sum
from tapeflow.ops.sparse.arithmetic import softmax as softmax
from tapeflow.ops.sparse.arithmetic import sparse_dense_matmul as sparse_dense_matmul
from tapeflow.ops.sparse.functions import eye as eye
from tapeflow.ops.sparse.functions import from_dense as from_dense
from tapeflow.ops.sparse.functions import map_values as map_values
from tapeflow.ops.sparse.functions import mask as mask
from tapeflow.ops.sparse.functions import to_dense as to_dense
from tapeflow.ops.sparse.functions import to_indicator as to_indicator
from tapeflow.ops.sparse.sampled import sampled_addmm as sampled_addmm
from tapeflow.ops.sparse.segment import sparse_segment_mean as segment_mean
from tapeflow.ops.sparse.segment import sparse_segment_sqrt_n as segment_sqrt_n
from tapeflow.ops.sparse.segment import sparse_segment_sum as segment_sum
from tapeflow.ops.sparse.shaping import concat as concat
from tapeflow.ops.sparse.shaping import expand_dims as expand_dims
from tapeflow.ops.sparse.shaping import fill_empty_rows as fill_empty_rows
from tapeflow.ops.sparse.shaping import reorder as reorder
from tapeflow.ops.sparse.shaping import reset_shape as reset_shape
from tapeflow.ops.sparse.shaping import reshape as reshape
from tapeflow.ops.sparse.shaping import retain as retain
from tapeflow.ops.sparse.shaping import slice_ as slice
from tapeflow.ops.sparse.shaping import split as split
from tapeflow.ops.sparse.shaping import transpose as transpose
__all__ = [
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
    "map_values",
    "mask",
    "maximum",
    "minimum",
    "reduce_max",
    "reduce_sum",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "sampled_addmm",
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

"""The functions of sparse tensors that 1.x has at its top level."""

from __future__ import annotations

from collections.abc import Iterable

from tapeflow.api import api
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import DTypeLike, Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import names_itself, public
from tapeflow.core.sparse_tensor import SparseTensor, SparseTensorValue
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.build.placeholders import placeholder, placeholder_with_default
from tapeflow.ops.sparse.arithmetic import add_v1 as sparse_add
from tapeflow.ops.sparse.arithmetic import maximum as sparse_maximum
from tapeflow.ops.sparse.arithmetic import minimum as sparse_minimum
from tapeflow.ops.sparse.arithmetic import reduce_max_sparse as sparse_reduce_max_sparse
from tapeflow.ops.sparse.arithmetic import reduce_max_v1 as sparse_reduce_max
from tapeflow.ops.sparse.arithmetic import reduce_sum_sparse as sparse_reduce_sum_sparse
from tapeflow.ops.sparse.arithmetic import reduce_sum_v1 as sparse_reduce_sum
from tapeflow.ops.sparse.arithmetic import softmax as sparse_softmax
from tapeflow.ops.sparse.arithmetic import sparse_dense_matmul as sparse_tensor_dense_matmul
from tapeflow.ops.sparse.functions import mask as sparse_mask
from tapeflow.ops.sparse.functions import sparse_merge, sparse_to_dense
from tapeflow.ops.sparse.functions import to_dense as sparse_tensor_to_dense
from tapeflow.ops.sparse.functions import to_indicator as sparse_to_indicator
from tapeflow.ops.sparse.shaping import concat_v1 as sparse_concat
from tapeflow.ops.sparse.shaping import fill_empty_rows as sparse_fill_empty_rows
from tapeflow.ops.sparse.shaping import reorder as sparse_reorder
from tapeflow.ops.sparse.shaping import reset_shape as sparse_reset_shape
from tapeflow.ops.sparse.shaping import reshape as sparse_reshape
from tapeflow.ops.sparse.shaping import retain as sparse_retain
from tapeflow.ops.sparse.shaping import slice_ as sparse_slice
from tapeflow.ops.sparse.shaping import split_v1 as sparse_split
from tapeflow.ops.sparse.shaping import transpose as sparse_transpose
from tapeflow.ops.static import constant_value_as_shape

__all__ = [
    "SparseTensor", "SparseTensorValue", "sparse_add", "sparse_concat", "sparse_fill_empty_rows", "sparse_mask",
    "sparse_maximum", "sparse_merge", "sparse_minimum", "sparse_placeholder", "sparse_reduce_max",
    "sparse_reduce_max_sparse", "sparse_reduce_sum", "sparse_reduce_sum_sparse", "sparse_reorder",
    "sparse_reset_shape", "sparse_reshape", "sparse_retain", "sparse_slice", "sparse_softmax", "sparse_split",
    "sparse_tensor_dense_matmul", "sparse_tensor_to_dense", "sparse_to_dense", "sparse_to_indicator",
    "sparse_transpose",
]  # fmt: skip


@api(v1=("sparse.placeholder", "sparse_placeholder"))
@public
@names_itself
def sparse_placeholder(
    dtype: DTypeLike, shape: TensorShape | Tensor | Iterable[int | None] | None = None, name: str | None = None
):
    """A sparse tensor of a graph that is fed when the graph runs.

    Args:
      dtype: the dtype of the values.
      shape: what is known of the dense shape, of which None and -1 are unknown sizes; or an int64 vector. The dense
        shape need not be fed if it is known. None: nothing is known.
      name: a prefix of the names of the placeholders (optional).

    Raises RuntimeError when executing eagerly.
    """
    if context.executing_eagerly():
        raise RuntimeError("`sparse_placeholder` is not compatible with eager execution.")
    names = {part: f"{name}/{part}" if name else None for part in ("shape", "values", "indices")}
    if shape is None:
        known, rank = TensorShape(None), None
        dense_shape = placeholder(dtypes.int64, [None], names["shape"])
    else:
        if isinstance(shape, Tensor):
            known, default = constant_value_as_shape(shape), shape
        else:
            sizes = shape.as_list() if isinstance(shape, TensorShape) else list(shape)
            known = TensorShape([None if n == -1 else n for n in sizes])
            default = convert_to_tensor([-1 if n is None else n for n in sizes], dtypes.int64)
        rank = known.rank
        dense_shape = placeholder_with_default(default, default.shape, names["shape"])
    made = SparseTensor(
        values=placeholder(dtype, [None], names["values"]),
        indices=placeholder(dtypes.int64, [None, rank], names["indices"]),
        dense_shape=dense_shape,
    )
    if rank is not None:
        made.set_shape(known)
    return made

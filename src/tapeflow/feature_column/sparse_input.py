"""Features of categories as sparse tensors."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.context import name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.feature_column.cache import as_feature
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.indexing.gather_nd import gather_nd
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import not_equal


def as_ids(value: Tensor | SparseTensor, ignored=None):
    """A sparse tensor as it is; of a dense one all but `ignored`, by default "", -1 or 0.0."""
    value = as_feature(value)
    if isinstance(value, SparseTensor):
        return value
    if ignored is None:
        ignored = "" if value.dtype == dtypes.string else -1 if value.dtype.is_integer else 0.0
    with name_scope("to_sparse_input"):
        if value.dtype == dtypes.string:
            ignored = convert_to_tensor(ignored, dtypes.string)
        else:
            ignored = cast(ignored, value.dtype)
        indices = where(not_equal(value, ignored))
        return SparseTensor(indices, gather_nd(value, indices), shape_of(value, out_type=dtypes.int64))

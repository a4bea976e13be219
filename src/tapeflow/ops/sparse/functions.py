"""`tf.sparse`: functions of `SparseTensor`, made of the rows of sparse tensors."""

from __future__ import annotations

from typing import Any

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, IntLike, ShapeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import public, tensor_function
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops.array.construction import fill, ones_like, zeros
from tapeflow.ops.array.joining import concat as concat_dense
from tapeflow.ops.array.layout import expand_dims as expand_dense
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.indexing.gather_nd import gather_nd
from tapeflow.ops.indexing.unique import setdiff1d
from tapeflow.ops.math import arithmetic
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import not_equal
from tapeflow.ops.sparse.conversion import as_sparse, is_sparse
from tapeflow.ops.sparse.rows import SparseToDense
from tapeflow.ops.sparse.shaping import reorder

# Making


@api("sparse.from_dense")
@public
def from_dense(tensor: TensorLike, name: str | None = None):
    """The sparse tensor of the elements that are not zero (not empty, for strings)."""
    tensor = convert_to_tensor(tensor)
    nothing = b"" if tensor.dtype == dtypes.string else zeros([], tensor.dtype)
    indices = where(not_equal(tensor, nothing))
    return SparseTensor(indices, gather_nd(tensor, indices), cast(Shape(tensor), dtypes.int64))


@api("sparse.eye")
@public
def eye(num_rows: TensorLike, num_columns=None, dtype: DTypeLike = dtypes.float32, name: str | None = None):
    """Make a sparse matrix with ones on its diagonal.

    Args:
      num_rows: the number of rows.
      num_columns: the number of columns; None: that of rows.
      dtype: the dtype of the ones.
      name: a name for the operation (optional).

    Returns:
      A `tf.SparseTensor` `[num_rows, num_columns]`.

    >>> tf.sparse.to_dense(tf.sparse.eye(2, dtype=tf.int32))
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 0],
           [0, 1]], dtype=int32)>
    """
    rows = cast(num_rows, dtypes.int64)
    columns = rows if num_columns is None else cast(num_columns, dtypes.int64)
    count = arithmetic.minimum(rows, columns)
    line = range_(count, dtype=dtypes.int64)
    dtype = dtypes.as_dtype(dtype)
    ones = cast(ones_like(line), dtype)
    return SparseTensor(stack([line, line], axis=1), ones, stack([rows, columns]))


# To a dense tensor


@api("sparse.to_dense", v1="sparse_tensor_to_dense")
@tensor_function
def to_dense(
    sp_input: SparseTensor, default_value: TensorLike | None = None, validate_indices: bool = True,
    name: str | None = None,
):
    """Make a dense tensor of a sparse one.

    Args:
      sp_input: a `tf.SparseTensor`.
      default_value: what stands where there is no element, a scalar of its dtype; None: zero or "".
      validate_indices: whether to check that indices are in order and not repeated.
      name: a name for the operation (optional).

    Returns:
      A dense tensor.

    Raises:
      InvalidArgumentError: for indices outside of the shape, out of order or repeated.

    >>> tf.sparse.to_dense(tf.sparse.SparseTensor([[0, 1]], [5], [2, 2]))
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[0, 5],
           [0, 0]], dtype=int32)>
    """
    sp_input = as_sparse(sp_input)
    if default_value is None:
        default_value = "" if sp_input.dtype == dtypes.string else zeros([], sp_input.dtype)
    dense = SparseToDense(
        sp_input.indices, sp_input.dense_shape, sp_input.values, default_value, validate_indices
    )
    return _shaped(dense, sp_input)


def _shaped(dense: Tensor, sparse: SparseTensor):
    if hasattr(dense, "set_shape") and dense.shape.rank is None:
        dense.set_shape(sparse.shape)
    return dense


@api(v1="sparse_to_dense")
@tensor_function
def sparse_to_dense(
    sparse_indices, output_shape: ShapeLike, sparse_values: TensorLike, default_value: TensorLike = 0,
    validate_indices: bool = True, name: str | None = None,
):
    """The dense tensor of loose parts (1.x); values may be one scalar for all places."""
    return SparseToDense(
        sparse_indices, output_shape, sparse_values, default_value, validate_indices
    )


@api("sparse.to_indicator", v1="sparse_to_indicator")
@tensor_function
def to_indicator(sp_input: TensorLike, vocab_size: IntLike, name: str | None = None):
    """Mark the values of a sparse tensor in a dense one.

    Args:
      sp_input: a `tf.SparseTensor` of int32 or int64 values in [0, vocab_size).
      vocab_size: the size of the new last dimension.
      name: a name for the operation (optional).

    Returns:
      A bool tensor, true at each value in place of the last index.

    >>> tf.sparse.to_indicator(tf.sparse.SparseTensor([[0, 0], [1, 0]], [2, 0], [2, 1]), 3)
    <tf.Tensor: shape=(2, 3), dtype=bool, numpy=
    array([[False, False,  True],
           [ True, False, False]])>
    """
    sp_input = as_sparse(sp_input)
    marks = SparseTensor(sp_input.indices, fill(Shape(sp_input.values), True), sp_input.dense_shape)
    merged = sparse_merge(sp_input, marks, vocab_size)
    return to_dense(merged, False, validate_indices=False)


@api(v1=("sparse.merge", "sparse_merge"))
@tensor_function
def sparse_merge(sp_ids, sp_values: SparseTensor, vocab_size, name: str | None = None, already_sorted: bool = False):
    """The values of `sp_values` with the ids of `sp_ids` in place of the last index (1.x)."""
    many = isinstance(sp_ids, (list, tuple)) and not is_sparse(sp_ids)
    ids = [as_sparse(s) for s in (sp_ids if many else [sp_ids])]
    sizes = list(vocab_size) if isinstance(vocab_size, (list, tuple)) else [vocab_size]
    if len(ids) != len(sizes):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    sp_values = as_sparse(sp_values)
    columns = [expand_dense(cast(s.values, dtypes.int64), 1) for s in ids]
    indices = concat_dense([ids[0].indices[:, :-1], *columns], 1)
    shape = concat_dense([ids[0].dense_shape[:-1], [cast(size, dtypes.int64) for size in sizes]], 0)
    out = SparseTensor(indices, sp_values.values, shape)
    if already_sorted:
        return out
    by = reorder(out)
    return SparseTensor(by.indices, by.values, shape)


@api(v2="sparse.map_values")
@public
def map_values(op, *args, **kwargs):
    """Apply a function to the values of sparse tensors.

    Args:
      op: a function that keeps the number of values, such as an elementwise operation.
      *args: its arguments, in which sparse tensors stand for their values; these must have the same indices.
      **kwargs: its arguments by name, likewise.

    Returns:
      A `tf.SparseTensor` of the result.

    Raises:
      ValueError: where no argument is sparse.

    >>> tf.sparse.map_values(tf.square, tf.sparse.from_dense([2, 0, 3])).values.numpy()
    array([4, 9], dtype=int32)
    """
    given = [x for x in (*args, *kwargs.values()) if isinstance(x, SparseTensor)]
    if not given:
        raise ValueError("No SparseTensor in argument list of map_values")
    plain = [x.values if isinstance(x, SparseTensor) else x for x in args]
    named = {k: x.values if isinstance(x, SparseTensor) else x for k, x in kwargs.items()}
    return SparseTensor(given[0].indices, op(*plain, **named), given[0].dense_shape)


@api("sparse.mask", v1="sparse_mask")
@tensor_function
def mask(a: Any, mask_indices, name: str | None = None):
    """Leave slices out of an `IndexedSlices`.

    Args:
      a: a `tf.IndexedSlices`.
      mask_indices: the indices of the slices to leave out, a vector.
      name: a name for the operation (optional).

    Returns:
      A `tf.IndexedSlices` of the others.
    """
    kept, at = setdiff1d(a.indices, mask_indices)
    return IndexedSlices(gather(a.values, at), kept, a.dense_shape)

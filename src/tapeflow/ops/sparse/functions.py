"""`tf.sparse`: functions of `SparseTensor`, made of the rows of sparse tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.api import api, api_value
from tapeflow.core import dtypes
from tapeflow.core.annotations import (
    AxisLike,
    DTypeLike,
    FloatLike,
    IntLike,
    ShapeLike,
    Tensor,
    TensorLike,
)
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import public, tensor_function
from tapeflow.core.sparse_tensor import (
    SparseTensor,
    SparseTensorValue,
)
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.construction import fill, ones_like, zeros
from tapeflow.ops.array.construction import range as range_
from tapeflow.ops.array.gather import gather, gather_nd
from tapeflow.ops.array.joining import concat as concat_dense
from tapeflow.ops.array.joining import stack
from tapeflow.ops.array.layout import expand_dims as expand_dense
from tapeflow.ops.array.layout import reshape as reshape_dense
from tapeflow.ops.array.rows import Shape, identity
from tapeflow.ops.array.selection import setdiff1d
from tapeflow.ops.control.assertions import assert_equal_v1, assert_less_equal_v1
from tapeflow.ops.control.flow import control_dependencies
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.linalg.matrix_function import matrix_transpose
from tapeflow.ops.math import arithmetic, reduction
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import not_equal, where
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.sparse.math import (
    SparseAdd,
    SparseDenseCwiseDiv,
    SparseDenseCwiseMul,
    SparseReduceMax,
    SparseReduceMaxSparse,
    SparseReduceSum,
    SparseReduceSumSparse,
    SparseSoftmax,
    SparseSparseMaximum,
    SparseSparseMinimum,
    SparseTensorDenseAdd,
    SparseTensorDenseMatMul,
)
from tapeflow.ops.sparse.rows import (
    SparseConcat,
    SparseFillEmptyRows,
    SparseReorder,
    SparseReshape,
    SparseSlice,
    SparseSplit,
    SparseToDense,
)
from tapeflow.ops.static import is_eager, static_value


def as_sparse(value) -> SparseTensor:
    """A sparse tensor. Raises TypeError for what is none."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor. Received: {value}")
    return value


def _parts(sparse: SparseTensor):
    return sparse.indices, sparse.values, sparse.dense_shape


def is_sparse(value) -> bool:
    """Whether `value` is a sparse tensor or the value of one."""
    return isinstance(value, (SparseTensor, SparseTensorValue))


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


# Shape and order


@api("sparse.reorder", v1="sparse_reorder")
@tensor_function
def reorder(sp_input: SparseTensor, name: str | None = None):
    """The same sparse tensor with its indices in the order of rows."""
    sp_input = as_sparse(sp_input)
    indices, values = SparseReorder(*_parts(sp_input))
    return _like(sp_input, SparseTensor(indices, values, identity(sp_input.dense_shape)))


def _like(sparse: SparseTensor, made: SparseTensor):
    made._given_shape = sparse.shape
    return made


@api("sparse.reshape", v1="sparse_reshape")
@tensor_function
def reshape(sp_input, shape, name=None):
    """Give a sparse tensor another shape of as many elements, in row-major order.

    Args:
      sp_input: a `tf.SparseTensor`.
      shape: a vector of integers, one of which may be -1 for what is left.
      name: a name for the operation (optional).

    Returns:
      A `tf.SparseTensor` with the same values.

    Raises:
      ValueError: where sizes are known to differ.
      InvalidArgumentError: where they do when it runs.

    >>> tf.sparse.reshape(tf.sparse.from_dense([[1, 0], [0, 2]]), [4]).indices.numpy().tolist()
    [[0], [3]]
    """
    sp_input = as_sparse(sp_input)
    shape = cast(convert_to_tensor(shape, dtype_hint=dtypes.int64), dtypes.int64)
    if shape.shape.rank not in (None, 1):
        raise ValueError(f"Shape {shape.shape} must have rank 1")
    known, new = sp_input.shape, static_value(shape)
    if new is not None and known.is_fully_defined() and not is_eager(shape):
        total, wanted = known.num_elements(), [int(d) for d in new]
        if -1 not in wanted and int(np.prod(wanted)) != total:
            raise ValueError(
                f"Cannot reshape a tensor with {total} elements to shape {wanted} ({int(np.prod(wanted))} elements)."
            )
        others = int(np.prod([d for d in wanted if d != -1]))
        if wanted.count(-1) == 1 and (total % others if others else total):
            shown = [None if d == -1 else d for d in wanted]
            nearest = total // others * others if others else 0
            raise ValueError(f"Cannot reshape a tensor with {total} elements to shape {shown} ({nearest} elements).")
        if wanted.count(-1) > 1:
            raise ValueError(f"At most one dimension can be inferred (-1). Found: {wanted}")
    indices, dense_shape = SparseReshape(sp_input.indices, sp_input.dense_shape, shape)
    return SparseTensor(indices, identity(sp_input.values), dense_shape)


@api("sparse.expand_dims")
@public
def expand_dims(sp_input: TensorLike, axis=None, name: str | None = None):
    """Insert a dimension of size 1 in a sparse tensor.

    Args:
      sp_input: a `tf.SparseTensor` of known rank.
      axis: where the new dimension is, in [-rank - 1, rank]; None: last.
      name: a name for the operation (optional).

    Returns:
      A `tf.SparseTensor`.

    Raises:
      ValueError: for an axis out of range or not known.

    >>> tf.sparse.expand_dims(tf.sparse.from_dense([1, 0]), 0).shape
    TensorShape([1, 2])
    """
    sp_input = as_sparse(sp_input)
    rank = sp_input.shape.rank
    axis = -1 if axis is None else axis
    if hasattr(axis, "dtype"):
        known = static_value(axis)
        if known is None:
            raise ValueError("axis must be known to expand a sparse tensor")
        axis = int(known)
    if rank is None:
        raise ValueError("The rank of the sparse tensor is not known")
    if not -rank - 1 <= axis <= rank:
        raise ValueError(f"axis must be in [{-rank - 1}, {rank}], got {axis}")
    axis = axis % (rank + 1)
    shape, indices = sp_input.dense_shape, sp_input.indices
    one = convert_to_tensor([1], dtypes.int64)
    column = zeros(concat_dense([Shape(indices)[:1], [1]], 0), dtypes.int64)
    return SparseTensor(
        concat_dense([indices[:, :axis], column, indices[:, axis:]], 1),
        sp_input.values,
        concat_dense([shape[:axis], one, shape[axis:]], 0),
    )


@api("sparse.transpose", v1="sparse_transpose")
@tensor_function
def transpose(sp_input: TensorLike, perm: TensorLike | None = None, name: str | None = None):
    """Permute the dimensions of a sparse tensor.

    Args:
      sp_input: a `tf.SparseTensor`.
      perm: for each dimension of the result, the one of `sp_input` that it is; None: the dimensions reversed.
      name: a name for the operation (optional).

    Returns:
      A `tf.SparseTensor` with indices in order.
    """
    sp_input = as_sparse(sp_input)
    if perm is None:
        rank = sp_input.shape.rank
        perm = (
            range_(Shape(sp_input.dense_shape)[0])[::-1]
            if rank is None
            else list(range(rank))[::-1]
        )
    indices = gather(sp_input.indices, perm, axis=1)
    return reorder(SparseTensor(indices, sp_input.values, gather(sp_input.dense_shape, perm)))


@api("sparse.reset_shape", v1="sparse_reset_shape")
@tensor_function
def reset_shape(sp_input, new_shape=None):
    """Give a sparse tensor another dense shape, with the same indices.

    Args:
      sp_input: a `tf.SparseTensor`.
      new_shape: a vector of integers, none smaller than the old one; None: the smallest that holds the indices.

    Returns:
      A `tf.SparseTensor`.

    Raises:
      ValueError: for a shape of another rank or too small, where that is known.
      InvalidArgumentError: for those when it runs.
    """
    sp_input = as_sparse(sp_input)
    indices, values = identity(sp_input.indices), identity(sp_input.values)
    if new_shape is None:
        most = reduction.reduce_max(indices, axis=0)
        # The maximum of nothing is the lowest number.
        return SparseTensor(indices, values, arithmetic.maximum(most, -1) + 1)
    new_shape = cast(convert_to_tensor(new_shape), dtypes.int64)
    known, wanted = sp_input.shape, static_value(new_shape)
    if new_shape.shape.rank not in (None, 1):
        raise ValueError(f"Shape {new_shape.shape} must have rank 1")
    new_shape.shape.merge_with(sp_input.dense_shape.shape)  # of one rank, as far as that is known
    if wanted is not None and known.is_fully_defined():
        if any(int(a) > int(b) for a, b in zip(known.as_list(), wanted, strict=True)):
            raise ValueError(
                "Requested new_shape should have dimension sizes >= sp_input.shape.  "
                f"Found new_shape ({wanted}), sp_input.shape ({known})."
            )
        return SparseTensor(indices, values, new_shape)
    with control_dependencies(_checks(assert_equal_v1, Shape(sp_input.dense_shape), Shape(new_shape))):
        larger = _checks(assert_less_equal_v1, sp_input.dense_shape, new_shape)
    with control_dependencies(larger):
        return SparseTensor(indices, values, identity(new_shape))


def _checks(assertion, x, y):
    """The control dependencies on an assertion: none where it is known to hold."""
    check = assertion(x, y)
    return [] if check is None else [check]


# Parts


@api(v2="sparse.concat")
@public
def concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    """Join sparse tensors along an axis.

    Args:
      axis: the axis, in [-rank, rank).
      sp_inputs: a list of `tf.SparseTensor`s of one dtype and rank.
      expand_nonconcat_dims: whether their other sizes may differ; the result has the largest.
      name: a name for the operation (optional).

    Returns:
      A `tf.SparseTensor`.

    Raises:
      InvalidArgumentError: for sizes that differ otherwise, and an axis out of range.

    >>> a = tf.sparse.from_dense([[1, 0]])
    >>> tf.sparse.to_dense(tf.sparse.concat(0, [a, a]))
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 0],
           [1, 0]], dtype=int32)>
    """
    inputs = [as_sparse(s) for s in sp_inputs]
    if len(inputs) == 1:
        return inputs[0]
    shapes = [s.dense_shape for s in inputs]
    if expand_nonconcat_dims:
        most = reduction.reduce_max(stack(shapes), axis=0)
        rank = inputs[0].shape.rank
        at = axis % rank if rank is not None else axis
        shapes = [concat_dense([most[:at], s[at : at + 1], most[at + 1 :]], 0) for s in shapes]
    out = SparseTensor(*SparseConcat([s.indices for s in inputs], [s.values for s in inputs], shapes, axis))
    if not is_eager(out.indices):
        out.set_shape(_shape_of_joined([s.shape for s in inputs], axis, expand_nonconcat_dims))
    return out


def _shape_of_joined(shapes: Sequence[TensorShape], axis: int, expand: bool):
    """What is known of the dense shape of sparse tensors joined along an axis."""
    if any(shape.rank is None for shape in shapes):
        return None
    sizes = list(zip(*[shape.as_list() for shape in shapes], strict=True))
    known = [sum(each) if None not in each else None for each in sizes]
    for i, each in enumerate(sizes):
        if i != axis % len(sizes):
            there = [size for size in each if size is not None]
            known[i] = max(there, default=None) if not expand or len(there) == len(each) else None
    return known


@api(v1=("sparse.concat", "sparse_concat"))
@tensor_function
def concat_v1(
    axis: AxisLike, sp_inputs, name: str | None = None, expand_nonconcat_dim: bool = False, concat_dim=None,
    expand_nonconcat_dims=None,
):
    """`concat` with the 1.x names of arguments."""
    wide = expand_nonconcat_dim if expand_nonconcat_dims is None else expand_nonconcat_dims
    return concat(renamed("axis", axis, "concat_dim", concat_dim), sp_inputs, wide)


@api(v2="sparse.split")
@public
def split(sp_input: TensorLike | None = None, num_split=None, axis: AxisLike | None = None, name: str | None = None):
    """Cut a sparse tensor into parts along an axis.

    Args:
      sp_input: a `tf.SparseTensor`.
      num_split: how many parts, an int. Where it does not divide the size, the first parts are one longer.
      axis: the axis, a scalar integer.
      name: a name for the operation (optional).

    Returns:
      A list of `tf.SparseTensor`s.

    Raises:
      ValueError: where an argument is missing.
    """
    for what, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise ValueError(f"Keyword arguments are required for this function: {what} is missing")
    sp_input = as_sparse(sp_input)
    out = SparseSplit(cast(axis, dtypes.int64), *_parts(sp_input), num_split)
    return [SparseTensor(*parts) for parts in zip(*out, strict=True)]


@api(v1=("sparse.split", "sparse_split"))
@tensor_function
def split_v1(
    keyword_required=None, sp_input: TensorLike | None = None, num_split=None, axis: AxisLike | None = None,
    name: str | None = None, split_dim=None,
):  # fmt: skip
    """`split` of 1.x, by keywords only."""
    return split(sp_input, num_split, renamed("axis", axis, "split_dim", split_dim))


@api("sparse.slice", v1="sparse_slice")
@tensor_function
def slice_(sp_input: SparseTensor, start: Any, size: TensorLike, name: str | None = None):
    """Take the part of a sparse tensor that begins at `start` and has shape `size`.

    Args:
      sp_input: a `tf.SparseTensor`.
      start: a vector of integers.
      size: a vector of integers; what reaches beyond the tensor is cut off.
      name: a name for the operation (optional).

    Returns:
      A `tf.SparseTensor`.

    >>> part = tf.sparse.slice(tf.sparse.from_dense([[1, 0], [0, 2]]), [1, 0], [1, 2])
    >>> tf.sparse.to_dense(part)
    <tf.Tensor: shape=(1, 2), dtype=int32, numpy=array([[0, 2]], dtype=int32)>
    """
    sp_input = as_sparse(sp_input)
    start, size = (cast(convert_to_tensor(v), dtypes.int64) for v in (start, size))
    return SparseTensor(*SparseSlice(*_parts(sp_input), start, size))


@api("sparse.retain", v1="sparse_retain")
@tensor_function
def retain(sp_input: SparseTensor, to_retain: TensorLike):
    """Keep some elements of a sparse tensor.

    Args:
      sp_input: a `tf.SparseTensor`.
      to_retain: a bool vector, one for each element.

    Returns:
      A `tf.SparseTensor` of the same shape.

    Raises:
      ValueError: for a vector of another length.
    """
    sp_input = as_sparse(sp_input)
    to_retain = convert_to_tensor(to_retain)
    to_retain.shape.with_rank(1)[0:1].assert_is_compatible_with(sp_input.values.shape[0:1])
    kept = reshape_dense(where(to_retain), [-1])
    return SparseTensor(
        gather(sp_input.indices, kept),
        gather(sp_input.values, kept),
        identity(sp_input.dense_shape),
    )


@api("sparse.fill_empty_rows", v1="sparse_fill_empty_rows")
@tensor_function
def fill_empty_rows(sp_input: SparseTensor, default_value: TensorLike, name: str | None = None):
    """Give each row without elements one element.

    Args:
      sp_input: a `tf.SparseTensor` of rank 2.
      default_value: a scalar of its dtype, put in the first column.
      name: a name for the operation (optional).

    Returns:
      (a `tf.SparseTensor`, a bool vector of which rows were empty).

    >>> filled, empty = tf.sparse.fill_empty_rows(tf.sparse.from_dense([[1], [0]]), 9)
    >>> filled.values.numpy(), empty.numpy()
    (array([1, 9], dtype=int32), array([False,  True]))
    """
    sp_input = as_sparse(sp_input)
    default_value = convert_to_tensor(default_value, sp_input.dtype)
    out = SparseFillEmptyRows(*_parts(sp_input), default_value)
    filled = SparseTensor(out.output_indices, out.output_values, sp_input.dense_shape)
    return filled, out.empty_row_indicator


# Arithmetic


@api(v2="sparse.add")
@public
def add(a: TensorLike, b: TensorLike, threshold: FloatLike = 0):
    """Add two tensors, of which at least one is sparse.

    Args:
      a, b: numeric tensors of one dtype and shape.
      threshold: of two sparse tensors, sums whose size is smaller are left out.

    Returns:
      A `tf.SparseTensor` if both are sparse, else a dense tensor.

    Raises:
      TypeError: where both are dense.

    >>> a = tf.sparse.from_dense([[1, 0], [0, 2]])
    >>> tf.sparse.to_dense(tf.sparse.add(a, a))
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[2, 0],
           [0, 4]], dtype=int32)>
    """
    if not (is_sparse(a) or is_sparse(b)):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if is_sparse(a) and is_sparse(b):
        a, b = as_sparse(a), as_sparse(b)
        real = a.dtype.real_dtype
        limit = convert_to_tensor(threshold, real)
        return SparseTensor(*SparseAdd(*_parts(a), *_parts(b), limit))
    if is_sparse(b):
        a, b = b, a
    return SparseTensorDenseAdd(*_parts(as_sparse(a)), b)


@api(v1=("sparse.add", "sparse_add"))
@tensor_function
def add_v1(a: TensorLike, b: TensorLike, threshold: FloatLike | None = None, thresh=None):
    """`add` with the 1.x spelling `thresh`."""
    limit = thresh if threshold is None else threshold
    return add(a, b, 0 if limit is None else limit)


def _axes(sparse, axis):
    if axis is None:
        rank = sparse.shape.rank
        if rank is not None:
            return np.arange(rank, dtype=np.int32)
        return range_(Shape(sparse.dense_shape)[0])
    return cast(axis, dtypes.int32)


def _reduced(sp_input, axis, keepdims: bool | None, output_is_sparse, dense_row, sparse_row):
    sp_input = as_sparse(sp_input)
    args = (*_parts(sp_input), _axes(sp_input, axis), bool(keepdims))
    return SparseTensor(*sparse_row(*args)) if output_is_sparse else dense_row(*args)


@api(v2="sparse.reduce_sum")
@public
def reduce_sum(
    sp_input: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None, output_is_sparse: bool = False,
    name: str | None = None,
):
    """Add the elements along axes.

    Args:
      sp_input: a `tf.SparseTensor` of a numeric dtype.
      axis: the axis, or a list of axes; None: all.
      keepdims: whether these axes stay, with size 1.
      output_is_sparse: whether to return a sparse tensor.
      name: a name for the operation (optional).

    Returns:
      A tensor of the shape of `sp_input` without the axes, dense or sparse.

    >>> tf.sparse.reduce_sum(tf.sparse.from_dense([[1, 5], [-3, 0]]), axis=1)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 6, -3], dtype=int32)>
    """
    return _reduced(
        sp_input, axis, keepdims, output_is_sparse, SparseReduceSum, SparseReduceSumSparse
    )


@api(v2="sparse.reduce_max")
@public
def reduce_max(
    sp_input: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None, output_is_sparse: bool = False,
    name: str | None = None,
):
    """Compute the largest of the elements that are there, along axes.

    Args:
      sp_input: a `tf.SparseTensor` of a real dtype.
      axis: the axis, or a list of axes; None: all.
      keepdims: whether these axes stay, with size 1.
      output_is_sparse: whether to return a sparse tensor.
      name: a name for the operation (optional).

    Returns:
      A tensor of the shape of `sp_input` without the axes, dense (zero where there are no elements) or sparse.

    >>> tf.sparse.reduce_max(tf.sparse.from_dense([[1, 5], [-3, 0]]), axis=1)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 5, -3], dtype=int32)>
    """
    return _reduced(
        sp_input, axis, keepdims, output_is_sparse, SparseReduceMax, SparseReduceMaxSparse
    )


def _v1(function: Callable[..., Any], sparse: bool):
    def reduced(
        sp_input, axis=None, keepdims: bool | None = None, reduction_axes=None, keep_dims: bool | None = None
    ):
        axis = renamed("axis", axis, "reduction_axes", reduction_axes)
        return function(
            sp_input, axis, renamed("keepdims", keepdims, "keep_dims", keep_dims), sparse
        )

    reduced.__doc__ = f"`{function.__name__}` with the 1.x names of arguments."
    return tensor_function(reduced)


reduce_sum_v1, reduce_sum_sparse = _v1(reduce_sum, False), _v1(reduce_sum, True)
api_value("reduce_sum_sparse", v1=("sparse.reduce_sum_sparse", "sparse_reduce_sum_sparse"))
api_value("reduce_sum_v1", v1=("sparse.reduce_sum", "sparse_reduce_sum"))
reduce_max_v1, reduce_max_sparse = _v1(reduce_max, False), _v1(reduce_max, True)
api_value("reduce_max_sparse", v1=("sparse.reduce_max_sparse", "sparse_reduce_max_sparse"))
api_value("reduce_max_v1", v1=("sparse.reduce_max", "sparse_reduce_max"))


@api("sparse.sparse_dense_matmul", v1=("sparse.matmul", "sparse_tensor_dense_matmul"))
@tensor_function
def sparse_dense_matmul(
    sp_a: TensorLike, b: TensorLike, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
):
    """Multiply a sparse and a dense matrix, in either order.

    Args:
      sp_a: a `tf.SparseTensor` of rank 2, or a matrix.
      b: a matrix of that dtype, or a `tf.SparseTensor` where `sp_a` is dense.
      adjoint_a: whether the first is transposed and conjugated.
      adjoint_b: whether the second is transposed and conjugated.
      name: a name for the operation (optional).

    Returns:
      The product, a dense matrix.

    Raises:
      InvalidArgumentError: for shapes that do not fit.

    >>> tf.sparse.sparse_dense_matmul(tf.sparse.from_dense([[2.0, 0.0], [0.0, 3.0]]), [[1.0], [1.0]])
    <tf.Tensor: shape=(2, 1), dtype=float32, numpy=
    array([[2.],
           [3.]], dtype=float32)>
    """
    if is_sparse(b):
        # (b a)^H = a^H b^H.
        return matrix_transpose(conj(sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)))
    return SparseTensorDenseMatMul(*_parts(as_sparse(sp_a)), b, adjoint_a, adjoint_b)


@api("sparse.softmax", v1="sparse_softmax")
@tensor_function
def softmax(sp_input: TensorLike, name: str | None = None):
    """Softmax along the last dimension, over the elements that are there."""
    sp_input = as_sparse(sp_input)
    return _like(sp_input, sp_input.with_values(SparseSoftmax(*_parts(sp_input))))


@api("sparse.maximum", v1="sparse_maximum")
@tensor_function
def maximum(sp_a, sp_b, name=None):
    """Take the larger of the elements of two sparse tensors; what is not there is zero.

    Args:
      sp_a, sp_b: `tf.SparseTensor`s of one real dtype and one shape.
      name: a name for the operation (optional).

    Returns:
      A `tf.SparseTensor` with the indices of both.

    Raises:
      InvalidArgumentError: for shapes that differ.
    """
    a, b = as_sparse(sp_a), as_sparse(sp_b)
    return SparseTensor(*SparseSparseMaximum(*_parts(a), *_parts(b)), a.dense_shape)


@api("sparse.minimum", v1="sparse_minimum")
@tensor_function
def minimum(sp_a, sp_b, name=None):
    """Take the smaller of the elements of two sparse tensors; what is not there is zero.

    Args:
      sp_a, sp_b: `tf.SparseTensor`s of one real dtype and one shape.
      name: a name for the operation (optional).

    Returns:
      A `tf.SparseTensor` with the indices of both.

    Raises:
      InvalidArgumentError: for shapes that differ.
    """
    a, b = as_sparse(sp_a), as_sparse(sp_b)
    return SparseTensor(*SparseSparseMinimum(*_parts(a), *_parts(b)), a.dense_shape)


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


def _dense_factor(sparse, dense):
    if isinstance(dense, SparseTensor):
        raise ValueError("Sparse tensors can be scaled by dense tensors only")
    return convert_to_tensor(dense, sparse.dtype)


def scaled(sparse, dense):
    """The product of a sparse tensor and a dense one that broadcasts to its shape: `sparse * dense`."""
    return sparse.with_values(SparseDenseCwiseMul(*_parts(sparse), _dense_factor(sparse, dense)))


def divided(sparse, dense):
    """The quotient of a sparse tensor and a dense one: `sparse / dense`; integers are divided in floating point."""
    dense = _dense_factor(sparse, dense)
    wide = arithmetic.TRUE_DIVISION.get(sparse.dtype)
    if wide is not None:
        sparse, dense = sparse.with_values(cast(sparse.values, wide)), cast(dense, wide)
    return sparse.with_values(SparseDenseCwiseDiv(*_parts(sparse), dense))

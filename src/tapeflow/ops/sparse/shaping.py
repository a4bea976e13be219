"""Sparse tensors in other shapes and orders, joined, cut and filled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public, tensor_function
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat as concat_dense
from tapeflow.ops.array.layout import reshape as reshape_dense
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.control.assertions import assert_equal_v1, assert_less_equal_v1
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math import arithmetic, reductions
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.sparse.conversion import as_sparse, parts_of, sparse_like
from tapeflow.ops.sparse.cutting_rows import SparseConcat, SparseSlice, SparseSplit
from tapeflow.ops.sparse.filling_rows import SparseFillEmptyRows
from tapeflow.ops.sparse.rows import SparseReorder, SparseReshape
from tapeflow.ops.static import is_eager, static_value

# Shape and order


@api("sparse.reorder", v1="sparse_reorder")
@tensor_function
def reorder(sp_input: SparseTensor, name: str | None = None):
    """The same sparse tensor with its indices in the order of rows."""
    sp_input = as_sparse(sp_input)
    indices, values = SparseReorder(*parts_of(sp_input))
    return sparse_like(sp_input, SparseTensor(indices, values, identity(sp_input.dense_shape)))


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
        most = reductions.reduce_max(indices, axis=0)
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
def concat(axis, sp_inputs, expand_nonconcat_dims=False, name: str | None = None):
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
        most = reductions.reduce_max(stack(shapes), axis=0)
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
            raise ValueError(f"{what} is required")
    sp_input = as_sparse(sp_input)
    out = SparseSplit(cast(axis, dtypes.int64), *parts_of(sp_input), num_split)
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
    return SparseTensor(*SparseSlice(*parts_of(sp_input), start, size))


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
    out = SparseFillEmptyRows(*parts_of(sp_input), default_value)
    filled = SparseTensor(out.output_indices, out.output_values, sp_input.dense_shape)
    return filled, out.empty_row_indicator

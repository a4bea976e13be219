"""Arithmetic of sparse tensors: sums, reductions, products, extremes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.api import api, api_value
from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, FloatLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public, tensor_function
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.linalg.matrix_function import matrix_transpose
from tapeflow.ops.math import division
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.sparse.conversion import as_sparse, is_sparse, parts_of, sparse_like
from tapeflow.ops.sparse.elementwise import (
    SparseDenseCwiseDiv,
    SparseDenseCwiseMul,
    SparseSparseMaximum,
    SparseSparseMinimum,
)
from tapeflow.ops.sparse.math import (
    SparseAdd,
    SparseSoftmax,
    SparseTensorDenseAdd,
    SparseTensorDenseMatMul,
)
from tapeflow.ops.sparse.reductions import (
    SparseReduceMax,
    SparseReduceMaxSparse,
    SparseReduceSum,
    SparseReduceSumSparse,
)

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
        return SparseTensor(*SparseAdd(*parts_of(a), *parts_of(b), limit))
    if is_sparse(b):
        a, b = b, a
    return SparseTensorDenseAdd(*parts_of(as_sparse(a)), b)


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
    args = (*parts_of(sp_input), _axes(sp_input, axis), bool(keepdims))
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
    return SparseTensorDenseMatMul(*parts_of(as_sparse(sp_a)), b, adjoint_a, adjoint_b)


@api("sparse.softmax", v1="sparse_softmax")
@tensor_function
def softmax(sp_input: TensorLike, name: str | None = None):
    """Softmax along the last dimension, over the elements that are there."""
    sp_input = as_sparse(sp_input)
    return sparse_like(sp_input, sp_input.with_values(SparseSoftmax(*parts_of(sp_input))))


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
    return SparseTensor(*SparseSparseMaximum(*parts_of(a), *parts_of(b)), a.dense_shape)


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
    return SparseTensor(*SparseSparseMinimum(*parts_of(a), *parts_of(b)), a.dense_shape)


def _dense_factor(sparse, dense):
    if isinstance(dense, SparseTensor):
        raise ValueError("Sparse tensors can be scaled by dense tensors only")
    return convert_to_tensor(dense, sparse.dtype)


def scaled(sparse, dense):
    """The product of a sparse tensor and a dense one that broadcasts to its shape: `sparse * dense`."""
    return sparse.with_values(SparseDenseCwiseMul(*parts_of(sparse), _dense_factor(sparse, dense)))


def divided(sparse, dense):
    """The quotient of a sparse tensor and a dense one: `sparse / dense`; integers are divided in floating point."""
    dense = _dense_factor(sparse, dense)
    wide = division.TRUE_DIVISION.get(sparse.dtype)
    if wide is not None:
        sparse, dense = sparse.with_values(cast(sparse.values, wide)), cast(dense, wide)
    return sparse.with_values(SparseDenseCwiseDiv(*parts_of(sparse), dense))

"""Norms of vectors and matrices."""

from __future__ import annotations

import math

import numpy as np

from tapeflow.api import api
from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops.array import layout, ranges, transposing
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.sizes import Rank, Shape
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.indexing import unique
from tapeflow.ops.linalg.decomposition import svd
from tapeflow.ops.math import (
    arithmetic,
    casting,
    choice,
    comparison,
    division,
    elementwise,
    reductions,
)
from tapeflow.ops.math.conjugate import conj

ORDERS = ("euclidean", "fro", 1, 2, math.inf)


@api(v2=("linalg.norm", "norm"))
@tensor_function
def norm(
    tensor: TensorLike, ord="euclidean", axis=None, keepdims: bool | None = None, name: str | None = None
):
    """Compute norms of vectors or matrices.

    Args:
      tensor: a floating or complex tensor.
      ord: of vectors "euclidean" (as 2), 1, 2, inf or another positive number p, for `sum(|x|**p)**(1/p)`; of
        matrices "euclidean" and "fro" (the root of the sum of squares), 1 (the largest sum of a column), inf (of a
        row) or 2 (the largest singular value).
      axis: an int for norms of vectors, a pair for norms of matrices in which the first axis counts rows; None: all
        elements are one vector.
      keepdims: whether the axes stay, with size 1.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `tensor`, of its shape without the axes.

    Raises:
      ValueError: for another `ord` or `axis`.

    >>> tf.linalg.norm([[3.0, 4.0], [6.0, 8.0]], axis=1)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([ 5., 10.], dtype=float32)>
    >>> tf.linalg.norm([[3.0, 4.0], [6.0, 8.0]], ord=1, axis=(0, 1))
    <tf.Tensor: shape=(), dtype=float32, numpy=12.0>
    """
    matrix = isinstance(axis, (list, tuple)) or (np.ndim(axis) == 1 and axis is not None)
    if matrix:
        axis = tuple(int(a) for a in axis)
        if len(axis) != 2:
            raise ValueError(
                f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}"
            )
        if ord not in ORDERS:
            raise ValueError(f"'ord' must be a supported matrix norm in {list(ORDERS)}, got {ord}")
    elif ord == "fro" or (ord not in ORDERS and (isinstance(ord, str) or not np.isreal(ord) or ord <= 0)):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    tensor = convert_to_tensor(tensor)
    keep = bool(keepdims)
    if matrix and ord == 2:
        return _spectral_norm(tensor, axis, keep)
    if ord in ("euclidean", "fro", 2):
        squares = arithmetic.Mul(tensor, conj(tensor))
        return elementwise.Sqrt(reductions.reduce_sum(squares, axis, keep))
    size = elementwise.abs(tensor)
    if matrix:
        summed, largest = axis if ord == 1 else axis[::-1]
        sums = reductions.reduce_sum(size, summed, True)
        top = reductions.reduce_max(sums, largest, True)
        return top if keep else layout.Squeeze(top, list(axis))
    if ord == 1:
        return reductions.reduce_sum(size, axis, keep)
    if ord == math.inf:
        return reductions.reduce_max(size, axis, keep)
    return arithmetic.Pow(reductions.reduce_sum(arithmetic.Pow(size, ord), axis, keep), 1.0 / ord)


def _spectral_norm(tensor, axis, keep):
    rank = tensor.shape.rank
    if rank is None:
        return _spectral_norm_of_any_rank(tensor, axis, keep)
    last = [a % rank for a in axis]
    order = [d for d in range(rank) if d not in last] + last
    values = svd(transposing.transpose(tensor, order), compute_uv=False)
    top = reductions.reduce_max(values, -1)
    for a in sorted(last) if keep else ():
        top = layout.ExpandDims(top, a)
    return top


def _spectral_norm_of_any_rank(tensor, axis, keep):
    rank = Rank(tensor)
    last = division.FloorMod(convert_to_tensor(list(axis)), rank)
    every = ranges.range(rank)
    order = ConcatV2([unique.setdiff1d(every, last)[0], last], 0)
    values = svd(transposing.transpose(tensor, order), compute_uv=False)
    top = reductions.reduce_max(values, -1)
    if not keep:
        return top
    mine = reductions.reduce_any(comparison.equal(layout.ExpandDims(every, 1), last), 1)
    return layout.Reshape(top, choice.SelectV2(mine, 1, Shape(tensor)))


@api(v1=("linalg.norm", "norm"))
@tensor_function
def norm_v1(
    tensor: TensorLike, ord: str = "euclidean", axis: AxisLike | None = None, keepdims: bool | None = None,
    name: str | None = None, keep_dims: bool | None = None,
):
    """`norm` as 1.x spells it."""
    return norm(tensor, ord, axis, renamed("keepdims", keepdims, "keep_dims", keep_dims, False))


@api("linalg.normalize")
@tensor_function
@graph_scope("normalize/")
def normalize(
    tensor: TensorLike, ord: str = "euclidean", axis: AxisLike | None = None, name: str | None = None
):
    """Divide a tensor by its norm.

    Args:
      tensor: a floating or complex tensor.
      ord: which norm, see `tf.linalg.norm`.
      axis: the axis, or the pair of axes, along which norms are taken; None: all.
      name: a name for the operation (optional).

    Returns:
      (tensor / norm, norm): a tensor like `tensor`, and the norms with axes of size 1.

    >>> unit, size = tf.linalg.normalize([3.0, 4.0])
    >>> unit.numpy(), size.numpy()
    (array([0.6, 0.8], dtype=float32), array([5.], dtype=float32))
    """
    tensor = convert_to_tensor(tensor)
    size = norm(tensor, ord, axis, keepdims=True)
    return division.RealDiv(tensor, casting.cast(size, tensor.dtype)), size

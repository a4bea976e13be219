"""Products along chosen axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops.array import layout, transposing
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import Rank, Shape
from tapeflow.ops.array.stacking import Pack, stack
from tapeflow.ops.indexing.gather import Gather
from tapeflow.ops.indexing.unique import setdiff1d
from tapeflow.ops.linalg.matmul import MatMul
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reduction import Prod
from tapeflow.ops.static import static_value


@api("linalg.tensordot", "tensordot")
@tensor_function
@graph_scope("Tensordot")
def tensordot(a: TensorLike, b: TensorLike, axes: Any, name: str | None = None):
    """Multiply two tensors, and sum over pairs of axes.

    Args:
      a, b: tensors of one floating, complex, int32 or int64 dtype.
      axes: a number n for the last n axes of `a` with the first n of `b`; or a pair of lists of axes, those of `a`
        and those of `b`, which are summed in this order. 0 gives the outer product.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype, whose axes are the others of `a` and then the others of `b`.

    Raises:
      ValueError: for axes that are not as many, or out of range.
      InvalidArgumentError: where sizes of a pair differ.

    >>> tf.linalg.tensordot([[1, 2], [3, 4]], [[1, 0], [2, 1]], axes=1)
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[ 5,  2],
           [11,  4]], dtype=int32)>
    >>> tf.linalg.tensordot([[1, 2], [3, 4]], [[1, 0], [2, 1]], axes=[[0, 1], [0, 1]])
    <tf.Tensor: shape=(), dtype=int32, numpy=11>
    """
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    known = isinstance(axes, (int, list, tuple)) or static_value(axes) is not None
    if a.shape.rank is None or b.shape.rank is None or not known:
        return _tensordot_of_any_rank(a, b, axes)
    of_a, of_b = _contracted(axes, a.shape.rank, b.shape.rank)
    left, a_free = _as_matrix(a, of_a, last=True)
    right, b_free = _as_matrix(b, of_b, last=False)
    product = MatMul(left, right)
    if all(isinstance(d, int) for d in (*a_free, *b_free)):
        return layout.Reshape(product, np.array([*a_free, *b_free], np.int32))

    return layout.Reshape(product, stack([*a_free, *b_free]))


def _tensordot_of_any_rank(a, b, axes):
    """`tensordot` where a rank or the axes are only known when the graph runs."""
    if not isinstance(axes, (list, tuple)):
        axes = cast(axes, dtypes.int32)
        if axes.shape.rank == 0:
            axes = range_(Rank(a) - axes, Rank(a)), range_(axes)
        elif axes.shape.rank == 1:
            axes = axes[:1], axes[1:]
        else:  # of unknown rank: a pair, as in TensorFlow
            axes = axes[0], axes[1]
    if len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
    of_a, of_b = (layout.Reshape(cast(side, dtypes.int32), [-1]) for side in axes)
    left, a_free = _dynamic_matrix(a, of_a, last=True)
    right, b_free = _dynamic_matrix(b, of_b, last=False)
    return layout.Reshape(MatMul(left, right), ConcatV2([a_free, b_free], 0))


def _dynamic_matrix(x, contracted, last):
    rank, shape = Rank(x), Shape(x)
    contracted = contracted % rank
    free = setdiff1d(range_(rank), contracted)[0]
    order = [free, contracted] if last else [contracted, free]
    lengths = Gather(shape, free)
    sizes = [Prod(lengths, 0), Prod(Gather(shape, contracted), 0)]
    moved = transposing.Transpose(x, ConcatV2(order, 0))
    return layout.Reshape(moved, Pack(sizes if last else sizes[::-1])), lengths


def _contracted(axes, rank_a, rank_b):
    if hasattr(axes, "shape"):
        axes = static_value(axes).tolist()
    axes = np.asarray(axes, dtype=object)
    if axes.ndim == 0:
        count = int(axes)
        if count < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {count}.")
        if count > rank_a or count > rank_b:
            raise ValueError(
                f"`axes` must not be larger than the number of dimensions of tensor. Received: {count}."
            )
        return list(range(rank_a - count, rank_a)), list(range(count))
    if len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {axes.tolist()}.")
    first, second = (np.ravel(np.array(side, dtype=np.int64)).tolist() for side in axes)
    if len(first) != len(second):
        raise ValueError(
            f"Different number of contraction axes `a` and `b`, {len(first)} != {len(second)}."
        )
    return _from_front(first, rank_a), _from_front(second, rank_b)


def _from_front(axes: Sequence[int], rank: int):
    for axis in axes:
        if not -rank <= axis < rank:
            raise IndexError("list index out of range")
    return [axis % rank for axis in axes]


def _as_matrix(x: Any, contracted, last: bool):
    """`x` as a matrix with the contracted axes last or first, and the lengths of the other axes."""
    static = x.shape.as_list()
    free = [d for d in range(len(static)) if d not in contracted]
    order = free + contracted if last else contracted + free
    if order != list(range(len(static))):
        x = transposing.Transpose(x, np.array(order, np.int32))
    lengths = [static[d] for d in free]
    summed = [static[d] for d in contracted]
    if None in lengths or None in summed:
        dynamic = Shape(x)
        at = {d: i for i, d in enumerate(order)}
        lengths = [dynamic[at[d]] if static[d] is None else static[d] for d in free]
        rows = -1 if None not in summed else None
        width = math.prod(summed) if rows else -1
        if rows is None:
            rows = Prod(dynamic[: len(free)] if last else dynamic[len(contracted) :], 0)
        return layout.reshape(x, [rows, width] if last else [width, rows]), lengths
    shape = [math.prod(lengths), math.prod(summed)]
    return layout.Reshape(x, np.array(shape if last else shape[::-1], np.int32)), lengths

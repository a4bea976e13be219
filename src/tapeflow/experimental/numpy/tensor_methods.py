"""What NumPy's arrays can do and tensors by default cannot: methods and keys that a program may switch on."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes, promotion
from tapeflow.core.annotations import AxisLike, DTypeLike, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public
from tapeflow.ops.array import layout, transposing
from tapeflow.ops.array.broadcasting import broadcast_to
from tapeflow.ops.indexing import gather, slicing
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.tensordot import tensordot
from tapeflow.ops.math import arithmetic, casting, clip, reductions, rounding


def _size(tensor):
    return np.prod(tensor.shape.as_list(), dtype=np.int64)


def _tolist(tensor):
    """The elements in nested lists; of a scalar the number."""
    return tensor.numpy().tolist()


@public
def _transpose(a: Any, axes=None):
    """`a` with its axes permuted, by default reversed.

    Args:
      a: a tensor.
      axes: the order of the axes; None: reversed.
    """
    return transposing.transpose(a, axes)


@public
def _flatten(a: TensorLike, order: str = "C"):
    """The elements in one axis, row by row, or column by column with `order="F"`.

    Raises ValueError for another order than C, A, K and F.

    Args:
      a: a tensor.
      order: "C", "A" or "K" for row by row, "F" for column by column.
    """
    if order not in ("C", "A", "K", "F"):
        raise ValueError("order can only be C, A, K (all row major) or F (column major).")
    return layout.reshape(transposing.transpose(a) if order == "F" else a, [-1])


@public
def _ravel(a: TensorLike):
    """The elements in one axis."""
    return layout.reshape(a, [-1])


@public
def _reshape(a: TensorLike, *newshape, **kwargs):
    """`a.reshape(2, 3)` or `a.reshape((2, 3), order="F")`; one size may be -1. Raises ValueError for other orders."""
    order = kwargs.pop("order", "C")
    if kwargs:
        raise ValueError(f"Unsupported arguments: {kwargs.keys()}")
    if order not in ("C", "F"):
        raise ValueError(f"Unsupported order argument {order}")
    if len(newshape) == 1 and not isinstance(newshape[0], int):
        newshape = newshape[0]
    if order == "F":
        return transposing.transpose(layout.reshape(transposing.transpose(a), newshape[::-1]))
    return layout.reshape(a, newshape)


@public
def _clip(a, a_min, a_max):
    """`a` within the bounds, of which one may be None; ValueError for both. All are promoted to one dtype.

    Args:
      a: a tensor.
      a_min: the lower bound, or None.
      a_max: the upper bound, or None.
    """
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    dtype = promotion.numpy_type(a, a_min, a_max)
    a = promotion.as_dtype(a, dtype)
    if a_min is None:
        return arithmetic.minimum(a, promotion.as_dtype(a_max, dtype))
    if a_max is None:
        return arithmetic.maximum(a, promotion.as_dtype(a_min, dtype))
    low, high = promotion.as_dtype(a_min, dtype), promotion.as_dtype(a_max, dtype)
    shape = np.broadcast_shapes(*(tuple(t.shape.as_list()) for t in (a, low, high)))
    return clip.clip_by_value(*(broadcast_to(t, shape) for t in (a, low, high)))


@public
def _astype(x: TensorLike, dtype: DTypeLike, name: str | None = None):
    """`tf.cast(x, dtype)`.

    Args:
      x: a tensor.
      dtype: the dtype of the result.
      name: a name for the operation (optional).
    """
    return casting.cast(x, dtype)


@public
def _round(a, decimals=0):
    """`a` rounded to that many decimals, of the same dtype.

    Args:
      a: a tensor.
      decimals: the number of decimals.
    """
    kind = a.dtype
    if not (kind.is_floating or kind.is_complex):
        a = casting.cast(a, promotion.default_float())
    factor = casting.cast(10.0**decimals, a.dtype)
    return casting.cast(rounding.round(a * factor) / factor, kind)


def _reduced(tensor, reduce, reduce_bool, axis, out, keepdims: bool | None):
    if out is not None:
        raise ValueError("Setting out is not supported.")
    return (reduce_bool if tensor.dtype == dtypes.bool else reduce)(tensor, axis, bool(keepdims))


@public
def _max(a: TensorLike, axis: AxisLike | None = None, out=None, keepdims: bool | None = None):
    """The largest element along `axis`, by default of all. `out` must be None, else ValueError is raised.

    Args:
      a: a tensor.
      axis: the axis, or a tuple of axes; None: all.
      out: must be None.
      keepdims: whether axes that are reduced stay, with size 1.
    """
    return _reduced(a, reductions.reduce_max, reductions.reduce_any, axis, out, keepdims)


@public
def _min(a: TensorLike, axis: AxisLike | None = None, out=None, keepdims: bool | None = None):
    """The smallest element along `axis`, by default of all. `out` must be None, else ValueError is raised.

    Args:
      a: a tensor.
      axis: the axis, or a tuple of axes; None: all.
      out: must be None.
      keepdims: whether axes that are reduced stay, with size 1.
    """
    return _reduced(a, reductions.reduce_min, reductions.reduce_all, axis, out, keepdims)


@public
def _mean(a: Any, axis: AxisLike | None = None, dtype=None, out=None, keepdims: bool | None = None):
    """The mean along `axis`, by default of all, of integers in floating point. `out` must be None.

    Args:
      a: a tensor.
      axis: the axis, or a tuple of axes; None: all.
      dtype: the dtype of the result.
      out: must be None.
      keepdims: whether axes that are reduced stay, with size 1.
    """
    if dtype is not None:
        a = casting.cast(a, dtype)
    elif a.dtype.is_integer or a.dtype == dtypes.bool:
        a = casting.cast(a, promotion.default_float())
    return _reduced(a, reductions.reduce_mean, reductions.reduce_mean, axis, out, keepdims)


METHODS: dict[str, Any] = {
    "T": property(lambda tensor: _transpose(tensor)),
    "size": property(_size),
    "data": property(lambda tensor: tensor),
    "tolist": _tolist,
    "transpose": _transpose,
    "flatten": _flatten,
    "reshape": _reshape,
    "ravel": _ravel,
    "clip": _clip,
    "astype": _astype,
    "__round__": _round,
    "max": _max,
    "mean": _mean,
    "min": _min,
}


def _picks(part: Any) -> bool:
    """Whether a part of a key picks elements by their indices or by a mask."""
    return isinstance(part, (bool, np.bool_, list)) or (
        isinstance(part, (np.ndarray, _native.Tensor)) and (part.ndim > 0 or part.dtype == bool)
    )


def getitem(tensor, key):
    """`tensor[key]` for every key that NumPy knows. Raises InvalidArgumentError for indices out of bounds."""
    # A tuple within a tuple is a list of indices, as NumPy has it.
    parts = tuple(list(p) if isinstance(p, tuple) else p for p in key) if isinstance(key, tuple) else (key,)
    if not isinstance(tensor, _native.Tensor) or not any(map(_picks, parts)):
        return slicing.getitem(tensor, key)
    parts = tuple(
        p.numpy() if isinstance(p, (_native.Tensor, _native.Variable)) else p for p in parts
    )
    # NumPy says where the elements lie, so that the gradient is that of a gather.
    places = np.arange(_size(tensor)).reshape(tensor.shape.as_list())
    try:
        found = places[parts]
    except IndexError as error:
        raise InvalidArgumentError(None, None, str(error)) from error
    return gather.gather(layout.reshape(tensor, [-1]), found)


def product(x, y):
    """`x @ y` of NumPy, where vectors are rows on the left and columns on the right. Raises ValueError."""
    try:
        return _product(x, y)
    except InvalidArgumentError as error:
        raise ValueError(str(error)) from error


def _product(x, y):
    if x.shape.rank == 2 and y.shape.rank == 2:
        return matmul(x, y)
    if y.shape.rank == 1:
        return tensordot(x, y, 1)
    if x.shape.rank == 1:
        return tensordot(x, y, [[0], [-2]])
    return matmul(x, y)

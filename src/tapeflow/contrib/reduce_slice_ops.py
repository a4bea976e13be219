"""`tf.contrib.reduce_slice_ops`: slices of an axis reduced, each from one index to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tapeflow.compat.v1 as tf
from tapeflow.core.annotations import TensorLike

__all__ = ["reduce_slice_max", "reduce_slice_min", "reduce_slice_prod", "reduce_slice_sum"]


def _least(dtype: Any):
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _most(dtype: Any):
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


def _reduce(ufunc, empty: Callable[..., Any], data, indices, axis, name: str | None):
    data = tf.convert_to_tensor(data, name="data")
    indices = tf.convert_to_tensor(indices, name="indices")
    rank = indices.shape.ndims
    if rank is not None and (rank not in (1, 2) or (rank == 2 and indices.shape.as_list()[1] not in (None, 1, 2))):
        raise ValueError(f"indices must be a vector, or have two columns; their shape is {indices.shape}")

    def run(data, indices, axis):
        if indices.ndim == 1 or indices.shape[1] == 1:
            ends = indices.reshape(-1)
            indices = np.stack([ends[:-1], ends[1:]], 1) if len(ends) else np.zeros((0, 2), np.int64)
        moved = np.moveaxis(data, int(axis), 0)
        out = np.full((len(indices), *moved.shape[1:]), empty(data.dtype), data.dtype)
        for i, (start, end) in enumerate(indices.tolist()):
            if start < 0:
                raise tf.errors.InvalidArgumentError(None, None, f"slices begin at 0 or later, not at {start}")
            if start < min(end, len(moved)):
                out[i] = ufunc.reduce(moved[start:end], 0)
        return np.moveaxis(out, 0, int(axis))

    with tf.name_scope(name, "ReduceSlice"):
        out = tf.numpy_function(run, [data, indices, axis], data.dtype)
        if data.shape.ndims is not None:
            out.set_shape([None] * data.shape.ndims)
        return out


_TEXT = """{} of slices of an axis.

    Args:
      data: of any dtype of numbers{}.
      indices: [slices, 2], where each begins and before what it ends; or a vector of bounds, each slice from one to the
        next. Ends beyond the axis mean its end; an empty slice gives {}.
      axis: the axis that is cut, a scalar.

    Returns:
      `data` with as many places along the axis as there are slices.
    """


def reduce_slice_sum(data: np.ndarray, indices: TensorLike, axis: int, name: str | None = None):
    return _reduce(np.add, lambda dtype: 0, data, indices, axis, name)


def reduce_slice_prod(data: np.ndarray, indices: TensorLike, axis: int, name: str | None = None):
    return _reduce(np.multiply, lambda dtype: 1, data, indices, axis, name)


def reduce_slice_max(data: np.ndarray, indices: TensorLike, axis: int, name: str | None = None):
    return _reduce(np.maximum, _least, data, indices, axis, name)


def reduce_slice_min(data: np.ndarray, indices: TensorLike, axis: int, name: str | None = None):
    return _reduce(np.minimum, _most, data, indices, axis, name)


reduce_slice_sum.__doc__ = _TEXT.format("Sums", "", "0")
reduce_slice_prod.__doc__ = _TEXT.format("Products", "", "1")
reduce_slice_max.__doc__ = _TEXT.format("Maxima", " but complex ones", "the least value of the dtype")
reduce_slice_min.__doc__ = _TEXT.format("Minima", " but complex ones", "the largest value of the dtype")

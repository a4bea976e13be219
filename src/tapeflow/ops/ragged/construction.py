"""Ragged tensors and values made of nested lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import public
from tapeflow.ops.array import layout as dense_layout
from tapeflow.ops.ragged.tensor import RaggedTensor
from tapeflow.ops.ragged.value import RaggedTensorValue

# Making


def _depth(value: Any) -> int:
    """How deep the first scalar lies."""
    if isinstance(value, np.ndarray):
        return (
            value.ndim if value.dtype != object else 1 + max((_depth(v) for v in value), default=0)
        )
    if not isinstance(value, (list, tuple)):
        return 0
    return 1 + max((_depth(v) for v in value), default=0)


def _scalar_depth(value: Any):
    """The depth of all scalars, None where there are none. Raises ValueError where they differ."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.ndim
    if not isinstance(value, (list, tuple, np.ndarray)):
        return 0
    found = {d + 1 for d in map(_scalar_depth, value) if d is not None}
    if len(found) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    return found.pop() if found else None


def _parts(pylist: Sequence[Any], dtype: DTypeLike | None, ragged_rank, inner_shape, row_splits_dtype: DType):
    """(flat array-like, list of splits), or (whole, []) where nothing is ragged."""
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(
            f"Invalid pylist={pylist}: ragged_rank must be non-negative, got {ragged_rank}"
        )
    if isinstance(pylist, np.ndarray) and pylist.ndim and not len(pylist) and not ragged_rank and inner_shape is None:
        return pylist, [], None  # nothing says that its other dimensions are ragged
    scalars, depth = _scalar_depth(pylist), _depth(pylist)
    if scalars is not None and depth > scalars:
        raise ValueError(
            f"Invalid pylist={pylist}: empty list nesting is greater than scalar value nesting"
        )
    if inner_shape is not None and ragged_rank is not None:
        expected = ragged_rank + 1 + len(inner_shape)
        if scalars is not None and expected != scalars:
            raise ValueError(
                f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank} "
                f"and dim(inner_shape)={len(inner_shape)}"
            )
    if depth == 0:
        if ragged_rank:
            raise ValueError(
                f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank}"
            )
        if inner_shape:
            raise ValueError(
                f"Invalid pylist={pylist}: incompatible with dim(inner_shape)={len(inner_shape)}"
            )
        return pylist, [], ()
    if ragged_rank is None:
        ragged_rank = max(0, depth - 1 - (len(inner_shape) if inner_shape is not None else 0))
    if depth < ragged_rank + 1 and scalars is not None:
        raise ValueError(f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank}")
    splits, level = [], pylist
    for _ in range(ragged_rank):
        lengths = [len(v) for v in level]
        splits.append(
            np.concatenate([[0], np.cumsum(lengths)]).astype(row_splits_dtype.as_numpy_dtype)
        )
        level = [item for v in level for item in v]
    shape = (len(level), *inner_shape) if inner_shape is not None else None
    return list(level), splits, shape


def _flat(values: Any, dtype: DTypeLike | None, shape):
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if wanted is None and not _any_scalar(values) and not isinstance(values, np.ndarray):
        wanted = dtypes.float32
    tensor = convert_to_tensor(values, wanted)
    return tensor if shape in (None, ()) else dense_layout.reshape(tensor, list(shape))


def _any_scalar(value: Sequence[float] | float) -> bool:
    return not isinstance(value, (list, tuple, np.ndarray)) or any(map(_any_scalar, value))


@public
def constant(
    pylist: Sequence[Any], dtype: DTypeLike | None = None, ragged_rank=None, inner_shape=None,
    name: str | None = None, row_splits_dtype: DType = dtypes.int64,
):
    """Make a ragged tensor of nested lists.

    Args:
      pylist: nested lists; scalars lie at one depth.
      dtype: the dtype of the values; None: it follows from them.
      ragged_rank: how many dimensions are ragged; None: all but the first.
      inner_shape: the shape of each innermost value; None: it follows from them.
      name: a name for the operation (optional).
      row_splits_dtype: int32 or int64.

    Returns:
      A `tf.RaggedTensor`; a tensor where nothing is ragged.

    Raises:
      ValueError: for scalars that lie at different depths.

    >>> tf.ragged.constant([[1, 2], [3]])
    <tf.RaggedTensor [[1, 2], [3]]>
    """
    values, splits, shape = _parts(
        pylist, dtype, ragged_rank, inner_shape, dtypes.as_dtype(row_splits_dtype)
    )
    return RaggedTensor.from_nested_row_splits(_flat(values, dtype, shape), splits, validate=False)


@public
def constant_value(
    pylist, dtype=None, ragged_rank=None, inner_shape=None, row_splits_dtype="int64"
):
    """`constant` as a `RaggedTensorValue` (1.x).

    Args:
      pylist: nested lists.
      dtype: the dtype of the values; None: what follows from them.
      ragged_rank: how many dimensions are ragged; None: all but those of `inner_shape`.
      inner_shape: the shape of the dense dimensions; None: none.
      row_splits_dtype: tf.int32 or tf.int64.
    """
    values, splits, shape = _parts(
        pylist, dtype, ragged_rank, inner_shape, dtypes.as_dtype(row_splits_dtype)
    )
    kind = None if dtype is None else np.dtype(getattr(dtype, "as_numpy_dtype", dtype))
    out = np.array(values, kind)
    out = out.reshape(shape) if shape not in (None, ()) else out
    for split in splits[::-1]:
        out = RaggedTensorValue(out, split)
    return out

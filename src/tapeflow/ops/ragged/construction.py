"""Ragged tensors and values made of nested lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.convert import constant as dense_constant
from tapeflow.core.dtypes import DType
from tapeflow.core.public import public
from tapeflow.ops.ragged.tensor import RaggedTensor
from tapeflow.ops.ragged.value import RaggedTensorValue

_RAGGED = (RaggedTensor, RaggedTensorValue)

# Nested lists


def _is_nested(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or np.ndim(value) != 0


def _depths(value: Any) -> tuple[int | None, int]:
    """The depth of the scalars, None where there are none, and that of the deepest list.

    Raises ValueError for scalars that lie at different depths.
    """
    if not _is_nested(value):
        return 0, 0
    if isinstance(value, np.ndarray) and value.dtype != object:
        return (value.ndim, value.ndim) if value.size else (None, value.shape.index(0) + 1)
    below = [_depths(item) for item in value]
    scalars = {depth for depth, _ in below if depth is not None}
    if len(scalars) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    return (scalars.pop() + 1 if scalars else None), 1 + max((depth for _, depth in below), default=0)


def _checked_depths(pylist: Any, ragged_rank: int | None, inner_shape: tuple[int, ...] | None):
    """`_depths`. Raises ValueError where they do not agree with each other or with what is asked for."""
    scalars, deepest = _depths(pylist)
    if scalars is not None and deepest > scalars:
        raise ValueError(f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting")
    if ragged_rank is not None and scalars is not None and deepest < ragged_rank:
        raise ValueError(f"Invalid pylist={pylist}, max depth smaller than ragged_rank={ragged_rank}")
    if ragged_rank is not None and inner_shape is not None:
        wanted = ragged_rank + 1 + len(inner_shape)
        if wanted < deepest if scalars is None else wanted != scalars:
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} "
                f"and dim(inner_shape)={len(inner_shape)}"
            )
    return scalars, deepest


def _uniform_shape(items: Sequence[Any]) -> tuple[int, ...]:
    """The shape that all items have. Raises ValueError where one has another."""
    first: Any = items[0] if len(items) else 0
    shape: tuple[int, ...] = ()
    while _is_nested(first):
        shape = (*shape, len(first))
        if not len(first):
            break
        first = first[0]
    if not all(_has_shape(item, shape) for item in items):
        raise ValueError("inner values have inconsistent shape")
    return shape


def _has_shape(item: Any, shape: tuple[int, ...]) -> bool:
    if not shape or not _is_nested(item):
        return not shape and not _is_nested(item)
    return len(item) == shape[0] and all(_has_shape(child, shape[1:]) for child in item)


def _without_outer(pylist: Sequence[Any], ragged_rank: int) -> tuple[list[Any], list[np.ndarray]]:
    """The items below so many levels of lists, in one list, and the row splits of each level."""
    items, splits = list(pylist), []
    for level in range(ragged_rank):
        if not all(map(_is_nested, items)):
            raise ValueError(
                f"pylist has scalar values depth {level + 1}, but ragged_rank={ragged_rank} "
                f"requires scalar value depth greater than {ragged_rank}"
            )
        splits.append(np.cumsum([0, *map(len, items)]))
        items = [item for row in items for item in row]
    return items, splits


def _made(
    pylist: Any, ragged_rank: int | None, inner_shape: Sequence[int] | None,
    dense: Callable[[Any, tuple[int, ...] | None], Any], ragged: Callable[[Any, np.ndarray], Any],
):
    """Build what nested lists stand for: dense(values, shape), in one ragged(values, splits) a ragged dimension."""
    if isinstance(pylist, _RAGGED):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    inner = None if inner_shape is None else tuple(inner_shape)
    if not _is_nested(pylist):
        if ragged_rank:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
        if inner:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner)}")
        return dense(pylist, ())
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank}: must be nonnegative")
    scalars, deepest = _checked_depths(pylist, ragged_rank, inner)
    if ragged_rank is None:
        ragged_rank = deepest - 1 - (len(inner) if inner and scalars is not None else 0)
        if deepest - len(inner or ()) < 2:
            ragged_rank = 0
        elif inner is None:
            inner = ()
        ragged_rank = max(ragged_rank, 0)
    if not ragged_rank:
        return dense(pylist, inner)
    items, splits = _without_outer(pylist, ragged_rank)
    out = dense(items, (len(items), *(_uniform_shape(items) if inner is None else inner)))
    for split in reversed(splits):
        out = ragged(out, split)
    return out


def _flat(values: Any, dtype: DTypeLike | None, shape: tuple[int, ...] | None):
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if wanted is None and not _any_scalar(values) and not isinstance(values, np.ndarray):
        wanted = dtypes.float32
    return dense_constant(values, wanted, shape)


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
    kind = dtypes.as_dtype(row_splits_dtype).as_numpy_dtype

    def ragged(values, splits):
        return RaggedTensor.from_row_splits(values, splits.astype(kind), validate=False)

    return _made(pylist, ragged_rank, inner_shape, lambda values, shape: _flat(values, dtype, shape), ragged)


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
    kind = None if dtype is None else np.dtype(getattr(dtype, "as_numpy_dtype", dtype))
    split_kind = dtypes.as_dtype(row_splits_dtype).as_numpy_dtype

    def dense(values, shape):
        out = np.array(values, kind) if kind in (None, object) else np.array(values).astype(kind)
        return out if shape is None else out.reshape(shape)

    return _made(
        pylist, ragged_rank, inner_shape, dense,
        lambda values, splits: RaggedTensorValue(values, splits.astype(split_kind)),
    )

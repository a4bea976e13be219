"""Into how many parts a variable is split along an axis: a list with 1 for each other axis."""

from __future__ import annotations

import math
from typing import Any

from tapeflow.core.tensor_shape import TensorShape


def fixed_shards(shape: Any, num_shards: int, axis: int = 0) -> list[int]:
    """`num_shards` parts, or as many as the axis has elements."""
    sizes: list[Any] = TensorShape(shape).as_list()
    return _along(axis, min(num_shards, sizes[axis]), len(sizes))


def min_size(
    shape: Any, dtype: Any, min_bytes: int, max_shards: int, bytes_per_string: int, axis: int = 0
) -> list[int]:
    """At most `max_shards` parts of at least `min_bytes` bytes."""
    sizes: list[Any] = TensorShape(shape).as_list()
    total = _element_bytes(dtype, bytes_per_string) * math.prod(sizes)
    return _along(axis, max(1, min(sizes[axis], max_shards, math.ceil(total / min_bytes))), len(sizes))


def max_size(
    shape: Any, dtype: Any, max_bytes: int, max_shards: int | None, bytes_per_string: int, axis: int = 0
) -> list[int]:
    """As few parts as have no more than `max_bytes` bytes each, and at most `max_shards`."""
    sizes: list[Any] = TensorShape(shape).as_list()
    slice_bytes = _element_bytes(dtype, bytes_per_string) * math.prod(sizes) // max(sizes[axis], 1)
    per_shard = max(1, int(max_bytes // max(slice_bytes, 1)))
    shards = math.ceil(sizes[axis] / per_shard)
    return _along(axis, max(1, shards if max_shards is None else min(shards, max_shards)), len(sizes))


def _element_bytes(dtype: Any, bytes_per_string: int) -> int:
    return bytes_per_string if dtype.name == "string" else dtype.size


def _along(axis: int, count: int, rank: int) -> list[int]:
    partitions = [1] * rank
    partitions[axis] = count
    return partitions

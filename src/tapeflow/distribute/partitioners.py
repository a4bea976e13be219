"""`tf.distribute.experimental.partitioners`: how `ParameterServerStrategy` splits variables."""

from __future__ import annotations

from tapeflow.core.annotations import DTypeLike, ShapeLike
from tapeflow.core.public import boundaries
from tapeflow.ops.state import partitioning

__all__ = ["FixedShardsPartitioner", "MaxSizePartitioner", "MinSizePartitioner", "Partitioner"]


class Partitioner:
    """The base of partitioners, which are called with a shape, a dtype and an axis.

    A call gives the number of parts along each axis: 1 but for `axis`.
    """

    def __call__(self, shape: ShapeLike, dtype: DTypeLike, axis: int = 0) -> list[int]:
        raise NotImplementedError


class FixedShardsPartitioner(Partitioner):
    """A fixed number of parts.

    Args:
      num_shards: the number; an axis with fewer elements has that many parts.
    """

    def __init__(self, num_shards: int):
        self._num_shards = num_shards

    def __call__(self, shape: ShapeLike, dtype: DTypeLike, axis: int = 0) -> list[int]:
        return partitioning.fixed_shards(shape, self._num_shards, axis)


class MinSizePartitioner(Partitioner):
    """As many parts as have a least size.

    Args:
      min_shard_bytes: the least size of a part, in bytes.
      max_shards: the greatest number of parts.
      bytes_per_string: what an element of dtype string counts for.

    Raises ValueError for numbers that are not positive.
    """

    def __init__(self, min_shard_bytes: int = 256 << 10, max_shards: int = 1, bytes_per_string: int = 16):
        _require_positive("min_shard_bytes", min_shard_bytes)
        _require_positive("max_shards", max_shards)
        _require_positive("bytes_per_string", bytes_per_string)
        self._how = min_shard_bytes, max_shards, bytes_per_string

    def __call__(self, shape: ShapeLike, dtype: DTypeLike, axis: int = 0) -> list[int]:
        return partitioning.min_size(shape, dtype, *self._how, axis=axis)


class MaxSizePartitioner(Partitioner):
    """As few parts as have a greatest size.

    Args:
      max_shard_bytes: the greatest size of a part, in bytes, if `max_shards` allows it.
      max_shards: the greatest number of parts; None: any.
      bytes_per_string: what an element of dtype string counts for.

    Raises ValueError for numbers that are not positive.
    """

    def __init__(self, max_shard_bytes: int, max_shards: int | None = None, bytes_per_string: int = 16):
        _require_positive("max_shard_bytes", max_shard_bytes)
        if max_shards:
            _require_positive("max_shards", max_shards)
        _require_positive("bytes_per_string", bytes_per_string)
        self._how = max_shard_bytes, max_shards or None, bytes_per_string

    def __call__(self, shape: ShapeLike, dtype: DTypeLike, axis: int = 0) -> list[int]:
        return partitioning.max_size(shape, dtype, *self._how, axis=axis)


def _require_positive(name: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"Argument `{name}` must be positive. Received: {value}")


boundaries(globals())

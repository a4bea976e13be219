"""The part of a dataset that belongs to one worker."""

from __future__ import annotations

from typing import Any

from tapeflow.data.options import AutoShardPolicy


def auto_shard_dataset(dataset: Any, num_shards: int, index: int, num_replicas_in_sync: int | None = None) -> Any:
    """One of `num_shards` parts of a dataset; the whole where the dataset's options say that it is not parted.

    Args:
      dataset: a dataset.
      num_shards: how many parts there are.
      index: which one.
      num_replicas_in_sync: not used.
    """
    policy = dataset.options().experimental_distribute.auto_shard_policy
    return dataset if num_shards == 1 or policy is AutoShardPolicy.OFF else dataset.shard(num_shards, index)

"""The part of a dataset that belongs to one worker."""

from __future__ import annotations

from typing import Any

from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.core.specs.extension_batching import BatchableExtensionType, decoded, encoded
from tapeflow.core.specs.protocol import batched, type_spec_of, unbatched
from tapeflow.core.structures import nest
from tapeflow.data.dataset import Dataset
from tapeflow.data.options import AutoShardPolicy
from tapeflow.data.parts import parts_of
from tapeflow.data.sources import records
from tapeflow.ops.array.sizes import shape

__all__ = ["auto_shard_dataset", "of_worker", "shares"]


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


def of_worker(dataset: Any, count: int, index: int) -> tuple[Any, bool]:
    """The part of one of `count` workers, and whether the parts of all are known to have as many elements.

    By files, each worker reads some of the files, in batches of its share of the size. By data, each takes its rows of
    every batch. Which of them, the option `experimental_distribute.auto_shard_policy` says; by itself by files where
    there are enough.

    Raises:
      InvalidArgumentError: by files, and no files are found that the dataset is read from.
    """
    policy = dataset.options().experimental_distribute.auto_shard_policy
    if policy is AutoShardPolicy.HINT:
        raise UnimplementedError(
            None, None, "AutoShardPolicy.HINT is not supported: call `shard` with this worker's number"
        )
    if policy in (AutoShardPolicy.FILE, AutoShardPolicy.AUTO):
        found = _by_files(dataset, count, index, at_least=count if policy is AutoShardPolicy.AUTO else 1)
        if found is not None:
            return _smaller(found, count), False
        if policy is AutoShardPolicy.FILE:
            raise InvalidArgumentError(
                None, None, "AutoShardPolicy.FILE: no files are found that the dataset is read from; use DATA"
            )
    if policy is AutoShardPolicy.OFF:
        return _smaller(dataset, count), False

    def own(*parts: Any) -> Any:
        found = nest.map_structure(lambda x: shares(x, count)[index], parts)
        return found[0] if len(found) == 1 else found

    return dataset.map(own), True


def shares(batch: Any, count: int) -> list[Any]:
    """The rows of a batch in so many parts, of which the last ones may be smaller."""
    if isinstance(batch, BatchableExtensionType):
        whole, spec = encoded(batch, 1), batched(unbatched(type_spec_of(batch)), None)
        columns = [shares(part, count) for part in nest.flatten(whole)]
        return [decoded(spec, nest.pack_sequence_as(whole, list(parts))) for parts in zip(*columns, strict=True)]
    rows = batch.shape[0]
    size = -(-(shape(batch)[0] if rows is None else rows) // count)
    return [batch[i * size : (i + 1) * size] for i in range(count)]


def _smaller(dataset: Any, count: int) -> Any:
    """A dataset in batches of a worker's share of their size, which its specs or its first element say."""
    leaf = nest.flatten(dataset.element_spec)[0]
    size = leaf.shape[0]
    if size is None:
        size = next((nest.flatten(x)[0].shape[0] for x in dataset.take(1)), count)
    return dataset.rebatch(-(-int(size) // count))


def _by_files(dataset: Any, count: int, index: int, at_least: int) -> Any:
    """The same pipeline from a part of the files; None where it does not begin with so many files."""
    if not (made := parts_of(dataset).record):
        return None
    record, arguments = made
    if record.name == "list_files":
        names = record(**{**arguments, "shuffle": False})
        if int(names.cardinality()) < at_least:
            return None
        part = names.shard(count, index)
        mixed = arguments["shuffle"] in (None, True)
        return part.shuffle(max(int(names.cardinality()), 1), arguments["seed"]) if mixed else part
    if "filenames" in arguments:
        names = records.filenames_dataset(arguments["filenames"])
        if int(names.cardinality()) < at_least:
            return None
        return record(**{**arguments, "filenames": names.shard(count, index)})
    if len(record.datasets) != 1 or not isinstance(source := arguments[record.datasets[0]], Dataset):
        return None
    before = _by_files(source, count, index, at_least)
    return None if before is None else record(**{**arguments, record.datasets[0]: before})

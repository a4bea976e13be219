"""Which part of a dataset a worker makes elements of: found in the graph of ops that makes the dataset."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import NotFoundError, UnimplementedError
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data import leaves
from tapeflow.data.building import build
from tapeflow.data.iteration.passes import Over
from tapeflow.data.parts import parts_of
from tapeflow.data.service.dispatcher import Task
from tapeflow.data.service.policies import ShardingPolicy
from tapeflow.data.shipping import from_bytes
from tapeflow.ops.node_rows import NODES

Claim = Callable[[int, int, int, int], int]
# The most elements of a source that a worker claims at a time.
_MOST = 32


def part_of(message: bytes, task: Task, claim: Claim) -> Any:
    """The dataset of which a worker makes the elements.

    Args:
      message: what `shipping.to_bytes` gave.
      task: the worker's.
      claim: as `Dispatcher.claim`.

    Raises:
      NotFoundError: the policy is FILE, and there are no files.
      UnimplementedError: the policy is HINT.
    """
    if task.policy == ShardingPolicy.DYNAMIC:
        numbers = itertools.count()

        def claimed(op: Any, values: Sequence[Any]) -> Any:
            source = leaves.unboxed(op.attrs["function"](*values)[0])
            return _claimed(source, task.number, next(numbers), claim)

        return from_bytes(message, claimed)
    if task.policy == ShardingPolicy.HINT:
        raise UnimplementedError(
            None, None, "ShardingPolicy.HINT is not supported: shards are those of DATA or FILE_OR_DATA"
        )
    if task.policy in (ShardingPolicy.FILE, ShardingPolicy.FILE_OR_DATA):
        found: list[Any] = []
        made = from_bytes(message, lambda op, values: _of_files(op, values, task, found))
        if found:
            return made
        if task.policy == ShardingPolicy.FILE:
            raise NotFoundError(
                None, None, "Found an unshardable source dataset: no files are read. Use DATA or FILE_OR_DATA."
            )
    whole = from_bytes(message)
    return whole if task.policy == ShardingPolicy.OFF else whole.shard(task.shards, task.shard)


def _of_files(op: Any, values: Sequence[Any], task: Task, found: list[Any]) -> Any:
    """A source of names of files, or of their records, for a worker's part of the files; None for any other.

    Args:
      op: the node of the source.
      values: its inputs.
      task: the worker's.
      found: gets what is parted.
    """
    make = op.attrs["function"]
    if "filenames" in {argument.name for argument in NODES[op.type].inputs}:
        files = np.atleast_1d(values[0].numpy())[task.shard :: task.shards]
        made = make(convert_to_tensor(files, dtypes.string), *values[1:])[0]
    else:
        dataset = leaves.unboxed(make(*values)[0])
        if dataset.element_spec != TensorSpec([], dtypes.string):
            return None
        made = leaves.boxed(dataset.shard(task.shards, task.shard))
    found.append(op)
    return made


def _claimed(dataset: Any, number: int, source: int, claim: Claim) -> Any:
    epochs = itertools.count()

    def start() -> _Claimed:
        epoch = next(epochs)
        return _Claimed(parts_of(dataset).start(), lambda count: claim(number, source, epoch, count))

    return leaves.boxed(build(("Claimed", start, dataset.element_spec), dataset))


class _Claimed(Over):
    """The elements of a source that this worker has claimed: more at a time, the longer it goes on."""

    __slots__ = ("_at", "_claim", "_count", "_end", "_first")

    def __init__(self, values: Any, claim: Callable[[int], int]):
        super().__init__(values)
        self._claim, self._count = claim, 1
        self._at = self._first = self._end = 0

    def __next__(self) -> Any:
        if self._first == self._end:
            self._first = self._claim(self._count)
            self._end = self._first + self._count
            self._count = min(2 * self._count, _MOST)
        while self._at < self._first:
            next(self._input)
            self._at += 1
        self._first += 1
        self._at += 1
        return next(self._input)

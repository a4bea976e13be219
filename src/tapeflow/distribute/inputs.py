"""Datasets whose elements are shared out among replicas."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapeflow.core import context
from tapeflow.core.errors import OutOfRangeError, UnimplementedError
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.data.dataset import INFINITE_CARDINALITY, Dataset
from tapeflow.data.iteration import staged_passes
from tapeflow.data.iteration.iterating import Optional
from tapeflow.data.transform import stacking
from tapeflow.distribute.processes import ALONE
from tapeflow.distribute.sharding import of_worker, shares
from tapeflow.distribute.values import PerReplica, PerReplicaSpec
from tapeflow.function.autograph.operators.dataset_loop import next_element, next_if_any
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.math.arithmetic import minimum

__all__ = [
    "DistributedDataset",
    "DistributedIterator",
    "InputContext",
    "InputOptions",
    "InputReplicationMode",
]


class InputReplicationMode(enum.Enum):
    """How often an input function is called."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


@dataclass(frozen=True)
class InputContext:
    """For which of how many workers an input function makes a dataset.

    Args:
      num_input_pipelines: how many workers there are.
      input_pipeline_id: the number of this one.
      num_replicas_in_sync: how many replicas share a batch.
    """

    num_input_pipelines: int = 1
    input_pipeline_id: int = 0
    num_replicas_in_sync: int = 1

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """A replica's share of a batch. Raises ValueError where it is no whole number."""
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size!r} is not divisible by `num_replicas_in_sync` "
                f"{self.num_replicas_in_sync!r} "
            )
        return global_batch_size // self.num_replicas_in_sync


@dataclass
class InputOptions:
    """How elements get to the devices; none of it changes them.

    Args:
      experimental_fetch_to_device: whether they are brought to the devices ahead.
      experimental_replication_mode: an `InputReplicationMode`.
      experimental_place_dataset_on_device: whether the dataset is on the device.
      experimental_per_replica_buffer_size: how many elements wait for each replica.
    """

    experimental_fetch_to_device: Any = None
    experimental_replication_mode: Any = InputReplicationMode.PER_WORKER
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1


def distributed(
    strategy: Any, dataset: Any, per_replica: bool = False, shares: Any = ALONE
) -> DistributedDataset:
    """The dataset for the replicas of a strategy.

    Args:
      strategy: the strategy.
      dataset: the dataset of all its replicas, or else of this process.
      per_replica: whether elements are those of one replica, else batches of all.
      shares: the processes that share the dataset out among themselves.

    Raises:
      TypeError: for no dataset.
    """
    if isinstance(dataset, DistributedDataset):
        return dataset
    if not isinstance(dataset, Dataset):
        raise TypeError(f"a dataset is needed, got {dataset!r}")
    n = len(strategy.extended.own_replicas)
    even = strategy.extended.processes.size == 1
    if shares.size > 1:
        dataset, even = of_worker(dataset, shares.size, shares.rank)
    if n > 1:
        dataset = dataset.batch(n) if per_replica else dataset
    endless = int(dataset.cardinality()) == INFINITE_CARDINALITY
    return _over(dataset, strategy, per_replica and n > 1, even or endless)


def _over(dataset: Any, strategy: Any, stacked: bool, even: bool) -> DistributedDataset:
    made = DistributedDataset.__new__(DistributedDataset)
    made.__dict__.update(dataset.__dict__, even=even)
    made.strategy, made.plain, made.stacked = strategy, dataset, stacked
    return made


class DistributedDataset(Dataset):
    """A dataset; its elements have one component for each replica, where there are several.

    Args:
      variant_tensor: a scalar variant tensor that holds a dataset; strategies make such datasets themselves.
    """

    strategy: Any
    plain: Any
    stacked: bool
    even: bool  # whether all processes have as many elements

    @property
    def element_spec(self) -> Any:
        """The specs of an element: a `PerReplicaSpec` for each tensor where there are several replicas."""
        n = len(self.strategy.extended.own_replicas)
        if n == 1:
            return self.plain.element_spec

        def of_replicas(spec: Any) -> PerReplicaSpec:
            return PerReplicaSpec(*[self._spec_of_share(spec, n)] * n)

        return nest.map_structure(of_replicas, self.plain.element_spec)

    def _spec_of_share(self, spec: Any, n: int) -> Any:
        row = stacking.slice_spec(spec)
        if self.stacked:
            return row
        size = stacking.shape_of(spec)[0]
        return stacking.batch_spec(row, None if size is None or size % n else size // n)

    @property
    def _trace_key(self) -> Any:
        return super()._trace_key, self.strategy, self.stacked

    def __iter__(self) -> Any:
        n = len(self.strategy.extended.own_replicas)
        if n == 1 and (self.even or not context.executing_eagerly()):
            return super().__iter__()
        return DistributedIterator(self)

    def shared_out(self, element: Any) -> Any:
        """An element of the dataset behind as PerReplica values: a part of each tensor for each replica.

        Args:
          element: a structure of tensors.
        """
        n = len(self.strategy.extended.own_replicas)
        if n == 1:
            return element

        def of_replicas(x: Any) -> Any:
            if not self.stacked:
                return PerReplica(shares(x, n))
            rows = x.shape[0]
            last = (shape(x)[0] if rows is None else rows) - 1
            return PerReplica([x[i if rows is not None and i < rows else minimum(i, last)] for i in range(n)])

        return nest.map_structure(of_replicas, element)

    def _staged_pass(self) -> Any:
        return staged_passes.of(self.plain)

    def make_initializable_iterator(self, shared_name: Any = None) -> Any:
        """An iterator of a graph, whose `initializer` starts a pass (1.x)."""
        return self.plain.make_initializable_iterator(shared_name)

    def make_input_iterator(self) -> Any:
        """What `get_next()` can be asked of: in a graph after its `initializer` ran, else at once (1.x)."""
        return iter(self) if context.executing_eagerly() else self.make_initializable_iterator()

    def make_one_shot_iterator(self) -> Any:
        """An iterator of a graph (1.x)."""
        return self.plain.make_one_shot_iterator()


class DistributedIterator:
    """A pass over a distributed dataset: PerReplica values, a share of the batch for each replica.

    Args:
      dataset: the dataset; `iter(dataset)` makes the same.
    """

    def __init__(self, dataset: DistributedDataset):
        self._dataset = dataset
        self._elements = iter(dataset.plain)

    def __iter__(self) -> DistributedIterator:
        return self

    def __next__(self) -> Any:
        if not context.executing_eagerly():
            return next_element(self)
        return self.shared_out(next(self._elements) if self._dataset.even else self._next_of_any())

    def shared_out(self, element: Any) -> Any:
        """An element of the dataset behind as PerReplica values: a part of each tensor for each replica.

        Args:
          element: a structure of tensors.
        """
        return self._dataset.shared_out(element)

    def _staged_pass(self) -> Any:
        """The rest of the elements, taken by nodes of the graph that is being built."""
        if not self._dataset.even:
            raise UnimplementedError(
                None, None, "Elements of a dataset of which processes may have different numbers are taken outside of "
                "functions."
            )  # fmt: skip
        return staged_passes.of(self._elements)

    def _next_of_any(self) -> Any:
        """The next element, which is empty where this process has none and another has one."""
        element = next(self._elements, None)
        group = self._dataset.strategy.extended.processes.group
        if not group.all_reduce(np.int32(element is not None), "max"):
            raise StopIteration
        if element is not None:
            return element
        return nest.map_structure(
            lambda spec: zeros([0, *(n or 0 for n in spec.shape.as_list()[1:])], spec.dtype),
            self._dataset.plain.element_spec,
        )

    def get_next(self) -> Any:
        """The next element. Raises OutOfRangeError after the last."""
        if not context.executing_eagerly():
            return next_element(self)
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError(None, None, "End of sequence") from None

    def get_next_as_optional(self) -> Any:
        """The next element as an optional, which has none after the last."""
        if not context.executing_eagerly():
            present, value = next_if_any(self)
            return Optional(value, self.element_spec, present)
        try:
            return Optional(next(self), self.element_spec, True)
        except StopIteration:
            return Optional.empty(self._dataset.element_spec)

    @property
    def element_spec(self) -> Any:
        """The specs of an element."""
        return self._dataset.element_spec


# As an argument of a function it is the dataset behind, shared out by the same strategy.
nest.register_composite(
    DistributedDataset,
    lambda dataset: nest.flatten(dataset.plain, expand_composites=True),
    lambda like, parts: _over(
        nest.pack_sequence_as(like.plain, parts, expand_composites=True), like.strategy, like.stacked, like.even
    ),
)

boundaries(globals())

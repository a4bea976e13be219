"""What authors of libraries ask a strategy."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.core.convert import is_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.distribute.processes import ALONE
from tapeflow.distribute.reducing import OwnValue, ReduceOp, reduce_over_axis, reduce_values
from tapeflow.distribute.sharding import shares
from tapeflow.distribute.values import DistributedValues, PerReplica, select
from tapeflow.ops.control.grouping import group as group_together

__all__ = ["StrategyExtended"]


def not_distributed(value: Any, op: ReduceOp) -> ValueError:
    """What is raised for the sum of a value of which nobody knows whose it is."""
    return ValueError(f"A non-DistributedValues value {value!s} cannot be reduced with the given reduce op {op}.")


def is_zero(value: Any) -> bool:
    """Whether a value is Python's zero, of which the sum is clear."""
    return isinstance(value, (int, float)) and value == 0


class ValueContext:
    """For which replica a value is made.

    Args:
      replica_id_in_sync_group: the number of the replica.
      num_replicas_in_sync: how many there are.
    """

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1):
        self.replica_id_in_sync_group = replica_id_in_sync_group
        self.num_replicas_in_sync = num_replicas_in_sync


class StrategyExtended:
    """What authors of libraries ask a strategy.

    Args:
      strategy: the `Strategy` that it speaks for.
      processes: those whose replicas are in step with the ones of this process; see `distribute.processes`.
    """

    def __init__(self, strategy: Any, processes: Any = ALONE):
        self._strategy, self.processes = strategy, processes

    @property
    def own_replicas(self) -> range:
        """The numbers of the replicas of this process."""
        count = len(self.worker_devices)
        return range(self.processes.rank * count, (self.processes.rank + 1) * count)

    def sums(self, values: Any) -> list[Any]:
        """The sums over the replicas of several values."""
        strategy = self._strategy
        if self.processes.size == 1 or any(isinstance(x, OwnValue) for x in values):
            return [self.reduced(ReduceOp.SUM, x, None) for x in values]
        own = [reduce_values(ReduceOp.SUM, strategy.experimental_local_results(x)) for x in values]
        return self.processes.total(own)

    def reduced(self, op: ReduceOp, value: Any, axis: int | None) -> Any:
        """`Strategy.reduce`, where a tensor is one that each replica has."""
        several = self.processes.size > 1  # each has a value of its own

        def total(x: Any) -> Any:
            if isinstance(x, OwnValue):
                return x.reduced(op, axis)
            if isinstance(x, DistributedValues):
                parts = x.values
            elif several or self._num_replicas_in_sync == 1 or op is ReduceOp.MEAN or is_zero(x):
                parts = (x,)
            elif not is_tensor(x):
                raise not_distributed(x, op)
            else:
                parts = (x,) * self._num_replicas_in_sync
            if axis is not None:
                return reduce_over_axis(op, parts, axis, self.processes)
            if len(parts) > 1 or is_tensor(x) or several:
                return reduce_values(op, parts, self.processes)
            return x

        return nest.map_structure(total, value)

    def share_of_process(self, batch: Any) -> Any:
        """The rows of a batch of all replicas that are for this process."""
        size, rank = self.processes.size, self.processes.rank
        return nest.map_structure(lambda x: x if x is None else shares(x, size)[rank], batch)

    def shares_of_replicas(self, batch: Any) -> Any:
        """A batch of this process as the parts of its replicas."""
        n = len(self.own_replicas)
        return batch if n == 1 else nest.map_structure(lambda x: PerReplica(shares(x, n)), batch)

    worker_devices = property(lambda self: tuple(self._strategy.local_devices))
    parameter_devices = property(lambda self: tuple(self._strategy.local_devices))
    experimental_require_static_shapes = False
    experimental_between_graph = False
    # The first of several processes writes files.
    should_checkpoint = property(lambda self: self.processes.rank == 0)
    should_save_summary = property(lambda self: self.processes.rank == 0)
    experimental_should_init = True

    _devices = property(lambda self: tuple(self._strategy.local_devices))
    # Batches that are fed are those of all replicas together.
    _global_batch_size = True

    def _in_multi_worker_mode(self) -> bool:
        """Whether there are several processes."""
        return self.processes.size > 1

    def _use_merge_call(self) -> bool:
        """Whether replicas meet before they update variables."""
        return self._num_replicas_in_sync > 1

    def _scope(self, strategy: Any) -> Any:
        return strategy.scope()

    def _reduce(self, reduce_op: Any, value: Any) -> Any:
        return self._strategy.reduce(reduce_op, value, axis=None)

    def _update(
        self, var: Any, fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], group: bool,
    ) -> Any:
        return self.update(var, fn, args, kwargs, group)

    def _group(self, value: Any, name: str | None = None) -> Any:
        return group_together(*nest.flatten(value), name=name)

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """A dataset of arrays."""
        return self._strategy.experimental_make_numpy_dataset(numpy_input, session)

    @property
    def _num_replicas_in_sync(self) -> int:
        return self._strategy.num_replicas_in_sync

    def call_for_each_replica(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """See Strategy.run."""
        return self._strategy.run(fn, args, kwargs)

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """The reduced value."""
        return self._strategy.reduce(reduce_op, value, axis=None)

    def batch_reduce_to(
        self, reduce_op: Any, value_destination_pairs: Any, options: Any = None
    ) -> list[Any]:
        """`reduce_to` of several."""
        return [self.reduce_to(reduce_op, value, to) for value, to in value_destination_pairs]

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """The value for all replicas."""
        return tensor

    def update(
        self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Mapping[str, Any] | None = None,
        group: bool = True
    ) -> Any:
        """`fn(var, *args)`."""
        result = fn(var, *select(0, tuple(args)), **select(0, kwargs or {}))
        return result if group else (result,)

    def update_non_slot(
        self, colocate_with: Any, fn: Callable[..., Any], args: Any = (), kwargs: Mapping[str, Any] | None = None,
        group: bool = True
    ) -> Any:
        """`fn(*args)`."""
        result = fn(*args, **(kwargs or {}))
        return result if group else (result,)

    def value_container(self, value: Any) -> Any:
        """The variable that a component belongs to."""
        return value

    def read_var(self, v: Any) -> Any:
        """The variable's value."""
        return v.read_value()

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """A context that changes nothing: there is one memory."""
        return contextlib.nullcontext()

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether the variable was made in the scope of this strategy."""
        return getattr(v, "_distribute_strategy", None) is self._strategy

    def non_slot_devices(self, var_list: Any) -> Any:
        """The first device."""
        return self._strategy.local_devices[0]


boundaries(globals())

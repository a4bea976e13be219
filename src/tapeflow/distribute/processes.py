"""What a strategy knows of the processes that it works with: `ALONE`, or a `Processes`."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.variables import is_set
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.control import process_group
from tapeflow.ops.control.collective import CollectiveGatherV2, CollectiveReduceV2
from tapeflow.ops.math.casting import cast

__all__ = ["ALONE", "Processes", "joined"]

# The kinds of tasks that train together, in the order of their numbers.
_WORKERS = ("chief", "worker")


class _Alone:
    """One process."""

    size, rank = 1, 0

    def total(self, values: Sequence[Any]) -> list[Any]:
        return list(values)

    def gathered(self, value: Any, axis: int) -> Any:
        return value

    def first(self, value: Any) -> Any:
        return value


ALONE = _Alone()


class Processes(_Alone):
    """Processes that each have replicas of a strategy.

    Args:
      group: the `ProcessGroup`.
    """

    def __init__(self, group: process_group.ProcessGroup):
        self.group, self.size, self.rank = group, group.size, group.rank

    def total(self, values: Sequence[Any]) -> list[Any]:
        """The sums over the processes of tensors; those of one dtype and of known shapes travel as one."""
        tensors = [convert_to_tensor(x) for x in values]
        found: list[Any] = [None] * len(tensors)
        together: dict[Any, list[int]] = {}
        for i, x in enumerate(tensors):
            if x.shape.is_fully_defined():
                together.setdefault(x.dtype, []).append(i)
            else:
                found[i] = self._sum(x)
        for places in together.values():
            if len(places) == 1:
                found[places[0]] = self._sum(tensors[places[0]])
                continue
            flat = self._sum(concat([reshape(tensors[i], [-1]) for i in places], 0))
            sizes = [tensors[i].shape.num_elements() for i in places]
            for i, part in zip(places, split(flat, sizes), strict=True):
                found[i] = reshape(part, tensors[i].shape.as_list())
        return found

    def _sum(self, x: Any) -> Any:
        if x.dtype == dtypes.bool:
            return cast(self._sum(cast(x, dtypes.int32)), dtypes.bool)
        return CollectiveReduceV2(x, self.size, 0, 0, "Add", "Id")

    def gathered(self, value: Any, axis: int) -> Any:
        """The values of all processes one after another along an axis, of which they may have different lengths."""
        x = convert_to_tensor(value)
        if x.dtype == dtypes.bool:
            return cast(self.gathered(cast(x, dtypes.int32), axis), dtypes.bool)
        rank = x.shape.rank
        if not rank or not -rank <= axis < rank:
            raise ValueError(f"`axis` = {axis} out of range for a tensor of rank {rank} in `strategy.gather`")
        axis %= rank
        order = [axis, *(i for i in range(rank) if i != axis)]
        back = [order.index(i) for i in range(rank)]
        moved = CollectiveGatherV2(transpose(x, order), self.size, 0, 0)
        return transpose(moved, back)

    def first(self, value: Any) -> Any:
        """The value of the first process."""
        x = convert_to_tensor(value)
        return self._sum(x if self.rank == 0 else x * cast(0, x.dtype))

    def broadcast(self, variable: Any) -> None:
        """Give a variable the value that it has in the first process."""
        if context.executing_eagerly() and is_set(variable) and not variable.dtype.is_quantized:
            value = variable.read_value()
            variable.assign(value if self.size == 1 else self.first(value))


def joined(resolver: Any) -> _Alone:
    """The processes that a cluster resolver names, joined; `ALONE` where it names one, or this is no worker.

    Raises:
      UnimplementedError: for several processes where the extra `xla` is missing.
      ValueError: where the resolver does not say which of them this is.
    """
    spec = resolver.cluster_spec().as_dict()
    tasks = [(kind, i) for kind in _WORKERS for i in range(len(spec.get(kind, ())))]
    if len(tasks) < 2 or resolver.task_type not in (None, *_WORKERS):
        return ALONE
    me = (resolver.task_type, resolver.task_id)
    if me not in tasks:
        raise ValueError(f"This process is task {me}, which is none of the workers of the cluster: {spec}")
    group = process_group.current()
    if group is None:
        kind, number = tasks[0]
        processes = importlib.import_module("tapeflow.xla.processes")
        names = [f"/job:{kind}/task:{i}" for kind, i in tasks]
        group = processes.start(spec[kind][number], len(tasks), tasks.index(me), names)
    if group.size != len(tasks):
        raise ValueError(f"This process belongs to a group of {group.size}, not to one of {len(tasks)}")
    return Processes(group)

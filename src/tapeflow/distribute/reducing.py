"""Reductions over the replicas."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.public import boundaries
from tapeflow.distribute.processes import ALONE
from tapeflow.distribute.values import DistributedValues
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.array.sizes import shape, size
from tapeflow.ops.array.stacking import unstack
from tapeflow.ops.control.cross_replica import CrossReplicaSum, XlaReplicaId
from tapeflow.ops.math.accumulate import add_n
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_prod, reduce_sum
from tapeflow.ops.state.variable import VariableAggregation

__all__ = [
    "CrossDeviceOps",
    "HierarchicalCopyAllReduce",
    "NcclAllReduce",
    "OwnValue",
    "ReduceOp",
    "ReductionToOneDevice",
    "reduce_over_axis",
    "reduce_values",
    "reduction",
]


class ReduceOp(enum.Enum):
    """How the values of the replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: Any) -> ReduceOp | None:
        """The reduction of a variable's aggregation; None where there is none."""
        return {VariableAggregation.SUM: ReduceOp.SUM, VariableAggregation.MEAN: ReduceOp.MEAN}.get(
            aggregation
        )


def reduction(reduce_op: Any) -> ReduceOp:
    """A ReduceOp, given as itself or by its name in any case.

    Raises ValueError for another name, TypeError for what is neither.
    """
    if isinstance(reduce_op, ReduceOp):
        return reduce_op
    if not isinstance(reduce_op, str):
        raise TypeError(f"Expected `reduce_op` to be a `tf.distribute.ReduceOp`, not: {reduce_op}")
    try:
        return ReduceOp(reduce_op.upper())
    except ValueError:
        raise ValueError(f"'{reduce_op.upper()}' is not a valid ReduceOp") from None


def reduce_values(reduce_op: ReduceOp, values: Any, processes: Any = ALONE) -> Any:
    """The sum or the mean of one value for each replica; those of further processes are added."""
    parts = [convert_to_tensor(value) for value in values]
    total = parts[0] if len(parts) == 1 else add_n(parts)
    (total,) = processes.total([total])
    count = len(parts) * processes.size
    if reduce_op is ReduceOp.MEAN and count > 1:
        return total / cast(count, total.dtype)
    return total


def reduce_over_axis(reduce_op: ReduceOp, values: Any, axis: Any, processes: Any = ALONE) -> Any:
    """The same, and over `axis` of the values too; the mean counts elements, however many a replica has.

    Raises ValueError for values that have no such axis.
    """
    parts = [convert_to_tensor(value) for value in values]
    axes = [axis] if isinstance(axis, int) else list(axis)
    for part in parts:
        rank = part.shape.rank
        if rank is not None and any(not -rank <= each < rank for each in axes):
            raise ValueError(
                f"`axis` = {axis} out of range for tensor of rank {rank} in `strategy.reduce`"
            )
    total = reduce_values(ReduceOp.SUM, [reduce_sum(part, axis) for part in parts], processes)
    if reduce_op is ReduceOp.SUM:
        return total
    sizes = []
    for part in parts:
        dims = shape(part)
        sizes.append(reduce_prod([dims[each] for each in axes]))
    return total / cast(reduce_values(ReduceOp.SUM, sizes, processes), total.dtype)


class OwnValue(DistributedValues):
    """A value of which each replica has its own, while the step of all replicas is traced once.

    Args:
      own: the tensor of the replica.
      count: how many replicas there are.
    """

    def __init__(self, own: Any, count: int):
        self.own, self._count = own, count

    @property
    def values(self) -> tuple[Any, ...]:
        """The tensors of all replicas."""
        x = convert_to_tensor(self.own)
        sent = cast(x, dtypes.int32) if x.dtype == dtypes.bool else x
        mine = one_hot(XlaReplicaId(), self._count, dtype=sent.dtype)
        everyone = _over_replicas(reshape(mine, [-1] + [1] * len(x.shape)) * sent)
        return tuple(unstack(cast(everyone, x.dtype), self._count))

    def reduced(self, reduce_op: ReduceOp, axis: AxisLike | None = None) -> Any:
        """The sum or the mean over the replicas, and over `axis` of the value."""
        x = convert_to_tensor(self.own)
        total = _over_replicas(x if axis is None else reduce_sum(x, axis))
        if reduce_op is ReduceOp.SUM:
            return total
        counted = size(x) // size(total) if axis is not None else 1  # of the same shape in all replicas
        return total / cast(self._count * counted, total.dtype)


def _over_replicas(x: TensorLike) -> Any:
    return CrossReplicaSum(x, np.zeros((0, 1), np.int32))


class CrossDeviceOps:
    """How values get from device to device; all replicas share the memory of one process here.

    Args:
      num_packs: into how many groups gradients are put; nothing depends on it.
    """

    def __init__(self, num_packs: int = 1):
        self.num_packs = num_packs

    def reduce(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any = None, options: Any = None
    ) -> Any:
        """The reduced value."""
        values = (
            per_replica_value.values
            if isinstance(per_replica_value, DistributedValues)
            else [per_replica_value]
        )
        return reduce_values(reduction(reduce_op), values)

    def batch_reduce(
        self, reduce_op: Any, value_destination_pairs: Any, options: Any = None
    ) -> list[Any]:
        """`reduce` of several."""
        return [self.reduce(reduce_op, value) for value, _ in value_destination_pairs]

    def broadcast(self, tensor: Any, destinations: Any = None) -> Any:
        """The value for all."""
        return tensor


class HierarchicalCopyAllReduce(CrossDeviceOps):
    """Another name of what `CrossDeviceOps` does here.

    Args:
      num_packs: into how many groups gradients are put; nothing depends on it.

    Raises ValueError for a negative number.
    """

    def __init__(self, num_packs: int = 1):
        if num_packs < 0:
            raise ValueError(f"HierarchicalCopy requires num_packs >= 0, but {num_packs} is specified")
        super().__init__(num_packs)


class NcclAllReduce(CrossDeviceOps):
    """Another name of what `CrossDeviceOps` does here.

    Args:
      num_packs: into how many groups gradients are put; nothing depends on it.

    Raises ValueError for a negative number.
    """

    def __init__(self, num_packs: int = 1):
        if num_packs < 0:
            raise ValueError(f"NCCL all-reduce requires num_packs >= 0, but {num_packs} is specified")
        super().__init__(num_packs)


class ReductionToOneDevice(CrossDeviceOps):
    """Another name of what `CrossDeviceOps` does here.

    Args:
      reduce_to_device: the name of a device; nothing depends on it.
      accumulation_fn: None, or `tf.add_n`: values are added.

    Raises UnimplementedError for another `accumulation_fn`.
    """

    def __init__(self, reduce_to_device: Any = None, accumulation_fn: Any = None):
        if accumulation_fn not in (None, add_n):
            raise UnimplementedError(None, None, "An accumulation_fn other than tf.add_n is not supported")
        super().__init__()
        self.reduce_to_device, self.accumulation_fn = reduce_to_device, accumulation_fn


boundaries(globals())

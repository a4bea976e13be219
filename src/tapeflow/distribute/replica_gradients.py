"""Sums and concatenations over replicas that are traced, or run, one by one, with their gradients.

A replica sees the gradient of its own result alone, so that the replicas meet again when they go back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.autodiff.custom_gradient import custom_gradient
from tapeflow.core import replicas
from tapeflow.core.convert import convert_to_tensor
from tapeflow.distribute.reducing import ReduceOp
from tapeflow.ops.array import ranges, sizes
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.reductions import reduce_sum


def _in_replica(context: Any) -> None:
    if replicas.state.replica is not context:
        raise RuntimeError("Gradients of all_reduce and all_gather are computed in the replica that called them.")


def summed(context: Any, reduce_op: ReduceOp, values: Sequence[Any], reduce: Callable[..., Any]) -> list[Any]:
    """The sums or means over the replicas; the gradients are the sums or means of the gradients.

    Args:
      context: the `ReplicaContext`.
      values: tensors.
      reduce: computes the result of such values for this replica, a list.
    """
    @custom_gradient
    def run(*given: Any) -> Any:
        def back(*gradients: Any) -> Any:
            _in_replica(context)
            return context.all_reduce(reduce_op, [convert_to_tensor(dy) for dy in gradients])

        return reduce(list(given)), back

    return _listed(run(*values))


def gathered(context: Any, values: Sequence[Any], axis: int, gather_all: Callable[..., Any]) -> list[Any]:
    """The values of all replicas one after another; the gradient of each replica is its part of the sum of all.

    Args:
      context: the `ReplicaContext`.
      values: tensors.
      axis: the axis.
      gather_all: computes the result of such values for this replica, a list.
    """
    @custom_gradient
    def run(*given: Any) -> Any:
        def back(*gradients: Any) -> Any:
            _in_replica(context)
            totals = context.all_reduce(ReduceOp.SUM, [convert_to_tensor(dy) for dy in gradients])
            return [_own_part(context, total, x, axis) for total, x in zip(totals, given, strict=True)]

        return gather_all(list(given)), back

    return _listed(run(*values))


def _own_part(context: Any, total: Any, value: Any, axis: int) -> Any:
    size = sizes.shape(value)[axis]
    every = context.all_gather(size[None], 0)
    begin = reduce_sum(every[: context.replica_id_in_sync_group])
    return gather(total, ranges.range(begin, begin + size), axis=axis)


def _listed(results: Any) -> list[Any]:
    return list(results) if isinstance(results, (list, tuple)) else [results]

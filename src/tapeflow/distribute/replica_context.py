"""What a replica knows of itself, and how it meets the others."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.core import context, replicas
from tapeflow.core.convert import is_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.distribute import replica_gradients
from tapeflow.distribute.reducing import reduction
from tapeflow.distribute.values import select
from tapeflow.function.autograph.operators.calls import cv
from tapeflow.ops.array.rows import identity

__all__ = ["ReplicaContext"]


class ReplicaContext:
    """What a replica knows of itself, and how it meets the others.

    Args:
      strategy: the strategy that it belongs to.
      replica_id_in_sync_group: its number.
      merge: how values of all replicas meet; None where there is one.
    """

    def __init__(self, strategy: Any, replica_id_in_sync_group: int, merge: Any = None):
        self._strategy, self._id, self._merge = strategy, replica_id_in_sync_group, merge

    @property
    def strategy(self) -> Any:
        """The strategy."""
        return self._strategy

    @property
    def replica_id_in_sync_group(self) -> int:
        """The number of this replica, from 0."""
        return self._id

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._strategy.num_replicas_in_sync

    @property
    def devices(self) -> list[str]:
        """The device of this replica."""
        devices = self._strategy.extended.worker_devices
        return [devices[self._id % len(devices)]]

    def merge_call(self, merge_fn: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        """Runs `merge_fn(strategy, *args)` once, with the arguments of all replicas; returns this replica's part."""
        kwargs = kwargs or {}

        def merged(*all_args: Any, **all_kwargs: Any) -> Any:
            with as_replica(None):
                return merge_fn(self._strategy, *all_args, **all_kwargs)

        if self._merge is None:
            return select(0, merged(*args, **kwargs))
        return self._merge(merged, tuple(args), kwargs)

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The sum or mean over the replicas of every tensor of a structure."""
        op = reduction(reduce_op)
        flat = nest.flatten(value)

        def together(strategy: Any, *parts: Any) -> Any:
            return [strategy.extended.reduced(op, part, None) for part in parts]

        if self._one_by_one and all(is_tensor(x) for x in flat):
            return self._own(value, replica_gradients.summed(self, op, flat, lambda xs: self.merge_call(together, xs)))
        return self._own(value, self.merge_call(together, flat))

    @property
    def _one_by_one(self) -> bool:
        """Whether the replicas are traced, or run, one by one: each has its own tape."""
        return self._merge is not None and isinstance(self._id, int)

    def _own(self, like: Any, values: Sequence[Any]) -> Any:
        """What all replicas got, as tensors of this one: of the same object everywhere, `run` would make one value."""
        if self.num_replicas_in_sync > 1:
            values = [identity(x) for x in values]
        return nest.pack_sequence_as(like, values)

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """The values of all replicas, one after another along `axis`."""
        def together(strategy: Any, *parts: Any) -> Any:
            return [strategy.gather(part, axis) for part in parts]

        flat = nest.flatten(value)
        if self._one_by_one and all(is_tensor(x) for x in flat):
            found = replica_gradients.gathered(self, flat, axis, lambda xs: self.merge_call(together, xs))
            return self._own(value, found)
        return self._own(value, self.merge_call(together, flat))

    def apply_once(self, apply: Any, grads_and_vars: Any) -> Any:
        """See `core.replicas.apply_once`."""
        gradients = [gradient for gradient, _ in grads_and_vars]
        known = [i for i, gradient in enumerate(gradients) if gradient is not None]

        def together(strategy: Any, *parts: Any) -> Any:
            summed: list[Any] = [None] * len(gradients)
            for i, total in zip(known, strategy.extended.sums(parts)):
                summed[i] = total
            return apply([(g, v) for g, (_, v) in zip(summed, grads_and_vars)])

        return self.merge_call(together, [gradients[i] for i in known])

    def _update(
        self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Mapping[str, Any] | None = None,
        group: bool = True,
    ) -> Any:
        """`fn(var, *args)` in this replica."""
        result = fn(var, *args, **(kwargs or {}))
        return result if group else (result,)

    def __enter__(self) -> ReplicaContext:
        self.__dict__.setdefault("_entered", []).append(as_replica(self))
        self._entered[-1].__enter__()  # type: ignore[attr-defined]
        return self

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)  # type: ignore[attr-defined]


@contextlib.contextmanager
def as_replica(replica: ReplicaContext | None) -> Any:
    before = replicas.place(replicas.state.strategies, replica)
    try:
        yield
    finally:
        replicas.place(*before)


def with_autograph(fn: Callable[..., Any]) -> Any:
    """The function, with tensors as conditions while a function is being traced with AutoGraph."""
    graph = context.current_graph()
    if graph is None or not getattr(graph, "building_function", False) or not inspect.isfunction(fn):
        return fn

    return cv(fn)


boundaries(globals())

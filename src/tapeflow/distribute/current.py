"""The strategy that is in force, and the replica that runs."""

from __future__ import annotations

import contextlib
from typing import Any

from tapeflow.core import replicas
from tapeflow.core.public import boundaries
from tapeflow.distribute.extended import StrategyExtended
from tapeflow.distribute.replica_context import ReplicaContext
from tapeflow.distribute.strategy import Strategy

__all__ = [
    "experimental_set_strategy", "get_replica_context", "get_strategy", "has_strategy", "in_cross_replica_context",
]  # fmt: skip


class _DefaultExtended(StrategyExtended):
    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether the variable was made in the scope of no strategy."""
        return getattr(v, "_distribute_strategy", None) is None


class _DefaultDistributionStrategy(Strategy):
    """The strategy where none was chosen: one replica, and nothing is shared out."""

    def __init__(self) -> None:
        super().__init__(extended=_DefaultExtended(self))

    def scope(self) -> Any:
        """A context that changes nothing."""
        return contextlib.nullcontext(self)

    @contextlib.contextmanager
    def _entered(self) -> Any:
        yield

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset."""
        return dataset


_default: list[Strategy] = []
_global: list[Strategy] = []


def _default_strategy() -> Strategy:
    if not _default:
        _default.append(_DefaultDistributionStrategy())
    return _default[0]


def get_strategy() -> Strategy:
    """The strategy in whose scope this is, else the default one."""
    return replicas.strategy() or (_global[-1] if _global else _default_strategy())


def has_strategy() -> bool:
    """Whether a strategy other than the default is in force."""
    return get_strategy() is not _default_strategy()


def experimental_set_strategy(strategy: Strategy | None) -> None:
    """Puts a strategy in force for the whole process, or with None none."""
    _global.clear()
    if strategy is not None:
        _global.append(strategy)


def in_cross_replica_context() -> bool:
    """Whether this is in a strategy's scope, but not in one of its replicas."""
    return has_strategy() and replicas.state.replica is None


def get_replica_context() -> ReplicaContext | None:
    """The replica that runs; None in the scope of a strategy outside of its replicas."""
    if replicas.state.replica is not None:
        return replicas.state.replica
    return None if has_strategy() else ReplicaContext(_default_strategy(), 0)


boundaries(globals())

"""Calls that bring replicas together only where the strategy needs it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tapeflow.core import replicas
from tapeflow.distribute.current import get_replica_context
from tapeflow.distribute.strategy import Strategy


def strategy_supports_no_merge_call() -> bool:
    """Whether replicas of the current strategy may update variables without meeting: those of one replica may."""
    return replicas.count() == 1


def maybe_merge_call(fn: Callable[..., Any], strategy: Strategy, *args: Any, **kwargs: Any) -> Any:
    """`fn(strategy, *args, **kwargs)`: in this replica if the strategy supports that, else once for all replicas."""
    replica = get_replica_context()
    if strategy_supports_no_merge_call() or replica is None:
        return fn(strategy, *args, **kwargs)
    return replica.merge_call(fn, args=args, kwargs=kwargs)


class _Reading(threading.local):
    on_read = False


_reading = _Reading()


@contextlib.contextmanager
def variable_sync_on_read_context() -> Iterator[None]:
    """A block in which variables of replicas are brought together when they are read.

    Replicas share the memory of their variables, so that reading one gives the common value in and outside of it.
    """
    before, _reading.on_read = _reading.on_read, True
    try:
        yield
    finally:
        _reading.on_read = before


def in_variable_sync_on_read_context() -> bool:
    """Whether this is in such a block."""
    return _reading.on_read


@contextlib.contextmanager
def cache_variable_reads() -> Iterator[None]:
    """A block in which reads of variables may be kept: reading one is cheap here, so that nothing is."""
    yield

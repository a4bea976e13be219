"""Which replica of a strategy this thread runs, and how many there are. The `distribute` package sets it; optimizers
and losses below it ask.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from tapeflow import _native


class _State(threading.local):
    def __init__(self) -> None:
        self.strategies: tuple[Any, ...] = ()
        self.replica: Any = None
        # The indices of the accelerators that functions share their batches out to.
        self.mesh: tuple[int, ...] = ()


state = _State()


def place(strategies: tuple[Any, ...], replica: Any) -> tuple[tuple[Any, ...], Any]:
    """Put this thread into the scopes of strategies, as a replica or None; returns where it was before."""
    before = state.strategies, state.replica
    state.strategies, state.replica = strategies, replica
    # Traces of functions depend on it, which the core looks up by their arguments alone.
    _native.set_replica_scope(bool(strategies) or replica is not None)
    return before


@contextlib.contextmanager
def over(mesh: tuple[int, ...]) -> Iterator[None]:
    """A block in which functions run on several accelerators, each with a part of every batch; () for none."""
    before, state.mesh = state.mesh, mesh
    try:
        yield
    finally:
        state.mesh = before


def strategy() -> Any:
    """The strategy in whose scope this thread is; None for none."""
    return state.strategies[-1] if state.strategies else None


def count() -> int:
    """How many replicas are in step with each other."""
    found = strategy()
    return 1 if found is None else found.num_replicas_in_sync


def several() -> bool:
    """Whether this thread runs one replica of several."""
    return state.replica is not None and state.replica.num_replicas_in_sync > 1


def part_of(mean: Any) -> Any:
    """What a mean over the batch of this replica adds to the mean over those of all."""
    return mean * (1.0 / count()) if several() else mean


def whole_of(part: Any) -> Any:
    """The mean over the batch of this replica, of what `part_of` gave."""
    return part * count() if several() else part


def apply_once(apply: Any, grads_and_vars: Any) -> Any:
    """Waits for the other replicas, then calls `apply` once, with the sum of all replicas' gradients."""
    return state.replica.apply_once(apply, list(grads_and_vars))

"""The processes that this one computes with: who they are, and the values that they exchange.

The group is made by `tapeflow.xla.processes`; rows and strategies below it ask here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np


class ProcessGroup(Protocol):
    """Processes that run the same program. All of them call its methods, in the same order."""

    rank: int
    size: int

    def all_reduce(self, array: Any, merge: str) -> np.ndarray:
        """The "sum", "product", "min" or "max" of the arrays of all, of one shape."""

    def all_gather(self, array: Any) -> list[np.ndarray]:
        """The arrays of all, of one rank and dtype, in the order of the processes."""

    def step_driver(
        self, graph: Any, outputs: Sequence[Any], common: Sequence[bool], count: int, indices: Sequence[int]
    ) -> Any:
        """What runs the step of all replicas of all processes; see `tapeflow.xla.processes`."""

    def finish(self) -> None:
        """Wait for the others, and leave the group."""


_group: list[ProcessGroup] = []


def join(group: ProcessGroup) -> None:
    """Make a group the one of this process.

    Raises:
      RuntimeError: this process has one.
    """
    if _group:
        raise RuntimeError("This process belongs to a group already")
    _group.append(group)


def current() -> ProcessGroup | None:
    """The group of this process; None where it works alone."""
    return _group[0] if _group else None


def leave() -> None:
    """Let this process work alone from here on."""
    _group.clear()

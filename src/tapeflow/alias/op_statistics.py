"""Statistics of ops, such as their floating point operations, by functions that are registered for them."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

from tapeflow.graph.graph import Graph

_registered: dict[tuple[str, str], Callable[[Any, Any], OpStats]] = {}


class OpStats:
    """A statistic of a node, or of several: they are added.

    Args:
      statistic_type: what it is, such as "flops".
      value: the number; None while it is not known.
    """

    def __init__(self, statistic_type: str, value: float | None = None):
        self.statistic_type, self.value = statistic_type, value

    @property
    def value(self) -> float | None:
        """The number; None while it is not known."""
        return self._value

    @value.setter
    def value(self, value: float | None) -> None:
        if value is not None and not isinstance(value, numbers.Real):
            raise TypeError(f"A statistic is a number, got {value!r}")
        self._value = value

    def __iadd__(self, other: OpStats) -> OpStats:
        if other.statistic_type != self.statistic_type:
            raise ValueError(
                f"Can't add an OpStat of type {other.statistic_type} to one of {self.statistic_type}."
            )
        if other.value is not None:
            self.value = other.value if self.value is None else self.value + other.value
        return self


class RegisterStatistics:
    """A decorator of a function of a graph and a NodeDef that gives an OpStats.

    Args:
      op_type: of the nodes that the function is for.
      statistic_type: what it computes.
    """

    def __init__(self, op_type: str, statistic_type: str):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string.")
        if "," in op_type:
            raise TypeError("op_type must not contain a comma.")
        self._key = op_type, statistic_type

    def __call__(self, f: Callable[[Any, Any], OpStats]) -> Callable[[Any, Any], OpStats]:
        """Registers the function. Raises KeyError where one is registered already.

        Args:
          f: the function.
        """
        if self._key in _registered:
            raise KeyError(
                f"Statistics {self._key[1]!r} of {self._key[0]!r} are registered already."
            )
        _registered[self._key] = f
        return f


def get_stats_for_node_def(graph: Graph, node: Any, statistic_type: str) -> OpStats:
    """What the function that is registered for a node computes; without a value where there is none.

    Args:
      graph: the graph of the node.
      node: a NodeDef.
      statistic_type: what is asked for.
    """
    function = _registered.get((node.op, statistic_type))
    return OpStats(statistic_type) if function is None else function(graph, node)

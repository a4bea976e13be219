"""Clusters of a graph as programs of XLA's on the host; see `graph.run.clusters`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from tapeflow.core.errors import OpError, UnimplementedError
from tapeflow.graph.operation import Operation
from tapeflow.xla.executable import Executable

# A cluster whose inputs came in more shapes than this is given up unless each of them came often.
_MOST_SHAPES = 10
_OFTEN = 50
_logger = logging.getLogger("tensorflow")


def program(
    cluster: Any, attrs_of: Callable[[Operation], dict[str, Any]], rest: Callable[[Operation | None], Any]
) -> Callable[..., Any]:
    """What runs a cluster with eager tensors for its inputs.

    Args:
      cluster: the operations, a `Cluster`.
      attrs_of: gives the attrs with which an operation runs.
      rest: makes the plan that runs them where XLA does not get an operation; None: where it gets none.
    """
    return _Program(cluster, attrs_of, rest).run


class _Program:
    def __init__(self, cluster: Any, attrs_of: Callable[[Operation], dict[str, Any]], rest: Callable[..., Any]):
        self._executable = Executable(cluster, cluster.outputs, {}, None, attrs_of)
        self._cluster, self._rest = cluster, rest
        self._plan: Any = None  # in place of the program, once it turned out not to compile
        self._works = False
        self._varies = any(x.shape_tuple is None or None in x.shape_tuple for x in cluster.inputs)
        self._shapes: set[Any] = set()
        self._calls = 0

    def run(self, *values: Any) -> list[Any]:
        """The outputs. Raises UnimplementedError where the cluster has to be compiled and cannot be."""
        if self._plan is None and self._varies and not self._cluster.required:
            self._count(values)
        if self._plan is None:
            try:
                results = self._executable(*values)
            except UnimplementedError as error:
                self._give_up(error, error.op)
            except (TypeError, IndexError) as error:  # a kernel that cannot be traced
                if self._works:
                    raise
                self._give_up(error, None)
            except (OpError, ValueError):  # of these inputs; nothing has happened yet, and the plan says what is wrong
                if self._works or self._cluster.required:
                    raise
                return list(self._rest(None)(*values))
            else:
                self._works = True
                return results
        return list(self._plan(*values))

    def _give_up(self, error: Exception, op: Any) -> None:
        if self._cluster.required:
            raise error
        _logger.info("A part of a graph that was to be compiled runs on the host: %s", error)
        self._plan = self._rest(op)

    def _count(self, values: tuple[Any, ...]) -> None:
        self._calls += 1
        self._shapes.add(tuple([tuple(x.shape.as_list()) for x in values]))
        if len(self._shapes) > _MOST_SHAPES and self._calls < _OFTEN * len(self._shapes):
            _logger.info("%s is compiled no more: its inputs have ever other shapes", self._cluster.name)
            self._plan = self._rest(None)

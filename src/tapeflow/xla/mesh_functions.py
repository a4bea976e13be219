"""Functions on meshes: the whole graph of a call is one program over the devices.

A function runs on the mesh of its arguments, its variables, what it captured, or of the scope around the call. What
checks values is left out. One that cannot be compiled runs as the host's plan does, and its results are on all devices.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core import context, dtypes
from tapeflow.core.dtensor import placed
from tapeflow.core.dtensor.placed import HostStorage, mesh_array, storage_of
from tapeflow.core.errors import OpError, UnimplementedError
from tapeflow.core.variables import is_set, variable_behind
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.run import planning
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.xla import mesh_values


def program(
    graph: FuncGraph, outputs: Sequence[SymbolicTensor], constants: dict[int, Any], variables: Sequence[Any],
    arguments: Sequence[Any], drops_checks: bool,
) -> Callable[..., list[Any]] | None:  # fmt: skip
    """What runs a call of a graph on a mesh; None for a call that is not on one.

    Args:
      constants: id of an input -> eager tensor, for inputs that calls do not give.
      variables: those whose handles are among the constants.
      arguments: eager tensors for the other inputs.
      drops_checks: not used: checks are always left out.
    """
    in_scope = context.device_index() == placed.index()
    values = [_native.Variable.read_value(v) for v in variables if v._has_cell and is_set(v)]
    given = [_native.Variable.read_value(v) if (v := variable_behind(x)) is not None else x for x in arguments]
    held = [mesh_array(x) for x in (*given, *values, *constants.values())]
    mesh = mesh_values.common_mesh(graph.name, held) or (placed.scope.mesh if in_scope else None)
    if mesh is None:
        return None
    if not in_scope:
        for position, x in enumerate(given):
            if mesh_array(x) is None:
                mesh_values.check_small(graph.name, position, x)
    wanted = placed.scope.layout
    known: dict[Any, Any] = graph.__dict__.setdefault("_on_meshes", {})
    key = (mesh, wanted, graph.version, *map(id, outputs))
    if key not in known:
        known[key] = _MeshCall(graph, outputs, constants, storage_of(mesh), wanted)
    found: Callable[..., list[Any]] = known[key]
    return found


class _MeshCall:
    """A graph on a mesh: compiled, or the host's plan where that fails."""

    def __init__(
        self, graph: FuncGraph, outputs: Sequence[SymbolicTensor], constants: dict[int, Any], storage: Any, wanted: Any
    ):
        self._graph, self._outputs, self._constants, self._storage = graph, list(outputs), constants, storage
        of_host = isinstance(storage, HostStorage)
        self._compiled = None if of_host else storage.function(graph, outputs, constants, wanted)
        self._works = False

    def __call__(self, *arguments: Any) -> list[Any]:
        if self._compiled is None:
            return self._by_plan(arguments)
        try:
            results: list[Any] = self._compiled(*arguments)
        except (UnimplementedError, TypeError, IndexError):
            if self._works:
                raise
            self._compiled = None
            return self._by_plan(arguments)
        except (OpError, ValueError):  # of these arguments; the host says what is wrong
            return self._by_plan(arguments)
        self._works = True
        return results

    @functools.cached_property
    def _plan(self) -> Any:
        here = {i: mesh_values.on_host(x) for i, x in self._constants.items()}
        return planning.compile_program(planning.function_program(self._graph, self._outputs, here))

    def _by_plan(self, arguments: Sequence[Any]) -> list[Any]:
        given = [x if x.dtype is dtypes.resource else mesh_values.on_host(x) for x in arguments]
        before = _native.set_device_scope(0)
        placed.scope.gathers = True
        try:
            results = self._plan(*given)
        finally:
            placed.scope.gathers = False
            _native.set_device_scope(before)
        return [mesh_values.on_all(y, self._storage) for y in results]

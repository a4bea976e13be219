"""Functions on accelerators: the whole graph of a call is one program, compiled by XLA for the device.

A function runs on the device of the scope around the call, else of its variables, of its arguments, or of the first
node that was placed. One that cannot be compiled runs as the host's plan does, with copies; so does one with nodes that
are there to raise, unless `jit_compile=True` drops them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core import context, device, dtypes, replicas
from tapeflow.core.errors import OpError, UnimplementedError
from tapeflow.core.variables import has_cell, is_set
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.xla import device_memory
from tapeflow.xla.boundary import array_of, assign, tensor_of
from tapeflow.xla.executable import Executable, any_operation
from tapeflow.xla.lowering import checks
from tapeflow.xla.replicated import MeshMemory, ShardedFunction


class DeviceMemory:
    """Tensors on the accelerator of that index; lists, which are objects, stay on the host."""

    def __init__(self, index: int):
        self._index = index
        self.device = device_memory.jax_device(index)

    single_device = True

    def array_of(self, tensor: Any) -> Any:
        if not device_memory.can_hold(tensor.dtype):
            return array_of(tensor)
        return device_memory.array_on(tensor, self._index)

    constant = own_array = array_of

    def arrays_of(self, tensors: tuple[Any, ...]) -> list[Any]:
        """The arrays of tensors on the device."""
        return [self.array_of(x) for x in tensors]

    def holds(self, tensors: Sequence[Any]) -> bool:
        """Whether tensors are on the device."""
        return all(_native.device_array(x)[0] == self._index for x in tensors)

    def tensors_of(self, values: Sequence[Any], numbers: tuple[int, ...]) -> list[Any]:
        """The tensors of results of these dtypes, none of them a list."""
        make, index = _native.device_tensor, self._index
        return [make(y, number, index) for y, number in zip(values, numbers, strict=True)]

    def direct(self, program: Callable[..., Any], numbers: tuple[int, ...]) -> Any:
        """None: calls go through `tensors_of`."""

    def tensor_of(self, value: Any, dtype: Any) -> Any:
        if not device_memory.can_hold(dtype):
            return tensor_of(value, dtype)
        return device_memory.tensor_of(value, dtype, self._index)

    def assign(self, variable: Any, value: Any) -> None:
        assign(variable, self.tensor_of(value, variable.dtype))


def program(
    graph: FuncGraph,
    outputs: Sequence[SymbolicTensor],
    constants: dict[int, Any],
    variables: Sequence[Any],
    arguments: Sequence[Any],
    drops_checks: bool,
) -> Callable[..., list[Any] | None] | None:
    """What runs a call of a graph on an accelerator: it returns None where the host has to; None: the host has to.

    Args:
      constants: id of an input -> eager tensor, for inputs that calls do not give.
      variables: those whose handles are among the constants.
      arguments: eager tensors for the other inputs.
      drops_checks: whether nodes that are there to raise may be left out.
    """
    index = device_of(graph, variables, arguments)
    if not index:
        return None
    known = _kept(graph)
    mesh = replicas.state.mesh if index in replicas.state.mesh else ()
    key = (index, mesh, graph.version, *map(id, outputs))
    if key not in known:
        attempt = Attempt(
            ShardedFunction(graph, outputs, constants, MeshMemory(mesh)) if mesh
            else Executable(graph, outputs, constants, DeviceMemory(index))
        )  # fmt: skip
        if not drops_checks and any_operation(graph, checks):
            attempt.works = False
        known[key] = attempt
    return known[key] if known[key].works is not False else None


def _kept(graph: FuncGraph) -> dict[Any, Any]:
    """What is known of a graph here; the graph holds it, as it holds the graph."""
    found: dict[Any, Any] = graph.__dict__.setdefault("_on_devices", {})
    return found


def device_of(graph: FuncGraph, variables: Sequence[Any], arguments: Sequence[Any]) -> int:
    """The index of the device that a call runs on; 0: the host."""
    scope = context.device_index()
    if scope:
        return scope
    held = [_native.Variable.read_value(v) for v in variables if has_cell(v) and is_set(v)]
    for x in (*held, *arguments):
        if x.dtype is not dtypes.resource and (index := _native.device_array(x)[0]):
            return index
    return _placed(graph)


def _placed(graph: FuncGraph) -> int:
    """The index of the device that the nodes of a graph are placed on: that of the first that is on an accelerator."""
    known = _kept(graph)
    key = ("placed", graph.version)
    if key not in known:
        known[key] = _first_placed(graph)
    index: int = known[key]
    return index


def _first_placed(graph: FuncGraph) -> int:
    for op in graph.operations:
        if op.device and not op.device.endswith("CPU:0"):
            index = device.find(op.device).index
            if index:
                return index
    return 0


class Attempt:
    """Runs an executable; returns None where that fails, and always once the graph turned out not to compile."""

    def __init__(self, executable: Executable):
        self._executable = executable
        self.works: bool | None = None

    def __call__(self, *arguments: Any) -> list[Any] | None:
        if self.works:
            return self._executable(*arguments)
        try:
            results = self._executable(*arguments)
        except (UnimplementedError, TypeError, IndexError):  # it cannot be compiled
            self.works = False
            return None
        except (OpError, ValueError):  # of these arguments; nothing has happened yet, and the host says what is wrong
            return None
        self.works = True
        return results

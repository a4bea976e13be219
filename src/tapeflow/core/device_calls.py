"""Who runs the operations that the core hands to Python: those off the host, and all of them while they are watched.

Both take `(row, inputs, attrs, device, sizes)`: the row, its inputs (flat), its attrs by name, the index of the device
asked for, and the length of each list input; and return the outputs as a flat tuple, which the core records on tapes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow import _native

Call = Callable[[Any, tuple[Any, ...], dict[str, Any], int, tuple[int, ...]], tuple[Any, ...]]

driver: Call | None = None
# Runs the calls on accelerators alone.
accelerator_calls: Call | None = None
# Gives what runs a graph on an accelerator; see `tapeflow.xla.placed.program`.
graph_driver: Callable[..., Any] | None = None
# Gives what runs a part of a session's graph; see `tapeflow.xla.parts.program`.
part_driver: Callable[..., Any] | None = None
# Gives what runs a step of several replicas; see `tapeflow.xla.replicated.program`.
step_driver: Callable[..., Any] | None = None
# Copies a tensor to the device of a name; see `tapeflow.xla.device_memory.copy`.
copier: Callable[[Any, str], Any] | None = None
# Waits until accelerators have computed what they were given; see `tapeflow.xla.device_memory.wait`.
waiter: Callable[[], None] | None = None
_watcher: Call | None = None
# Gives the outputs of an operation on variables of parameter servers, None for any other; see
# `tapeflow.distribute.parameter_servers.calls`.
_servers: Callable[[Any, tuple[Any, ...], dict[str, Any], tuple[int, ...]], tuple[Any, ...] | None] | None = None


def on_host(
    row: Any, inputs: tuple[Any, ...], attrs: dict[str, Any], device: int, sizes: tuple[int, ...]
) -> tuple[Any, ...]:
    """Run a call where it is: on the host."""
    with _native.PausedTapes():  # the core records the call
        return tuple(_leaves(row(*row.schema.grouped(inputs, sizes), **attrs)))


def _leaves(result: Any) -> list[Any]:
    if isinstance(result, (list, tuple)):
        return [leaf for part in result for leaf in _leaves(part)]
    return [] if result is None else [result]


def use_driver(
    function: Call, graphs: Callable[..., Any], parts: Callable[..., Any], steps: Callable[..., Any]
) -> None:
    """Let `function` run the calls that run on accelerators, and what the others give what they name."""
    global driver, graph_driver, part_driver, step_driver, accelerator_calls
    accelerator_calls = function
    driver, graph_driver, part_driver, step_driver = function, graphs, parts, steps
    _native.set_hook("device_call", _call)


def use_mesh_driver(is_there: Callable[[Any, int], bool], function: Call, graphs: Callable[..., Any]) -> None:
    """Let `function` run the calls that are on meshes of devices, and what `graphs` gives the graphs.

    Args:
      is_there: whether a call with these inputs in the scope of that device is on a mesh.
      graphs: like `graph_driver`; it returns None for a graph that is not on a mesh.
    """
    global driver, graph_driver
    programs = graph_driver

    def either(row: Any, inputs: Any, attrs: Any, device: int, sizes: Any) -> tuple[Any, ...]:
        chosen = function if is_there(inputs, device) else accelerator_calls or on_host
        return chosen(row, inputs, attrs, device, sizes)

    def either_graph(*arguments: Any) -> Any:
        found = graphs(*arguments)
        return found if found is not None or programs is None else programs(*arguments)

    driver, graph_driver = either, either_graph
    _native.set_hook("device_call", _call)


def use_accelerator_calls(function: Call) -> None:
    """Let `function` run the calls on devices of jax, if nothing does."""
    global accelerator_calls
    accelerator_calls = accelerator_calls or function


def use_watcher(function: Call) -> None:
    """Let `function` run whatever is handed to Python, also what `driver` would."""
    global _watcher
    _watcher = function
    _native.set_hook("device_call", _call)


def use_servers(function: Callable[..., tuple[Any, ...] | None]) -> None:
    """Let `function` run the calls on variables that parameter servers hold; it gives None for others."""
    global _servers
    _servers = function
    _native.set_hook("device_call", _call)


def _call(
    row: Any, inputs: tuple[Any, ...], attrs: dict[str, Any], device: int, sizes: tuple[int, ...]
) -> tuple[Any, ...]:
    if _servers is not None:
        found = _servers(row, inputs, attrs, sizes)
        if found is not None:
            return found
    function = _watcher or driver
    assert function is not None  # the hook is set by those who set one of them
    return function(row, inputs, attrs, device, sizes)

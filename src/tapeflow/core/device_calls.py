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
# Gives what runs a graph on an accelerator; see `tapeflow.xla.placed.program`.
graph_driver: Callable[..., Any] | None = None
# Gives what runs a part of a session's graph; see `tapeflow.xla.parts.program`.
part_driver: Callable[..., Any] | None = None
# Gives what runs a step of several replicas; see `tapeflow.xla.replicated.program`.
step_driver: Callable[..., Any] | None = None
_watcher: Call | None = None
# Gives the outputs of an operation on variables of parameter servers, None for any other; see
# `tapeflow.distribute.parameter_servers.calls`.
_servers: Callable[[Any, tuple[Any, ...], dict[str, Any], tuple[int, ...]], tuple[Any, ...] | None] | None = None


def use_driver(
    function: Call, graphs: Callable[..., Any], parts: Callable[..., Any], steps: Callable[..., Any]
) -> None:
    """Let `function` run the calls that run on accelerators, and what the others give what they name."""
    global driver, graph_driver, part_driver, step_driver
    driver, graph_driver, part_driver, step_driver = function, graphs, parts, steps
    _native.set_hook("device_call", _call)


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

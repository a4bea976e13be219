"""Parts of the graph of a session that run on an accelerator: each is one program, compiled by XLA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.graph.run.placement import Part
from tapeflow.xla.executable import Executable
from tapeflow.xla.placed import Attempt, DeviceMemory


def program(part: Part, attrs_of: Callable[[Any], dict[str, Any]], on_host: Callable[[], Any]) -> Callable[..., Any]:
    """What runs a part on its device.

    Where it does not compile, or not with what it is given, the host runs it. A variable lives where it got its first
    value.

    Args:
      part: the operations.
      attrs_of: gives the attrs with which an operation runs.
      on_host: makes the plan that runs the part on the host.
    """
    executable = Executable(part, part.outputs, {}, DeviceMemory(part.index), attrs_of)
    attempt = Attempt(executable)
    plans: list[Any] = []

    def run(*values: Any) -> list[Any]:
        results = attempt(*values) if attempt.works is not False else None
        if results is not None:
            return results
        if not plans:
            plans.append(on_host())
        return list(plans[0](*values))

    return run

"""What runs operations, functions, and parts of graphs on the devices of jax, handed to the core."""

from __future__ import annotations

from typing import Any

from tapeflow.core import context, device_calls
from tapeflow.xla import device_memory, eager, parts, placed, replicated


def start(found: list[tuple[str, Any]]) -> None:
    """Let programs use devices of jax: (type, device) of each."""
    device_memory.add_devices(found)
    device_calls.use_driver(eager.call, placed.program, parts.program, replicated.program)
    context.reset_devices()

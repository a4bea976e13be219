"""XLA: graphs compiled by running the rows' kernels under `jax.numpy`. Needs the extra `tapeflow[xla]`."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any


def compile_graph(
    graph: Any, outputs: Sequence[Any] | None = None, constants: dict[int, Any] | None = None
) -> Any:
    """`graph`, a `FuncGraph`, compiled for the CPU; see `tapeflow.xla.executable`.

    Raises UnimplementedError, which names the extra to install, where jax is missing.
    """
    from tapeflow.xla import executable

    return executable.compile_graph(graph, outputs, constants)


def __getattr__(name: str) -> Any:
    if name == "experimental":
        return importlib.import_module("tapeflow.xla.experimental")
    raise AttributeError(f"module 'tapeflow.xla' has no attribute {name!r}")

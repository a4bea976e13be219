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


def compiler_ir(graph: Any, constants: dict[int, Any], stage: str) -> str | bytes:
    """What XLA makes of `graph`, a `FuncGraph` whose inputs have known shapes; see `tapeflow.xla.program_text`."""
    from tapeflow.xla import executable, program_text

    return program_text.text_of(executable.Executable(graph, graph.outputs, constants), stage)


def __getattr__(name: str) -> Any:
    if name == "experimental":
        return importlib.import_module("tapeflow.xla.experimental")
    raise AttributeError(f"module 'tapeflow.xla' has no attribute {name!r}")

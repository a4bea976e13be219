"""tf.xla.experimental."""

from typing import Any

from tapeflow.api import providers
from tapeflow.graph.jit_scope import jit_scope

__all__ = ["compile", "jit_scope"]


def __getattr__(name: str) -> Any:
    if name == "compile":
        return providers.load("compiled_computations").compile
    raise AttributeError(f"module 'tapeflow.xla.experimental' has no attribute {name!r}")

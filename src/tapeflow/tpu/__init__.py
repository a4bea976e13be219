"""`tf.tpu`: how programs describe TPUs and the embeddings on them; what needs a TPU says that there is none."""

import importlib
from typing import Any

from tapeflow.tpu.options import XLAOptions

__all__ = ["XLAOptions", "experimental"]


def __getattr__(name: str) -> Any:
    if name == "experimental":
        return importlib.import_module("tapeflow.tpu.experimental")
    raise AttributeError(f"module 'tapeflow.tpu' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

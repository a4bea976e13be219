"""tf.autodiff: automatic differentiation, by tapes and by functions that are made of them."""

import importlib
from typing import TYPE_CHECKING, Any

from tapeflow.autodiff.tape import GradientTape

if TYPE_CHECKING:
    from tapeflow.autodiff.forward import ForwardAccumulator


def __getattr__(name: str) -> Any:
    if name == "ForwardAccumulator":  # loaded when it is first used
        return importlib.import_module("tapeflow.autodiff.forward").ForwardAccumulator
    raise AttributeError(f"module 'tapeflow.autodiff' has no attribute {name!r}")


__all__ = ["ForwardAccumulator", "GradientTape"]

"""The activation at the end of a layer."""

from __future__ import annotations

from collections.abc import Callable

from tapeflow.core.annotations import Tensor
from tapeflow.keras.activations import linear

__all__ = ["activate"]


def activate(function: Callable[..., Tensor] | None, outputs: Tensor) -> Tensor:
    """Return the outputs of a layer after its activation; None, which programs assign, is that of no activation."""
    return outputs if function is None or function is linear else function(outputs)

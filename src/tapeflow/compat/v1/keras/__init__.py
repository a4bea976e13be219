"""`tf.compat.v1.keras`: Keras, with the layers of 1.x where those are others."""

from __future__ import annotations

from typing import Any

import tapeflow.keras as _keras
from tapeflow.compat.v1.keras import layers as layers


def __getattr__(name: str) -> Any:
    return getattr(_keras, name)


def __dir__() -> list[str]:
    return sorted({*dir(_keras), "layers"})

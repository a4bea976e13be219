"""`tf.distribute.experimental` of 1.x."""

from typing import Any

from tapeflow.distribute import experimental as _experimental
from tapeflow.distribute.tpu_strategy import TPUStrategyV1 as TPUStrategy

__all__ = [*_experimental.__all__]


def __getattr__(name: str) -> Any:
    return getattr(_experimental, name)


def __dir__() -> list[str]:
    return sorted({*dir(_experimental), TPUStrategy.__name__})

"""Small data sets to learn and test with."""

import importlib
from typing import Any

from tapeflow.keras.datasets import mnist as mnist

_MODULES = (
    "boston_housing", "california_housing", "cifar10", "cifar100", "fashion_mnist", "imdb", "mnist",
    "reuters",
)  # fmt: skip
__all__ = [
    "boston_housing", "california_housing", "cifar10", "cifar100", "fashion_mnist", "imdb", "mnist",
    "reuters",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"tapeflow.keras.datasets.{name}")
    raise AttributeError(f"module 'tapeflow.keras.datasets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

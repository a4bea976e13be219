"""The class Dataset, for the modules below it that make datasets."""

from __future__ import annotations

from typing import Any

_registered: list[Any] = []


def register(cls: type) -> type:
    """Decorate the class whose objects datasets are."""
    _registered.append(cls)
    return cls


def dataset_class() -> Any:
    """The class Dataset."""
    return _registered[-1]

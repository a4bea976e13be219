"""What models have modules do that are made of them; `tapeflow.keras` registers those once."""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple


class ModelServices(NamedTuple):
    """Modules that know kinds of models."""

    functional: ModuleType  # models of symbolic tensors
    saving: ModuleType  # models as JSON
    weight_files: ModuleType
    model_files: ModuleType


_registered: list[ModelServices] = []


def register(services: ModelServices) -> None:
    """Say what the services are."""
    _registered.append(services)


def services() -> ModelServices:
    """The registered services."""
    return _registered[-1]

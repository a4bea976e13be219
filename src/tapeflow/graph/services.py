"""What graphs and their operations have modules above them do; the package registers those once."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple


class Services(NamedTuple):
    """Modules that are made of graphs. Those that few programs need are functions that load them."""

    building: ModuleType  # how values and calls become nodes
    gradients: Callable[[list[Any], list[Any], Any], list[Any]]  # of the sum of tensors
    graph_def: Callable[[], ModuleType]  # writes nodes as messages
    library_nodes: Callable[[], ModuleType]  # makes nodes of messages
    drawing: Callable[[], ModuleType]


_registered: list[Services] = []


def register(services: Services) -> None:
    """Say what the services are."""
    _registered.append(services)


def services() -> Services:
    """The registered services."""
    return _registered[-1]

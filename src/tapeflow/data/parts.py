"""The parts of a dataset, for the modules that transform, write and iterate over it: users do not see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def start_of(dataset: Any) -> Callable[[], Any]:
    """What starts a pass over the elements."""
    start: Callable[[], Any] = dataset._start
    return start


def size_of(dataset: Any) -> int:
    """The number of elements, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
    size: int = dataset._size
    return size


def captured_by(dataset: Any) -> tuple[Any, ...]:
    """The tensors of a graph that the dataset is made of."""
    captured: tuple[Any, ...] = dataset._captured
    return captured


def rows_of(dataset: Any) -> Any:
    """The dataset as a RowStream, or None."""
    return dataset._rows


def kind_of(dataset: Any) -> str:
    """The name of its kind, such as "Map"."""
    kind: str = dataset._kind
    return kind


def made_of(dataset: Any) -> tuple[Any, ...]:
    """The record that made the dataset and its arguments; () where none did."""
    found: tuple[Any, ...] = dataset._made_of
    return found


def has_effects(dataset: Any) -> bool:
    """Whether Python of the user's runs with its elements."""
    found: bool = dataset._effects
    return found


def mark_effects(dataset: Any) -> None:
    """Say that Python of the user's runs with the elements."""
    dataset._effects = True


def own_options(dataset: Any) -> Any:
    """The options that were set, or None."""
    return dataset._options

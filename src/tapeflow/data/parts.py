"""What a dataset is made of, for the modules that transform, write and iterate over it: users do not see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

UNKNOWN_CARDINALITY = -2


@dataclass(slots=True, eq=False)
class Parts:
    """What a dataset is made of.

    Attributes:
      kind: the name of its kind, such as "Map".
      start: starts a pass over the elements.
      spec: the structure of specs of an element, or a function that finds it out when asked for.
      size: the number of elements, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY.
      rows: the dataset as a RowStream, or None.
      captured: the tensors of a graph that it is made of.
      make: gives the dataset for their values.
      outer: the shape of a batch of datasets.
      options: those that were set, or None.
      parents: the datasets that it is made of.
      record: the record that made it and its arguments; () where none did.
      has_effects: whether Python of the user's runs with its elements.
      elements: those of a dataset in memory.
      stacked: the datasets that this one stands for.
      node: the name of the op, the attrs and the inputs of a node that makes it, where one is known.
    """

    kind: str
    start: Callable[..., Any]
    spec: Any
    size: int
    rows: Any = None
    captured: Sequence[Any] = ()
    make: Callable[..., Any] | None = None
    outer: Any = ()
    options: Any = None
    parents: tuple[Any, ...] = ()
    record: tuple[Any, ...] = ()
    has_effects: bool = False
    elements: Sequence[Any] | None = None
    stacked: Sequence[Any] = ()
    node: tuple[str, dict[str, Any], Sequence[Any]] | None = None


def given_parts(dataset: Any, parts: Parts) -> Any:
    """Say what a new dataset is made of; returns the dataset."""
    dataset._parts = parts
    return dataset


def parts_of(dataset: Any) -> Parts:
    """What a dataset is made of."""
    parts: Parts = dataset._parts
    return parts

"""The class Dataset, for the modules below it that make datasets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.data.parts import UNKNOWN_CARDINALITY, Parts, given_parts, parts_of
from tapeflow.graph.tensor import SymbolicTensor

_registered: list[Any] = []


def register(cls: type) -> type:
    """Decorate the class whose objects datasets are."""
    _registered.append(cls)
    return cls


def dataset_class() -> Any:
    """The class Dataset."""
    return _registered[-1]


def is_dataset(value: Any) -> bool:
    """Return whether a value is a dataset."""
    return bool(_registered) and isinstance(value, _registered[-1])


def dataset_of(
    kind: str, start: Callable[..., Any], spec: Any, size: int = UNKNOWN_CARDINALITY, rows: Any = None
) -> Any:
    """Make a dataset of its parts.

    Args:
      kind: the name of its kind, such as "Map".
      start: starts a pass; returns it, see `passes`.
      spec: the structure of specs of an element, or a function that finds it out when asked for.
      size: the number of elements, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY.
      rows: the same dataset as a RowStream, where it is one.
    """
    return _holding(Parts(kind, start, spec, size, rows))


def dataset_from_recipe(
    kind: str, inputs: Sequence[Any], make: Callable[..., Any], spec: Any, outer: Any = ()
) -> Any:
    """Make the dataset that is `make(*values)`, once the values of the tensors `inputs` of a graph are known."""
    return _holding(Parts(kind, not_yet, spec, UNKNOWN_CARDINALITY, captured=tuple(inputs), make=make, outer=outer))


def with_inputs(dataset: Any, values: Sequence[Any]) -> Any:
    """Return a dataset for the values (or other tensors) in place of what it is made of."""
    parts = parts_of(dataset)
    if not parts.captured:
        return dataset
    assert parts.make is not None
    if any(isinstance(x, SymbolicTensor) for x in values):
        return dataset_from_recipe(parts.kind, values, parts.make, parts.spec, parts.outer)
    return parts.make(*values)


def _holding(parts: Parts) -> Any:
    kind = dataset_class()
    return given_parts(kind.__new__(kind), parts)


def not_yet() -> Any:
    """In place of the start of a pass."""
    raise RuntimeError("The elements of a dataset of a graph's tensors are known when the graph runs.")

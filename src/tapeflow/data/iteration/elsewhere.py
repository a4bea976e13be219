"""Iterators that other processes have: how functions that are traced for these take them, and how they make them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from tapeflow._native import EagerTensor
from tapeflow.core import context
from tapeflow.core.structures import nest
from tapeflow.data.iteration.graph_iterating import Pass
from tapeflow.data.iteration.iterating import Iterator
from tapeflow.data.parts import parts_of
from tapeflow.ops.state.resource_op import handle_of, object_of


def iterator_handle(dataset: Any) -> Any:
    """The resource tensor of a new iterator over a dataset."""
    return handle_of(Pass(parts_of(dataset).start, dataset.element_spec))


class IteratorOfOthers(Iterator):
    """An iterator that other processes have, as functions that are traced for them take it.

    Args:
      element_spec: the structure of specs of an element.
      made_of: what these processes make it of, which `origin_of` finds by the handle.
    """

    def __init__(self, element_spec: Any, made_of: Any):
        self._dataset = _Elsewhere(element_spec)
        self._lock = threading.RLock()
        self._handle = self.handle = handle_of(_Origin(made_of))  # not of itself, which would never end

    def __next__(self) -> Any:
        if context.executing_eagerly():
            raise NotImplementedError("Iterating over an `AsyncDistributedIterator` is not supported right now.")
        return super().__next__()


class _Origin:
    """What the handle of such an iterator holds."""

    def __init__(self, made_of: Any):
        self.made_of = made_of


class _InGraph(Iterator):
    """The iterator of a handle in a graph that is being built."""

    def __init__(self, element_spec: Any, handle: Any):
        self._dataset = _Elsewhere(element_spec)
        self._lock = threading.RLock()
        self._handle = handle


class _Elsewhere:
    """A dataset of which only the type of the elements is known."""

    def __init__(self, element_spec: Any):
        self.element_spec = element_spec


def _from_handle(iterator: Any, found: Sequence[Any]) -> Any:
    if isinstance(found[0], EagerTensor):
        return iterator
    return _InGraph(iterator.element_spec, found[0])


nest.register_composite(IteratorOfOthers, lambda iterator: [iterator.handle], _from_handle)


def origin_of(handle: Any) -> Any:
    """What other processes make the iterator of a handle of; None for a handle of something else."""
    found = object_of(handle)
    return found.made_of if isinstance(found, _Origin) else None
